package proposal

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestParseToken(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in, id, nonce string
		ok            bool
	}{
		{"propose:a.b", "a", "b", true},
		{"propose:a.b.c", "a", "b.c", true},
		{"propose:.b", "", "b", false},
		{"propose:a.", "a", "", false},
		{"propose:ab", "ab", "", false},
		{"Propose:a.b", "", "", false},
		{"a.b", "", "", false},
		{"", "", "", false},
	} {
		id, nonce, ok := parseToken(tc.in)
		if ok != tc.ok || (ok && (id != tc.id || nonce != tc.nonce)) {
			t.Errorf("parseToken(%q) = %q, %q, %v", tc.in, id, nonce, ok)
		}
	}
}

func FuzzParseToken(f *testing.F) {
	f.Add("propose:a.b")
	f.Fuzz(func(t *testing.T, s string) {
		if id, nonce, ok := parseToken(s); ok && token(id, nonce) != s {
			t.Errorf("parseToken(%q) loses text: %q, %q", s, id, nonce)
		}
	})
}

func TestProposeThenApply(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		p := f.propose(t, `{"value":"new"}`)
		if f.things.effects.Load() != 0 || p.Summary != "Set new" || !p.ExpiresAt.Equal(f.clock.now().Add(TTL)) || len(p.Diff) != 2 {
			t.Fatalf("proposal %+v with %d effects", p, f.things.effects.Load())
		}
		rec, err := f.g.Record(f.ctx, p.ID)
		if err != nil || rec.Status != Proposed || rec.Token != p.Token {
			t.Errorf("record %+v, %v", rec, err)
		}
		if _, err := f.g.Record(as("bob", "*"), p.ID); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("somebody else's record = %v, want not found", err)
		}
		// Somebody else may apply, if the rules are held, and is recorded.
		bob := as("bob", ruleManage.ID)
		got, err := f.g.Apply(bob, p.Token)
		if err != nil || got.CallID != p.ID || got.Result.(getOut).Value != "new" {
			t.Fatalf("Apply = %+v, %v", got, err)
		}
		rec, err = f.g.Record(f.ctx, p.ID)
		if err != nil || rec.Status != Applied || rec.AppliedBy.ID != "bob" || rec.ProposedBy.ID != "ada" || rec.Token != "" || rec.AppliedAt == nil {
			t.Errorf("record %+v, %v", rec, err)
		}
		if got := f.events.statuses(); got != "proposed applied" {
			t.Errorf("events %q", got)
		}
	})
}

func TestApplyRefusals(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		live := f.propose(t, `{"value":"new"}`)
		read, err := f.g.Prepare(f.ctx, "test.get", nil, Approve)
		if err != nil {
			t.Fatal(err)
		}
		readOut, err := f.g.Execute(f.ctx, read, Origin{Transport: Chat})
		if err != nil {
			t.Fatal(err)
		}
		gone := f.propose(t, `{"value":"gone"}`)
		if _, err := d.Write.NewRaw("UPDATE ai_tool_calls SET tool_name = 'test.removed' WHERE id = ?", gone.ID).Exec(f.ctx); err != nil {
			t.Fatal(err)
		}
		id, nonce, _ := parseToken(live.Token)
		wrong := token(id, strings.Map(func(r rune) rune { return 'f' - r%2 }, nonce))
		for _, tc := range []struct {
			name   string
			ctx    context.Context
			token  string
			status int
			cause  error
		}{
			{"nobody", context.Background(), live.Token, 401, nil},
			{"service", authz.With(context.Background(), authz.Principal{Kind: authz.Service}), live.Token, 403, nil},
			{"malformed", f.ctx, "propose:" + live.ID, 400, ErrInvalidToken},
			{"wrong nonce", f.ctx, wrong, 400, ErrInvalidToken},
			{"longer nonce", f.ctx, live.Token + "0", 400, ErrInvalidToken},
			{"unknown", f.ctx, token("nothing", "x"), 404, nil},
			{"a read's row", f.ctx, token(readOut.CallID, "x"), 404, nil},
			{"tool gone", f.ctx, gone.Token, 404, nil},
			{"FC057 rule lost", as("ada", ruleRead.ID), live.Token, 403, nil},
		} {
			_, err := f.g.Apply(tc.ctx, tc.token)
			p, ok := problem.As(err)
			if !ok || p.Status() != tc.status || (tc.cause != nil && !errors.Is(err, tc.cause)) {
				t.Errorf("%s: Apply = %v, want %d", tc.name, err, tc.status)
			}
		}
		if f.things.effects.Load() != 0 {
			t.Fatal("a refused apply had an effect")
		}
		if _, err := f.g.Apply(f.ctx, live.Token); err != nil {
			t.Errorf("after all refusals the token still works: %v", err)
		}
	})
}

func TestFC057_ApplyRunsTheStoredPayloadOrRefuses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		first := f.propose(t, `{"value":"first"}`)
		second := f.propose(t, `{"value":"second"}`)
		if _, err := f.g.Apply(f.ctx, first.Token); err != nil || f.things.value != "first" {
			t.Fatalf("Apply = %v, value %q", err, f.things.value)
		}
		// The thing has moved: refused, for good, with how it is now.
		_, err := f.g.Apply(f.ctx, second.Token)
		p, ok := problem.As(err)
		if !ok || p.Status() != 409 || !errors.Is(err, ErrOutdated) || errors.Is(err, ErrConsumed) ||
			!strings.Contains(p.Error(), `value: was "old", is now "first"`) {
			t.Errorf("Apply on a moved thing = %v", err)
		}
		if rec, _ := f.g.Record(f.ctx, second.ID); rec.Status != Failed || !rec.Outdated || rec.Error != p.Error() || rec.Token != "" || rec.AppliedBy.ID != "ada" {
			t.Errorf("refused as out of date, record %+v", rec)
		}
		if _, err := f.g.Apply(f.ctx, second.Token); !errors.Is(err, ErrConsumed) || !strings.Contains(err.Error(), "out of date") {
			t.Errorf("Apply of one that is out of date = %v", err)
		}
		if f.things.effects.Load() != 1 {
			t.Errorf("%d effects, want 1", f.things.effects.Load())
		}
		// Ten minutes and no more.
		third := f.propose(t, `{"value":"third"}`)
		f.clock.add(TTL)
		if _, err := f.g.Apply(f.ctx, third.Token); !errors.Is(err, ErrExpired) || !problem.Is(err, problem.KindConflict) {
			t.Errorf("Apply after the TTL = %v, want expired", err)
		}
		if rec, _ := f.g.Record(f.ctx, third.ID); rec.Status != Expired || rec.Token != "" {
			t.Errorf("overdue before the sweep: %s, token %q", rec.Status, rec.Token)
		}
		if err := f.g.Sweep(f.ctx); err != nil {
			t.Fatal(err)
		}
		if got := f.column(t, "status", third.ID); got != "expired" {
			t.Errorf("after the sweep: %s", got)
		}
		if _, err := f.g.Apply(f.ctx, third.Token); !errors.Is(err, ErrExpired) {
			t.Errorf("Apply of a swept one = %v, want expired", err)
		}
	})
}

func TestFC058_OneTokenOneEffect(t *testing.T) {
	t.Parallel()
	race := func(t *testing.T, f *fixture, gates ...*Gate) {
		p := f.propose(t, `{"value":"new"}`)
		var won, lost atomic.Int64
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 200 {
			g := gates[i%len(gates)]
			wg.Go(func() {
				<-start
				_, err := g.Apply(f.ctx, p.Token)
				switch {
				case err == nil:
					won.Add(1)
				case errors.Is(err, ErrConsumed):
					lost.Add(1)
					pr, _ := problem.As(err)
					if len(pr.Issues) != 1 || pr.Issues[0].Message != p.ID || pr.Status() != 409 {
						t.Errorf("a repeat is told %+v", pr)
					}
				default:
					t.Errorf("Apply = %v", err)
				}
			})
		}
		close(start)
		wg.Wait()
		if won.Load() != 1 || lost.Load() != 199 || f.things.effects.Load() != 1 {
			t.Errorf("%d won, %d lost, %d effects; want 1, 199, 1", won.Load(), lost.Load(), f.things.effects.Load())
		}
		// The lost answer: the repeat names the call, whose record has the result.
		_, err := f.g.Apply(f.ctx, p.Token)
		if err == nil || !strings.Contains(err.Error(), "already applied") {
			t.Errorf("repeat = %v", err)
		}
		if rec, err := f.g.Record(f.ctx, p.ID); err != nil || !strings.Contains(string(rec.Result), `"new"`) {
			t.Errorf("first result: %+v, %v", rec, err)
		}
	}
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		f := setup(t, dbtest.SQLite(t))
		race(t, f, f.g, f.gate(t, f.d))
	})
	t.Run("postgres, two replicas", func(t *testing.T) {
		t.Parallel()
		url := dbtest.PostgresURL(t)
		open := func() *db.DB {
			d, err := db.Open(context.Background(), db.Options{URL: url, MaxOpenConns: 8})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			if err := d.Migrate(context.Background(), slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
			return d
		}
		f := setup(t, open())
		race(t, f, f.g, f.gate(t, open()))
	})
}

func TestFailedApply(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, tc := range []struct {
			name     string
			sabotage func(*things)
			status   int
			stored   string
		}{
			{"a problem", func(th *things) { th.failRun = problem.Conflict("It is locked") }, 400, "It is locked"},
			{"a fault", func(th *things) { th.failRun = errors.New("canary-internal") }, 500, "Failed inside Checkstack; the log of the server says why"},
			{"a panic", func(th *things) { th.panicRun = true }, 500, "Failed inside Checkstack; the log of the server says why"},
		} {
			f := setup(t, d)
			p := f.propose(t, `{"value":"new"}`)
			tc.sabotage(f.things)
			_, err := f.g.Apply(f.ctx, p.Token)
			if status, body := problem.BodyOf(err); status != tc.status || strings.Contains(body.Message, "canary") {
				t.Errorf("%s: Apply = %d %s", tc.name, status, body.Message)
			}
			rec, rerr := f.g.Record(f.ctx, p.ID)
			if rerr != nil || rec.Status != Failed || rec.Error != tc.stored || !errors.Is(err, ErrFailed) {
				t.Errorf("%s: record %+v, %v", tc.name, rec, rerr)
			}
			f.things.failRun, f.things.panicRun = nil, false
			if _, err := f.g.Apply(f.ctx, p.Token); !errors.Is(err, ErrConsumed) || f.things.effects.Load() != 0 {
				t.Errorf("%s: a failed one runs again: %v", tc.name, err)
			}
		}
	})
}

func TestDecline(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		p := f.propose(t, `{"value":"new"}`)
		for range 2 { // twice is fine
			if err := f.g.Decline(f.ctx, p.Token); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := f.g.Apply(f.ctx, p.Token); !errors.Is(err, ErrConsumed) || f.things.effects.Load() != 0 {
			t.Errorf("Apply after decline = %v", err)
		}
		if rec, _ := f.g.Record(f.ctx, p.ID); rec.Status != Rejected {
			t.Errorf("status %s, want rejected", rec.Status)
		}
		done := f.propose(t, `{"value":"done"}`)
		if _, err := f.g.Apply(f.ctx, done.Token); err != nil {
			t.Fatal(err)
		}
		if err := f.g.Decline(f.ctx, done.Token); !errors.Is(err, ErrConsumed) {
			t.Errorf("Decline of an applied one = %v", err)
		}
	})
}

func TestSecretsStayInTheSealedPayload(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		var log bytes.Buffer
		f.g.log = slog.New(slog.NewTextHandler(&log, nil))
		p, err := f.g.Propose(f.ctx, "test.login", []byte(`{"url":"https://x","password":"canary-pass","config":{"Authorization":"canary-header","note":"Bearer canarycanarycanary"}}`), Origin{Transport: Chat})
		if err != nil {
			t.Fatal(err)
		}
		shown := string(p.Payload)
		for _, c := range p.Diff {
			shown += c.Path + string(c.Before) + string(c.After)
		}
		if _, err := f.g.Apply(f.ctx, p.Token); err != nil {
			t.Fatal(err)
		}
		if f.things.lastPass != "canary-pass" {
			t.Errorf("applied with password %q, want the real one", f.things.lastPass)
		}
		rec, err := f.g.Record(f.ctx, p.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range []string{"args_hash", "result_snapshot", "proposed_payload", "error"} {
			shown += f.column(t, column, p.ID)
		}
		shown += string(rec.Payload) + string(rec.Result) + log.String()
		if strings.Contains(shown, "canary") {
			t.Errorf("a secret is readable: %s", shown)
		}
		if !strings.Contains(string(p.Payload), `"password":"[REDACTED]"`) || !strings.Contains(shown, "password") {
			t.Errorf("payload %s, want a covered password", p.Payload)
		}
	})
}

func TestPayloadOfAnotherRowDoesNotOpen(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	a, b := f.propose(t, `{"value":"a"}`), f.propose(t, `{"value":"b"}`)
	if _, err := f.d.Write.NewRaw(`UPDATE ai_tool_calls SET proposed_payload = (SELECT proposed_payload FROM ai_tool_calls WHERE id = ?) WHERE id = ?`, a.ID, b.ID).Exec(f.ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := f.g.Apply(f.ctx, b.Token); err == nil || f.things.effects.Load() != 0 {
		t.Errorf("Apply with a swapped payload = %v", err)
	}
}

// A tool whose schema has become stricter must not run what was stored before.
func TestStoredPayloadIsValidatedAgain(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	p := f.propose(t, `{"value":"new"}`)
	type stricter struct {
		Value string `json:"value" maxLength:"2"`
	}
	ran := false
	reg, err := tool.NewRegistry([]tool.Tool{tool.DefineChange(
		tool.Spec{Name: "test.set", Description: "set", Effect: tool.Mutate, Access: []authz.Rule{ruleManage}},
		func(_ context.Context, in stricter) (tool.Preview[stricter], error) {
			ran = true
			return tool.Preview[stricter]{Payload: in}, nil
		},
		func(context.Context, stricter) (struct{}, error) { ran = true; return struct{}{}, nil })})
	if err != nil {
		t.Fatal(err)
	}
	f.tools = reg
	if _, err := f.gate(t, f.d).Apply(f.ctx, p.Token); !problem.Is(err, problem.KindInvalid) || ran {
		t.Errorf("Apply = %v, ran %v; want a refusal before anything runs", err, ran)
	}
}

func BenchmarkReadThroughGate(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		th := &things{}
		reg, err := tool.NewRegistry(th.tools())
		if err != nil {
			b.Fatal(err)
		}
		at := time.Now()
		g, err := New(Deps{DB: d, Tools: reg, Log: slog.New(slog.DiscardHandler), Now: func() time.Time {
			at = at.Add(2 * time.Second) // stays within the budget
			return at
		}})
		if err != nil {
			b.Fatal(err)
		}
		ctx := as("ada", "*")
		for b.Loop() {
			c, err := g.Prepare(ctx, "test.get", nil, Approve)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := g.Execute(ctx, c, Origin{Transport: Chat}); err != nil {
				b.Fatal(err)
			}
		}
	})
}
