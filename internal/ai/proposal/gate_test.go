package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"regexp"
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

func TestDecide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		effect tool.Effect
		mode   Mode
		want   Disposition
	}{
		{tool.Read, Approve, AutoRun},
		{tool.Read, Auto, AutoRun},
		{tool.Mutate, Approve, Propose},
		{tool.Mutate, Auto, AutoApply},
		{tool.Destructive, Approve, Propose},
		{tool.Destructive, Auto, Propose},
		{tool.Mutate, "", Propose},
		{tool.Mutate, "AUTO", Propose},
		{"unheard-of", Auto, Propose},
		{"", Auto, Propose},
	} {
		if got := decide(tc.effect, tc.mode); got != tc.want {
			t.Errorf("decide(%q, %q) = %s, want %s", tc.effect, tc.mode, got, tc.want)
		}
	}
}

// The table above tests values; this tests the structure: AutoApply is given in
// one place, and the mode is asked for in one place.
func TestAutoApplyHasOneSource(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var returns, autos []string
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.ReturnStmt:
					for _, r := range n.Results {
						if id, ok := r.(*ast.Ident); ok && id.Name == "AutoApply" {
							returns = append(returns, fn.Name.Name)
						}
					}
				case *ast.Ident:
					if n.Name == "Auto" {
						autos = append(autos, fn.Name.Name)
					}
				}
				return true
			})
		}
	}
	if got := strings.Join(returns, " "); got != "decideMutate" {
		t.Errorf("AutoApply is returned by %q, want decideMutate alone", got)
	}
	if got := strings.Join(autos, " "); got != "decideMutate" {
		t.Errorf("mode Auto is looked at by %q, want decideMutate alone", got)
	}
}

func TestHash(t *testing.T) {
	t.Parallel()
	th := &things{}
	s, err := shapeOf(th.tools()[0])
	if err != nil {
		t.Fatal(err)
	}
	hash := func(raw string) string {
		h, err := s.hash([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(h) {
			t.Fatalf("hash %q is not 64 hex digits", h)
		}
		return h
	}
	for _, tc := range []struct {
		name, a, b string
		equal      bool
	}{
		{"key order and space", `{"a":1,"b":{"c":2,"d":3}}`, "{ \"b\" : {\"d\":3,\"c\":2},\n\"a\":1}", true},
		{"list order", `{"a":[1,2]}`, `{"a":[2,1]}`, false},
		{"one instant in two zones", `{"at":"2026-07-01T22:00:00Z"}`, `{"at":"2026-07-02T00:00:00+02:00"}`, true},
		{"two instants", `{"at":"2026-07-01T22:00:00Z"}`, `{"at":"2026-07-01T23:00:00Z"}`, false},
		{"a plain text that looks like an instant", `{"id":"2026-07-01T22:00:00Z"}`, `{"id":"2026-07-02T00:00:00+02:00"}`, false},
		{"numbers", `{"a":30}`, `{"a":30.0}`, true},
		{"numbers differ", `{"a":30}`, `{"a":30.5}`, false},
		{"null is not absent", `{"a":null}`, `{}`, false},
		{"nothing is an empty object", ``, `{}`, true},
	} {
		if got := hash(tc.a) == hash(tc.b); got != tc.equal {
			t.Errorf("%s: equal = %v, want %v", tc.name, got, tc.equal)
		}
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		run := func(name, args string) (Outcome, error) {
			c, err := f.g.Prepare(f.ctx, name, []byte(args), Approve)
			if err != nil {
				t.Fatal(err)
			}
			return f.g.Execute(f.ctx, c, Origin{Transport: Chat})
		}
		out, err := run("test_get", `{"id":"canary-argument"}`)
		if err != nil || out.Result.(getOut).Value != "old" || out.Disposition != AutoRun || out.Proposal != nil {
			t.Fatalf("read = %+v, %v", out, err)
		}
		if got := f.column(t, "status", out.CallID); got != "executed" {
			t.Errorf("status = %q, want executed", got)
		}
		if got := f.column(t, "error", out.CallID); got != "" {
			t.Errorf("error of a good read = %q", got)
		}
		// A failing read leaves a row too, without the cause's text.
		for _, tc := range []struct{ name, args, text string }{
			{"test.get", `{"id":"missing"}`, "There is no such thing"},
			{"test.fail", `{}`, "Failed inside Checkstack; the log of the server says why"},
			{"test.fail", `{"panic":true}`, "Failed inside Checkstack; the log of the server says why"},
		} {
			out, err := run(tc.name, tc.args)
			if err == nil {
				t.Fatalf("%s %s succeeded", tc.name, tc.args)
			}
			if got := f.column(t, "status", out.CallID) + ": " + f.column(t, "error", out.CallID); got != "failed: "+tc.text {
				t.Errorf("%s %s: row says %q, want failed: %s", tc.name, tc.args, got, tc.text)
			}
		}
		if got := f.events.statuses(); got != "executed failed failed failed" {
			t.Errorf("events %q", got)
		}
		var dump string
		if err := f.d.Read.NewRaw("SELECT string_agg(args_hash || coalesce(CAST(result_snapshot AS TEXT), '') || coalesce(error, ''), ' ') FROM ai_tool_calls").Scan(context.Background(), &dump); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(dump, "canary") {
			t.Errorf("rows hold arguments or causes: %s", dump)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	valid := `{"value":"new"}`
	for _, tc := range []struct {
		name, tool, args string
		ctx              context.Context
		status           int
		text             string
	}{
		{"nobody", "test.set", valid, context.Background(), 401, "Authentication required"},
		{"service", "test.set", valid, authz.With(context.Background(), authz.Principal{Kind: authz.Service, ID: "x"}), 403, "Forbidden"},
		{"unknown tool", "test.nothing", valid, f.ctx, 404, `There is no tool called "test.nothing"`},
		{"rule missing", "test.set", valid, as("bob", ruleRead.ID), 403, "Forbidden: test.set (missing permission: test.thing.manage)"},
		{"a read cannot be proposed", "test.get", `{}`, f.ctx, 400, "test.get only reads"},
		{"arguments unfit", "test.set", `{"value":"","extra":1}`, f.ctx, 400, "Invalid input"},
		{"not JSON", "test.set", `{"value":`, f.ctx, 400, "not valid JSON"},
		{"not an object", "test.set", `"value"`, f.ctx, 400, "Invalid input"},
		{"dry run says no", "test.set", `{"value":"bad"}`, f.ctx, 400, "must not begin with bad; version: is odd"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := f.g.Propose(tc.ctx, tc.tool, []byte(tc.args), Origin{Transport: Chat})
			p, ok := problem.As(err)
			if !ok || p.Status() != tc.status || !strings.Contains(p.Error(), tc.text) {
				t.Errorf("Propose = %v, want %d with %q", err, tc.status, tc.text)
			}
		})
	}
	if n := f.things.dryRuns.Load(); n != 1 {
		t.Errorf("%d dry runs, want only that of the last row", n)
	}
}

// TestOverBudgetNothingRuns: a process knows its own calls, so what is above the
// budget is refused before it does any work, and tells exactly how long to wait.
func TestOverBudgetNothingRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		read := func() error {
			c, err := f.g.Prepare(f.ctx, "test.get", nil, Approve)
			if err != nil {
				return err
			}
			_, err = f.g.Execute(f.ctx, c, Origin{Transport: MCP})
			return err
		}
		if err := read(); err != nil {
			t.Fatal(err)
		}
		f.clock.add(10 * time.Second)
		var wg sync.WaitGroup
		for range 99 {
			wg.Go(func() {
				if err := read(); err != nil && !problem.Is(err, problem.KindTooMany) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if n := f.things.reads.Load(); n != BudgetCalls {
			t.Errorf("%d reads ran, want %d", n, BudgetCalls)
		}
		// The other replica learns from the rows.
		for _, g := range []*Gate{f.g, f.gate(t, d)} {
			_, err := g.Propose(f.ctx, "test.set", []byte(`{"value":"x"}`), Origin{Transport: MCP})
			if p, ok := problem.As(err); !ok || p.RetryAfter < 50*time.Second || p.RetryAfter > 51*time.Second {
				t.Errorf("over budget: %v, want to be told to wait 50 s", err)
			}
		}
		f.clock.add(50 * time.Second)
		if err := read(); err != nil {
			t.Errorf("the first call has left the window: %v", err)
		}
		if err := read(); !problem.Is(err, problem.KindTooMany) {
			t.Errorf("only one call has left the window: %v", err)
		}
		if n := f.things.reads.Load(); n != BudgetCalls+1 {
			t.Errorf("%d reads ran, want %d", n, BudgetCalls+1)
		}
	})
}

// TestAProbeLeavesItsRowFirst: a read that others outside notice has its row
// while it runs; any other has it when it is over.
func TestAProbeLeavesItsRowFirst(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		for name, during := range map[string]int{"test.get": 0, "test.probe": 1} {
			before := len(f.calls(t))
			f.things.onRead = func() {
				if n := len(f.calls(t)) - before; n != during {
					t.Errorf("%s: %d rows while it runs, want %d", name, n, during)
				}
			}
			c, err := f.g.Prepare(f.ctx, name, nil, Approve)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.g.Execute(f.ctx, c, Origin{Transport: MCP}); err != nil {
				t.Fatal(err)
			}
			if n := len(f.calls(t)) - before; n != 1 {
				t.Errorf("%s: %d rows afterwards, want 1", name, n)
			}
		}
	})
}

func TestFC061_BudgetIsExactAndShared(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		other := f.gate(t, d)
		var ok, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range 100 {
			g := []*Gate{f.g, other}[i%2]
			wg.Go(func() {
				c, err := g.Prepare(f.ctx, "test.get", nil, Approve)
				if err != nil {
					t.Error(err)
					return
				}
				_, err = g.Execute(f.ctx, c, Origin{Transport: Chat})
				switch {
				case err == nil:
					ok.Add(1)
				case problem.Is(err, problem.KindTooMany):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if ok.Load() != BudgetCalls || refused.Load() != 40 {
			t.Errorf("%d answered, %d refused; want 60, 40", ok.Load(), refused.Load())
		}
		if _, err := f.g.Propose(f.ctx, "test.set", []byte(`{"value":"x"}`), Origin{Transport: Chat}); !problem.Is(err, problem.KindTooMany) {
			t.Errorf("Propose over budget = %v, want TooMany", err)
		}
		if _, err := f.g.Propose(as("bob", ruleManage.ID), "test.set", []byte(`{"value":"x"}`), Origin{Transport: Chat}); err != nil {
			t.Errorf("somebody else's budget: %v", err)
		}
		f.clock.add(BudgetWindow)
		if _, err := f.g.Propose(f.ctx, "test.set", []byte(`{"value":"x"}`), Origin{Transport: Chat}); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestAutoApply(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		call := func(name, args string) (Outcome, error) {
			c, err := f.g.Prepare(f.ctx, name, []byte(args), Auto)
			if err != nil {
				t.Fatal(err)
			}
			return f.g.Execute(f.ctx, c, Origin{Transport: Chat})
		}
		out, err := call("test.set", `{"value":"new"}`)
		if err != nil || out.Disposition != AutoApply || out.Result.(getOut).Value != "new" || out.Proposal.Token != "" {
			t.Fatalf("auto set = %+v, %v", out, err)
		}
		if s := f.column(t, "status", out.CallID); s != "applied" {
			t.Errorf("status %q, want applied", s)
		}
		out, err = call("test.wipe", `{"value":"gone"}`)
		if err != nil || out.Disposition != Propose || out.Proposal.Token == "" || f.things.effects.Load() != 1 {
			t.Errorf("auto wipe = %+v, %v with %d effects; want a proposal and no effect", out, err, f.things.effects.Load())
		}
		// No token stays alive behind a change that failed.
		f.things.failRun = errors.New("canary")
		out, err = call("test.set", `{"value":"newer"}`)
		if !errors.Is(err, ErrFailed) || f.column(t, "status", out.CallID) != "failed" {
			t.Errorf("failed auto set = %v, row %s", err, f.column(t, "status", out.CallID))
		}
	})
}

func TestFinishSurvivesCaller(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	ctx, cancel := context.WithCancel(f.ctx)
	f.things.hold, f.things.held = make(chan struct{}), make(chan struct{})
	p := f.propose(t, `{"value":"new"}`)
	done := make(chan error, 1)
	go func() {
		_, err := f.g.Apply(ctx, p.Token)
		done <- err
	}()
	<-f.things.held
	rec, err := f.g.Record(f.ctx, p.ID)
	if err != nil || rec.Status != Applying || rec.Token != "" {
		t.Errorf("while it runs: %+v, %v; want applying without a token", rec, err)
	}
	cancel()
	close(f.things.hold)
	if err := <-done; err != nil {
		t.Errorf("Apply = %v; a consumed change must run to its end", err)
	}
	if rec, err = f.g.Record(f.ctx, p.ID); err != nil || rec.Status != Applied || !strings.Contains(string(rec.Result), "new") {
		t.Errorf("afterwards: %+v, %v", rec, err)
	}
}

func TestFC058_CrashWhileApplyingIsKnown(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		p := f.propose(t, `{"value":"new"}`)
		r, err := f.g.find(f.ctx, p.Token)
		if err != nil {
			t.Fatal(err)
		}
		// The process dies between the mark and the effect.
		if err := f.g.consume(f.ctx, authz.From(f.ctx), r); err != nil {
			t.Fatal(err)
		}
		f.clock.add(stuckAfter - time.Second)
		if err := f.g.Sweep(f.ctx); err != nil {
			t.Fatal(err)
		}
		if rec, _ := f.g.Record(f.ctx, p.ID); rec.Status != Applying {
			t.Errorf("too early: %s", rec.Status)
		}
		f.clock.add(time.Second)
		if err := f.g.Sweep(f.ctx); err != nil {
			t.Fatal(err)
		}
		rec, err := f.g.Record(f.ctx, p.ID)
		if err != nil || rec.Status != Failed || !strings.Contains(rec.Error, "may or may not have taken effect") {
			t.Errorf("after the sweep: %+v, %v", rec, err)
		}
		if _, err := f.g.Apply(f.ctx, p.Token); !errors.Is(err, ErrConsumed) {
			t.Errorf("Apply = %v, want consumed", err)
		}
	})
}

func TestRedactBySchemaAndName(t *testing.T) {
	t.Parallel()
	var root map[string]any
	if err := json.Unmarshal([]byte(`{"type":"object","properties":{"auth":{"$ref":"#/$defs/Auth"},"list":{"type":"array","items":{"$ref":"#/$defs/Auth"}}},
		"$defs":{"Auth":{"type":"object","properties":{"pin":{"type":"string","x-secret":true},"user":{"type":"string"}}}}}`), &root); err != nil {
		t.Fatal(err)
	}
	s := shape{root: root, defs: root["$defs"].(map[string]any)}
	got, err := s.redact([]byte(`{"auth":{"pin":"1","user":"u","password":"p"},"list":[{"pin":"2"}],"pin":"plain"}`))
	want := `{"auth":{"password":"[REDACTED]","pin":"[REDACTED]","user":"u"},"list":[{"pin":"[REDACTED]"}],"pin":"plain"}`
	if err != nil || string(got) != want {
		t.Errorf("redact = %s, %v, want %s", got, err, want)
	}
	for path, want := range map[string]bool{"auth.pin": true, "auth.user": false, "list[0].pin": true, "config.Authorization": true, "a.secretEnv.X": true, "pin": false, "(root)": false} {
		if got := s.secretPath(path); got != want {
			t.Errorf("secretPath(%q) = %v, want %v", path, got, want)
		}
	}
}
