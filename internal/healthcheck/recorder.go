package healthcheck

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
)

const (
	// writeTimeout bounds one attempt to store a batch.
	writeTimeout = 30 * time.Second
	// maxReason bounds the failure text that a slice's row repeats.
	maxReason = 300
)

// recordLoop gathers results and stores them in batches, until results is closed
// and everything is stored, or ctx ends.
func (s *Service) recordLoop(ctx context.Context) {
	for {
		batch, open := s.gather()
		if len(batch) > 0 {
			s.record(ctx, batch)
		}
		if !open {
			return
		}
	}
}

// gather waits for a result and takes what follows shortly after.
func (s *Service) gather() (batch []finished, open bool) {
	f, ok := <-s.results
	if !ok {
		return nil, false
	}
	batch = append(batch, f)
	timer := time.NewTimer(s.opts.RecordDelay)
	defer timer.Stop()
	for len(batch) < s.opts.RecordBatch {
		select {
		case f, ok := <-s.results:
			if !ok {
				return batch, false
			}
			batch = append(batch, f)
		case <-timer.C:
			return batch, true
		}
	}
	return batch, true
}

// record stores a batch, however long the database is away (FC-032). Meanwhile
// finished probes wait for their turn and hold their slots, so that no more is
// claimed than can be stored. Only the end of ctx gives up.
func (s *Service) record(ctx context.Context, batch []finished) {
	wait := 100 * time.Millisecond
	for attempt := 1; ; attempt++ {
		err := s.writeBatch(ctx, batch)
		if err == nil {
			return
		}
		if ctx.Err() != nil {
			s.stats.count(0, len(batch))
			s.log.ErrorContext(ctx, "health check results were not stored before the stop", "results", len(batch), "error", err)
			return
		}
		if db.IsRefused(err) {
			// One of them cannot be stored at all; it must not keep the others.
			if len(batch) == 1 {
				s.stats.count(0, 1)
				s.log.ErrorContext(ctx, "a health check result cannot be stored", "configuration_id", batch[0].run.ConfigurationID,
					"system_id", batch[0].run.SystemID, "error", err)
				return
			}
			s.record(ctx, batch[:len(batch)/2])
			s.record(ctx, batch[len(batch)/2:])
			return
		}
		if attempt == 1 || attempt%20 == 0 {
			s.log.WarnContext(ctx, "health check results are not stored yet; trying again", "results", len(batch), "attempt", attempt, "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(wait*2, 5*time.Second)
	}
}

// writeBatch stores runs, the state of their slices, the rollup of the systems
// whose slices changed and the transitions, in one transaction.
func (s *Service) writeBatch(ctx context.Context, batch []finished) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	var changes []Transition
	var kept []finished
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var err error
		if kept, changes, err = s.apply(ctx, tx, batch); err != nil {
			return err
		}
		return insertRuns(ctx, tx, kept)
	})
	if err != nil {
		return fmt.Errorf("store health check results: %w", err)
	}
	s.stats.count(len(kept), len(batch)-len(kept))
	for _, f := range kept {
		s.signals.run(ctx, f.claim.SliceID, f.run)
	}
	s.signals.statuses(ctx, changes)
	return nil
}

// apply brings the slices and systems in line with the batch and gives the runs
// whose slice still exists.
func (s *Service) apply(ctx context.Context, tx bun.Tx, batch []finished) ([]finished, []Transition, error) {
	ids := make([]int64, len(batch))
	for i, f := range batch {
		ids[i] = f.claim.SliceID
	}
	rows, err := s.lockSlices(ctx, tx, "slice_id IN (?)", bun.List(ids))
	if err != nil {
		return nil, nil, fmt.Errorf("lock slices: %w", err)
	}
	byID := make(map[int64]*sliceRow, len(rows))
	for i := range rows {
		byID[rows[i].SliceID] = &rows[i]
	}
	now := s.now()
	kept := make([]finished, 0, len(batch))
	touched := map[string]string{}
	for _, f := range batch {
		r := byID[f.claim.SliceID]
		if r == nil {
			continue
		}
		kept = append(kept, f)
		if r.take(f, s.owner, now) && r.Active {
			touched[r.SystemID] = r.ConfigurationID
		}
	}
	if err := writeStates(ctx, tx, rows); err != nil {
		return nil, nil, err
	}
	changes, err := s.rollUp(ctx, tx, touched, now)
	return kept, changes, err
}

// take brings a slice in line with one run, and ends the claim it was made under.
// It reports whether the status changed.
func (r *sliceRow) take(f finished, owner string, now time.Time) bool {
	r.Recent = push(r.Recent, f.run.Status)
	r.LastRunMs = f.run.Timestamp.UnixMilli()
	changed := r.judge(thresholdsOf(r.Thresholds), f.run.Timestamp)
	switch {
	case f.run.Status != Healthy:
		r.Reason = clip(f.run.Message, maxReason)
	case r.Status == Healthy:
		r.Reason = ""
	}
	if r.ClaimedBy != owner || r.DueMs != f.claim.DueMs {
		return changed // the lease ran out and someone else has it now
	}
	r.ClaimedBy, r.ClaimedUntilMs = "", 0
	// A regular slot that came while the run still went on is skipped (FC-012).
	// One that does not lie on the phase was asked for by a person and stays.
	if ms := now.UnixMilli(); r.NextDueMs <= ms && (r.NextDueMs-r.PhaseMs)%r.IntervalMs == 0 {
		r.NextDueMs = nextSlot(r.PhaseMs, r.IntervalMs, ms)
	}
	return changed
}

func writeStates(ctx context.Context, tx bun.Tx, rows []sliceRow) error {
	if len(rows) == 0 {
		return nil
	}
	v := newValues("slice_id", "recent", "status", "since_ms", "last_run_ms", "reason", "claimed_by", "claimed_until_ms", "next_due_ms")
	for _, r := range rows {
		v.add(r.SliceID, r.Recent, r.Status, r.SinceMs, r.LastRunMs, r.Reason, r.ClaimedBy, r.ClaimedUntilMs, r.NextDueMs)
	}
	if _, err := tx.NewRaw("WITH v ("+v.names+") AS (VALUES "+v.text()+`)
		UPDATE health_check_assignments SET recent = v.recent, status = v.status, since_ms = v.since_ms,
			last_run_ms = v.last_run_ms, reason = v.reason, claimed_by = v.claimed_by,
			claimed_until_ms = v.claimed_until_ms, next_due_ms = v.next_due_ms
		FROM v WHERE health_check_assignments.slice_id = v.slice_id`, v.args...).Exec(ctx); err != nil {
		return fmt.Errorf("update slices: %w", err)
	}
	return nil
}

func insertRuns(ctx context.Context, tx bun.Tx, batch []finished) error {
	if len(batch) == 0 {
		return nil
	}
	v := newValues()
	for _, f := range batch {
		r := f.run
		v.add(r.ID, f.claim.SliceID, r.ConfigurationID, r.SystemID, r.Status, r.Timestamp, r.LatencyMs, r.Message, string(r.Result))
	}
	if _, err := tx.NewRaw("INSERT INTO health_check_runs (id, slice_id, configuration_id, system_id, status, timestamp, latency_ms, message, result) VALUES "+
		v.text(), v.args...).Exec(ctx); err != nil {
		return fmt.Errorf("insert runs: %w", err)
	}
	return nil
}

// clip cuts text to at most n bytes, at a character's border.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
