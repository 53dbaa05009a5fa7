package jobs_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/riverqueue/river"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/jobs"
)

type greetArgs struct{ Who string }

func (greetArgs) Kind() string { return "greet" }

type greetWorker struct {
	river.WorkerDefaults[greetArgs]
	got chan string
}

func (w *greetWorker) Work(_ context.Context, j *river.Job[greetArgs]) error {
	w.got <- j.Args.Who
	return nil
}

func TestJobsFollowTheirTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		c := jobs.New(d, slog.New(slog.DiscardHandler))
		w := &greetWorker{got: make(chan string, 10)}
		jobs.AddWorker(c, w)
		chores := make(chan struct{}, 10)
		c.Every("sweep", time.Hour, 0, func(context.Context) error {
			chores <- struct{}{}
			return nil
		})
		// Replicas that start together must both get through.
		errs := make(chan error, 2)
		for range 2 {
			go func() { errs <- c.Migrate(ctx) }()
			if !d.Postgres() {
				errs <- nil
				break
			}
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		if err := c.Migrate(ctx); err != nil {
			t.Fatal(err)
		}
		if err := c.Start(ctx); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			sctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			if err := c.Stop(sctx); err != nil {
				t.Error(err)
			}
		})
		rollback := errors.New("rollback")
		insert := func(who string, end error) error {
			return d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
				if err := c.Insert(ctx, tx, greetArgs{who}, nil); err != nil {
					return err
				}
				return end
			})
		}
		if err := insert("never", rollback); !errors.Is(err, rollback) {
			t.Fatal(err)
		}
		if err := insert("world", nil); err != nil {
			t.Fatal(err)
		}
		select {
		case who := <-w.got:
			if who != "world" {
				t.Errorf("worked %q, want only the committed job", who)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("the job was not worked")
		}
		select {
		case <-chores:
		case <-time.After(30 * time.Second):
			t.Fatal("housekeeping did not run at start")
		}
	})
}
