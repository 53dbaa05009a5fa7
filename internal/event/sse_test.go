package event_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
)

// open asks for the stream as p.
func open(t *testing.T, s *event.Signals, p authz.Principal) (status int, body io.Reader) {
	t.Helper()
	handler := s.Handler(func(*http.Request) (authz.Principal, error) { return p, nil })
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(authz.With(r.Context(), p)))
	}))
	t.Cleanup(server.Close)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := server.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp.StatusCode, resp.Body
}

// TestGuestsCannotTakeAllStreams: a stream costs a stranger nothing.
func TestGuestsCannotTakeAllStreams(t *testing.T) {
	t.Parallel()
	s := event.New(dbtest.SQLite(t), slog.New(slog.DiscardHandler))
	for range 500 {
		s.Subscribe(authz.Principal{})
	}
	if status, _ := open(t, s, authz.Principal{}); status != http.StatusServiceUnavailable {
		t.Errorf("one more guest is answered %d", status)
	}
	status, _ := open(t, s, authz.Principal{Kind: authz.User, ID: "ann"})
	if status != http.StatusOK {
		t.Errorf("a person with an account is answered %d", status)
	}
	s.Stop()
}

// TestStreamsEndWithTheHub: a stream that stayed open would use up the time
// that a stop leaves for work.
func TestStreamsEndWithTheHub(t *testing.T) {
	t.Parallel()
	ann := authz.Principal{Kind: authz.User, ID: "ann"}
	s := event.New(dbtest.SQLite(t), slog.New(slog.DiscardHandler))
	s.Start(context.Background())
	_, before := open(t, s, ann)
	s.Stop()
	_, after := open(t, s, ann) // a page that asks while the process stops
	for when, body := range map[string]io.Reader{"before": before, "after": after} {
		text, err := io.ReadAll(body)
		if err != nil || !strings.Contains(string(text), "connected") {
			t.Errorf("opened %s the stop: %q, %v", when, text, err)
		}
	}
}
