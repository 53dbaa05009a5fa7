package httpcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/netguard"
)

const (
	maxBody      = 1 << 20
	maxRedirects = 10
	userAgent    = "Checkstack"
)

// exchange is one request with its redirects.
type exchange struct {
	conf      *requestConfig
	conn      *connection
	timeout   time.Duration
	method    string
	dropBody  bool
	start     time.Time
	redirects int
	// away is set once another host was visited: from then on the configured
	// headers are not sent any more, not even back to the first host.
	away   bool
	phases phases
}

func (x *exchange) run(ctx context.Context, target *url.URL) (strategy.Measurement, error) {
	for {
		res, err := x.send(ctx, target)
		if answer, ok := errors.AsType[*proxyAnswer](err); ok {
			return x.proxyRefused(answer), nil
		}
		if err != nil {
			return strategy.Measurement{}, failure(target, err, x.timeout)
		}
		next, err := x.redirect(target, res)
		if err != nil {
			res.Body.Close()
			return strategy.Measurement{}, err
		}
		if next == nil {
			m, err := x.measure(res)
			if err != nil {
				return strategy.Measurement{}, failure(target, err, x.timeout)
			}
			return m, nil
		}
		res.Body.Close()
		target = next
	}
}

func (x *exchange) send(ctx context.Context, target *url.URL) (*http.Response, error) {
	var body io.Reader
	if x.conf.Body != "" && !x.dropBody {
		body = strings.NewReader(x.conf.Body)
	}
	if !x.conn.proxied {
		ctx = x.phases.trace(ctx)
	}
	req, err := http.NewRequestWithContext(ctx, x.method, target.String(), body)
	if err != nil {
		return nil, strategy.Failure("Rendered URL is invalid")
	}
	req.Header.Set("User-Agent", userAgent)
	if !x.away {
		x.addHeaders(req)
	}
	res, err := x.conn.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.phases.answered()
	return res, nil
}

func (x *exchange) addHeaders(req *http.Request) {
	set := map[string]bool{}
	for _, h := range x.conf.Headers {
		name := http.CanonicalHeaderKey(h.Name)
		switch {
		case framing[name]:
		case x.dropBody && strings.HasPrefix(name, "Content-"):
		case name == "Host":
			req.Host = h.Value
		case set[name]:
			req.Header.Add(name, h.Value)
		default:
			set[name] = true
			req.Header.Set(name, h.Value)
		}
	}
	if x.conn.authorization != "" && !set["Authorization"] {
		req.Header.Set("Authorization", x.conn.authorization)
	}
}

// redirect gives where to go next, or nil when res is the answer.
func (x *exchange) redirect(from *url.URL, res *http.Response) (*url.URL, error) {
	switch res.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	location := res.Header.Get("Location")
	if !x.conf.FollowRedirects || location == "" {
		return nil, nil
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, nil //nolint:nilerr // a Location that is no address leaves a completed answer, not a failed probe
	}
	switch {
	case x.redirects >= maxRedirects:
		return nil, strategy.Failure(fmt.Sprintf("%s: stopped after %d redirects, the last one to %s", from.Host, maxRedirects, origin(to)))
	case to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "":
		return nil, strategy.Failure(from.Host + ": redirects to something that is not an http or https URL")
	case from.Scheme == "https" && to.Scheme == "http":
		return nil, strategy.Failure(from.Host + ": redirects from https to http at " + to.Host + ", which is not followed")
	}
	to.User = nil
	x.redirects++
	if !sameHost(from, to) {
		x.away = true
	}
	if res.StatusCode == 303 && x.method != "HEAD" || res.StatusCode < 303 && x.method == "POST" {
		x.method, x.dropBody = "GET", true
	}
	if x.away && x.conf.Body != "" && !x.dropBody {
		return nil, strategy.Failure(from.Host + ": redirects to " + to.Host + ", another host, to which the request body is not sent")
	}
	return to, nil
}

// sameHost says whether configured headers may go along: the same origin, or
// the same host name's step from http to https on the default ports.
func sameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	pa, pb := port(a), port(b)
	return a.Scheme == b.Scheme && pa == pb || a.Scheme == "http" && b.Scheme == "https" && pa == "80" && pb == "443"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// origin is as much of a URL as an error may show.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func (x *exchange) measure(res *http.Response) (strategy.Measurement, error) {
	body, cut, err := readBody(res.Body)
	if err != nil {
		return strategy.Measurement{}, err
	}
	x.phases.transferred()
	fields := x.fields(res.StatusCode, statusText(res))
	fields["body"] = body
	fields["bodyLength"] = utf8.RuneCountInString(body)
	fields["bodyTruncated"] = cut
	fields["protocol"] = res.Proto
	if ct := res.Header.Get("Content-Type"); ct != "" {
		fields["contentType"] = clip(ct, 200)
	}
	m := strategy.Measurement{Fields: fields}
	if !x.conn.proxied {
		m.Timings = x.phases.timings()
		if x.phases.remote != "" {
			fields["remoteAddress"] = x.phases.remote
		}
	}
	if cut {
		reason := fmt.Sprintf("the body is longer than the %d bytes that are read", maxBody)
		m.Unusable = map[string]string{"body": reason, "bodyLength": reason}
	}
	return m, nil
}

func (x *exchange) fields(code int, text string) map[string]any {
	return map[string]any{
		"statusCode":     code,
		"statusText":     text,
		"responseTimeMs": max(time.Since(x.start), 0).Round(time.Millisecond).Milliseconds(),
		"success":        code >= 200 && code < 400,
		"redirects":      x.redirects,
	}
}

// proxyRefused is a proxy's own answer to a CONNECT: an answer like any other.
func (x *exchange) proxyRefused(a *proxyAnswer) strategy.Measurement {
	fields := x.fields(a.code, a.text)
	fields["body"], fields["bodyLength"], fields["bodyTruncated"] = "", 0, false
	return strategy.Measurement{Fields: fields}
}

// statusText is the reason phrase: the server's own, else the usual one.
func statusText(res *http.Response) string {
	text := strings.TrimSpace(strings.TrimPrefix(res.Status, strconv.Itoa(res.StatusCode)))
	if text == "" {
		text = http.StatusText(res.StatusCode)
	}
	return clip(text, 200)
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return s
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps a rare large body from occupying memory for ever.
const maxPooled = 64 << 10

// readBody reads to the end or to the limit.
func readBody(r io.ReadCloser) (body string, cut bool, err error) {
	defer r.Close()
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	n, err := buf.ReadFrom(io.LimitReader(r, maxBody+1))
	if err != nil {
		return "", false, err
	}
	if n > maxBody {
		return string(buf.Bytes()[:maxBody]), true, nil
	}
	return buf.String(), false, nil
}

// failure names the host and the cause, and nothing else of the request.
func failure(target *url.URL, err error, timeout time.Duration) error {
	if f, ok := errors.AsType[strategy.Failure](err); ok {
		return f
	}
	cause := netguard.Cause(err)
	if cause == "timed out" {
		cause += " after " + strconv.FormatInt(timeout.Milliseconds(), 10) + " ms"
	}
	return strategy.Failure(hostOf(target) + ": " + cause)
}

func hostOf(u *url.URL) string { return clip(u.Host, 300) }
