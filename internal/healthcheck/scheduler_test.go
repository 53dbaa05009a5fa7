package healthcheck

import (
	"context"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

func TestChecksRunOnTheirOwn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.svc.clock = time.Now
		sys := b.system("Payments API")
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, b.svc)
		b.check(draft("http", 1), sys)
		b.eventually("two runs", func() bool { return b.count("health_check_runs") >= 2 })
		st, err := b.svc.SystemStatus(t.Context(), sys)
		if err != nil || st.Status != Healthy || st.Since.IsZero() {
			t.Errorf("got %+v, %v", st, err)
		}
		if err := b.svc.Start(t.Context()); err == nil {
			t.Error("a second start was accepted")
		}
		if b.signals.count("healthcheck.run.completed") == 0 || b.signals.count("healthcheck.system.status_changed") != 1 {
			t.Errorf("signals: %v", b.signals.list)
		}
		if s := b.svc.Stats(); s.Stored < 2 || s.Started < s.Stored || s.Lateness.Max > 10*time.Second {
			t.Errorf("stats: %+v", s)
		}
	})
}

func TestRunNowWakesAnyReplica(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.svc.clock = time.Now
		sys := b.system("S")
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer stop(t, b.svc)
		c := b.check(draft("slow", 86400), sys)
		b.eventually("the first run", func() bool { return b.count("health_check_runs") == 1 })
		if err := b.svc.RunNow(t.Context(), sys, c.ID); err != nil {
			t.Fatal(err)
		}
		b.eventually("the second run", func() bool { return b.count("health_check_runs") == 2 })
	})
}

func TestFC006_AStoppedMonitorLeavesAHole(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(draft("x", 60), sys)
		start := b.clock.now()
		for range 30 {
			b.tick(b.svc)
			b.clock.add(time.Minute)
		}
		gapStart := b.clock.now()
		b.clock.add(2 * time.Hour)
		again := b.replica(d, Options{})
		if err := again.prepareStart(t.Context()); err != nil {
			t.Fatal(err)
		}
		gapEnd := b.clock.now()
		for range 30 {
			b.tick(again)
			b.clock.add(time.Minute)
		}
		// 30 runs, and at most one more for the slot between the first run and the phase.
		if n := b.count("health_check_runs"); n < 58 || n > 61 {
			t.Errorf("%d runs, want about 60: none for the stop", n)
		}
		agg, err := again.Aggregated(t.Context(), sys, c.ID, start, b.clock.now(), 50)
		if err != nil {
			t.Fatal(err)
		}
		for _, bk := range agg.Buckets {
			if bk.Start.After(gapStart) && bk.End.Before(gapEnd) {
				t.Errorf("a bucket at %v, within the stop", bk.Start)
			}
			if bk.SuccessRate() != 1 {
				t.Errorf("success rate %v at %v", bk.SuccessRate(), bk.Start)
			}
		}
		if n := b.count("health_check_state_transitions"); n != 1 {
			t.Errorf("%d transitions, want only the first", n)
		}
	})
}

func TestFC007_AfterASuspendEachCheckRunsOnceAndSpread(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		for i := range 50 {
			b.check(draft(fmt.Sprint("c", i), 30), sys)
		}
		b.tick(b.svc)
		p := &pace{last: b.svc.now(), maintained: b.svc.now()}
		b.clock.add(3 * time.Hour)
		if err := b.svc.notice(t.Context(), p, b.svc.now()); err != nil {
			t.Fatal(err)
		}
		most, total := 0, 0
		for range 30 {
			b.clock.add(time.Second)
			n := b.tick(b.svc)
			total, most = total+n, max(most, n)
		}
		if total != 50 {
			t.Errorf("%d runs within one interval after the wake, want 50", total)
		}
		if most > 10 {
			t.Errorf("%d of 50 runs in one second", most)
		}
		if n := b.count("health_check_state_transitions"); n != 1 {
			t.Errorf("%d transitions, want only the first", n)
		}
	})
}

func TestFC007_AProbeThatWasSuspendedIsNotCounted(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		b.check(draft("x", 30), sys)
		b.probe.outcome(func(context.Context, probeConfig) error { b.clock.add(3 * time.Hour); return errDown })
		b.tick(b.svc)
		if n := b.count("health_check_runs"); n != 0 {
			t.Errorf("%d runs stored of a probe that slept", n)
		}
		b.probe.outcome(nil)
		b.clock.add(30 * time.Second)
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs after the wake, want 1", n)
		}
	})
}

func TestFC008_ClockStepsBackAndForward(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(draft("x", 30), sys)
		b.tick(b.svc)
		b.clock.add(31 * time.Second)
		b.probe.outcome(func(context.Context, probeConfig) error { b.clock.add(-3 * time.Hour); return nil })
		p := &pace{last: b.svc.now(), maintained: b.svc.now()}
		if b.tick(b.svc) != 1 {
			t.Fatal("no run before the step")
		}
		b.probe.outcome(nil)
		if err := b.svc.notice(t.Context(), p, b.svc.now()); err != nil {
			t.Fatal(err)
		}
		b.clock.add(31 * time.Second)
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs within one interval after the step back, want 1", n)
		}
		p.last = b.svc.now()
		b.clock.add(3 * time.Hour)
		if err := b.svc.notice(t.Context(), p, b.svc.now()); err != nil {
			t.Fatal(err)
		}
		b.clock.add(31 * time.Second)
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs after the step forward, want 1", n)
		}
		runs, total, err := b.svc.History(t.Context(), HistoryQuery{SystemID: sys, ConfigurationID: c.ID, Limit: 10})
		if err != nil || total != 4 {
			t.Fatalf("%d runs stored, %v", total, err)
		}
		for i := 1; i < len(runs); i++ {
			if runs[i].Timestamp.After(runs[i-1].Timestamp) {
				t.Error("history is not sorted")
			}
		}
		for _, r := range runs {
			if r.LatencyMs != nil && (*r.LatencyMs < 0 || *r.LatencyMs > 60_000) {
				t.Errorf("latency %d ms", *r.LatencyMs)
			}
		}
	})
}

func TestFC011_RestartDoesNotLineChecksUp(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.check(draft("seed", 60), b.system("seed"))
		populate(b, 1000, 10, 60, 0)
		again := b.replica(d, Options{})
		b.clock.add(10 * time.Minute)
		if err := again.prepareStart(t.Context()); err != nil {
			t.Fatal(err)
		}
		for minute := range 2 {
			total, most := 0, 0
			for second := range 60 {
				b.clock.add(time.Second)
				n := b.tick(again)
				if minute == 0 && second == 0 {
					n-- // the seed, which never ran
				}
				total, most = total+n, max(most, n)
			}
			if total < 1000 || total > 1001 {
				t.Errorf("%d runs in minute %d, want 1000 or 1001", total, minute)
			}
			if most > 50 {
				t.Errorf("%d of 1000 checks in one second", most)
			}
		}
	})
}

func TestFC012_ASlowProbeNeverOverlapsItself(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys, other := b.system("S"), b.system("T")
		c := b.check(draft("slow", 10), sys)
		ctx := t.Context()
		claims, err := b.svc.claimDue(ctx, b.svc.now(), 10)
		if err != nil || len(claims) != 1 {
			t.Fatalf("%d claims, %v", len(claims), err)
		}
		b.clock.add(11 * time.Second)
		if n := b.tick(b.svc); n != 0 {
			t.Errorf("%d runs while the first one is still going on", n)
		}
		// Another slice of the same check is not held up.
		if _, err := b.svc.Associate(ctx, other, c.ID, true, nil); err != nil {
			t.Fatal(err)
		}
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs of the other slice, want 1", n)
		}
		b.clock.add(24 * time.Second)
		f, err := finish(claims[0], b.svc.now(), okResult())
		if err != nil {
			t.Fatal(err)
		}
		if err := b.svc.writeBatch(ctx, []finished{f}); err != nil {
			t.Fatal(err)
		}
		slices, err := b.svc.checkStatuses(ctx, "a.system_id = ?", sys)
		if err != nil {
			t.Fatal(err)
		}
		if next := slices[0].NextRunAt.Sub(b.clock.now()); next <= 0 || next > 10*time.Second {
			t.Errorf("the next run is in %v, want within one interval", next)
		}
		if n := countRuns(b, sys); n != 1 {
			t.Errorf("%d runs stored, want 1: a deferred tick stores none", n)
		}
	})
}

func countRuns(b *bundle, systemID string) int {
	b.t.Helper()
	var n int
	if err := b.db.Read.NewRaw("SELECT count(*) FROM health_check_runs WHERE system_id = ?", systemID).Scan(b.t.Context(), &n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func TestFC013_TwoReplicasNeverRunASlotTwice(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	first, second := openReplica(t, url), openReplica(t, url)
	b := setup(t, first)
	b.svc.clock = time.Now
	other := b.svcOn(second)
	sys := b.system("S")
	const checks = 40
	var overlaps atomic.Int64
	var running [checks]atomic.Int64
	b.probe.outcome(func(_ context.Context, cfg probeConfig) error {
		i, _ := strconv.Atoi(strings.TrimPrefix(cfg.Target, "c"))
		if running[i].Add(1) > 1 {
			overlaps.Add(1)
		}
		running[i].Add(-1)
		return nil
	})
	for i := range checks {
		b.check(draft(fmt.Sprint("c", i), 1), sys)
	}
	for _, s := range []*Service{b.svc, other} {
		if err := s.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	b.eventually("some rounds by both", func() bool {
		return b.svc.Stats().Stored > 60 && other.Stats().Stored > 60
	})
	stop(t, b.svc)
	before := b.count("health_check_runs")
	b.eventually("the other one goes on", func() bool { return b.count("health_check_runs") > before+checks })
	stop(t, other)
	if overlaps.Load() > 0 {
		t.Errorf("%d overlapping runs", overlaps.Load())
	}
	// One run per slice and second of its phase.
	var rows []struct {
		SliceID int64
		ID      string
		PhaseMs int64
	}
	if err := b.db.Read.NewRaw(`SELECT r.slice_id, r.id, a.phase_ms FROM health_check_runs r
		JOIN health_check_assignments a ON a.slice_id = r.slice_id ORDER BY r.id`).Scan(t.Context(), &rows); err != nil {
		t.Fatal(err)
	}
	seen, skipped := map[[2]int64]bool{}, map[int64]bool{}
	for _, r := range rows {
		if !skipped[r.SliceID] {
			skipped[r.SliceID] = true // the first run is at once, whatever the phase
			continue
		}
		key := [2]int64{r.SliceID, (timeOfID(r.ID).UnixMilli() - r.PhaseMs) / 1000}
		if seen[key] {
			t.Errorf("slot %d of slice %d ran twice", key[1], key[0])
		}
		seen[key] = true
	}
}

func openReplica(t *testing.T, url string) *db.DB {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{URL: url, MaxOpenConns: 8})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := d.Migrate(t.Context(), testLog()); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestFC013_KilledOwnerIsReplacedWithinTheLease(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(Draft{Name: "x", StrategyID: kindID, Config: []byte(`{"target":"x","timeout":30000}`), IntervalSeconds: 60}, sys)
		entered := make(chan struct{}, 1)
		b.probe.outcome(func(ctx context.Context, _ probeConfig) error {
			entered <- struct{}{}
			<-ctx.Done()
			return ctx.Err()
		})
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-entered
		kill(b.svc)
		b.probe.outcome(nil)
		again := b.replica(d, Options{})
		if err := again.prepareStart(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := b.tick(again); n != 0 {
			t.Errorf("the slot of the killed run was run again (%d)", n)
		}
		b.clock.add(60 * time.Second)
		if d.Postgres() {
			// The lease is 30 s of timeout and 15 s of margin; it is over by now.
			var until int64
			if err := d.Read.NewRaw("SELECT claimed_until_ms FROM health_check_assignments WHERE configuration_id = ?", c.ID).Scan(t.Context(), &until); err != nil {
				t.Fatal(err)
			}
			if ofMs(until).After(b.clock.now()) {
				t.Errorf("the lease lasts until %v", ofMs(until))
			}
		}
		if n := b.tick(again); n != 1 {
			t.Errorf("%d runs one interval after the kill, want 1", n)
		}
		if n := b.count("health_check_runs"); n != 1 {
			t.Errorf("%d runs stored, want 1: nothing is made up for the killed one", n)
		}
	})
}

func TestFC014_FrequentRestartsDoNotStarveLongIntervals(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		b.check(draft("six hours", 6*3600), b.system("S"))
		runs := b.tick(b.svc)
		for range 24 {
			s := b.replica(d, Options{})
			if err := s.prepareStart(t.Context()); err != nil {
				t.Fatal(err)
			}
			for range 60 {
				runs += b.tick(s)
				b.clock.add(time.Minute)
			}
		}
		if runs < 4 || runs > 6 {
			t.Errorf("%d runs in a day of hourly restarts, want the first and four or five more", runs)
		}
	})
}

func TestFC026_FailureCounterResetsAndSurvivesRestart(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		for _, tc := range []struct {
			before, after string
			want          []Status
		}{
			{"FSFSF", "SFSF", []Status{Healthy, Healthy, Healthy, Healthy}},
			{"FFS", "FF", []Status{Healthy, Degraded}},
			{"FFFF", "SF", []Status{Healthy, Healthy}},
			{"FFFF", "FS", []Status{Unhealthy, Healthy}},
		} {
			sys := b.system(tc.before + tc.after)
			c := b.check(draft("x", 60), sys)
			b.play(sys, tc.before, time.Minute)
			b.svc = b.replica(d, Options{}) // a restart in the middle
			got := b.play(sys, tc.after, time.Minute)
			for i := range tc.want {
				if got[i] != tc.want[i] {
					t.Errorf("%s then %s: after run %d got %s, want %s", tc.before, tc.after, i+1, got[i], tc.want[i])
				}
			}
			if n := countRuns(b, sys); n != len(tc.before)+len(tc.after) {
				t.Errorf("%d runs stored, want all %d", n, len(tc.before)+len(tc.after))
			}
			if err := b.svc.Delete(t.Context(), c.ID); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestFC027_RestartRepeatsNoTransition(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		b.check(draft("x", 60), sys)
		b.play(sys, "SFFFFF", time.Minute)
		for range 3 {
			b.svc = b.replica(d, Options{})
			b.play(sys, "F", time.Minute)
		}
		b.svc = b.replica(d, Options{})
		b.play(sys, "S", time.Minute)
		b.play(sys, "FS", time.Minute) // below the threshold
		list, err := b.svc.RecentTransitions(t.Context(), 20)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := len(list) - 1; i >= 0; i-- {
			got = append(got, string(list[i].From)+">"+string(list[i].To))
		}
		want := "[>healthy healthy>degraded degraded>unhealthy unhealthy>healthy]"
		if fmt.Sprint(got) != want {
			t.Errorf("got %v, want %s", got, want)
		}
	})
}

func TestFC032_ADatabaseHiccupIsNotAnOutage(t *testing.T) {
	t.Parallel()
	d := dbtest.Postgres(t)
	b := setup(t, d)
	b.svc.clock = time.Now
	sys := b.system("S")
	for i := range 20 {
		b.check(draft(fmt.Sprint("c", i), 1), sys)
	}
	if err := b.svc.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer stop(t, b.svc)
	b.eventually("runs", func() bool { return b.count("health_check_runs") > 20 })
	// Someone holds the table of runs, then every connection dies.
	tx, err := d.Write.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.ExecContext(t.Context(), "LOCK TABLE health_check_runs IN ACCESS EXCLUSIVE MODE"); err != nil {
		t.Fatal(err)
	}
	begun := b.svc.Stats().Started
	b.eventually("probes while nothing can be stored", func() bool { return b.svc.Stats().Started > begun+10 })
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	// application_name is the same for all tests, so each pool's own ids are asked for.
	pids := map[int]bool{}
	for range 4 {
		var pid int
		if err := d.Write.NewRaw("SELECT pg_backend_pid()").Scan(t.Context(), &pid); err != nil {
			t.Fatal(err)
		}
		pids[pid] = true
	}
	killer := openReplica(t, d.PostgresURL())
	for pid := range pids {
		if _, err := killer.Write.NewRaw("SELECT pg_terminate_backend(?)", pid).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	stored := b.svc.Stats().Stored
	b.eventually("results are stored again", func() bool { return b.svc.Stats().Stored > stored+40 })
	st, err := b.svc.SystemStatus(t.Context(), sys)
	if err != nil || st.Status != Healthy {
		t.Errorf("got %s, %v", st.Status, err)
	}
	if n := b.count("health_check_state_transitions"); n != 1 {
		t.Errorf("%d transitions, want only the first", n)
	}
	var failing int
	if err := d.Read.NewRaw("SELECT count(*) FROM health_check_runs WHERE status <> 'healthy'").Scan(t.Context(), &failing); err != nil || failing > 0 {
		t.Errorf("%d failing runs were made up, %v", failing, err)
	}
}

func TestFC035_CleanUpInBatchesKeepsTheRest(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(draft("x", 60), sys)
		b.tick(b.svc)
		key := sliceRow{SliceID: sliceID(sys, c.ID), SystemID: sys, ConfigurationID: c.ID}
		fillHistory(b, []sliceRow{key}, 6*1440)
		b.clock.add(3 * 24 * time.Hour) // the stop
		if err := b.svc.Retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Six days were stored before a stop of three: two of them are too old.
		if n := b.count("health_check_runs"); n < 4*1440-2 || n > 4*1440+2 {
			t.Errorf("%d runs are left, want about %d", n, 4*1440)
		}
		if n := b.count("health_check_state_transitions"); n != 1 {
			t.Errorf("%d transitions, want the newest to stay", n)
		}
		b.tick(b.svc)
		runs, _, err := b.svc.History(t.Context(), HistoryQuery{SystemID: sys, Limit: 1})
		if err != nil || len(runs) != 1 || !runs[0].Timestamp.Equal(b.svc.now()) {
			t.Errorf("the newest run is not shown: %v, %v", runs, err)
		}
	})
}

func TestStopStoresWhatRuns(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		entered, leave := make(chan struct{}), make(chan struct{})
		b.probe.outcome(func(context.Context, probeConfig) error { close(entered); <-leave; return nil })
		b.check(draft("x", 60), sys)
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-entered
		done := make(chan struct{})
		go func() { defer close(done); stop(t, b.svc) }()
		close(leave)
		<-done
		if n := b.count("health_check_runs"); n != 1 {
			t.Errorf("%d runs stored, want the one that was running", n)
		}
	})
}

func TestStopDoesNotWaitForeverAndInventsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		entered := make(chan struct{})
		b.probe.outcome(func(ctx context.Context, _ probeConfig) error { close(entered); <-ctx.Done(); return ctx.Err() })
		b.check(draft("x", 60), b.system("S"))
		if err := b.svc.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-entered
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := b.svc.Stop(ctx); err != nil {
			t.Fatal(err)
		}
		if n := b.count("health_check_runs"); n != 0 {
			t.Errorf("%d runs stored of a probe that was cut off", n)
		}
		var held int
		if err := d.Read.NewRaw("SELECT count(*) FROM health_check_assignments WHERE claimed_until_ms > 0").Scan(t.Context(), &held); err != nil || held > 0 {
			t.Errorf("%d claims are still held, %v", held, err)
		}
	})
}

func TestOneRefusedResultDoesNotKeepTheOthers(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		for i := range 5 {
			b.check(draft(fmt.Sprint("c", i), 60), sys)
		}
		claims, err := b.svc.claimDue(t.Context(), b.svc.now(), 10)
		if err != nil || len(claims) != 5 {
			t.Fatalf("%d claims, %v", len(claims), err)
		}
		var batch []finished
		for _, c := range claims {
			f, err := finish(c, b.svc.now(), okResult())
			if err != nil {
				t.Fatal(err)
			}
			batch = append(batch, f)
		}
		batch[3].run.ID = batch[0].run.ID
		b.svc.record(t.Context(), batch)
		if n := b.count("health_check_runs"); n != 4 {
			t.Errorf("%d runs stored, want the 4 that can be", n)
		}
	})
}

func okResult() strategy.Result {
	return strategy.Result{Status: Healthy, Message: "Completed in 1ms", LatencyMs: new(int64(1)), Metadata: strategy.Metadata{Connected: true}}
}

// TestBusyWorkersAreTold: targets that hang take all workers, and other checks
// then run late for a reason nobody could see.
func TestBusyWorkersAreTold(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	var logs strings.Builder
	b.svc.log = slog.New(slog.NewTextHandler(&logs, nil))
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	b.svc.clock = func() time.Time { return now }
	p := &pace{last: now}
	for step, want := range []struct {
		after time.Duration
		lines int
	}{{time.Second, 0}, {gap, 1}, {30 * time.Second, 1}, {maintainEvery, 2}, {-time.Hour, 2}} {
		now = now.Add(want.after)
		b.svc.noticeBusy(t.Context(), p)
		if got := strings.Count(logs.String(), "all workers are busy"); got != want.lines {
			t.Errorf("step %d: told %d times, want %d", step, got, want.lines)
		}
	}
}
