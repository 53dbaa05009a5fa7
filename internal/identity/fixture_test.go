package identity

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const goodPassword = "Correct-Horse-7"

// cheap makes passwords cost nothing in tests that are not about their cost.
var cheap = argon2id.Params{Memory: 8, Iterations: 1, Parallelism: 1, SaltLength: 16, KeyLength: 32}

type clock struct {
	mu sync.Mutex
	t  time.Time
}

func (c *clock) now() time.Time { c.mu.Lock(); defer c.mu.Unlock(); return c.t }

func (c *clock) add(d time.Duration) { c.mu.Lock(); defer c.mu.Unlock(); c.t = c.t.Add(d) }

// otherRules are rules of other domains.
var otherRules = []authz.Rule{
	{ID: "catalog.system.read", Description: "Read systems", Default: true, Public: true},
	{ID: "catalog.system.manage", Description: "Manage systems"},
	{ID: "ai.chat.read", Description: "Chat", Default: true},
}

func allRules() []authz.Rule { return append(Rules(), otherRules...) }

// fixture is an installation with its first administrator.
type fixture struct {
	*Service
	t     *testing.T
	clock *clock
	log   *bytes.Buffer
	set   *operation.Set
	admin authz.Principal
}

// replica makes a service without touching the data.
func replica(t testing.TB, d *db.DB, c *clock, log *slog.Logger) *Service {
	t.Helper()
	s := New(Deps{DB: d, Log: log, Now: c.now})
	s.hasher = newHasher(cheap)
	t.Cleanup(s.Close)
	return s
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

func setup(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	f := &fixture{t: t, clock: newClock(), log: &bytes.Buffer{}}
	f.Service = replica(t, d, f.clock, slog.New(slog.NewTextHandler(&syncWriter{w: f.log}, &slog.HandlerOptions{Level: slog.LevelDebug})))
	f.set = operation.NewSet(f.Operations())
	if err := f.SyncRules(t.Context(), allRules()); err != nil {
		t.Fatal(err)
	}
	in, err := f.Onboard(t.Context(), account("Ada", "ada@example.com"), Client{Address: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	f.admin = f.principal(in)
	return f
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

type syncWriter struct {
	mu sync.Mutex
	w  *bytes.Buffer
}

func (s *syncWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.w.Write(p)
}

func account(name, email string) NewAccount {
	return NewAccount{Name: name, Email: email, Password: secret.New(goodPassword)}
}

func (f *fixture) principal(in SignedIn) authz.Principal {
	f.t.Helper()
	p, err := f.PrincipalForSession(f.t.Context(), in.Token.Reveal())
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

// person makes a user who holds exactly the given rules, through a role of its
// own, and signs it in.
func (f *fixture) person(name string, rules ...string) (authz.Principal, SignedIn) {
	f.t.Helper()
	ctx := f.as(f.admin)
	roles := []string{}
	if len(rules) > 0 {
		r, err := f.CreateRole(ctx, "role of "+name, "", rules)
		if err != nil {
			f.t.Fatal(err)
		}
		roles = append(roles, r.ID)
	}
	if _, err := f.CreateUser(ctx, account(name, name+"@example.com"), roles); err != nil {
		f.t.Fatal(err)
	}
	in := f.login(name + "@example.com")
	return f.principal(in), in
}

func (f *fixture) login(email string) SignedIn {
	f.t.Helper()
	in, err := f.Login(f.t.Context(), email, secret.New(goodPassword), Client{Address: "192.0.2.1"})
	if err != nil {
		f.t.Fatal(err)
	}
	return in
}

func (f *fixture) as(p authz.Principal) context.Context { return authz.With(f.t.Context(), p) }

// call runs an operation on JSON, as p.
func (f *fixture) call(p authz.Principal, id, input string) (map[string]any, error) {
	f.t.Helper()
	for _, op := range f.set.All() {
		if op.Declaration().ID == id {
			out, err := op.CallJSON(f.as(p), json.RawMessage(input))
			if err != nil {
				return nil, err
			}
			b, err := json.Marshal(out)
			if err != nil {
				f.t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(b, &m); err != nil {
				f.t.Fatal(err)
			}
			return m, nil
		}
	}
	f.t.Fatalf("there is no operation %s", id)
	return nil, nil
}

func wantKind(t *testing.T, err error, kind problem.Kind, message string) {
	t.Helper()
	e, ok := problem.As(err)
	if !ok || e.Kind != kind || (message != "" && e.Message != message) {
		t.Errorf("got error %v, want kind %d %q", err, kind, message)
	}
}
