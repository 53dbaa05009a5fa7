package proposal

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func begins(id, principal string) *entry {
	return &entry{gone: func() error { return nil }, done: make(chan error, 1), row: &newRow{ID: id, Kind: authz.User, Principal: principal,
		Transport: MCP, Tool: "test.get", Effect: tool.Read, Hash: "h", Status: Failed, Error: interrupted, who: Who{authz.User, principal}, at: time.Now()}}
}

func ends(id string, s Status, why any) *entry {
	return &entry{gone: func() error { return nil }, done: make(chan error, 1), end: &ending{ID: id, Status: s, Error: why}}
}

func (f *fixture) calls(t *testing.T) (rows []string) {
	t.Helper()
	err := f.d.Read.NewRaw(`SELECT id || ' ' || principal_id || ' ' || status || ' ' || coalesce(error, '-') || CASE WHEN finished_at IS NULL THEN '' ELSE ' done' END
		FROM ai_tool_calls ORDER BY id`).Scan(context.Background(), &rows)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestLedgerKeepsEntriesApart: calls that share a transaction share nothing
// else. One that cannot be stored and one without budget leave the others be.
func TestLedgerKeepsEntriesApart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		l := &f.g.ledger
		settle := func(batch ...*entry) []error {
			l.settle(t.Context(), batch)
			var errs []error
			for _, e := range batch {
				errs = append(errs, <-e.done)
			}
			return errs
		}
		if errs := settle(begins("a", "ada"), begins("b", "bob")); errs[0] != nil || errs[1] != nil {
			t.Fatal(errs)
		}
		errs := settle(ends("a", Executed, nil), begins("b", "eve"), begins("c", "eve"), ends("b", Failed, "why 'not'"), ends("gone", Executed, nil))
		if errs[0] != nil || !db.IsUnique(errs[1]) || errs[2] != nil || errs[3] != nil || errs[4] != nil {
			t.Fatalf("answers %v; want only the id that exists refused", errs)
		}
		want := []string{"a ada executed - done", "b bob failed why 'not' done", "c eve failed " + interrupted}
		if diff := cmp.Diff(want, f.calls(t)); diff != "" {
			t.Error(diff)
		}
		var batch []*entry
		for i := range BudgetCalls {
			batch = append(batch, begins(fmt.Sprintf("e%02d", i), "eve"), begins(fmt.Sprintf("f%02d", i), "fay"))
		}
		for i, err := range settle(batch...) {
			late := i == 2*BudgetCalls-2 // eve's last: one call is used already
			if late != errors.Is(err, errSpent) || (!late && err != nil) {
				t.Errorf("entry %d: %v", i, err)
			}
		}
		if n := len(f.calls(t)); n != 2+2*BudgetCalls {
			t.Errorf("%d rows, want %d", n, 2+2*BudgetCalls)
		}
	})
}

// TestLedgerForgetsWhoLeft: a call whose caller is gone before its turn leaves
// no row, because no work will follow.
func TestLedgerForgetsWhoLeft(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gone, leave := context.WithCancel(t.Context())
		leave()
		if err := f.g.ledger.put(gone, begins("a", "ada")); !errors.Is(err, context.Canceled) {
			t.Errorf("put = %v, want Canceled", err)
		}
		if err := f.g.ledger.put(t.Context(), begins("b", "bob")); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"b bob failed " + interrupted}, f.calls(t)); diff != "" {
			t.Error(diff)
		}
	})
}
