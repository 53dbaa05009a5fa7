package netguard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"time"
)

// maxAttempts is how many connections one request may use. Go's HTTP/2 client
// retries a refused stream without pause, thousands of times within a timeout.
const maxAttempts = 3

// ErrAttempts is a server that refused the same request on every connection.
var ErrAttempts = errors.New("server refused the request over HTTP/2 on 3 connections in a row")

// maxHeaderBytes bounds the header of an answer.
const maxHeaderBytes = 256 << 10

// Options change how NewTransport builds a transport; the zero value is usable.
type Options struct {
	// Resolver is nil for the system's.
	Resolver Resolver
	// RootCAs is nil for the system's.
	RootCAs *x509.CertPool
	// Proxy is used for every request when set; the policy then applies to the
	// proxy's host only. Nil means direct. Environment variables never count.
	Proxy *url.URL
	// OnProxyAnswer is http.Transport.OnProxyConnectResponse.
	OnProxyAnswer func(ctx context.Context, proxy *url.URL, req *http.Request, res *http.Response) error
	// FreshConnections opens a new connection for each request.
	FreshConnections bool
}

// Transport is an http.RoundTripper that reaches only what a policy allows. It
// follows no redirect, uses no environment proxy, and gives up after three
// connections for one request. It is safe for concurrent use.
type Transport struct {
	base *http.Transport
}

// NewTransport gives a transport under a policy. Close its idle connections
// when it is dropped, unless it opens fresh ones anyway.
func NewTransport(p Policy, o Options) *Transport {
	d := requestDialer{Dialer{Policy: p, Resolver: o.Resolver}, o.FreshConnections}
	t := &http.Transport{
		DialContext:            d.dial,
		ForceAttemptHTTP2:      true,
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: o.RootCAs},
		TLSHandshakeTimeout:    30 * time.Second,
		DisableKeepAlives:      o.FreshConnections,
		MaxIdleConns:           100,
		MaxIdleConnsPerHost:    4,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: maxHeaderBytes,
		OnProxyConnectResponse: o.OnProxyAnswer,
	}
	if o.Proxy != nil {
		t.Proxy = http.ProxyURL(o.Proxy)
	}
	return &Transport{base: t}
}

// NewClient gives an HTTP client under a policy. Redirects are not followed:
// the 3xx answer itself is returned. The timeout covers everything including
// the body; zero means none, and then the request's context must have one.
func NewClient(p Policy, timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     NewTransport(p, Options{}),
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// CloseIdleConnections closes kept connections that are not in use.
func (t *Transport) CloseIdleConnections() { t.base.CloseIdleConnections() }

// requestKey holds, in the context of a dial, the context of its request.
// net/http dials with a context that outlives the request, so that a later one
// may use the connection; without this a dead address would occupy a socket
// and a goroutine for two minutes after each timeout.
type requestKey struct{}

type requestDialer struct {
	Dialer
	fresh bool
}

func (d *requestDialer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	request, ok := ctx.Value(requestKey{}).(context.Context)
	if !ok {
		return d.DialContext(ctx, network, address)
	}
	conn, err := d.DialContext(request, network, address)
	if err != nil || !d.fresh {
		return conn, err
	}
	// Nobody else will use it: end a TLS handshake with the request, too.
	return &requestConn{conn, request, context.AfterFunc(request, func() { conn.Close() })}, nil
}

// requestConn is a connection that ends with its request. Its errors then say
// why the request ended, not that the connection was closed.
type requestConn struct {
	net.Conn
	request context.Context
	stop    func() bool
}

func (c *requestConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	return n, c.explain(err)
}

func (c *requestConn) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	return n, c.explain(err)
}

func (c *requestConn) explain(err error) error {
	if errors.Is(err, net.ErrClosed) && c.request.Err() != nil {
		return c.request.Err()
	}
	return err
}

func (c *requestConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

// RoundTrip sends one request.
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Scheme != "https" && t.base.Proxy == nil {
		// HTTP/1 retries only a reused connection that died, once.
		ctx := req.Context()
		return t.base.RoundTrip(req.WithContext(context.WithValue(ctx, requestKey{}, ctx)))
	}
	ctx, cancel := context.WithCancelCause(req.Context())
	attempts := 0
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GetConn: func(string) {
			attempts++
			if attempts > maxAttempts {
				cancel(ErrAttempts)
			}
		},
	})
	res, err := t.base.RoundTrip(req.WithContext(context.WithValue(ctx, requestKey{}, ctx)))
	if err != nil {
		if errors.Is(context.Cause(ctx), ErrAttempts) {
			err = fmt.Errorf("%w: %w", ErrAttempts, err)
		}
		cancel(nil)
		return nil, err
	}
	if _, upgraded := res.Body.(io.Writer); upgraded {
		// A connection that changed protocol belongs to the caller, who ends it.
		context.AfterFunc(req.Context(), func() { cancel(nil) })
		return res, nil
	}
	res.Body = &cancelBody{ReadCloser: res.Body, cancel: cancel}
	return res, nil
}

// cancelBody frees the request's context with the body.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelCauseFunc
}

func (b *cancelBody) Close() error {
	err := b.ReadCloser.Close()
	b.cancel(nil)
	return err
}
