package healthcheck

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// kinds is what this package asks of the check kinds; *strategy.Registry is it.
type kinds interface {
	List() []strategy.Info
	Get(strategyID string) (strategy.Info, bool)
	Collectors(strategyID string) []strategy.CollectorInfo
	Validate(strategy.Draft) []problem.Issue
	Normalize(strategy.Draft) strategy.Draft
	Run(ctx context.Context, check strategy.Check) strategy.Result
	secretKinds
}

// systems is what this package asks of the catalog.
type systems interface {
	// SystemNames gives the names of those of the ids that exist.
	SystemNames(ctx context.Context, ids []string) (map[string]string, error)
	// SystemMetadata gives the metadata of those of the ids that exist.
	SystemMetadata(ctx context.Context, ids []string) (map[string]map[string]any, error)
	// SystemIDsByName gives the systems of exactly this name, ignoring case.
	SystemIDsByName(ctx context.Context, name string) ([]string, error)
}

// signals tells browsers what changed.
type signals interface {
	Publish(ctx context.Context, s event.Signal)
}

// Options tune the scheduler; zero values mean the defaults.
type Options struct {
	// Workers bounds the probes that run at once in this process. Default 1000.
	Workers int
	// ClaimBatch bounds the slices claimed in one statement. Default 500.
	ClaimBatch int
	// RecordBatch bounds the results written in one transaction. Default 500.
	RecordBatch int
	// RecordDelay is how long the first result of a batch waits for others.
	// Default 40 ms.
	RecordDelay time.Duration
	// Tick is the shortest pause between two claims when more is due soon.
	// Default 50 ms.
	Tick time.Duration
	// IdleTick is the longest pause between two claims; it bounds how late a
	// replica sees what another one scheduled. Default 500 ms.
	IdleTick time.Duration
	// RawRetention is how long runs are kept. Default 7 days.
	RawRetention time.Duration
}

func (o Options) withDefaults() Options {
	fill := func(v *int, def int) {
		if *v <= 0 {
			*v = def
		}
	}
	fillTime := func(v *time.Duration, def time.Duration) {
		if *v <= 0 {
			*v = def
		}
	}
	fill(&o.Workers, 1000)
	fill(&o.ClaimBatch, 500)
	fill(&o.RecordBatch, 500)
	fillTime(&o.RecordDelay, 40*time.Millisecond)
	fillTime(&o.Tick, 50*time.Millisecond)
	fillTime(&o.IdleTick, 500*time.Millisecond)
	fillTime(&o.RawRetention, 7*24*time.Hour)
	return o
}

// Deps are the parts a Service is made of.
type Deps struct {
	DB      *db.DB
	Secrets *secret.Store
	Kinds   kinds
	Systems systems
	Signals signals
	Bus     *event.Bus
	// OverrideRules says by source, for those who may call SetOverrides, which
	// access rule lets a viewer know what the source is about.
	OverrideRules map[string]string
	Log           *slog.Logger
	// Now is the wall clock; nil means time.Now.
	Now     func() time.Time
	Options Options
}

// Service owns health checks. Make it with New; its reads and edits work at
// once, Start makes it run what is due.
type Service struct {
	db      *db.DB
	secrets *secret.Store
	kinds   kinds
	systems systems
	signals *signaller
	bus     *event.Bus
	log     *slog.Logger
	clock   func() time.Time
	opts    Options

	overrideRules map[string]string

	ops     *operations
	owner   string // names this process in claims
	stats   *lateness
	cache   *runCache
	wake    chan struct{} // claim again now
	freed   chan struct{} // a worker slot became free
	slots   chan struct{} // one token per running probe
	results chan finished

	mu       sync.Mutex
	running  bool
	stopRuns context.CancelFunc
	stopLoop context.CancelFunc
	stopRec  context.CancelFunc
	loop     sync.WaitGroup
	runs     sync.WaitGroup
	rec      sync.WaitGroup
	purge    chan struct{}
}

// New makes the service. It does no I/O and starts nothing.
func New(d Deps) *Service {
	now := d.Now
	if now == nil {
		now = time.Now
	}
	o := d.Options.withDefaults()
	s := &Service{
		db: d.DB, secrets: d.Secrets, kinds: d.Kinds, systems: d.Systems,
		signals: newSignaller(d.Signals, now), bus: d.Bus,
		log: d.Log, clock: now, opts: o,
		overrideRules: d.OverrideRules,
		owner:         newID(),
		stats:         newLateness(),
		cache:         newRunCache(),
		wake:          make(chan struct{}, 1),
		freed:         make(chan struct{}, 1),
		slots:         make(chan struct{}, o.Workers),
		purge:         make(chan struct{}, 1),
	}
	s.ops = newOperations(s)
	return s
}

// now is the wall clock in stored form. It carries no monotonic part, so that
// differences see a suspended machine and a corrected clock.
func (s *Service) now() time.Time { return db.Time(s.clock().Round(0)) }

// poke asks the claim loop to look again at once.
func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
