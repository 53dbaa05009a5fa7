package llm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// maxErrorChars is where a provider's text is cut, spec/ai-platform.md 14.3.
const maxErrorChars = 2000

// ErrCutStream says that the provider's stream ended before it said so.
var ErrCutStream = errors.New("the model provider's answer broke off before it was complete")

// HTTPError is an answer of the provider that is not a stream of events: an
// error status, or a page or JSON body under a good status.
type HTTPError struct {
	Status int
	// Body is the provider's own text, cut at 2000 characters, without the
	// API key and the endpoint's address.
	Body string
	// RetryAfter is the wait the provider asked for; zero when it did not.
	RetryAfter time.Duration

	where string
}

// Error gives status and body.
func (e *HTTPError) Error() string {
	status := "unknown"
	if e.Status != 0 {
		status = strconv.Itoa(e.Status)
	}
	if e.Body == "" {
		return "the model provider answered HTTP " + status + " without a text"
	}
	return "the model provider answered HTTP " + status + ": " + e.Body
}

// Retryable reports whether the same request may work later.
func (e *HTTPError) Retryable() bool {
	switch e.Status {
	case 408, 429, 500, 502, 503, 504, 529:
		return true
	}
	return false
}

// ReportedError is an error that the provider sent within a stream that had
// begun well.
type ReportedError struct {
	// Message is the provider's own text, treated like HTTPError.Body.
	Message string
}

// Error gives the provider's message.
func (e *ReportedError) Error() string { return "the model provider reported an error: " + e.Message }

// IdleError says that nothing arrived for a while.
type IdleError struct{ After time.Duration }

// Error gives the time waited.
func (e *IdleError) Error() string {
	return fmt.Sprintf("the model provider sent nothing for %s", e.After)
}

// EmptyError says that a round ended well but held neither text nor a call.
type EmptyError struct{ FinishReason string }

// Error says why, as far as the finish reason tells.
func (e *EmptyError) Error() string {
	switch e.FinishReason {
	case FinishLength:
		return "the model used up its output limit before it wrote an answer"
	case FinishContentFilter:
		return "the model provider's content filter withheld the answer"
	}
	return "the model gave an empty answer"
}

// ConnectError says that the provider could not be reached. Its text names
// the cause but no address; the cause itself is for the log.
type ConnectError struct {
	cause error
	where string
}

// Error names the cause in fixed words.
func (e *ConnectError) Error() string {
	return "the model provider could not be reached: " + connectReason(e.cause)
}

// Unwrap gives the cause, whose text may hold the address.
func (e *ConnectError) Unwrap() error { return e.cause }

func connectReason(err error) string {
	var (
		p    *problem.Error
		dns  *net.DNSError
		cert *tls.CertificateVerificationError
		rec  tls.RecordHeaderError
		auth x509.UnknownAuthorityError
		to   interface{ Timeout() bool }
	)
	switch {
	case errors.As(err, &p):
		return p.Message
	case errors.As(err, &dns):
		return "its host name could not be resolved"
	case errors.As(err, &cert), errors.As(err, &auth):
		return "its TLS certificate was not accepted"
	case errors.As(err, &rec):
		return "it does not speak TLS on that port"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.Is(err, syscall.ECONNRESET):
		return "connection reset"
	case errors.As(err, &to) && to.Timeout():
		return "connection timed out"
	}
	return "network error"
}

// UserText is what a person is told about a failed round, spec/ai-platform.md
// 14.3: the provider's real answer rather than a masked sentence, never the
// key, the URL or a header.
func UserText(err error) string {
	if err == nil {
		return ""
	}
	var (
		h *HTTPError
		c *ConnectError
		p *problem.Error
	)
	switch {
	case errors.As(err, &h):
		return upperFirst(h.Error())
	case errors.As(err, &c):
		return "The assistant failed: " + c.Error() + "."
	case errors.Is(err, context.Canceled):
		return "The assistant failed: the turn was stopped."
	case errors.Is(err, context.DeadlineExceeded):
		return "The assistant failed: the turn took too long."
	case errors.As(err, &p):
		return "The assistant failed: " + cut(p.Error())
	}
	return "The assistant failed: " + cut(err.Error())
}

// LogAttrs describes a failed round for the server's log: kind, status, url
// (without query and user), retryable, response_body, and error. The caller
// adds conversation id and model.
func LogAttrs(err error) []slog.Attr {
	var (
		h *HTTPError
		c *ConnectError
	)
	switch {
	case errors.As(err, &h):
		return []slog.Attr{
			slog.String("kind", "http"), slog.Int("status", h.Status), slog.String("url", h.where),
			slog.Bool("retryable", h.Retryable()), slog.String("response_body", h.Body),
		}
	case errors.As(err, &c):
		return []slog.Attr{slog.String("kind", "connect"), slog.String("url", c.where), slog.String("error", c.Error())}
	case err == nil:
		return nil
	}
	return []slog.Attr{slog.String("kind", "error"), slog.String("error", cut(err.Error()))}
}

// cut shortens a text to what may be shown.
func cut(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	n := 0
	for i := range s {
		if n == maxErrorChars {
			return s[:i] + "... (truncated)"
		}
		n++
	}
	return s
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
