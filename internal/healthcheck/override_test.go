package healthcheck

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/problem"
)

// force says something about systems as an incident would.
func (b *bundle) force(id, title string, status Status, systems ...string) {
	b.t.Helper()
	if err := b.svc.forced(b.t.Context(), OverrideSet{"incident", id, title, status, systems}); err != nil {
		b.t.Fatal(err)
	}
}

func (s *Service) forced(ctx context.Context, o OverrideSet) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error { return s.SetOverrides(ctx, tx, o) })
}

func (b *bundle) status(system string) SystemStatus {
	b.t.Helper()
	st, err := b.svc.SystemStatus(b.t.Context(), system)
	if err != nil {
		b.t.Fatal(err)
	}
	return st
}

func (b *bundle) is(when, system string, want, measured Status) {
	b.t.Helper()
	if st := b.status(system); st.Status != want || st.Measured != measured {
		b.t.Errorf("%s: %s by hand and checks, %s by checks; want %s and %s", when, st.Status, st.Measured, want, measured)
	}
}

// TestOverrideOfASystemWithoutChecks: it is unhealthy while an incident says so,
// on every surface, and unknown again afterwards.
func TestOverrideOfASystemWithoutChecks(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys, other := b.system("Shop"), b.system("Other")
		b.is("before", sys, Unknown, Unknown)
		b.force("i1", "Database is down", Unhealthy, sys)
		b.is("forced", sys, Unhealthy, Unknown)
		b.is("not meant", other, Unknown, Unknown)
		began := b.clock.now()
		st := b.status(sys)
		if d := cmp.Diff([]Override{{"incident", "i1", "Database is down", Unhealthy, began}}, st.Overrides); d != "" || !st.Since.Equal(began) {
			t.Errorf("since %v; overrides (-want +got)\n%s", st.Since, d)
		}
		sum, err := b.svc.Issues(admin(t.Context()))
		if err != nil || len(sum.Issues) != 1 || sum.Watched != 0 || sum.Pending != 0 {
			t.Fatalf("got %+v, %v", sum, err)
		}
		want := Issue{SystemID: sys, SystemName: "Shop", Status: Unhealthy, Since: began, Label: "Unhealthy - forced by incident: Database is down"}
		if d := cmp.Diff(want, sum.Issues[0], cmp.AllowUnexported(Issue{})); d != "" {
			t.Errorf("issue (-want +got)\n%s", d)
		}
		b.clock.add(time.Hour)
		b.force("i1", "Database is down", "")
		b.is("lifted", sys, Unknown, Unknown)
		if st := b.status(sys); len(st.Overrides) != 0 || !st.Since.IsZero() {
			t.Errorf("lifted: %+v", st)
		}
		if sum, err := b.svc.Issues(admin(t.Context())); err != nil || len(sum.Issues) != 0 {
			t.Errorf("lifted: %+v, %v", sum, err)
		}
		list, err := b.svc.RecentTransitions(t.Context(), 10)
		if err != nil || len(list) != 2 || list[0].To != Unknown || list[0].From != Unhealthy || list[1].To != Unhealthy || list[1].From != "" {
			t.Errorf("transitions %+v, %v", list, err)
		}
	})
}

// TestOverrideOnlyWorsens: the worst of what is measured and what is said.
func TestOverrideOnlyWorsens(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Shop")
		b.check(draft("HTTP", 60), sys)
		b.play(sys, "FFFFF", time.Minute)
		b.is("measured", sys, Unhealthy, Unhealthy)
		b.force("i1", "Slow", Degraded, sys)
		b.is("degraded is said of what is unhealthy", sys, Unhealthy, Unhealthy)
		b.play(sys, "S", time.Minute)
		b.is("the check recovers", sys, Degraded, Healthy)
		b.force("i2", "Down", Unhealthy, sys)
		b.is("a second incident is worse", sys, Unhealthy, Healthy)
		if o := b.status(sys).Overrides; len(o) != 2 || o[0].Title != "Down" {
			t.Errorf("the worst must come first: %+v", o)
		}
		sum, err := b.svc.Issues(admin(t.Context()))
		if err != nil || len(sum.Issues) != 1 || sum.Issues[0].Label != "Unhealthy - forced by incident: Down" ||
			sum.Issues[0].Detail != "Its check is not failing" || sum.Healthy != 0 || sum.Watched != 1 {
			t.Errorf("got %+v, %v", sum, err)
		}
		b.play(sys, "FF", time.Minute)
		b.is("the check fails, too", sys, Unhealthy, Degraded)
		sum, err = b.svc.Issues(admin(t.Context()))
		if want := "HTTP: connection refused, 7 of 8 runs. Unhealthy - forced by incident: Down"; err != nil || sum.Issues[0].Label != "Check failing" || sum.Issues[0].Detail != want {
			t.Errorf("got %+v, %v; want the detail %q", sum.Issues, err, want)
		}
		b.force("i2", "", "")
		b.is("the second is resolved", sys, Degraded, Degraded)
		b.force("i1", "Slow", Degraded)
		b.play(sys, "S", time.Minute)
		b.is("all is well", sys, Healthy, Healthy)
	})
}

// TestOverrideFollowsItsSource: title, status and systems are what was said last.
func TestOverrideFollowsItsSource(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		s1, s2 := b.system("A"), b.system("B")
		began := b.clock.now()
		b.force("i1", "Old", Degraded, s1, s1)
		b.clock.add(time.Hour)
		before := b.signals.count("healthcheck.changed")
		b.force("i1", "New", Degraded, s1)
		if o := b.status(s1).Overrides; len(o) != 1 || o[0].Title != "New" || !o[0].Since.Equal(began) {
			t.Errorf("a new title: %+v, want it since %v", o, began)
		}
		if n := b.signals.count("healthcheck.changed"); n != before+1 {
			t.Error("nobody is told about the new title")
		}
		if n := b.count("health_check_state_transitions"); n != 1 {
			t.Errorf("%d transitions, want 1: a title is not a status", n)
		}
		b.force("i1", "New", Degraded, s1)
		if n := b.signals.count("healthcheck.changed"); n != before+1 {
			t.Error("what is said again is no change")
		}
		b.force("i1", "New", Unhealthy, s1)
		if o := b.status(s1).Overrides; !o[0].Since.Equal(b.clock.now()) {
			t.Errorf("a new status began at %v, got %v", b.clock.now(), o[0].Since)
		}
		b.force("i1", "New", Unhealthy, s2)
		b.is("dropped", s1, Unknown, Unknown)
		b.is("added", s2, Unhealthy, Unknown)
		if err := b.cat.DeleteSystem(t.Context(), s2); err != nil {
			t.Fatal(err)
		}
		if n := b.count("health_check_overrides"); n != 0 {
			t.Errorf("%d overrides outlive their system", n)
		}
	})
}

// TestOverrideBelongsToItsTransaction: nothing is stored, and nobody told, when
// the incident is not.
func TestOverrideBelongsToItsTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Shop")
		end := errors.New("rollback")
		err := d.Tx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			if err := b.svc.SetOverrides(ctx, tx, OverrideSet{"incident", "i1", "Down", Unhealthy, []string{sys}}); err != nil {
				return err
			}
			return end
		})
		if !errors.Is(err, end) {
			t.Fatal(err)
		}
		b.is("rolled back", sys, Unknown, Unknown)
		if n := b.signals.count("healthcheck.system.status_changed"); n != 0 {
			t.Errorf("%d signals about what did not happen", n)
		}
		if err := d.Tx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			err := b.svc.SetOverrides(ctx, tx, OverrideSet{"incident", "i1", "Down", Unhealthy, []string{sys}})
			if n := b.signals.count("healthcheck.system.status_changed"); n != 0 {
				t.Errorf("%d signals before the commit", n)
			}
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if n := b.signals.count("healthcheck.system.status_changed"); n != 1 {
			t.Errorf("%d signals after the commit, want 1", n)
		}
	})
}

func TestOverrideRefusesNonsense(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Shop")
		for _, o := range []OverrideSet{
			{"incident", "i1", "t", Healthy, []string{sys}}, {"incident", "i1", "t", Unknown, []string{sys}},
			{"incident", "i1", "t", "broken", []string{sys}}, {"", "i1", "t", Unhealthy, []string{sys}}, {"incident", "", "t", Unhealthy, []string{sys}},
		} {
			if err := b.svc.forced(t.Context(), o); err == nil {
				t.Errorf("%+v was taken", o)
			}
		}
		if err := b.svc.forced(t.Context(), OverrideSet{"incident", "i1", "t", Unhealthy, []string{sys, "nowhere"}}); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("an unknown system: %v", err)
		}
		b.is("after all that", sys, Unknown, Unknown)
	})
}

// TestOverrideTellsItsTitleToReadersOnly: the status is everybody's, the
// incident's title is not.
func TestOverrideTellsItsTitleToReadersOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("Shop")
		b.force("i1", "Breach of the vault", Unhealthy, sys)
		if err := b.svc.forced(t.Context(), OverrideSet{"unheard", "x", "Secret", Degraded, []string{sys}}); err != nil {
			t.Fatal(err)
		}
		for _, tc := range []struct {
			ctx         context.Context
			id, title   string
			label, tool string
		}{
			{as(t.Context(), RuleStatus.ID, "incident.incident.read"), "i1", "Breach of the vault", "Unhealthy - forced by incident: Breach of the vault", "Breach"},
			{as(t.Context(), RuleStatus.ID), "", "", "Unhealthy - forced by incident", ""},
			{as(t.Context()), "", "", "Unhealthy - forced by incident", ""},
		} {
			out := b.svc.statusOut(tc.ctx, b.status(sys))
			want := &OverrideBody{"incident", tc.id, tc.title, "unhealthy", b.clock.now()}
			if d := cmp.Diff(want, out.Override); d != "" || out.Status != "unhealthy" || out.MeasuredStatus != "unknown" {
				t.Errorf("got %+v (-want +got)\n%s", out, d)
			}
			sum, err := b.svc.Issues(tc.ctx)
			if err != nil || len(sum.Issues) != 1 || sum.Issues[0].Label != tc.label {
				t.Errorf("got %+v, %v; want %q", sum.Issues, err, tc.label)
			}
			told, err := b.svc.toolStatus(tc.ctx, statusInput{SystemID: sys})
			if err != nil || len(told.Forced) != 1 || told.Forced[0].Reason != tc.label || told.Forced[0].SystemName != "Shop" {
				t.Errorf("the tool says %+v, %v", told.Forced, err)
			}
		}
		b.force("i1", "", "")
		if o := b.svc.statusOut(admin(t.Context()), b.status(sys)).Override; o == nil || o.Source != "unheard" || o.Title != "" {
			t.Errorf("a source without a rule tells its title to nobody: %+v", o)
		}
	})
}

// TestOverridesAndRecordersMeet: incidents that share systems and replicas that
// store results change the same rollups at once. None waits for another forever,
// and in the end each rollup is what it must be.
func TestOverridesAndRecordersMeet(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		systems := make([]string, 6)
		for i := range systems {
			systems[i] = b.system(fmt.Sprint("S", i))
		}
		b.check(draft("HTTP", 60), systems[:4]...) // two systems have no check
		b.probe.outcome(func(context.Context, probeConfig) error {
			if rand.IntN(2) == 0 {
				return errDown
			}
			return nil
		})
		statuses := []Status{"", Degraded, Unhealthy}
		for round := range 40 { // what one round gets wrong, the next may put right
			var wg sync.WaitGroup
			for i := range 5 {
				wg.Go(func() {
					chosen := slices.Clone(systems)
					rand.Shuffle(len(chosen), func(a, b int) { chosen[a], chosen[b] = chosen[b], chosen[a] })
					o := OverrideSet{"incident", fmt.Sprint("i", i), "t", statuses[rand.IntN(3)], chosen[:rand.IntN(len(chosen)+1)]}
					if err := b.svc.forced(t.Context(), o); err != nil {
						t.Errorf("%+v: %v", o, err)
					}
				})
			}
			b.tick(b.svc)
			wg.Wait()
			b.clock.add(time.Minute)
			for _, sys := range systems {
				st := b.status(sys)
				want := st.Measured
				for _, o := range st.Overrides {
					want = worse(want, o.Status)
				}
				if st.Status != want {
					t.Fatalf("round %d: %s is stored, but checks say %s and incidents %+v", round, st.Status, st.Measured, st.Overrides)
				}
			}
		}
	})
}

// TestChangesOfHealthAreEvents: whatever caused them, with the transition.
func TestChangesOfHealthAreEvents(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		got := make(chan string, 20)
		queue := jobs.New(d, testLog())
		bus := event.NewBus(queue, testLog())
		for name, topic := range map[string]event.Topic[SystemHealth]{"changed": SystemHealthChanged, "degraded": SystemDegraded, "healthy": SystemHealthy} {
			event.Subscribe(bus, topic, "test."+name, func(_ context.Context, e event.Event[SystemHealth]) error {
				p := e.Payload
				got <- fmt.Sprintf("%s: %s to %s, %d of %d", name, p.PreviousStatus, p.NewStatus, p.HealthyChecks, p.TotalChecks)
				return nil
			})
		}
		b.svc.bus = bus
		if err := queue.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := queue.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = queue.Stop(context.WithoutCancel(t.Context())) })
		sys := b.system("Shop")
		b.check(draft("HTTP", 60), sys)
		for _, step := range []struct {
			do   func()
			want []string
		}{
			{func() { b.play(sys, "S", time.Minute) }, []string{"changed: unknown to healthy, 1 of 1"}},
			{func() { b.force("i1", "t", Degraded, sys) }, []string{"changed: healthy to degraded, 1 of 1", "degraded: healthy to degraded, 1 of 1"}},
			{func() { b.force("i1", "t", Unhealthy, sys) }, []string{"changed: degraded to unhealthy, 1 of 1"}},
			{func() { b.play(sys, "FF", time.Minute) }, nil},
			{func() { b.force("i1", "t", "") }, []string{"changed: unhealthy to degraded, 0 of 1"}},
			{func() { b.play(sys, "S", time.Minute) }, []string{"changed: degraded to healthy, 1 of 1", "healthy: degraded to healthy, 1 of 1"}},
		} {
			step.do()
			var told []string
			for range step.want {
				select {
				case e := <-got:
					told = append(told, e)
				case <-time.After(30 * time.Second):
					t.Fatalf("told %q, want %q", told, step.want)
				}
			}
			slices.Sort(told)
			if d := cmp.Diff(step.want, told); d != "" {
				t.Errorf("events (-want +got)\n%s", d)
			}
		}
		if len(got) != 0 {
			t.Errorf("told more: %q", <-got)
		}
	})
}
