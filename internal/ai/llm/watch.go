package llm

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// watch ends a request when the provider is silent for too long. It runs only
// while we wait for the provider, never while the consumer works on an event.
type watch struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	parent context.Context
	timer  *time.Timer
	limit  time.Duration
	// event is when the last event came. Keep-alive comments extend the wait
	// to three times the limit, not for ever.
	event time.Time
}

// trailGrace is how long a stream that is already finished may take to send
// its usage; some gateways leave it open.
const trailGrace = 5 * time.Second

func newWatch(parent context.Context, limit time.Duration) *watch {
	ctx, cancel := context.WithCancelCause(parent)
	w := &watch{ctx: ctx, cancel: cancel, parent: parent, limit: limit, event: time.Now()}
	w.timer = time.AfterFunc(limit, func() { cancel(&IdleError{After: limit}) })
	w.timer.Stop()
	return w
}

func (w *watch) arm() {
	d := w.limit
	if left := 3*w.limit - time.Since(w.event); left < d {
		d = max(left, 0)
	}
	w.timer.Reset(d)
}

func (w *watch) disarm() { w.timer.Stop() }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(context.Canceled)
}

// heard notes an event.
func (w *watch) heard() { w.event = time.Now() }

// finished shortens the wait once the answer is complete.
func (w *watch) finished() { w.limit = min(w.limit, trailGrace) }

// reason tells why the context ended: the caller, silence, or nil.
func (w *watch) reason() error {
	if err := w.parent.Err(); err != nil {
		return err
	}
	var idle *IdleError
	if errors.As(context.Cause(w.ctx), &idle) {
		return idle
	}
	return nil
}

// explain replaces the error that a cancelled read gives by its reason.
func (w *watch) explain(err error) error {
	if reason := w.reason(); reason != nil && errors.Is(err, ErrCutStream) {
		return reason
	}
	return err
}

func (w *watch) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		w.heard()
		return nil
	case <-w.ctx.Done():
		return w.reason()
	}
}

// watchedBody puts each read of a body on the clock.
type watchedBody struct {
	r io.Reader
	w *watch
}

// Read reads with the watch armed.
func (b watchedBody) Read(p []byte) (int, error) {
	b.w.arm()
	n, err := b.r.Read(p)
	b.w.disarm()
	return n, err
}

// Waits between repeated requests.
const (
	firstBackoff = 500 * time.Millisecond
	maxBackoff   = 8 * time.Second
	// maxRetryAfter is the longest wait a person is left without an answer
	// for; a provider that asks for more is answered with its error.
	maxRetryAfter = 20 * time.Second
)

// backoff gives the wait before another try, or false when the provider asks
// for one that is too long.
func backoff(attempt int, asked time.Duration) (time.Duration, bool) {
	if asked > maxRetryAfter {
		return 0, false
	}
	d := min(firstBackoff<<attempt, maxBackoff)
	d = d/2 + rand.N(d/2)
	return max(d, asked), true
}

// retryAfter reads Retry-After, seconds or a date (RFC 9110 10.2.3).
func retryAfter(h http.Header) time.Duration {
	v := strings.TrimSpace(h.Get("Retry-After"))
	if s, err := strconv.ParseFloat(v, 64); err == nil && s > 0 && s < 1e6 {
		return time.Duration(s * float64(time.Second))
	}
	if t, err := http.ParseTime(v); err == nil {
		return max(time.Until(t), 0)
	}
	return 0
}
