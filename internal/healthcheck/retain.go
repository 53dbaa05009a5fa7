package healthcheck

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

const (
	// sweepBatch is how many rows one statement of the clean-up deletes; small, so
	// that writers in between never wait long (FC-035).
	sweepBatch = 2000
	// purgeEvery is how often the leftovers of deletions are looked for, besides
	// right after one.
	purgeEvery = 15 * time.Minute
)

// Retain deletes runs and transitions that are older than the retention, and the
// runs of checks and systems that were deleted. It works in small batches and
// stops when ctx ends; what is left is done the next time.
func (s *Service) Retain(ctx context.Context) error {
	oldest := lowestID(s.now().Add(-s.opts.RawRetention))
	if err := s.sweep(ctx, "runs", `DELETE FROM health_check_runs WHERE id IN (
		SELECT id FROM health_check_runs WHERE id < ? ORDER BY id LIMIT ?)`, oldest, sweepBatch); err != nil {
		return err
	}
	// The newest transition of a system says since when it is as it is.
	if err := s.sweep(ctx, "transitions", `DELETE FROM health_check_state_transitions WHERE id IN (
		SELECT t.id FROM health_check_state_transitions t WHERE t.id < ? AND (
			EXISTS (SELECT 1 FROM health_check_state_transitions n WHERE n.system_id = t.system_id AND n.id > t.id)
			OR NOT EXISTS (SELECT 1 FROM health_check_systems h WHERE h.system_id = t.system_id))
		ORDER BY t.id LIMIT ?)`, oldest, sweepBatch); err != nil {
		return err
	}
	return s.purgeOrphans(ctx)
}

// sweep repeats a bounded delete until it finds nothing.
func (s *Service) sweep(ctx context.Context, what, query string, args ...any) error {
	for {
		res, err := s.db.Write.NewRaw(query, args...).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old %s: %w", what, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return fmt.Errorf("delete old %s: %w", what, err)
		}
		if n < sweepBatch {
			return nil
		}
	}
}

// ForgetSystem removes what foreign keys do not: the transitions of a deleted
// system before it returns, and its runs, which may be millions, soon after. To
// call it again does no harm.
func (s *Service) ForgetSystem(ctx context.Context, systemID string) error {
	if err := s.sweep(ctx, "transitions of a deleted system", `DELETE FROM health_check_state_transitions WHERE id IN (
		SELECT id FROM health_check_state_transitions WHERE system_id = ? LIMIT ?)`, systemID, sweepBatch); err != nil {
		return err
	}
	poke(s.purge)
	return nil
}

// purgeLoop sweeps after deletions.
func (s *Service) purgeLoop(ctx context.Context) {
	t := time.NewTicker(purgeEvery)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.purge:
		case <-t.C:
		}
		if err := s.purgeOrphans(ctx); err != nil && ctx.Err() == nil {
			s.log.WarnContext(ctx, "runs of deleted health checks are not removed yet; trying again later", "error", err)
		}
	}
}

// purgeOrphans deletes the runs whose configuration or system is gone. It finds
// them by walking from slice to slice through the index, one step per slice.
func (s *Service) purgeOrphans(ctx context.Context) error {
	var orphans []int64
	if err := s.db.Read.NewRaw(`WITH RECURSIVE s (slice_id) AS (
			SELECT min(slice_id) FROM health_check_runs
			UNION ALL
			SELECT (SELECT min(r.slice_id) FROM health_check_runs r WHERE r.slice_id > s.slice_id) FROM s WHERE s.slice_id IS NOT NULL)
		SELECT s.slice_id FROM s WHERE s.slice_id IS NOT NULL
			AND NOT EXISTS (SELECT 1 FROM health_check_assignments a WHERE a.slice_id = s.slice_id)`).Scan(ctx, &orphans); err != nil {
		return fmt.Errorf("look for runs of deleted checks: %w", err)
	}
	for _, id := range orphans {
		gone, err := s.gone(ctx, id)
		if err != nil {
			return err
		}
		if !gone {
			continue // taken off the system only; its history stays
		}
		if err := s.sweep(ctx, "runs of a deleted check", `DELETE FROM health_check_runs WHERE id IN (
			SELECT id FROM health_check_runs WHERE slice_id = ? ORDER BY id LIMIT ?)`, id, sweepBatch); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) gone(ctx context.Context, slice int64) (bool, error) {
	var pair struct{ ConfigurationID, SystemID string }
	if err := s.db.Read.NewRaw("SELECT configuration_id, system_id FROM health_check_runs WHERE slice_id = ? ORDER BY id LIMIT 1", slice).
		Scan(ctx, &pair); errors.Is(err, sql.ErrNoRows) {
		return false, nil // swept by another replica meanwhile
	} else if err != nil {
		return false, fmt.Errorf("read a run of slice %d: %w", slice, err)
	}
	live, err := s.live(ctx, s.db.Read, pair.SystemID, pair.ConfigurationID)
	return !live, err
}

// live says whether both the system and the configuration of a run exist.
func (s *Service) live(ctx context.Context, idb bun.IDB, systemID, configurationID string) (bool, error) {
	var n int
	if err := idb.NewRaw(`SELECT count(*) FROM health_check_configurations c, health_check_systems h
		WHERE c.id = ? AND h.system_id = ?`, configurationID, systemID).Scan(ctx, &n); err != nil {
		return false, fmt.Errorf("look up check: %w", err)
	}
	return n > 0, nil
}
