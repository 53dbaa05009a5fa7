package healthcheck

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"
)

// claim is a slice that this process may run now.
type claim struct {
	SliceID              int64
	SystemID             string
	ConfigurationID      string
	ConfigurationVersion int64
	DueMs                int64
	PhaseMs              int64
	IntervalMs           int64
}

// claimDue takes up to limit due slices for this process and moves each to its
// next slot, in one statement: whoever comes next, on any replica or after a
// crash, finds the slot gone. The lease keeps the slice from being claimed again
// while it runs. The oldest due come first.
func (s *Service) claimDue(ctx context.Context, now time.Time, limit int) ([]claim, error) {
	ms := now.UnixMilli()
	var claims []claim
	// MATERIALIZED: otherwise PostgreSQL may run the selection again for every
	// row, and claim more than the limit.
	err := s.db.Write.NewRaw(`WITH due AS MATERIALIZED (
			SELECT slice_id FROM health_check_assignments
			WHERE active AND next_due_ms <= ? AND claimed_until_ms <= ?
			ORDER BY next_due_ms LIMIT ? ?)
		UPDATE health_check_assignments SET due_ms = next_due_ms,
			next_due_ms = phase_ms + ((? - phase_ms) / interval_ms + 1) * interval_ms,
			claimed_by = ?, claimed_until_ms = ? + lease_ms
		WHERE slice_id IN (SELECT slice_id FROM due)
		RETURNING slice_id, system_id, configuration_id, configuration_version, due_ms, phase_ms, interval_ms`,
		ms, ms, limit, s.db.SkipLocked(), ms, s.owner, ms).Scan(ctx, &claims)
	if err != nil {
		return nil, fmt.Errorf("claim due health checks: %w", err)
	}
	slices.SortFunc(claims, func(a, b claim) int { return cmp.Compare(a.DueMs, b.DueMs) })
	return claims, nil
}

// untilNext says how long nothing is due, at most limit.
func (s *Service) untilNext(ctx context.Context, now time.Time, limit time.Duration) (time.Duration, error) {
	var due []int64
	if err := s.db.Read.NewRaw(`SELECT next_due_ms FROM health_check_assignments
		WHERE active AND next_due_ms <= ? AND claimed_until_ms <= ? ORDER BY next_due_ms LIMIT 1`,
		now.Add(limit).UnixMilli(), now.UnixMilli()).Scan(ctx, &due); err != nil {
		return 0, fmt.Errorf("look for the next due health check: %w", err)
	}
	if len(due) == 0 {
		return limit, nil
	}
	return min(max(time.Duration(due[0]-now.UnixMilli())*time.Millisecond, 0), limit), nil
}

// spread moves overdue slices apart after a stop, a suspend or a database that
// was away: they fall back into their phase, or for long intervals run within a
// minute. Slots that were missed stay missed (FC-007, FC-011, FC-014).
func (s *Service) spread(ctx context.Context, now time.Time) error {
	ms := now.UnixMilli()
	_, err := s.db.Write.NewRaw(`UPDATE health_check_assignments SET next_due_ms =
			CASE WHEN interval_ms <= ? THEN phase_ms + ((? - phase_ms) / interval_ms + 1) * interval_ms
			ELSE ? + phase_ms % ? END
		WHERE active AND next_due_ms < ? AND last_run_ms > 0`,
		spreadMs, ms, ms, spreadMs, ms-graceMs).Exec(ctx)
	if err != nil {
		return fmt.Errorf("spread overdue health checks: %w", err)
	}
	return nil
}

// pullBack repairs slices that are scheduled further ahead than their interval,
// and leases longer than they can be: the clock went back (FC-008).
func (s *Service) pullBack(ctx context.Context, now time.Time) error {
	ms := now.UnixMilli()
	_, err := s.db.Write.NewRaw(`UPDATE health_check_assignments SET
			next_due_ms = CASE WHEN next_due_ms > ? + interval_ms + ?
				THEN phase_ms + ((? - phase_ms) / interval_ms + 1) * interval_ms ELSE next_due_ms END,
			claimed_until_ms = CASE WHEN claimed_until_ms > ? + lease_ms + ? THEN ? + lease_ms ELSE claimed_until_ms END
		WHERE next_due_ms > ? + interval_ms + ? OR claimed_until_ms > ? + lease_ms + ?`,
		ms, graceMs, ms, ms, graceMs, ms, ms, graceMs, ms, graceMs).Exec(ctx)
	if err != nil {
		return fmt.Errorf("repair health checks scheduled too far ahead: %w", err)
	}
	return nil
}

// release gives claims back whose run will not be stored. Their slot is spent.
func (s *Service) release(ctx context.Context, ids []int64) error {
	if len(ids) == 0 {
		return nil
	}
	_, err := s.db.Write.NewRaw(`UPDATE health_check_assignments SET claimed_by = '', claimed_until_ms = 0
		WHERE claimed_by = ? AND slice_id IN (?)`, s.owner, bun.List(ids)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("release claims: %w", err)
	}
	return nil
}

// releaseAll ends leases at start and stop: every lease on SQLite, where no
// other process can hold one, else this process's own.
func (s *Service) releaseAll(ctx context.Context) error {
	q := s.db.Write.NewUpdate().Table("health_check_assignments").Set("claimed_by = ''").Set("claimed_until_ms = 0")
	if s.db.Postgres() {
		q = q.Where("claimed_by = ?", s.owner)
	} else {
		q = q.Where("claimed_by <> ''")
	}
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("release claims: %w", err)
	}
	return nil
}
