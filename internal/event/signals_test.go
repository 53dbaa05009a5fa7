package event_test

import (
	"log/slog"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"))
}

func receive(t *testing.T, sub *event.Subscription) string {
	t.Helper()
	select {
	case b := <-sub.C:
		return string(b)
	case <-time.After(10 * time.Second):
		t.Fatal("no signal within 10 s")
		return ""
	}
}

func TestSignalsReachWhoMayKnow(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	s := event.New(d, slog.New(slog.DiscardHandler))
	s.Start(t.Context())
	t.Cleanup(s.Stop)
	may := s.Subscribe(authz.Principal{Kind: authz.User, ID: "u1", Rules: []string{"catalog.system.read"}})
	other := s.Subscribe(authz.Principal{Kind: authz.User, ID: "u2"})
	s.Publish(t.Context(), event.Signal{ID: "catalog.changed", PluginID: "catalog", Payload: map[string]string{"systemId": "s1"}, Rule: "catalog.system.read"})
	s.Publish(t.Context(), event.Signal{ID: "ai.mine", PluginID: "ai", Payload: struct{}{}, UserID: "u1"})
	s.Publish(t.Context(), event.Signal{ID: "core.all", PluginID: "core", Payload: struct{}{}})
	if got := receive(t, may); !strings.Contains(got, `"signalId":"catalog.changed"`) || !strings.Contains(got, `"systemId":"s1"`) {
		t.Errorf("got %s", got)
	}
	if got := receive(t, may); !strings.Contains(got, "ai.mine") {
		t.Errorf("got %s", got)
	}
	if got := receive(t, other); !strings.Contains(got, "core.all") {
		t.Errorf("a viewer without the rule got %s first", got)
	}
}

func TestSignalsReachOtherReplicas(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	open := func() *event.Signals {
		d, err := db.Open(t.Context(), db.Options{URL: url, MaxOpenConns: 2})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		s := event.New(d, slog.New(slog.DiscardHandler))
		s.Start(t.Context())
		t.Cleanup(s.Stop)
		return s
	}
	a, b := open(), open()
	onB := b.Subscribe(authz.Principal{Kind: authz.User, ID: "u"})
	onA := a.Subscribe(authz.Principal{Kind: authz.User, ID: "u"})
	deadline := time.After(10 * time.Second)
	for { // until b listens, what a says may be lost: signals are best effort
		a.Publish(t.Context(), event.Signal{ID: "core.ping", PluginID: "core", Payload: 1})
		select {
		case got := <-onB.C:
			if !strings.Contains(string(got), "core.ping") {
				t.Errorf("got %s", got)
			}
			if first := receive(t, onA); !strings.Contains(first, "core.ping") {
				t.Errorf("got %s", first)
			}
			return
		case <-time.After(200 * time.Millisecond):
		case <-deadline:
			t.Fatal("the other replica heard nothing")
		}
	}
}
