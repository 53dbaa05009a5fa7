package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestOutdatedOrNot tells refusals that are final from those that pass.
func TestOutdatedOrNot(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, tc := range []struct {
			name   string
			change func(*things)
			by     context.Context
			status int
			final  bool
			says   string
		}{
			{"FC057 another edits it", func(th *things) { th.value, th.version = "theirs", 2 }, nil, 409, true, `value: was "old", is now "theirs"`},
			{"another does the same", func(th *things) { th.value, th.version = "new", 2 }, nil, 409, true, `value: was "old", is now "new"`},
			{"something else about it changes", func(th *things) { th.version = 2 }, nil, 409, true, "something else about it has changed"},
			{"FC057 another closes it", func(th *things) { th.version, th.closed = 2, true }, nil, 409, true, "The thing is closed"},
			{"FC057 another deletes it", func(th *things) { th.gone = true }, nil, 409, true, "This thing does not exist"},
			{"FC057 another deletes it, and somebody else applies", func(th *things) { th.gone = true }, as("bob", ruleManage.ID), 409, true, "This thing does not exist"},
			{"it is locked for now", func(th *things) { th.locked = true }, nil, 409, false, "unlock it first"},
		} {
			f := setup(t, d)
			p := f.propose(t, `{"value":"new"}`)
			f.things.mu.Lock()
			tc.change(f.things)
			f.things.mu.Unlock()
			ctx := f.ctx
			if tc.by != nil {
				ctx = tc.by
			}
			_, err := f.g.Apply(ctx, p.Token)
			e, ok := problem.As(err)
			if !ok || e.Status() != tc.status || !strings.Contains(e.Error(), tc.says) || errors.Is(err, ErrOutdated) != tc.final {
				t.Errorf("%s: Apply = %v", tc.name, err)
			}
			rec, err := f.g.Record(f.ctx, p.ID)
			if err != nil || rec.Outdated != tc.final || (rec.Status == Failed) != tc.final || (rec.Token == "") != tc.final {
				t.Errorf("%s: record %+v, %v", tc.name, rec, err)
			}
			if f.things.effects.Load() != 0 {
				t.Errorf("%s: it had an effect", tc.name)
			}
			if got, want := f.events.statuses(), map[bool]string{true: "proposed failed", false: "proposed"}[tc.final]; got != want {
				t.Errorf("%s: events %q, want %q", tc.name, got, want)
			}
			if tc.final {
				continue
			}
			f.things.mu.Lock()
			f.things.gone, f.things.locked = false, false
			f.things.mu.Unlock()
			if _, err := f.g.Apply(f.ctx, p.Token); err != nil {
				t.Errorf("%s: afterwards Apply = %v", tc.name, err)
			}
		}
	})
}

func TestOutdatedInTheInbox(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		agent := authz.With(context.Background(), authz.Principal{Kind: authz.Application, ID: "app", Rules: []string{ruleManage.ID}})
		p, err := f.g.Propose(agent, "test.set", json.RawMessage(`{"value":"new"}`), Origin{Transport: MCP})
		if err != nil {
			t.Fatal(err)
		}
		f.things.mu.Lock()
		f.things.version++
		f.things.mu.Unlock()
		list := func(ctx context.Context) *approvalsOutput {
			t.Helper()
			out, err := f.g.listApprovals(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		if out := list(f.ctx); len(out.Approvals) != 1 || len(out.Outdated) != 0 {
			t.Fatalf("before anybody tried: %+v", out)
		}
		if _, err := f.g.Approve(f.ctx, p.ID); !errors.Is(err, ErrOutdated) {
			t.Fatalf("Approve = %v", err)
		}
		out := list(f.ctx)
		if len(out.Approvals) != 0 || len(out.Outdated) != 1 || !out.Outdated[0].Outdated || !strings.Contains(out.Outdated[0].Error, "out of date") {
			t.Errorf("afterwards: %+v", out)
		}
		if out := list(as("eve", ruleRead.ID)); len(out.Outdated) != 0 {
			t.Errorf("shown to who may not change it: %+v", out.Outdated)
		}
		for name, err := range map[string]error{"Reject": f.g.Reject(f.ctx, p.ID), "Decline": f.g.Decline(f.ctx, p.Token)} {
			if !errors.Is(err, ErrConsumed) || !strings.Contains(err.Error(), "out of date") {
				t.Errorf("%s = %v", name, err)
			}
		}
		f.clock.add(InboxTTL)
		if out := list(f.ctx); len(out.Outdated) != 0 {
			t.Errorf("a day later: %+v", out.Outdated)
		}
	})
}

// Many find out at once that it is out of date: one says so, and it is told once.
func TestOutdatedIsClosedOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		p := f.propose(t, `{"value":"new"}`)
		f.things.mu.Lock()
		f.things.version++
		f.things.mu.Unlock()
		var wg sync.WaitGroup
		for range 20 {
			wg.Go(func() {
				if _, err := f.g.Apply(f.ctx, p.Token); !problem.Is(err, problem.KindConflict) || (!errors.Is(err, ErrOutdated) && !errors.Is(err, ErrConsumed)) {
					t.Errorf("Apply = %v", err)
				}
			})
		}
		wg.Wait()
		if got := f.events.statuses(); got != "proposed failed" || f.things.effects.Load() != 0 {
			t.Errorf("events %q, %d effects", got, f.things.effects.Load())
		}
	})
}
