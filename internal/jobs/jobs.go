// Package jobs runs background work on the installation's own database with
// River: one client type for SQLite and PostgreSQL, jobs inserted in the
// transaction that makes them necessary, and housekeeping that one replica
// enqueues for all. Only this package builds a River client.
//
// Work that is due often and must be on time, such as checks, is not a job
// here: it is a row with a due time that its domain claims (see healthcheck).
package jobs

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/riverdriver/riverdatabasesql"
	"github.com/riverqueue/river/riverdriver/riversqlite"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
)

const (
	// defaultTimeout bounds a job that sets none of its own.
	defaultTimeout = time.Minute
	// rescueAfter is when a job of a killed process is taken up again. It is
	// above the longest timeout a worker may ask for.
	rescueAfter = 10 * time.Minute
	maxWorkers  = 50
)

// Client inserts and works jobs. Add workers and housekeeping before Start.
type Client struct {
	db       *db.DB
	log      *slog.Logger
	workers  *river.Workers
	chores   map[string]chore
	periodic []*river.PeriodicJob

	river    *river.Client[*sql.Tx]
	stopped  atomic.Bool
	pool     *sql.DB
	listener *pgxpool.Pool
}

type chore struct {
	timeout time.Duration
	run     func(context.Context) error
}

// New makes a client on d. It does no I/O.
func New(d *db.DB, log *slog.Logger) *Client {
	c := &Client{db: d, log: log, workers: river.NewWorkers(), chores: map[string]chore{}}
	river.AddWorker(c.workers, &choreWorker{client: c})
	return c
}

// AddWorker registers the worker of a job kind.
func AddWorker[T river.JobArgs](c *Client, w river.Worker[T]) { river.AddWorker(c.workers, w) }

// Every registers housekeeping: run is called once per interval on one of the
// replicas, for at most timeout (zero means a minute). Missed rounds are not
// made up, so run does all there is to do.
func (c *Client) Every(name string, interval, timeout time.Duration, run func(context.Context) error) {
	if timeout == 0 {
		timeout = defaultTimeout
	}
	c.chores[name] = chore{timeout: timeout, run: run}
	c.periodic = append(c.periodic, river.NewPeriodicJob(river.PeriodicInterval(interval),
		func() (river.JobArgs, *river.InsertOpts) {
			return choreArgs{Name: name}, &river.InsertOpts{MaxAttempts: 1, UniqueOpts: river.UniqueOpts{ByArgs: true, ByPeriod: interval}}
		}, &river.PeriodicJobOpts{RunOnStart: true, ID: name}))
}

// Migrate brings River's own tables up to date.
func (c *Client) Migrate(ctx context.Context) error {
	if !c.db.Postgres() {
		return migrate(ctx, riversqlite.New(c.db.Write.DB))
	}
	conn, err := c.db.Write.DB.Conn(ctx)
	if err != nil {
		return fmt.Errorf("migrate job tables: %w", err)
	}
	defer func() { _ = conn.Close() }()
	// Replicas that start together take turns.
	const key = 0x636865636b // "check"
	if _, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock($1)", int64(key)); err != nil {
		return fmt.Errorf("migrate job tables: %w", err)
	}
	defer func() {
		_, _ = conn.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(key))
	}()
	pool, err := c.riverPool()
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	return migrate(ctx, riverdatabasesql.New(pool))
}

func migrate(ctx context.Context, driver riverdriver.Driver[*sql.Tx]) error {
	m, err := rivermigrate.New(driver, &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return fmt.Errorf("migrate job tables: %w", err)
	}
	if _, err := m.Migrate(ctx, rivermigrate.DirectionUp, nil); err != nil {
		return fmt.Errorf("migrate job tables: %w", err)
	}
	return nil
}

// riverPool is a pool of River's own on PostgreSQL: its statements repeat, so
// unlike bun's they gain from being prepared.
func (c *Client) riverPool() (*sql.DB, error) {
	cfg, err := pgx.ParseConfig(c.db.PostgresURL())
	if err != nil {
		return nil, fmt.Errorf("job queue: %w", err)
	}
	pool := stdlib.OpenDB(*cfg)
	pool.SetMaxOpenConns(5)
	pool.SetMaxIdleConns(2)
	return pool, nil
}

// Start begins to work jobs.
func (c *Client) Start(ctx context.Context) error {
	cfg := &river.Config{
		Logger:               slog.New(newQuiet(c.log.Handler())),
		Workers:              c.workers,
		Queues:               map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: maxWorkers}},
		PeriodicJobs:         c.periodic,
		JobTimeout:           defaultTimeout,
		RescueStuckJobsAfter: rescueAfter,
		FetchCooldown:        50 * time.Millisecond,
		FetchPollInterval:    2 * time.Second,
		ErrorHandler:         errorHandler{c.log},
	}
	var driver riverdriver.Driver[*sql.Tx]
	if c.db.Postgres() {
		var err error
		if c.pool, err = c.riverPool(); err != nil {
			return err
		}
		lcfg, err := pgxpool.ParseConfig(c.db.PostgresURL())
		if err != nil {
			return fmt.Errorf("job queue: %w", err)
		}
		lcfg.MaxConns, lcfg.MinConns = 2, 0
		if c.listener, err = pgxpool.NewWithConfig(ctx, lcfg); err != nil {
			return fmt.Errorf("job queue: %w", err)
		}
		driver = riverdatabasesql.NewWithPgxListener(c.pool, c.listener)
	} else {
		// Nobody else works on this file, so what is "running" was cut off.
		if _, err := c.db.Write.ExecContext(ctx, "UPDATE river_job SET state = 'available' WHERE state = 'running'"); err != nil {
			return fmt.Errorf("take up interrupted jobs: %w", err)
		}
		driver = riversqlite.New(c.db.Write.DB)
	}
	var err error
	if c.river, err = river.NewClient(driver, cfg); err != nil {
		return fmt.Errorf("job queue: %w", err)
	}
	if err := c.river.Start(ctx); err != nil {
		return fmt.Errorf("start job queue: %w", err)
	}
	return nil
}

// Stop lets running jobs finish until ctx ends, then cancels them. It may be
// called again.
func (c *Client) Stop(ctx context.Context) error {
	if c.river == nil || !c.stopped.CompareAndSwap(false, true) {
		return nil
	}
	err := c.river.Stop(ctx)
	if err != nil { // jobs that were cut off are taken up again: no fault
		cctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = c.river.StopAndCancel(cctx)
	}
	if c.listener != nil {
		c.listener.Close()
	}
	if c.pool != nil {
		err = errors.Join(err, c.pool.Close())
	}
	return err
}

// Insert enqueues a job within tx: it exists when tx commits and never
// otherwise.
func (c *Client) Insert(ctx context.Context, tx bun.Tx, args river.JobArgs, opts *river.InsertOpts) error {
	if c.river == nil {
		return errors.New("job queue is not started")
	}
	if _, err := c.river.InsertTx(ctx, tx.Tx, args, opts); err != nil {
		return fmt.Errorf("enqueue %s: %w", args.Kind(), err)
	}
	return nil
}

// InsertMany is Insert for several jobs of one kind in one statement.
func (c *Client) InsertMany(ctx context.Context, tx bun.Tx, jobs []river.InsertManyParams) error {
	if len(jobs) == 0 {
		return nil
	}
	if c.river == nil {
		return errors.New("job queue is not started")
	}
	if _, err := c.river.InsertManyFastTx(ctx, tx.Tx, jobs); err != nil {
		return fmt.Errorf("enqueue %s: %w", jobs[0].Args.Kind(), err)
	}
	return nil
}

type choreArgs struct {
	Name string `json:"name" river:"unique"`
}

func (choreArgs) Kind() string { return "housekeeping" }

type choreWorker struct {
	river.WorkerDefaults[choreArgs]
	client *Client
}

func (w *choreWorker) Timeout(j *river.Job[choreArgs]) time.Duration {
	return w.client.chores[j.Args.Name].timeout
}

func (w *choreWorker) Work(ctx context.Context, j *river.Job[choreArgs]) error {
	ch, ok := w.client.chores[j.Args.Name]
	if !ok {
		// A newer replica may have enqueued what this one does not know.
		return river.JobCancel(fmt.Errorf("unknown housekeeping %q", j.Args.Name))
	}
	if err := ch.run(ctx); err != nil {
		return fmt.Errorf("housekeeping %s: %w", j.Args.Name, err)
	}
	return nil
}
