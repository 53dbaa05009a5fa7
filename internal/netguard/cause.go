package netguard

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Cause says in plain words why a connection or request failed. The text never
// contains an address, a URL, a header or anything else that came from outside,
// so it may be stored and shown.
func Cause(err error) string {
	if err == nil {
		return ""
	}
	for _, c := range causes {
		if errors.Is(err, c.err) {
			return c.text
		}
	}
	if text := tlsCause(err); text != "" {
		return text
	}
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		switch {
		case dns.IsNotFound:
			return "host name not found"
		case dns.IsTimeout:
			return "timed out while looking up the host name"
		}
		return "host name could not be looked up"
	}
	if ne, ok := errors.AsType[net.Error](err); ok && ne.Timeout() {
		return "timed out"
	}
	return textCause(err.Error())
}

var causes = []struct {
	err  error
	text string
}{
	{ErrRefused, "address is not allowed by the egress rules"},
	{ErrBadHost, "not a valid host name or IP address"},
	{ErrAttempts, ErrAttempts.Error()},
	{context.DeadlineExceeded, "timed out"},
	{os.ErrDeadlineExceeded, "timed out"},
	{context.Canceled, "cancelled"},
	{syscall.ECONNREFUSED, "connection refused"},
	{syscall.ECONNRESET, "connection reset by the server"},
	{syscall.EPIPE, "connection closed by the server"},
	{syscall.ENETUNREACH, "network unreachable"},
	{syscall.EHOSTUNREACH, "host unreachable"},
	{syscall.EADDRNOTAVAIL, "no local address or port left to connect from"},
	{syscall.EMFILE, "too many open connections on this machine"},
	{syscall.ETIMEDOUT, "timed out"},
	{io.ErrUnexpectedEOF, "connection closed before the whole answer had arrived"},
	{io.EOF, "connection closed without an answer"},
}

func tlsCause(err error) string {
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return "TLS certificate is for another host name"
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return "TLS certificate is not signed by a trusted authority"
	}
	if inv, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if inv.Reason == x509.Expired {
			return "TLS certificate has expired or is not yet valid"
		}
		return "TLS certificate is not valid"
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return "server does not speak TLS on this port"
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok {
		return "TLS handshake was refused"
	}
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return "TLS certificate could not be verified"
	}
	return ""
}

// textCause recognises errors of net/http that have no type to test for.
func textCause(text string) string {
	for _, c := range []struct{ part, text string }{
		{"server gave HTTP response to HTTPS client", "server does not speak TLS on this port"},
		{"REFUSED_STREAM", "server refused the request (HTTP/2 stream refused)"},
		{"GOAWAY", "server refused the request (HTTP/2 GOAWAY)"},
		{"handshake failure", "TLS handshake failed"},
		{"remote error: tls", "TLS handshake was refused"},
		{"tls:", "TLS handshake failed"},
		{"malformed HTTP", "server did not answer with valid HTTP"},
		{"malformed MIME header", "server did not answer with valid HTTP"},
		{"malformed chunked encoding", "server did not answer with valid HTTP"},
		{"invalid byte in chunk length", "server did not answer with valid HTTP"},
		{"server response headers exceeded", "server sent too large a header"},
		{"http2:", "HTTP/2 protocol error"},
		{"stream error", "HTTP/2 protocol error"},
		{"gzip:", "server sent a broken compressed body"},
		{"flate:", "server sent a broken compressed body"},
		{"server closed idle connection", "connection closed by the server"},
		{"connection broken", "connection closed by the server"},
		{"socks connect", "proxy could not reach the target"},
	} {
		if strings.Contains(text, c.part) {
			return c.text
		}
	}
	return "connection failed"
}
