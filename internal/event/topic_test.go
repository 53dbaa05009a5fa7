package event_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
)

type opened struct {
	Door string `json:"door"`
}

var doorOpened = event.NewTopic[opened]("house.door.opened")

// replica is one process: a bus and the jobs that work its deliveries.
type replica struct {
	db   *db.DB
	jobs *jobs.Client
	bus  *event.Bus
}

func newReplica(t *testing.T, d *db.DB, log *slog.Logger) *replica {
	t.Helper()
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	r := &replica{db: d, jobs: jobs.New(d, log)}
	r.bus = event.NewBus(r.jobs, log)
	if err := r.jobs.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *replica) start(t *testing.T) {
	t.Helper()
	if err := r.jobs.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(t, 10*time.Second) })
}

// stop ends the replica; what runs is cut off after grace.
func (r *replica) stop(t *testing.T, grace time.Duration) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	if err := r.jobs.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func (r *replica) publish(t *testing.T, door string, end error) {
	t.Helper()
	err := r.db.Tx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
		if err := event.Publish(ctx, r.bus, tx, doorOpened, opened{door}); err != nil {
			return err
		}
		return end
	})
	if !errors.Is(err, end) {
		t.Fatal(err)
	}
}

func into(c chan event.Event[opened]) func(context.Context, event.Event[opened]) error {
	return func(_ context.Context, e event.Event[opened]) error {
		c <- e
		return nil
	}
}

func next[T any](t *testing.T, c <-chan T) T {
	t.Helper()
	select {
	case v := <-c:
		return v
	case <-time.After(30 * time.Second):
		t.Fatal("nothing was delivered within 30 s")
		panic("unreachable")
	}
}

// count gives how many deliveries there are in the states.
func count(t *testing.T, d *db.DB, states ...string) int {
	t.Helper()
	q := d.Read.NewSelect().Table("river_job").Where("kind = 'event'")
	if len(states) > 0 {
		q = q.Where("state IN (?)", bun.List(states))
	}
	n, err := q.Count(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return int(n)
}

// until polls the database, which has no way to tell.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	deadline, tick := time.After(30*time.Second), time.NewTicker(20*time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("not within 30 s: %s", what)
		}
	}
}

func TestEventsFollowTheirTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newReplica(t, d, nil)
		a, b := make(chan event.Event[opened], 10), make(chan event.Event[opened], 10)
		event.Subscribe(r.bus, doorOpened, "light.on", into(a))
		event.Subscribe(r.bus, doorOpened, "alarm.ring", into(b))
		r.start(t)
		r.publish(t, "never", errors.New("rollback"))
		if n := count(t, d); n != 0 {
			t.Fatalf("a transaction that was rolled back left %d deliveries", n)
		}
		before := time.Now().Add(-time.Second)
		r.publish(t, "front", nil)
		ea, eb := next(t, a), next(t, b)
		if ea.Payload.Door != "front" || ea.At.Before(before) || ea.At.After(time.Now().Add(time.Second)) {
			t.Errorf("got %+v", ea)
		}
		if d := cmp.Diff(ea, eb); d != "" || ea.ID == "" {
			t.Errorf("two subscribers were told different things\n%s", d)
		}
	})
}

// TestManyEventsAtOnce: each is one of its own.
func TestManyEventsAtOnce(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newReplica(t, d, nil)
		got := make(chan event.Event[opened], 10)
		event.Subscribe(r.bus, doorOpened, "light.on", into(got))
		r.start(t)
		if err := d.Tx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
			return event.PublishAll(ctx, r.bus, tx, doorOpened, []opened{{"front"}, {"back"}, {"front"}})
		}); err != nil {
			t.Fatal(err)
		}
		ids, doors := map[string]bool{}, map[string]int{}
		for range 3 {
			e := next(t, got)
			ids[e.ID] = true
			doors[e.Payload.Door]++
		}
		if len(ids) != 3 || doors["front"] != 2 || doors["back"] != 1 {
			t.Errorf("got %v of %d events", doors, len(ids))
		}
	})
}

func TestTopicWithoutSubscriberCostsNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		r := newReplica(t, d, nil)
		r.publish(t, "front", nil) // works before the jobs start, too
		if n := count(t, d); n != 0 {
			t.Errorf("%d deliveries to nobody", n)
		}
	})
}

// TestEventsSurviveAStop: a subscriber that is cut off in the middle is told
// again, with the same id.
func TestEventsSurviveAStop(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		first := newReplica(t, d, nil)
		begun := make(chan string, 1)
		event.Subscribe(first.bus, doorOpened, "light.on", func(ctx context.Context, e event.Event[opened]) error {
			begun <- e.ID
			<-ctx.Done()
			return ctx.Err()
		})
		first.start(t)
		first.publish(t, "front", nil)
		id := next(t, begun)
		first.stop(t, time.Millisecond)

		second := newReplica(t, d, nil)
		got := make(chan event.Event[opened], 1)
		event.Subscribe(second.bus, doorOpened, "light.on", into(got))
		second.start(t)
		if e := next(t, got); e.ID != id || e.Payload.Door != "front" {
			t.Errorf("got %+v, want the event %s again", e, id)
		}
	})
}

// TestEventsSurviveAKill: a killed process says nothing; the next one on the
// same file takes up what it was at.
func TestEventsSurviveAKill(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	killed := newReplica(t, d, nil)
	begun, hang := make(chan string, 1), make(chan struct{})
	event.Subscribe(killed.bus, doorOpened, "light.on", func(_ context.Context, e event.Event[opened]) error {
		select {
		case begun <- e.ID:
		default:
		}
		<-hang // a dead process finishes nothing
		return nil
	})
	killed.start(t)
	t.Cleanup(func() { close(hang) })
	killed.publish(t, "front", nil)
	id := next(t, begun)

	restarted := newReplica(t, d, nil)
	got := make(chan event.Event[opened], 1)
	event.Subscribe(restarted.bus, doorOpened, "light.on", into(got))
	restarted.start(t)
	if e := next(t, got); e.ID != id {
		t.Errorf("got event %s, want %s again", e.ID, id)
	}
}

// TestReplicasShareDeliveries: each subscriber is told once, whichever replica
// tells it.
func TestReplicasShareDeliveries(t *testing.T) {
	t.Parallel()
	url := dbtest.PostgresURL(t)
	const events = 40
	var mu sync.Mutex
	got := map[string]int{}
	all := make(chan struct{})
	total := 0
	take := func(name string) func(context.Context, event.Event[opened]) error {
		return func(_ context.Context, e event.Event[opened]) error {
			mu.Lock()
			defer mu.Unlock()
			got[name+" "+e.Payload.Door]++
			if total++; total == 2*events {
				close(all)
			}
			return nil
		}
	}
	var replicas []*replica
	for range 2 {
		d, err := db.Open(t.Context(), db.Options{URL: url, MaxOpenConns: 4})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		if err := d.Migrate(t.Context(), slog.New(slog.DiscardHandler)); err != nil {
			t.Fatal(err)
		}
		r := newReplica(t, d, nil)
		event.Subscribe(r.bus, doorOpened, "light.on", take("light"))
		event.Subscribe(r.bus, doorOpened, "alarm.ring", take("alarm"))
		r.start(t)
		replicas = append(replicas, r)
	}
	for i := range events {
		replicas[i%2].publish(t, strings.Repeat("x", i+1), nil)
	}
	next(t, all)
	until(t, "every delivery is done", func() bool { return count(t, replicas[0].db, "completed") == 2*events })
	mu.Lock()
	defer mu.Unlock()
	for what, n := range got {
		if n != 1 {
			t.Errorf("%s was told %d times", what, n)
		}
	}
	if len(got) != 2*events {
		t.Errorf("%d different deliveries, want %d", len(got), 2*events)
	}
}

// TestOneSubscriberCannotHurtAnother: neither a panic nor an error does, and the
// one at fault is told again.
func TestOneSubscriberCannotHurtAnother(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log safeBuffer
		r := newReplica(t, d, slog.New(slog.NewTextHandler(&log, nil)))
		panics, fails, fine := make(chan event.Event[opened], 5), make(chan event.Event[opened], 5), make(chan event.Event[opened], 5)
		event.Subscribe(r.bus, doorOpened, "a.panics", func(_ context.Context, e event.Event[opened]) error {
			panics <- e
			if len(panics) == 1 {
				panic("the bulb is broken")
			}
			return nil
		})
		event.Subscribe(r.bus, doorOpened, "b.fails", func(_ context.Context, e event.Event[opened]) error {
			fails <- e
			if len(fails) == 1 {
				return errors.New("the line is cut")
			}
			return nil
		})
		event.Subscribe(r.bus, doorOpened, "c.works", into(fine))
		r.start(t)
		r.publish(t, "front", nil)
		next(t, fine)
		until(t, "all three are done", func() bool { return count(t, d, "completed") == 3 })
		if len(panics) != 2 || len(fails) != 2 || len(fine) != 0 {
			t.Errorf("told %d, %d and %d more times; want 2, 2 and 0", len(panics), len(fails), len(fine))
		}
		if p, f := next(t, panics), next(t, panics); p.ID != f.ID {
			t.Errorf("told again under another id: %s, then %s", p.ID, f.ID)
		}
		for _, want := range []string{"the bulb is broken", "the line is cut", "house.door.opened", "a.panics", "topic_test.go"} {
			if !strings.Contains(log.String(), want) {
				t.Errorf("the log does not name %q:\n%s", want, log.String())
			}
		}
	})
}

// stored is a delivery in the form in which it lies in the database, where
// another version of the product finds it.
type stored struct {
	EventID    string         `json:"eventId"`
	Topic      string         `json:"topic"`
	Subscriber string         `json:"subscriber"`
	At         time.Time      `json:"at"`
	Payload    map[string]any `json:"payload"`
}

func (stored) Kind() string { return "event" }

// TestUnknownSubscriberIsNotLost: while replicas are replaced, an older one may
// take a delivery whose subscriber, or a field of whose payload, only the newer
// ones have.
func TestUnknownSubscriberIsNotLost(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log safeBuffer
		older := newReplica(t, d, slog.New(slog.NewTextHandler(&log, nil)))
		older.start(t)
		for _, subscriber := range []string{"light.on", "gone.for.good"} {
			if err := d.Tx(t.Context(), func(ctx context.Context, tx bun.Tx) error {
				return older.jobs.Insert(ctx, tx, stored{"e1", "house.door.opened", subscriber, time.Now().UTC(), map[string]any{"door": "front", "colour": "red"}}, nil)
			}); err != nil {
				t.Fatal(err)
			}
		}
		until(t, "the older replica passes them on", func() bool { return count(t, d, "scheduled") == 2 })
		old := time.Now().UTC().Add(-8 * 24 * time.Hour)
		if _, err := d.Write.NewRaw("UPDATE river_job SET state = 'available', scheduled_at = ?, created_at = ? WHERE CAST(args AS TEXT) LIKE '%gone%'", old, old).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		until(t, "what nobody knows any more is dropped", func() bool { return count(t, d, "cancelled") == 1 })
		if !strings.Contains(log.String(), "level=ERROR") || !strings.Contains(log.String(), "gone.for.good") {
			t.Errorf("the loss is not in the log:\n%s", log.String())
		}
		older.stop(t, 10*time.Second)
		if _, err := d.Write.NewRaw("UPDATE river_job SET state = 'available', scheduled_at = ? WHERE state = 'scheduled'", old).Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		newer := newReplica(t, d, nil)
		got := make(chan event.Event[opened], 1)
		event.Subscribe(newer.bus, doorOpened, "light.on", into(got))
		newer.start(t)
		if e := next(t, got); e.Payload.Door != "front" || e.ID != "e1" {
			t.Errorf("got %+v", e)
		}
	})
}

// TestEventsAreGivenUpInTheEnd: after the last attempt, loudly.
func TestEventsAreGivenUpInTheEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var log safeBuffer
		r := newReplica(t, d, slog.New(slog.NewTextHandler(&log, nil)))
		event.Subscribe(r.bus, doorOpened, "light.on", func(context.Context, event.Event[opened]) error { return errors.New("no bulb") })
		r.start(t)
		r.publish(t, "front", nil)
		until(t, "the first attempt failed", func() bool { return strings.Contains(log.String(), "trying again later") })
		if strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("a failure that is tried again is an error:\n%s", log.String())
		}
		until(t, "the job is tried for the last time", func() bool {
			if _, err := d.Write.NewRaw("UPDATE river_job SET state = 'available', scheduled_at = ?, attempt = max_attempts - 1 WHERE state IN ('retryable', 'available')", time.Now().UTC().Add(-time.Minute)).Exec(t.Context()); err != nil {
				t.Fatal(err)
			}
			return count(t, d, "discarded") == 1
		})
		if !strings.Contains(log.String(), "job failed and is given up") || !strings.Contains(log.String(), "level=ERROR") {
			t.Errorf("the loss is not in the log:\n%s", log.String())
		}
	})
}

func TestNobodySubscribesTwice(t *testing.T) {
	t.Parallel()
	r := newReplica(t, dbtest.SQLite(t), nil)
	subscribe := func() { event.Subscribe(r.bus, doorOpened, "light.on", into(nil)) }
	subscribe()
	defer func() {
		if recover() == nil {
			t.Error("the second subscription under the same name was taken: one of them would never be told")
		}
	}()
	subscribe()
}

// safeBuffer is a buffer that a logger may write from anywhere.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
