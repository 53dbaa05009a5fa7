package healthcheck

import (
	"context"
	"fmt"

	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	errNoSystem     = problem.NotFound("System not found")
	errNoAssignment = problem.NotFound("This health check is not assigned to this system")
)

// edit runs a change in a transaction, rolls up the systems it touched, and
// tells browsers and the scheduler afterwards. fn gives the touched systems with
// the configuration that is the cause.
func (s *Service) edit(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) (map[string]string, error)) error {
	var changes []Transition
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		touched, err := fn(ctx, tx)
		if err != nil {
			return err
		}
		changes, err = s.rollUp(ctx, tx, touched, s.now())
		return err
	})
	if err != nil {
		return err
	}
	s.signals.changed(ctx)
	s.signals.statuses(ctx, changes)
	poke(s.wake)
	return nil
}

// newSlice is a fresh assignment; it is due at once.
func newSlice(c configurationRow, systemID string, enabled bool, t *Thresholds, d strategy.Draft, now time.Time) sliceRow {
	id := sliceID(systemID, c.ID)
	interval := int64(c.IntervalSeconds) * 1000
	return sliceRow{SliceID: id, SystemID: systemID, ConfigurationID: c.ID, Enabled: enabled, Thresholds: storeThresholds(t),
		Active: enabled && !c.Paused, ConfigurationVersion: c.Version, IntervalMs: interval, PhaseMs: phaseOf(id, interval),
		LeaseMs: leaseOf(d).Milliseconds(), NextDueMs: now.UnixMilli(), Status: Unknown}
}

func (s *Service) insertAssignment(ctx context.Context, tx bun.Tx, r sliceRow) error {
	switch err := insertSlice(ctx, tx, r); {
	case db.IsForeignKey(err):
		return errNoSystem
	case err != nil:
		return fmt.Errorf("assign configuration %s to system %s: %w", r.ConfigurationID, r.SystemID, err)
	}
	return nil
}

// knownSystems drops duplicates from ids and lists those that do not exist.
func (s *Service) knownSystems(ctx context.Context, ids []string) ([]string, []problem.Issue, error) {
	var unique []string
	for _, id := range ids {
		if !slices.Contains(unique, id) {
			unique = append(unique, id)
		}
	}
	if len(unique) == 0 {
		return nil, nil, nil
	}
	names, err := s.systems.SystemNames(ctx, unique)
	if err != nil {
		return nil, nil, fmt.Errorf("look up systems: %w", err)
	}
	var issues []problem.Issue
	for i, id := range ids {
		if _, ok := names[id]; !ok {
			issues = append(issues, problem.Issue{Path: fmt.Sprintf("systemIds[%d]", i), Message: "there is no such system"})
		}
	}
	return unique, issues, nil
}

func (s *Service) mustExist(ctx context.Context, systemID string) error {
	names, err := s.systems.SystemNames(ctx, []string{systemID})
	if err != nil {
		return fmt.Errorf("look up system %s: %w", systemID, err)
	}
	if _, ok := names[systemID]; !ok {
		return errNoSystem
	}
	return nil
}

// Associations gives the assignments of a system, by the configuration's name.
func (s *Service) Associations(ctx context.Context, systemID string) ([]Association, error) {
	if err := s.mustExist(ctx, systemID); err != nil {
		return nil, err
	}
	var rows []struct {
		ConfigurationID, Name, Thresholds string
		Enabled                           bool
	}
	if err := s.db.Read.NewRaw(`SELECT a.configuration_id, c.name, a.thresholds, a.enabled
		FROM health_check_assignments a JOIN health_check_configurations c ON c.id = a.configuration_id
		WHERE a.system_id = ? ORDER BY lower(c.name), c.id`, systemID).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("list assignments of system %s: %w", systemID, err)
	}
	out := make([]Association, len(rows))
	for i, r := range rows {
		out[i] = Association{SystemID: systemID, ConfigurationID: r.ConfigurationID, ConfigurationName: r.Name,
			Enabled: r.Enabled, Thresholds: readThresholds(r.Thresholds)}
	}
	return out, nil
}

// Associate assigns a configuration to a system, or changes the assignment; nil
// thresholds are the default. The state is judged anew at once.
func (s *Service) Associate(ctx context.Context, systemID, configurationID string, enabled bool, t *Thresholds) (Association, error) {
	if t != nil {
		filled := t.withDefaults()
		if err := problem.InputIssues(filled.issues("body.stateThresholds")); err != nil {
			return Association{}, err
		}
		t = &filled
	}
	if err := s.mustExist(ctx, systemID); err != nil {
		return Association{}, err
	}
	out := Association{SystemID: systemID, ConfigurationID: configurationID, Enabled: enabled, Thresholds: t}
	err := s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		c, err := s.lockConfiguration(ctx, tx, configurationID)
		if err != nil {
			return nil, err
		}
		out.ConfigurationName = c.Name
		touched := map[string]string{systemID: configurationID}
		now := s.now()
		rows, err := s.lockSlices(ctx, tx, "system_id = ? AND configuration_id = ?", systemID, configurationID)
		if err != nil {
			return nil, fmt.Errorf("read assignment: %w", err)
		}
		if len(rows) == 0 {
			d, err := c.draft()
			if err != nil {
				return nil, err
			}
			return touched, s.insertAssignment(ctx, tx, newSlice(c, systemID, enabled, t, d, now))
		}
		r := rows[0]
		was := r.Active
		r.Enabled, r.Thresholds, r.Active = enabled, storeThresholds(t), enabled && !c.Paused
		if r.Active && !was {
			r.NextDueMs = now.UnixMilli()
		}
		r.judge(thresholdsOf(r.Thresholds), now)
		if err := updateSlice(ctx, tx, r); err != nil {
			return nil, fmt.Errorf("update assignment: %w", err)
		}
		return touched, nil
	})
	if err != nil {
		return Association{}, err
	}
	return out, nil
}

// Disassociate takes a configuration off a system. Its runs stay until they are
// older than the retention.
func (s *Service) Disassociate(ctx context.Context, systemID, configurationID string) error {
	return s.edit(ctx, func(ctx context.Context, tx bun.Tx) (map[string]string, error) {
		res, err := tx.NewRaw("DELETE FROM health_check_assignments WHERE system_id = ? AND configuration_id = ?", systemID, configurationID).Exec(ctx)
		if err := db.MustAffect(res, err, errNoAssignment); err != nil {
			return nil, err
		}
		return map[string]string{systemID: configurationID}, nil
	})
}

// RunNow makes a slice due at once, on whichever replica claims it first.
func (s *Service) RunNow(ctx context.Context, systemID, configurationID string) error {
	res, err := s.db.Write.NewRaw(`UPDATE health_check_assignments SET next_due_ms = ?
		WHERE system_id = ? AND configuration_id = ? AND active`, s.now().UnixMilli(), systemID, configurationID).Exec(ctx)
	if err != nil {
		return fmt.Errorf("run now: %w", err)
	}
	if n, err := res.RowsAffected(); err != nil {
		return fmt.Errorf("run now: %w", err)
	} else if n > 0 {
		poke(s.wake)
		return nil
	}
	var n int
	if err := s.db.Read.NewRaw("SELECT count(*) FROM health_check_assignments WHERE system_id = ? AND configuration_id = ?",
		systemID, configurationID).Scan(ctx, &n); err != nil {
		return fmt.Errorf("run now: %w", err)
	}
	if n == 0 {
		return errNoAssignment
	}
	return problem.Conflict("This health check is paused or disabled; resume it first")
}
