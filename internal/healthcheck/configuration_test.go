package healthcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestCreateReportsEveryFaultAndMakesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		_, err := b.svc.Create(t.Context(), Draft{Name: " ", StrategyID: kindID, Config: json.RawMessage(`{"timeout":1,"unknown":"canary-value"}`)},
			[]string{sys, "00000000-0000-7000-8000-000000000000"})
		p, ok := problem.As(err)
		if !ok {
			t.Fatalf("got %v", err)
		}
		var paths []string
		for _, is := range p.Issues {
			paths = append(paths, is.Path)
		}
		want := []string{"name", "intervalSeconds", "config.timeout", "config.target", "config.unknown", "systemIds[1]"}
		if d := cmp.Diff(want, paths); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if strings.Contains(err.Error(), "canary-value") {
			t.Error("the submitted value is repeated")
		}
		if b.count("health_check_configurations") != 0 || b.count("health_check_assignments") != 0 {
			t.Error("something was created")
		}
		if _, err := b.svc.Create(t.Context(), draft(strings.Repeat("x", 201), 604801), nil); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSecretsAreKeptApart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := t.Context()
		sys := b.system("S")
		got := make(chan string, 1)
		b.probe.outcome(func(_ context.Context, c probeConfig) error { got <- c.Password; return nil })
		password := func() string {
			b.clock.add(time.Minute)
			b.tick(b.svc)
			select {
			case p := <-got:
				return p
			default:
				t.Fatal("no run")
				return ""
			}
		}
		with := func(config string) Draft {
			return Draft{Name: "x", StrategyID: kindID, Config: json.RawMessage(config), IntervalSeconds: 60}
		}
		c := b.check(with(`{"target":"x","password":"canary-1"}`), sys)
		if p := password(); p != "canary-1" {
			t.Errorf("the run got %q", p)
		}
		if d := cmp.Diff([]string{"config.password"}, c.ConfiguredSecrets); d != "" {
			t.Error(d)
		}
		var row string
		if err := d.Read.NewRaw("SELECT config FROM health_check_configurations").Scan(ctx, &row); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(row, "canary") || strings.Contains(string(c.Config), "canary") || strings.Contains(string(c.Config), stored) {
			t.Errorf("row %s, answer %s", row, c.Config)
		}
		update := func(config string) Configuration {
			t.Helper()
			out, err := b.svc.Update(ctx, c.ID, Change{Config: json.RawMessage(config)}, nil)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		update(`{"target":"y","password":""}`)
		if p := password(); p != "canary-1" {
			t.Errorf("blank: the run got %q", p)
		}
		update(`{"target":"y"}`)
		if p := password(); p != "canary-1" {
			t.Errorf("absent: the run got %q", p)
		}
		update(`{"target":"y","password":"canary-2"}`)
		if p := password(); p != "canary-2" {
			t.Errorf("replaced: the run got %q", p)
		}
		if out := update(`{"target":"y","password":null}`); len(out.ConfiguredSecrets) != 0 {
			t.Errorf("cleared: %v", out.ConfiguredSecrets)
		}
		if p := password(); p != "" {
			t.Errorf("cleared: the run got %q", p)
		}
		if n := b.count("secrets"); n != 0 {
			t.Errorf("%d secrets are left", n)
		}
		if _, err := b.svc.Update(ctx, c.ID, Change{Config: json.RawMessage(`{"target":"y","password":"${{ secrets.X }}"}`)}, nil); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("a reference: got %v", err)
		}
		update(`{"target":"y","password":"canary-3"}`)
		if err := b.svc.Delete(ctx, c.ID); err != nil {
			t.Fatal(err)
		}
		if n := b.count("secrets"); n != 0 {
			t.Errorf("%d secrets are left after the deletion", n)
		}
	})
}

func TestMissingSecretFailsTheRunPlainly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(Draft{Name: "x", StrategyID: kindID, Config: json.RawMessage(`{"target":"x","password":"p4ssword"}`), IntervalSeconds: 60}, sys)
		if _, err := d.Write.NewRaw("DELETE FROM secrets").Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.tick(b.svc)
		runs, _, err := b.svc.DetailedHistory(t.Context(), HistoryQuery{SystemID: sys, ConfigurationID: c.ID, Limit: 1})
		if err != nil || len(runs) != 1 || runs[0].Status != Unhealthy || runs[0].Message != errSecretMissing.Error() || b.probe.runs.Load() != 0 {
			t.Errorf("got %+v, %v", runs, err)
		}
	})
}

func TestStaleVersionIsRefused(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		c := b.check(draft("x", 60))
		const writers = 8
		errs := make([]error, writers)
		var wg sync.WaitGroup
		for i := range writers {
			wg.Go(func() {
				name := fmt.Sprint("name ", i)
				_, errs[i] = b.svc.Update(t.Context(), c.ID, Change{Name: &name}, &c.Version)
			})
		}
		wg.Wait()
		won := 0
		for _, err := range errs {
			switch {
			case err == nil:
				won++
			case !problem.Is(err, problem.KindConflict):
				t.Errorf("got %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d writers won, want 1", won)
		}
		if _, err := b.svc.Update(t.Context(), newID(), Change{}, nil); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestEditsAreJudgedAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := t.Context()
		sys := b.system("S")
		c := b.check(draft("x", 60), sys)
		b.play(sys, "SFFF", time.Minute)
		expect := func(what string, want Status) {
			t.Helper()
			st, err := b.svc.SystemStatus(ctx, sys)
			if err != nil || st.Status != want {
				t.Errorf("%s: got %s, want %s (%v)", what, st.Status, want, err)
			}
		}
		expect("three failures", Degraded)
		associate := func(enabled bool, th *Thresholds) {
			t.Helper()
			if _, err := b.svc.Associate(ctx, sys, c.ID, enabled, th); err != nil {
				t.Fatal(err)
			}
		}
		associate(true, &Thresholds{Mode: Consecutive, UnhealthyAfter: 3})
		expect("stricter", Unhealthy)
		associate(true, &Thresholds{Mode: Window, DegradedAfter: 4, UnhealthyAfter: 5})
		expect("looser", Healthy)
		associate(true, nil)
		expect("default", Degraded)
		associate(false, nil)
		expect("disabled", Unknown)
		associate(true, nil)
		expect("enabled", Degraded)
		if err := b.svc.SetPaused(ctx, c.ID, true); err != nil {
			t.Fatal(err)
		}
		expect("paused", Unknown)
		b.clock.add(time.Hour)
		if n := b.tick(b.svc); n != 0 {
			t.Errorf("%d runs while paused", n)
		}
		if err := b.svc.RunNow(ctx, sys, c.ID); !problem.Is(err, problem.KindConflict) {
			t.Errorf("run now while paused: %v", err)
		}
		if err := b.svc.SetPaused(ctx, c.ID, false); err != nil {
			t.Fatal(err)
		}
		expect("resumed", Degraded)
		b.probe.outcome(nil)
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs at once after resuming, want 1", n)
		}
		expect("recovered", Healthy)
		if err := b.svc.Disassociate(ctx, sys, c.ID); err != nil {
			t.Fatal(err)
		}
		expect("taken off", Unknown)
		if runs, total, err := b.svc.History(ctx, HistoryQuery{SystemID: sys, ConfigurationID: c.ID, Limit: 10}); err != nil || total != 5 || len(runs) != 5 {
			t.Errorf("history after taking off: %d, %v", total, err)
		}
		if err := b.svc.Disassociate(ctx, sys, c.ID); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func TestDeletionLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := t.Context()
		s1, s2 := b.system("A"), b.system("B")
		gone, stays := b.check(draft("gone", 60), s1, s2), b.check(draft("stays", 60), s1, s2)
		b.tick(b.svc)
		runs, _, err := b.svc.History(ctx, HistoryQuery{ConfigurationID: gone.ID, Limit: 10})
		if err != nil || len(runs) != 2 {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		if err := b.svc.Delete(ctx, gone.ID); err != nil {
			t.Fatal(err)
		}
		if err := b.cat.DeleteSystem(ctx, s2); err != nil {
			t.Fatal(err)
		}
		for _, q := range []HistoryQuery{{Limit: 10}, {ConfigurationID: stays.ID, Limit: 10}, {SystemID: s1, Limit: 10}} {
			if got, total, err := b.svc.History(ctx, q); err != nil || len(got) != 1 || total != 1 || got[0].SystemID != s1 || got[0].ConfigurationID != stays.ID {
				t.Errorf("%+v: got %v, %d, %v", q, got, total, err)
			}
		}
		if _, err := b.svc.Run(ctx, runs[0].ID); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("a run of the deleted check: %v", err)
		}
		if err := b.svc.purgeOrphans(ctx); err != nil {
			t.Fatal(err)
		}
		if n := b.count("health_check_runs"); n != 1 {
			t.Errorf("%d runs are left, want 1", n)
		}
		if list, err := b.svc.RecentTransitions(ctx, 10); err != nil || len(list) != 1 {
			t.Errorf("transitions: %v, %v", list, err)
		}
		for range 2 { // events may come twice
			if err := b.svc.ForgetSystem(ctx, s2); err != nil {
				t.Fatal(err)
			}
		}
		if n := b.count("health_check_state_transitions"); n != 1 {
			t.Errorf("%d transitions are left, want that of the other system", n)
		}
		if len(b.svc.purge) != 1 {
			t.Error("nobody looks for the runs of the deleted system")
		}
	})
}

func TestAResultForADeletedCheckIsDropped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(draft("x", 60), sys)
		b.probe.outcome(func(context.Context, probeConfig) error {
			return b.svc.Delete(context.WithoutCancel(t.Context()), c.ID)
		})
		b.tick(b.svc)
		if n := b.count("health_check_runs"); n != 0 {
			t.Errorf("%d runs stored", n)
		}
	})
}

func TestIntervalChangeTakesEffectAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		c := b.check(draft("x", 86400), b.system("S"))
		b.tick(b.svc)
		if _, err := b.svc.Update(t.Context(), c.ID, Change{IntervalSeconds: new(10)}, nil); err != nil {
			t.Fatal(err)
		}
		b.clock.add(10 * time.Second)
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs, want 1", n)
		}
	})
}

func TestIssuesForTheDashboard(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		bad, good, fresh := b.system("Payments API"), b.system("Good"), b.system("Fresh")
		b.check(draft("HTTP check", 60), bad)
		b.check(draft("ok", 60), bad, good)
		b.probe.outcome(func(_ context.Context, c probeConfig) error {
			if c.Target == "HTTP check" {
				return errDown
			}
			return nil
		})
		for range 5 {
			b.tick(b.svc)
			b.clock.add(time.Minute)
		}
		c := b.check(draft("later", 60), fresh)
		sum, err := b.svc.Issues(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if sum.Watched != 3 || sum.Healthy != 1 || sum.Pending != 1 || sum.LastRunAt.IsZero() || len(sum.Issues) != 1 {
			t.Fatalf("got %+v", sum)
		}
		is := sum.Issues[0]
		if is.SystemID != bad || is.SystemName != "Payments API" || is.Status != Unhealthy || is.Label != "1 of 2 checks failing" ||
			is.Detail != "HTTP check: connection refused, 5 of 5 runs" || is.Since.IsZero() {
			t.Errorf("got %+v", is)
		}
		if list, err := b.svc.DependentsOf(t.Context(), fresh); err != nil || len(list) != 1 || !strings.Contains(list[0], "later") {
			t.Errorf("got %v, %v (%s)", list, err, c.ID)
		}
	})
}

func TestAggregatedHistory(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(draft("x", 60), sys)
		start := b.clock.now()
		var batch []finished
		for i := range 100 {
			at := start.Add(time.Duration(i) * time.Second)
			res := okResult()
			res.LatencyMs = new(int64(i + 1))
			if i%10 == 9 {
				res.Status, res.LatencyMs = Unhealthy, nil
			}
			f, err := finish(claim{SliceID: sliceID(sys, c.ID), SystemID: sys, ConfigurationID: c.ID}, at, res)
			if err != nil {
				t.Fatal(err)
			}
			batch = append(batch, f)
		}
		if err := b.svc.writeBatch(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		agg, err := b.svc.Aggregated(t.Context(), sys, c.ID, start, start.Add(100*time.Second), 10)
		if err != nil {
			t.Fatal(err)
		}
		if agg.Interval != 10*time.Second || len(agg.Buckets) != 10 {
			t.Fatalf("interval %v, %d buckets", agg.Interval, len(agg.Buckets))
		}
		want := Bucket{Start: start.Add(10 * time.Second), End: start.Add(20 * time.Second), Runs: 10, Healthy: 9, Unhealthy: 1,
			Avg: new(int64(15)), Min: new(int64(11)), Max: new(int64(19)), P50: new(int64(15)), P95: new(int64(19))}
		if d := cmp.Diff(want, agg.Buckets[1]); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if _, err := b.svc.Aggregated(t.Context(), sys, c.ID, start, start, 10); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("empty range: %v", err)
		}
		page, total, err := b.svc.History(t.Context(), HistoryQuery{SystemID: sys, Start: start.Add(10 * time.Second), End: start.Add(20 * time.Second), Limit: 3, Offset: 2})
		if err != nil || total != 10 || len(page) != 3 || !page[0].Timestamp.Equal(start.Add(17*time.Second)) {
			t.Errorf("page %v of %d, %v", page, total, err)
		}
		for _, q := range []HistoryQuery{{Status: Unhealthy, Limit: 100}, {Status: Unhealthy, SystemID: sys, Limit: 100}, {Status: Unhealthy, ConfigurationID: c.ID, Limit: 100, Ascending: true}} {
			if page, total, err := b.svc.History(t.Context(), q); err != nil || total != 10 || len(page) != 10 {
				t.Errorf("%+v: %d of %d, %v", q, len(page), total, err)
			}
		}
	})
}
