package healthcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

const (
	// gap is how long the claim loop may have been away before what is overdue is
	// spread out instead of run at once.
	gap = 5 * time.Second
	// stepBack is how far the clock may go back before the schedule is repaired.
	stepBack = time.Second
	// maintainEvery is how often the schedule is checked and caches are swept.
	maintainEvery = time.Minute
	// stopGrace is how long complete results are still stored after the stop's
	// own time is over.
	stopGrace = 2 * time.Second
)

// Start begins to run what is due, until Stop. ctx only covers the start itself.
func (s *Service) Start(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running {
		return errors.New("health checks are already running")
	}
	if err := s.prepareStart(ctx); err != nil {
		return err
	}
	base := context.WithoutCancel(ctx)
	loopCtx, stopLoop := context.WithCancel(base)
	runCtx, stopRuns := context.WithCancel(base)
	recCtx, stopRec := context.WithCancel(base)
	s.stopLoop, s.stopRuns, s.stopRec, s.running = stopLoop, stopRuns, stopRec, true
	s.results = make(chan finished, s.opts.RecordBatch)
	s.rec.Go(func() { s.recordLoop(recCtx) })
	s.loop.Go(func() { s.claimLoop(loopCtx, runCtx) })
	s.loop.Go(func() { s.purgeLoop(loopCtx) })
	return nil
}

// prepareStart brings the schedule in order after the process was away.
func (s *Service) prepareStart(ctx context.Context) error {
	if err := s.tuneStorage(ctx); err != nil {
		// Not worth keeping checks from running.
		s.log.WarnContext(ctx, "the table of health checks keeps PostgreSQL's default storage options", "error", err)
	}
	if err := s.releaseAll(ctx); err != nil {
		return err
	}
	now := s.now()
	if err := s.pullBack(ctx, now); err != nil {
		return err
	}
	return s.spread(ctx, now)
}

// Stop ends claiming, lets running probes finish and stores their results. When
// ctx ends first, what still runs is cancelled and given back; a result that is
// complete is stored if the database answers.
func (s *Service) Stop(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.running {
		return nil
	}
	s.running = false
	s.stopLoop()
	s.loop.Wait()
	stopped := make(chan struct{})
	go func() {
		s.runs.Wait()
		close(s.results)
		s.rec.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		s.stopRuns()
		select {
		case <-stopped:
		case <-time.After(stopGrace): // the database does not answer either
			s.stopRec()
			<-stopped
		}
	}
	s.stopRuns()
	s.stopRec()
	release, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopGrace)
	defer cancel()
	return s.releaseAll(release)
}

// pace is what the claim loop remembers between rounds.
type pace struct {
	last       time.Time // wall clock of the last round that reached the database
	maintained time.Time
	toldBusy   time.Time
	failures   int
}

func (s *Service) claimLoop(ctx, runCtx context.Context) {
	p := pace{last: s.now(), maintained: s.now()}
	timer := time.NewTimer(0)
	defer timer.Stop()
	var began time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
			// Many edits in a row must not become as many claims.
			if early := s.opts.Tick - time.Since(began); early > 0 {
				timer.Reset(early)
				continue
			}
		}
		began = time.Now()
		timer.Reset(s.round(ctx, runCtx, &p))
	}
}

// round claims once and starts what it got. It gives the time until the next.
func (s *Service) round(ctx, runCtx context.Context, p *pace) time.Duration {
	free := cap(s.slots) - len(s.slots)
	if free == 0 {
		s.noticeBusy(ctx, p)
		select {
		case <-ctx.Done():
			return 0
		case <-s.freed:
			return 0
		case <-time.After(s.opts.IdleTick):
			return 0
		}
	}
	limit := min(free, s.opts.ClaimBatch)
	wait, err := s.claimRound(ctx, runCtx, p, limit)
	if err == nil {
		p.failures = 0
		return wait
	}
	if ctx.Err() != nil {
		return s.opts.IdleTick
	}
	p.failures++
	if p.failures == 1 || p.failures%20 == 0 {
		s.log.ErrorContext(ctx, "health checks cannot be scheduled; trying again", "failures", p.failures, "error", err)
	}
	return min(s.opts.IdleTick<<min(p.failures-1, 3), 5*time.Second)
}

// noticeBusy tells, once a minute, that nothing was claimed for longer than a
// burst takes because checks do not end: others then run late.
func (s *Service) noticeBusy(ctx context.Context, p *pace) {
	now := s.now()
	if d := now.Sub(p.toldBusy); now.Sub(p.last) < gap || (d >= 0 && d < maintainEvery) {
		return
	}
	p.toldBusy = now
	s.log.WarnContext(ctx, "all workers are busy; health checks run late until some end, or with more CHECKSTACK_CHECK_WORKERS", "workers", cap(s.slots))
}

// claimTimeout bounds one round's statements, so that a lost connection is
// noticed.
const claimTimeout = 15 * time.Second

func (s *Service) claimRound(ctx, runCtx context.Context, p *pace, limit int) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, claimTimeout)
	defer cancel()
	now := s.now()
	if err := s.notice(ctx, p, now); err != nil {
		return 0, err
	}
	claims, err := s.claimDue(ctx, now, limit)
	if err != nil {
		return 0, err
	}
	p.last = now
	if len(claims) > 0 {
		if err := s.begin(ctx, runCtx, claims); err != nil {
			return 0, err
		}
	}
	if len(claims) == limit {
		return 0, nil
	}
	next, err := s.untilNext(ctx, now, s.opts.IdleTick)
	return max(next, s.opts.Tick), err
}

// notice repairs the schedule when the wall clock jumped or the loop was away.
func (s *Service) notice(ctx context.Context, p *pace, now time.Time) error {
	switch away := now.Sub(p.last); {
	case away > gap:
		if err := s.spread(ctx, now); err != nil {
			return err
		}
		s.log.WarnContext(ctx, "health checks were not scheduled for a while; what was overdue is spread out", "away_ms", away.Milliseconds())
	case away < -stepBack:
		if err := s.pullBack(ctx, now); err != nil {
			return err
		}
		s.log.WarnContext(ctx, "the clock went back; the schedule of health checks follows it", "step_ms", -away.Milliseconds())
	}
	if d := now.Sub(p.maintained); d >= maintainEvery || d < 0 {
		p.maintained = now
		s.cache.sweep(now)
		return s.pullBack(ctx, now)
	}
	return nil
}

// begin starts the probes of claims. When what they need cannot be read, the
// claims are given back: no result is made up.
func (s *Service) begin(ctx, runCtx context.Context, claims []claim) error {
	configs, err := s.load(ctx, claims)
	var infos map[string]systemInfo
	if err == nil {
		ids := make([]string, len(claims))
		for i, c := range claims {
			ids[i] = c.SystemID
		}
		infos, err = s.systemInfo(ctx, ids)
	}
	if err != nil {
		ids := make([]int64, len(claims))
		for i, c := range claims {
			ids[i] = c.SliceID
		}
		return errors.Join(err, s.release(context.WithoutCancel(ctx), ids))
	}
	for _, c := range claims {
		r := configs[c.ConfigurationID]
		if r == nil {
			continue // deleted meanwhile, and its assignment with it
		}
		s.slots <- struct{}{}
		s.runs.Go(func() {
			defer func() { <-s.slots; poke(s.freed) }()
			s.execute(runCtx, c, r, infos[c.SystemID])
		})
	}
	return nil
}

// execute makes one run and hands its result to the recorder.
func (s *Service) execute(ctx context.Context, c claim, r *runnable, sys systemInfo) {
	at := s.now()
	s.stats.begin(at.Sub(ofMs(c.DueMs)))
	res := strategy.Result{Status: Unhealthy, Message: r.fault, Metadata: strategy.Metadata{Error: r.fault}}
	if r.fault == "" {
		runCtx, cancel := context.WithTimeout(ctx, r.timeout+deadlineMargin)
		res = s.kinds.Run(runCtx, strategy.Check{Draft: r.draft, Template: strategy.TemplateContext{
			CheckID: c.ConfigurationID, CheckName: r.name, IntervalSeconds: r.interval,
			SystemID: c.SystemID, SystemName: sys.name, SystemMetadata: sys.metadata}})
		cancel()
		if ctx.Err() != nil {
			s.stats.count(0, 1)
			return // stopped in the middle: this says nothing about the target
		}
		// Longer than it can have run by its own clock: the machine was suspended
		// in the middle, which says nothing about the target either (FC-007).
		if took := s.now().Sub(at); res.Status != Healthy && took > r.timeout+2*deadlineMargin {
			s.stats.count(0, 1)
			s.log.WarnContext(ctx, "a failed health check run is not counted: the clock or the machine stood still meanwhile",
				"configuration_id", c.ConfigurationID, "system_id", c.SystemID, "took_ms", took.Milliseconds())
			return
		}
		s.logRun(ctx, c.ConfigurationID, res)
	}
	f, err := finish(c, at, res)
	if err != nil {
		s.stats.count(0, 1)
		s.log.ErrorContext(ctx, "a health check result cannot be stored", "configuration_id", c.ConfigurationID, "system_id", c.SystemID, "error", err)
		return
	}
	select {
	case s.results <- f:
		return
	default:
	}
	select {
	case s.results <- f:
	case <-ctx.Done():
		s.stats.count(0, 1)
	}
}

// logRun reports what went wrong on our side of a run.
func (s *Service) logRun(ctx context.Context, id string, res strategy.Result) {
	if res.Fault != nil {
		s.log.ErrorContext(ctx, "health check kind failed", "configuration_id", id, "error", res.Fault)
	}
	for _, w := range res.Warnings {
		s.log.WarnContext(ctx, "health check ran incompletely", "configuration_id", id, "warning", w)
	}
}

// finished is a run on its way to the database.
type finished struct {
	claim claim
	run   Run
}

func finish(c claim, at time.Time, res strategy.Result) (finished, error) {
	raw, err := json.Marshal(res.Metadata)
	if err != nil {
		return finished{}, fmt.Errorf("encode result: %w", err)
	}
	return finished{claim: c, run: Run{ID: runID(at), ConfigurationID: c.ConfigurationID, SystemID: c.SystemID,
		Status: res.Status, Timestamp: at, LatencyMs: res.LatencyMs, Message: res.Message, Result: raw}}, nil
}
