package healthcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
)

// checkStatuses reads the present state of slices, by system and name. where is
// about the assignment (a), the configuration (c) or the rollup (h).
func (s *Service) checkStatuses(ctx context.Context, where string, args ...any) ([]CheckStatus, error) {
	var rows []struct {
		SystemID, ConfigurationID, Name, StrategyID string
		IntervalSeconds                             int
		Enabled, Paused                             bool
		Status                                      Status
		SinceMs, LastRunMs, NextDueMs               int64
		Thresholds, Recent, Reason                  string
	}
	err := s.db.Read.NewRaw(`SELECT a.system_id, a.configuration_id, c.name, c.strategy_id, c.interval_seconds, a.enabled, c.paused,
			a.status, a.since_ms, a.last_run_ms, a.next_due_ms, a.thresholds, a.recent, a.reason
		FROM health_check_assignments a JOIN health_check_configurations c ON c.id = a.configuration_id
		WHERE `+where+` ORDER BY a.system_id, lower(c.name), c.id`, args...).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read states of health checks: %w", err)
	}
	out := make([]CheckStatus, len(rows))
	for i, r := range rows {
		c := CheckStatus{SystemID: r.SystemID, ConfigurationID: r.ConfigurationID, ConfigurationName: r.Name, StrategyID: r.StrategyID,
			IntervalSeconds: r.IntervalSeconds, Enabled: r.Enabled, Paused: r.Paused, Status: r.Status, Since: ofMs(r.SinceMs),
			RunsConsidered: len(r.Recent), Thresholds: readThresholds(r.Thresholds), LastRunAt: ofMs(r.LastRunMs), Reason: r.Reason, recent: r.Recent}
		if r.Enabled && !r.Paused {
			c.NextRunAt = ofMs(r.NextDueMs)
		}
		if r.Status == Unknown {
			c.Since = time.Time{}
		}
		out[i] = c
	}
	return out, nil
}

// SystemStatuses gives the rollups of those of the systems that exist. A system
// without a check that ever ran is Unknown.
func (s *Service) SystemStatuses(ctx context.Context, systemIDs []string) (map[string]SystemStatus, error) {
	out := make(map[string]SystemStatus, len(systemIDs))
	if len(systemIDs) == 0 {
		return out, nil
	}
	names, err := s.systems.SystemNames(ctx, systemIDs)
	if err != nil {
		return nil, fmt.Errorf("look up systems: %w", err)
	}
	var rows []struct {
		SystemID string
		Status   Status
		SinceMs  int64
	}
	if err := s.db.Read.NewRaw("SELECT system_id, status, since_ms FROM health_check_systems WHERE system_id IN (?)", bun.List(systemIDs)).
		Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read states of systems: %w", err)
	}
	checks, err := s.checkStatuses(ctx, "a.system_id IN (?)", bun.List(systemIDs))
	if err != nil {
		return nil, err
	}
	said, err := s.overrides(ctx, systemIDs)
	if err != nil {
		return nil, err
	}
	now := s.now()
	for id := range names {
		out[id] = SystemStatus{Status: Unknown, Measured: Unknown, EvaluatedAt: now, Checks: []CheckStatus{}, Overrides: said[id]}
	}
	for _, r := range rows {
		if st, ok := out[r.SystemID]; ok && r.Status != Unknown {
			st.Status, st.Since = r.Status, ofMs(r.SinceMs)
			out[r.SystemID] = st
		}
	}
	for _, c := range checks {
		if st, ok := out[c.SystemID]; ok {
			st.Checks = append(st.Checks, c)
			if c.Enabled && !c.Paused {
				st.Measured = worse(st.Measured, c.Status)
			}
			out[c.SystemID] = st
		}
	}
	return out, nil
}

// SystemStatus gives the rollup of one system.
func (s *Service) SystemStatus(ctx context.Context, systemID string) (SystemStatus, error) {
	all, err := s.SystemStatuses(ctx, []string{systemID})
	if err != nil {
		return SystemStatus{}, err
	}
	st, ok := all[systemID]
	if !ok {
		return SystemStatus{}, errNoSystem
	}
	return st, nil
}

// overviewRuns is how many runs the overview shows per check.
const overviewRuns = 25

// Overview is a check with its newest runs, oldest first.
type Overview struct {
	CheckStatus
	Stale bool
	Runs  []Run
}

// Overview gives the checks of a system with their newest runs.
func (s *Service) Overview(ctx context.Context, systemID string) ([]Overview, error) {
	if err := s.mustExist(ctx, systemID); err != nil {
		return nil, err
	}
	checks, err := s.checkStatuses(ctx, "a.system_id = ?", systemID)
	if err != nil {
		return nil, err
	}
	ids := make([]sliceKey, len(checks))
	for i, c := range checks {
		ids[i] = sliceKey{sliceID(systemID, c.ConfigurationID), systemID, c.ConfigurationID}
	}
	runs, err := s.newest(ctx, ids, HistoryQuery{}, overviewRuns)
	if err != nil {
		return nil, err
	}
	byCheck := map[string][]Run{}
	for _, r := range runs {
		byCheck[r.ConfigurationID] = append(byCheck[r.ConfigurationID], r)
	}
	now := s.now()
	out := make([]Overview, len(checks))
	for i, c := range checks {
		list := byCheck[c.ConfigurationID]
		slices.SortFunc(list, func(a, b Run) int { return strings.Compare(a.ID, b.ID) })
		out[i] = Overview{CheckStatus: c, Stale: c.Stale(now), Runs: list}
	}
	return out, nil
}
