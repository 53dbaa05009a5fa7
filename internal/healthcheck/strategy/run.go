package strategy

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/checkstack/checkstack/internal/netguard"
)

// errHardTimeout is the cause of a run's context when its timeout fired.
var errHardTimeout = errors.New("execution timeout")

const (
	kindPanicked = "The check failed because of an internal error"
	cancelled    = "The run was cancelled"
)

// Run makes one run, spec/monitoring.md 4.4. It returns when the measurement
// is complete, at the strategy's timeout, or when ctx ends, whichever is first.
// It never fails otherwise: whatever goes wrong is part of the Result.
//
// When ctx itself has ended the run says nothing about the target: look at
// ctx.Err() and do not store it. The time before Run is called, such as waiting
// for a slot, is not part of any duration.
func (r *Registry) Run(ctx context.Context, c Check) Result {
	p := r.cache.get(c.Draft, r.compile)
	if p.fault != "" {
		return Result{
			Status: Unhealthy, Message: p.fault, Metadata: Metadata{Error: p.fault}, Warnings: p.warnings,
		}
	}
	runCtx, cancel := context.WithTimeoutCause(ctx, p.timeout, errHardTimeout)
	defer cancel()
	run := &run{plan: p, template: &c.Template}
	done := make(chan Result, 1)
	go func() { done <- run.measure(runCtx) }()
	var res Result
	select {
	case res = <-done:
		if res.Status == Healthy || runCtx.Err() == nil {
			return res
		}
	case <-runCtx.Done():
	}
	// The deadline decides the text even when the kind noticed it first.
	text := cancelled
	if errors.Is(context.Cause(runCtx), errHardTimeout) {
		text = fmt.Sprintf("Execution timeout after %dms", p.timeout.Milliseconds())
	}
	return Result{
		Status: Unhealthy, Message: text, Warnings: p.warnings, Fault: res.Fault,
		Metadata: Metadata{Connected: run.connected.Load(), ConnectionTimeMs: run.connectMs.Load(), Error: text},
	}
}

// run is the state of one run. The atomic fields are read by Run when it stops
// waiting for a kind that does not return.
type run struct {
	plan      *plan
	template  *TemplateContext
	connected atomic.Bool
	connectMs atomic.Int64
}

// collected is what one collector gave.
type collected struct {
	measurement Measurement
	took        time.Duration
	err         error
}

func (r *run) measure(ctx context.Context) Result {
	p := r.plan
	cfg, err := p.config.render(r.template)
	if err != nil {
		return r.failed(Failure("The rendered configuration cannot be read"))
	}
	start := time.Now()
	conn, err := protect(func() (Connection, error) { return p.entry.strategy.Connect(ctx, cfg) })
	r.connectMs.Store(milliseconds(since(start)))
	if err != nil {
		return r.failed(err)
	}
	r.connected.Store(true)
	results := r.collect(ctx, conn)
	latency := milliseconds(since(start))
	_, closeErr := protect(func() (struct{}, error) { return struct{}{}, conn.Close() })
	res := r.judge(results, latency)
	if f := faultOf(closeErr, p.scrub); f != nil && res.Fault == nil {
		res.Fault = f
	}
	return res
}

// collect runs every collector at the same time and waits for all of them.
func (r *run) collect(ctx context.Context, conn Connection) []collected {
	out := make([]collected, len(r.plan.collectors))
	one := func(i int) {
		pc := r.plan.collectors[i]
		start := time.Now()
		cfg, err := pc.config.render(r.template)
		if err != nil {
			out[i].err = Failure("The rendered configuration cannot be read")
			return
		}
		out[i].measurement, out[i].err = protect(func() (Measurement, error) {
			return pc.entry.collector.Collect(ctx, conn, cfg)
		})
		out[i].took = since(start)
	}
	var wg sync.WaitGroup
	for i := 1; i < len(out); i++ {
		wg.Go(func() { one(i) })
	}
	if len(out) > 0 {
		one(0)
	}
	wg.Wait()
	return out
}

// failed is the result of a run that got no connection.
func (r *run) failed(err error) Result {
	text := errorText(err, r.plan.scrub)
	return Result{
		Status: Unhealthy, Message: text, Warnings: r.plan.warnings, Fault: faultOf(err, r.plan.scrub),
		Metadata: Metadata{ConnectionTimeMs: r.connectMs.Load(), Error: text},
	}
}

// judge evaluates the assertions, strips what is not stored, and decides.
func (r *run) judge(results []collected, latencyMs int64) Result {
	p := r.plan
	res := Result{Status: Healthy, Warnings: p.warnings}
	res.Metadata.Connected = true
	res.Metadata.ConnectionTimeMs = r.connectMs.Load()
	measured := len(results) == 0
	first := ""
	var slowest time.Duration
	if len(results) > 0 {
		res.Metadata.Collectors = make(map[string]CollectorResult, len(results))
	}
	for i, c := range results {
		stored, failure := p.collectors[i].result(c, p.scrub)
		res.Metadata.Collectors[p.collectors[i].id] = stored
		if failure != "" && first == "" {
			first = failure
		}
		if f := faultOf(c.err, p.scrub); f != nil && res.Fault == nil {
			res.Fault = f
		}
		if c.err != nil {
			continue
		}
		measured = true
		if len(c.measurement.Timings) > 0 && c.took >= slowest {
			slowest, res.Metadata.Timings = c.took, c.measurement.Timings
		}
	}
	if measured && res.Fault == nil {
		res.LatencyMs = &latencyMs
	}
	if first != "" {
		res.Status = Unhealthy
		res.Message = "Check failed: " + first
		return res
	}
	res.Message = fmt.Sprintf("Completed in %dms", latencyMs)
	return res
}

// result gives what is stored of a collector, and why it failed if it did.
func (pc *planCollector) result(c collected, scrub *scrubber) (CollectorResult, string) {
	if c.err != nil {
		text := errorText(c.err, scrub)
		return CollectorResult{"_collectorId": pc.entry.kind.ID, "error": text}, text
	}
	failure := ""
	stored := make(CollectorResult, len(c.measurement.Fields)+3)
	if len(pc.assertions) > 0 {
		outcomes := make([]Outcome, 0, len(pc.assertions))
		seen := make(map[string]bool, len(pc.assertions))
		for _, a := range pc.assertions {
			if seen[a.key] {
				// Identical assertions share one series.
				continue
			}
			seen[a.key] = true
			o := a.judge(c.measurement, scrub)
			outcomes = append(outcomes, o)
			if !o.Passed && failure == "" {
				failure = a.summary(o)
				stored["_assertionFailed"] = o.Message
			}
		}
		stored["_assertions"] = outcomes
	}
	for name, v := range c.measurement.Fields {
		if !slices.Contains(pc.entry.ephemeral, name) {
			stored[name] = scrub.value(v)
		}
	}
	stored["_collectorId"] = pc.entry.kind.ID
	return stored, failure
}

// panicError is a kind that panicked.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", e.value, e.stack) }

// protect turns a panic into an error.
func protect[T any](fn func() (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return fn()
}

// faultOf gives a panic for the log, where no secret belongs either.
func faultOf(err error, scrub *scrubber) error {
	if p, ok := errors.AsType[*panicError](err); ok {
		return errors.New(scrub.text(p.Error()))
	}
	return nil
}

// maxErrorText bounds a stored error.
const maxErrorText = 1000

// errorText is what is stored of an error. Only a Failure speaks for itself;
// of anything else just the plain cause is told.
func errorText(err error, scrub *scrubber) string {
	if _, ok := errors.AsType[*panicError](err); ok {
		return kindPanicked
	}
	text := netguard.Cause(err)
	if f, ok := errors.AsType[Failure](err); ok {
		text = string(f)
	}
	return clip(scrub.text(text), maxErrorText)
}

// since is never negative: it reads the monotonic clock (FC-008).
func since(start time.Time) time.Duration { return max(time.Since(start), 0) }

func milliseconds(d time.Duration) int64 { return d.Round(time.Millisecond).Milliseconds() }
