// Package app is the composition root: it builds database, platform, domains,
// tools, AI and HTTP in that order, starts what runs in the background, and
// stops everything in reverse. Reading it from Run down shows how the product
// hangs together; domains.go has one block per domain.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/config"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/httpapi"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/logging"
	"github.com/checkstack/checkstack/internal/secret"
)

// Run serves until ctx ends, then lets what runs finish within the configured
// grace. The one line on out is for the person who started it; logs go to
// logs.
func Run(ctx context.Context, cfg config.Config, version string, out, logs io.Writer) error {
	level, err := cfg.Level()
	if err != nil {
		return err
	}
	log := logging.New(logs, level, cfg.LogFormat == "json")
	a, err := build(ctx, cfg, version, log)
	if err != nil {
		return err
	}
	if err := a.server.Listen(cfg.ListenAddr); err != nil {
		return errors.Join(listenError(cfg.ListenAddr, err), a.db.Close())
	}
	if err := a.start(ctx); err != nil {
		return errors.Join(err, a.stop(cfg.ShutdownGrace))
	}
	// Requests outlive the signal: they end with the grace, not with ctx.
	base, cancelBase := context.WithCancel(context.WithoutCancel(ctx))
	endRequests := func() {
		cancelBase()
		a.domains.agent.EndTurns()
	}
	defer endRequests()
	served := make(chan error, 1)
	go func() { served <- a.server.Serve(base) }()
	_, _ = fmt.Fprintf(out, "Checkstack is running at %s\n", a.url())
	select {
	case err = <-served:
	case <-ctx.Done():
		log.InfoContext(base, "stopping: running requests and checks may finish", "grace", cfg.ShutdownGrace.String())
		sctx, cancel := context.WithTimeout(base, cfg.ShutdownGrace)
		err = a.finish(sctx, endRequests)
		cancel()
		err = errors.Join(err, <-served)
	}
	return errors.Join(err, a.stop(cfg.ShutdownGrace))
}

// finish lets requests, checks and jobs come to their end side by side, until
// ctx ends; what then still runs is cancelled. Whoever started the process
// waits for the grace once, not once for each of them.
func (a *application) finish(ctx context.Context, endRequests context.CancelFunc) error {
	a.signals.Stop() // open event streams would otherwise use up the grace
	parts := []func() error{
		func() error { return a.server.Shutdown(ctx, endRequests) },
		func() error { return a.domains.healthcheck.Stop(ctx) },
		func() error { return a.domains.maintenance.Stop(ctx) },
		func() error { return a.jobs.Stop(ctx) },
	}
	errs := make([]error, len(parts))
	var wg sync.WaitGroup
	for i, stop := range parts {
		wg.Go(func() { errs[i] = stop() })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func listenError(addr string, err error) error {
	if strings.Contains(err.Error(), "address already in use") {
		return fmt.Errorf("LISTEN_ADDR %s is taken by another program; stop it, or set LISTEN_ADDR to a free one such as :3001", addr)
	}
	return fmt.Errorf("LISTEN_ADDR %s cannot be used: %w", addr, err)
}

// application is everything that lives as long as the process.
type application struct {
	cfg     config.Config
	version string
	log     *slog.Logger
	db      *db.DB
	jobs    *jobs.Client
	signals *event.Signals
	bus     *event.Bus
	secrets *secret.Store
	server  *httpapi.Server
	domains *domains
}

// build makes everything and brings the database up to date; nothing runs yet.
func build(ctx context.Context, cfg config.Config, version string, log *slog.Logger) (*application, error) {
	d, err := db.Open(ctx, db.Options{URL: cfg.DatabaseURL, DataDir: cfg.DataDir,
		MaxOpenConns: cfg.DatabasePoolMax, ConnectTimeout: cfg.DatabaseConnectTimeout})
	if err != nil {
		return nil, err
	}
	a, err := assemble(ctx, cfg, version, log, d)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return a, nil
}

func assemble(ctx context.Context, cfg config.Config, version string, log *slog.Logger, d *db.DB) (*application, error) {
	box, err := openBox(ctx, &cfg, log)
	if err != nil {
		return nil, err
	}
	a := &application{cfg: cfg, version: version, log: log, db: d, jobs: jobs.New(d, log), signals: event.New(d, log), secrets: secret.NewStore(box)}
	a.bus = event.NewBus(a.jobs, log)
	if err := d.Migrate(ctx, log); err != nil {
		return nil, err
	}
	if err := a.jobs.Migrate(ctx); err != nil {
		return nil, err
	}
	if err := a.tellUnreadable(ctx); err != nil {
		return nil, err
	}
	if a.domains, err = newDomains(a, box); err != nil {
		return nil, err
	}
	subscribe(a.bus, a.domains)
	if err := a.domains.identity.SyncRules(ctx, a.domains.rules()); err != nil {
		return nil, fmt.Errorf("access rules: %w", err)
	}
	a.server = httpapi.New(a.httpDeps(version))
	return a, nil
}

func openBox(ctx context.Context, cfg *config.Config, log *slog.Logger) (*secret.Box, error) {
	created, err := cfg.EnsureKey()
	if err != nil {
		return nil, err
	}
	if created {
		log.WarnContext(ctx, "a new encryption key was written to the data directory: back it up, stored credentials cannot be read without it",
			"data_dir", cfg.DataDir)
	}
	box, err := secret.NewBox(cfg.Keys()...)
	if err != nil {
		return nil, fmt.Errorf("ENCRYPTION_MASTER_KEY %w", err)
	}
	return box, nil
}

// tellUnreadable says at once when the database came without its key, instead
// of at the first check or turn that needs a credential. Everything that needs
// none works, so the start goes on.
func (a *application) tellUnreadable(ctx context.Context) error {
	n, err := a.secrets.Unreadable(ctx, a.db.Read)
	if err != nil {
		return err
	}
	if n > 0 {
		a.log.ErrorContext(ctx, "stored credentials cannot be read with the configured key: restore ENCRYPTION_MASTER_KEY or the key file of the data directory, or put the old key into ENCRYPTION_MASTER_KEY_PREVIOUS",
			"unreadable", n)
	}
	return nil
}

// start begins everything that runs in the background.
func (a *application) start(ctx context.Context) error {
	background := context.WithoutCancel(ctx)
	a.signals.Start(background)
	if err := a.jobs.Start(background); err != nil {
		return err
	}
	return a.domains.start(background)
}

// stop ends it in reverse. Every step gets what is left of the grace; what has
// ended before is passed over.
func (a *application) stop(grace time.Duration) error {
	ctx, cancel := context.WithTimeout(context.Background(), max(grace, time.Second))
	defer cancel()
	err := a.domains.stop(ctx)
	err = errors.Join(err, a.jobs.Stop(ctx))
	a.signals.Stop()
	return errors.Join(err, a.db.Close())
}

// url gives the address a person can open: BASE_URL, or for a port that the
// system chose the one it has become.
func (a *application) url() string {
	if base, found := strings.CutSuffix(a.cfg.BaseURL, ":0"); found {
		if _, port, err := net.SplitHostPort(a.server.Addr().String()); err == nil {
			return base + ":" + port
		}
	}
	return a.cfg.BaseURL
}
