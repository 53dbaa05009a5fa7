package event

import (
	"fmt"
	"net/http"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

const (
	// keepAlive is how often a comment keeps proxies from cutting the stream,
	// and how soon a viewer who lost access is noticed.
	keepAlive = 15 * time.Second
	// maxStreams bounds the open streams of one process.
	maxStreams = 2000
	// maxGuests is how many of them people without an account may have, so that
	// strangers cannot take them from those who work here.
	maxGuests = maxStreams / 4
)

// Handler serves /api/events as server-sent events. again looks the viewer up
// anew from the request's credentials, so that a stream ends soon after its
// session does.
func (s *Signals) Handler(again func(*http.Request) (authz.Principal, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := authz.From(r.Context())
		if p.Kind == authz.Application {
			problem.Write(w, problem.Forbidden("This endpoint is for users only"))
			return
		}
		if all, guests := s.open(); all >= maxStreams || (p.IsGuest() && guests >= maxGuests) {
			problem.Write(w, problem.Unavailable("Too many live connections; this page refreshes by itself meanwhile").After(30*time.Second))
			return
		}
		rc := http.NewResponseController(w)
		_ = rc.SetWriteDeadline(time.Time{})
		h := w.Header()
		h.Set("Content-Type", "text/event-stream")
		h.Set("Cache-Control", "no-cache, no-transform")
		h.Set("X-Accel-Buffering", "no")
		sub := s.Subscribe(p)
		defer s.Unsubscribe(sub)
		write := func(format string, args ...any) bool {
			_ = rc.SetWriteDeadline(time.Now().Add(10 * time.Second))
			if _, err := fmt.Fprintf(w, format, args...); err != nil {
				return false
			}
			return rc.Flush() == nil
		}
		if !write("event: connected\ndata: {\"type\":\"connected\"}\n\n") {
			return
		}
		t := time.NewTicker(keepAlive)
		defer t.Stop()
		for {
			select {
			case <-r.Context().Done():
				return
			case text, ok := <-sub.C:
				if !ok || !write("data: %s\n\n", text) {
					return
				}
			case <-t.C:
				now, err := again(r)
				if err != nil || now.Kind != p.Kind || now.ID != p.ID {
					return
				}
				sub.SetPrincipal(now)
				if !write(": keep-alive\n\n") {
					return
				}
			}
		}
	})
}
