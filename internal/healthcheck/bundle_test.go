package healthcheck

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/secret"
)

// kindID is the check kind of these tests.
const kindID = "healthcheck-test.probe"

// probe is a check kind whose outcome the test decides.
type probe struct {
	mu   sync.Mutex
	fn   func(ctx context.Context, cfg probeConfig) error
	runs atomic.Int64
}

type probeConfig struct {
	Timeout  int    `json:"timeout"`
	Target   string `json:"target"`
	Password string `json:"password"`
}

type nothing struct{}

func (nothing) Close() error { return nil }

func (p *probe) Kind() strategy.Kind {
	return strategy.Kind{ID: kindID, DisplayName: "Probe", Description: "Test kind", Category: "test",
		Config: strategy.Config{Version: 1, Decode: strategy.DecodeTo[probeConfig](), Schema: &strategy.Schema{Type: "object", Properties: []strategy.Property{
			strategy.Timeout("How long one run may take"),
			{Name: "target", Required: true, Schema: strategy.Schema{Type: "string", MinLength: 1, MaxLength: 100, Templatable: true}},
			{Name: "password", Schema: strategy.Schema{Type: "string", SecretID: "password", MaxLength: 200}},
		}}},
		Result: &strategy.Schema{Type: "object", Open: true}}
}

func (p *probe) Collectors() []strategy.Collector { return nil }

func (p *probe) Connect(ctx context.Context, config any) (strategy.Connection, error) {
	p.runs.Add(1)
	p.mu.Lock()
	fn := p.fn
	p.mu.Unlock()
	if fn != nil {
		if err := fn(ctx, *config.(*probeConfig)); err != nil {
			return nil, err
		}
	}
	return nothing{}, nil
}

func (p *probe) outcome(fn func(ctx context.Context, cfg probeConfig) error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fn = fn
}

// errDown is what a probe reports when its target is away.
var errDown = strategy.Failure("connection refused")

// clock is a wall clock that a test moves.
type clock struct {
	mu sync.Mutex
	t  time.Time
}

func newClock() *clock { return &clock{t: time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.t = c.t.Add(d)
}

// heard records signals.
type heard struct {
	mu   sync.Mutex
	list []string
}

func (h *heard) Publish(_ context.Context, s event.Signal) {
	raw, _ := json.Marshal(s.Payload)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, s.ID+" "+string(raw))
}

func (h *heard) count(id string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for _, s := range h.list {
		if strings.HasPrefix(s, id+" ") {
			n++
		}
	}
	return n
}

// bundle is a service with everything around it.
type bundle struct {
	t       testing.TB
	db      *db.DB
	svc     *Service
	cat     *catalog.Service
	bus     *event.Bus
	probe   *probe
	clock   *clock
	signals *heard
	secrets *secret.Store
}

// testKey encrypts the secrets of these tests.
const testKey = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"

func setup(t testing.TB, d *db.DB) *bundle {
	t.Helper()
	box, err := secret.NewBox(testKey)
	if err != nil {
		t.Fatal(err)
	}
	b := &bundle{t: t, db: d, probe: &probe{}, clock: newClock(), signals: &heard{}, secrets: secret.NewStore(box)}
	log := slog.New(slog.DiscardHandler)
	b.bus = event.NewBus(jobs.New(d, log), log)
	b.cat = catalog.New(d, b.signals, b.bus, log)
	b.svc = b.replica(d, Options{})
	return b
}

// replica makes another service over the same parts, on the given database.
func (b *bundle) replica(d *db.DB, o Options) *Service {
	b.t.Helper()
	reg, err := strategy.NewRegistry(b.probe)
	if err != nil {
		b.t.Fatal(err)
	}
	return New(Deps{DB: d, Secrets: b.secrets, Kinds: reg, Systems: b.cat, Signals: b.signals, Bus: b.bus,
		OverrideRules: map[string]string{"incident": "incident.incident.read"}, Log: slog.New(slog.DiscardHandler), Now: b.clock.now, Options: o})
}

// svcOn is a replica on another connection, by the real clock.
func (b *bundle) svcOn(d *db.DB) *Service {
	b.t.Helper()
	b.clock = newClock()
	s := b.replica(d, Options{})
	s.clock = time.Now
	return s
}

func testLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (b *bundle) system(name string) string {
	b.t.Helper()
	sys, err := b.cat.CreateSystem(b.t.Context(), catalog.Fields{Name: name})
	if err != nil {
		b.t.Fatal(err)
	}
	return sys.ID
}

func draft(name string, interval int) Draft {
	return Draft{Name: name, StrategyID: kindID, Config: json.RawMessage(`{"target":"` + name + `"}`), IntervalSeconds: interval}
}

// check creates a configuration assigned to systems.
func (b *bundle) check(d Draft, systems ...string) Configuration {
	b.t.Helper()
	c, err := b.svc.Create(b.t.Context(), d, systems)
	if err != nil {
		b.t.Fatal(err)
	}
	return c
}

// tick claims everything due now, runs it and stores the results. It gives how
// many runs that were.
func (b *bundle) tick(s *Service) int {
	b.t.Helper()
	total := 0
	for {
		n := b.tickOnce(s)
		if total += n; n < s.opts.ClaimBatch {
			return total
		}
	}
}

func (b *bundle) tickOnce(s *Service) int {
	b.t.Helper()
	ctx := b.t.Context()
	claims, err := s.claimDue(ctx, s.now(), s.opts.ClaimBatch)
	if err != nil {
		b.t.Fatal(err)
	}
	s.results = make(chan finished, len(claims)+1)
	if err := s.begin(ctx, ctx, claims); err != nil {
		b.t.Fatal(err)
	}
	s.runs.Wait()
	close(s.results)
	var batch []finished
	for f := range s.results {
		batch = append(batch, f)
	}
	if len(batch) > 0 {
		if err := s.writeBatch(ctx, batch); err != nil {
			b.t.Fatal(err)
		}
	}
	return len(claims)
}

// play makes a run after each interval, S for success and F for failure, and
// gives the statuses of the system in between.
func (b *bundle) play(systemID, outcomes string, interval time.Duration) []Status {
	b.t.Helper()
	var out []Status
	for _, o := range outcomes {
		switch o {
		case 'S':
			b.probe.outcome(nil)
		case 'F':
			b.probe.outcome(func(context.Context, probeConfig) error { return errDown })
		default:
			continue
		}
		if n := b.tick(b.svc); n != 1 {
			b.t.Fatalf("%d runs at %v, want 1", n, b.clock.now())
		}
		st, err := b.svc.SystemStatus(b.t.Context(), systemID)
		if err != nil {
			b.t.Fatal(err)
		}
		out = append(out, st.Status)
		b.clock.add(interval)
	}
	return out
}

// eventually waits until cond holds.
func (b *bundle) eventually(what string, cond func() bool) {
	b.t.Helper()
	deadline := time.After(20 * time.Second)
	t := time.NewTicker(5 * time.Millisecond)
	defer t.Stop()
	for !cond() {
		select {
		case <-deadline:
			b.t.Fatalf("waited in vain for: %s", what)
		case <-t.C:
		}
	}
}

func (b *bundle) count(table string) int {
	b.t.Helper()
	var n int
	if err := b.db.Read.NewRaw("SELECT count(*) FROM "+table).Scan(context.WithoutCancel(b.t.Context()), &n); err != nil {
		b.t.Fatal(err)
	}
	return n
}

func admin(ctx context.Context) context.Context {
	return authz.With(ctx, authz.Principal{Kind: authz.User, ID: "admin", Rules: []string{authz.Wildcard}})
}

// stop ends a running service, or fails.
func stop(t testing.TB, s *Service) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), 20*time.Second)
	defer cancel()
	if err := s.Stop(ctx); err != nil {
		t.Errorf("stop: %v", err)
	}
}

// kill ends the goroutines of a service as kill -9 would: nothing is stored,
// released or waited for by the database.
func kill(s *Service) {
	s.stopLoop()
	s.stopRuns()
	s.stopRec()
	s.loop.Wait()
	s.runs.Wait()
	close(s.results)
	s.rec.Wait()
	s.running = false
}
