// Package problem holds the error kinds that every adapter understands: REST,
// the model's tools, jobs and the web UI. Services return these; anything else
// is a fault, of which a client sees a fixed sentence and a correlation id
// while the log sees the cause.
//
// An Error carries only text that is safe to show to the caller. The cause is
// kept for logs and errors.Is, and is never serialised.
package problem

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// Kind says what went wrong in terms a caller can act on.
type Kind int

// The kinds, with the code and HTTP status each one is answered with.
const (
	KindInvalid         Kind = iota + 1 // BAD_REQUEST, 400
	KindUnauthenticated                 // UNAUTHORIZED, 401
	KindForbidden                       // FORBIDDEN, 403
	KindNotFound                        // NOT_FOUND, 404
	KindConflict                        // CONFLICT, 409
	KindTooLarge                        // PAYLOAD_TOO_LARGE, 413
	KindTooMany                         // TOO_MANY_REQUESTS, 429
	KindUnavailable                     // SERVICE_UNAVAILABLE, 503
)

// ErrMoved is the cause of a conflict that no waiting ends: the thing was
// changed after the version that the caller names.
var ErrMoved = errors.New("changed since it was read")

// Issue is one fault of an input: where and what.
type Issue struct {
	// Path is dotted for keys and bracketed for list positions, such as
	// "collectors[0].config.url"; empty when the whole input is at fault.
	Path string `json:"path"`
	// Message says what is wrong and what is accepted, without repeating the
	// submitted value (it may be a secret).
	Message string `json:"message"`
}

// Error is a fault that the caller can understand and act on.
type Error struct {
	Kind    Kind
	Message string
	// Issues lists every fault of an input, for KindInvalid.
	Issues []Issue
	// RetryAfter is how long to wait before trying again, for KindTooMany and
	// KindUnavailable; zero when unknown.
	RetryAfter time.Duration

	code  string
	cause error
}

// Error gives the message, followed by the issues.
func (e *Error) Error() string {
	if len(e.Issues) == 0 {
		return e.Message
	}
	var b strings.Builder
	b.WriteString(e.Message)
	b.WriteString(": ")
	for i, is := range e.Issues {
		if i > 0 {
			b.WriteString("; ")
		}
		if is.Path != "" {
			b.WriteString(is.Path)
			b.WriteString(": ")
		}
		b.WriteString(is.Message)
	}
	return b.String()
}

// Unwrap gives the cause, which is for logs and errors.Is only.
func (e *Error) Unwrap() error { return e.cause }

// Because returns a copy of e that remembers its cause.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.cause = cause
	return &c
}

// WithCode returns a copy of e answered with a more precise code than its
// kind's, such as "OWNER_TEAM_REQUIRED".
func (e *Error) WithCode(code string) *Error {
	c := *e
	c.code = code
	return &c
}

// After returns a copy of e that tells the caller how long to wait.
func (e *Error) After(d time.Duration) *Error {
	c := *e
	c.RetryAfter = d
	return &c
}

var kinds = map[Kind]struct {
	code   string
	status int
}{
	KindInvalid:         {"BAD_REQUEST", 400},
	KindUnauthenticated: {"UNAUTHORIZED", 401},
	KindForbidden:       {"FORBIDDEN", 403},
	KindNotFound:        {"NOT_FOUND", 404},
	KindConflict:        {"CONFLICT", 409},
	KindTooLarge:        {"PAYLOAD_TOO_LARGE", 413},
	KindTooMany:         {"TOO_MANY_REQUESTS", 429},
	KindUnavailable:     {"SERVICE_UNAVAILABLE", 503},
}

// CodeInternal is the code of every fault that is not an Error.
const CodeInternal = "INTERNAL_SERVER_ERROR"

// Code gives the code of the error body.
func (e *Error) Code() string {
	if e.code != "" {
		return e.code
	}
	return kinds[e.Kind].code
}

// Status gives the HTTP status of the error.
func (e *Error) Status() int { return kinds[e.Kind].status }

// As finds the Error in err's chain.
func As(err error) (*Error, bool) {
	var e *Error
	if errors.As(err, &e) {
		return e, true
	}
	return nil, false
}

// Is says whether err is an Error of the given kind.
func Is(err error, k Kind) bool {
	e, ok := As(err)
	return ok && e.Kind == k
}

func newf(k Kind, format string, args []any) *Error {
	msg := format
	if len(args) > 0 {
		msg = fmt.Sprintf(format, args...)
	}
	return &Error{Kind: k, Message: msg}
}

// Invalid is an input that cannot be accepted, with its issues.
func Invalid(message string, issues ...Issue) *Error {
	return &Error{Kind: KindInvalid, Message: message, Issues: issues}
}

// InputIssues is the one form of a refused input: "Invalid input" and every
// issue found. It returns nil when there are none, so that a validator can end
// with `return problem.InputIssues(issues)`.
func InputIssues(issues []Issue) error {
	if len(issues) == 0 {
		return nil
	}
	return Invalid("Invalid input", issues...)
}

// Field is an input with a single fault, at path.
func Field(path, format string, args ...any) *Error {
	return Invalid("Invalid input", Issue{Path: path, Message: newf(0, format, args).Message})
}

// Unauthenticated says that the caller must identify itself first.
func Unauthenticated(format string, args ...any) *Error {
	return newf(KindUnauthenticated, format, args)
}

// Forbidden says that the caller is known but may not do this.
func Forbidden(format string, args ...any) *Error { return newf(KindForbidden, format, args) }

// NotFound says that the thing does not exist, or not for this caller.
func NotFound(format string, args ...any) *Error { return newf(KindNotFound, format, args) }

// Conflict says that the present state does not allow this.
func Conflict(format string, args ...any) *Error { return newf(KindConflict, format, args) }

// TooLarge says that the request is above a size limit.
func TooLarge(format string, args ...any) *Error { return newf(KindTooLarge, format, args) }

// TooMany says that a rate or budget is used up.
func TooMany(format string, args ...any) *Error { return newf(KindTooMany, format, args) }

// Unavailable says that something needed is not reachable now.
func Unavailable(format string, args ...any) *Error { return newf(KindUnavailable, format, args) }
