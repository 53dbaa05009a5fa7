package healthcheck

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/problem"
)

// MaxCounted is where counting the matches of a history query ends. A larger
// total is given as this number: pages stay fast over any amount of history.
const MaxCounted = 10_000

// MaxOffset bounds how far a history can be paged; use the dates to go further.
const MaxOffset = MaxCounted

// unionLimit is how many slices one statement reads; SQLite accepts 500.
const unionLimit = 100

// HistoryQuery selects runs. Zero values do not restrict.
type HistoryQuery struct {
	SystemID        string
	ConfigurationID string
	Start           time.Time // inclusive
	End             time.Time // exclusive
	Status          Status
	Ascending       bool
	Limit           int
	Offset          int
}

// sliceKey is a slice with the pair it stands for.
type sliceKey struct {
	id                        int64
	systemID, configurationID string
}

// runRow is a row of health_check_runs, without what only details need.
type runRow struct {
	ID                        string
	SliceID                   int64
	ConfigurationID, SystemID string
	Status                    Status
	LatencyMs                 *int64
	Message                   string
	Result                    string
}

func (r runRow) run() Run {
	return Run{ID: r.ID, ConfigurationID: r.ConfigurationID, SystemID: r.SystemID, Status: r.Status,
		Timestamp: timeOfID(r.ID), LatencyMs: r.LatencyMs, Message: r.Message, Result: json.RawMessage(r.Result)}
}

// bounds gives the conditions on a run's id and status. The id holds the time,
// so that one index answers.
func (q HistoryQuery) bounds() (string, []any) {
	text, args := "", []any{}
	if !q.Start.IsZero() {
		text, args = text+" AND r.id >= ?", append(args, lowestID(q.Start))
	}
	if !q.End.IsZero() {
		text, args = text+" AND r.id < ?", append(args, lowestID(q.End))
	}
	switch q.Status {
	case "":
	case Healthy:
		text, args = text+" AND r.status = ?", append(args, q.Status)
	default:
		// The second condition lets the index of failing runs be used.
		text, args = text+" AND r.status = ? AND r.status <> 'healthy'", append(args, q.Status)
	}
	return text, args
}

func (q HistoryQuery) order() string {
	if q.Ascending {
		return "ASC"
	}
	return "DESC"
}

// History gives stored runs, without their payload, and how many match, counted
// up to MaxCounted.
func (s *Service) History(ctx context.Context, q HistoryQuery) ([]Run, int, error) {
	if q.SystemID == "" && q.ConfigurationID == "" {
		return s.globalHistory(ctx, q)
	}
	keys, err := s.slicesOf(ctx, q.SystemID, q.ConfigurationID)
	if err != nil || len(keys) == 0 {
		return []Run{}, 0, err
	}
	total, err := s.countRuns(ctx, keys, q)
	if err != nil {
		return nil, 0, err
	}
	runs, err := s.newest(ctx, keys, q, q.Offset+q.Limit)
	if err != nil {
		return nil, 0, err
	}
	slices.SortFunc(runs, func(a, b Run) int {
		if q.Ascending {
			return strings.Compare(a.ID, b.ID)
		}
		return strings.Compare(b.ID, a.ID)
	})
	from := min(q.Offset, len(runs))
	return runs[from:min(from+q.Limit, len(runs))], total, nil
}

// DetailedHistory is History with message and result of every run.
func (s *Service) DetailedHistory(ctx context.Context, q HistoryQuery) ([]Run, int, error) {
	runs, total, err := s.History(ctx, q)
	if err != nil || len(runs) == 0 {
		return runs, total, err
	}
	ids := make([]string, len(runs))
	for i, r := range runs {
		ids[i] = r.ID
	}
	var rows []runRow
	if err := s.db.Read.NewRaw("SELECT id, message, result FROM health_check_runs WHERE id IN (?)", bun.List(ids)).Scan(ctx, &rows); err != nil {
		return nil, 0, fmt.Errorf("read details of runs: %w", err)
	}
	details := map[string]runRow{}
	for _, r := range rows {
		details[r.ID] = r
	}
	for i := range runs {
		d := details[runs[i].ID]
		runs[i].Message, runs[i].Result = d.Message, json.RawMessage(cmp.Or(d.Result, "{}"))
	}
	return runs, total, nil
}

// Run gives one stored run in full.
func (s *Service) Run(ctx context.Context, id string) (Run, error) {
	missing := problem.NotFound("Run not found")
	var r runRow
	err := s.db.Read.NewRaw("SELECT id, slice_id, configuration_id, system_id, status, latency_ms, message, result FROM health_check_runs WHERE id = ?", id).Scan(ctx, &r)
	if errors.Is(err, sql.ErrNoRows) {
		return Run{}, missing
	}
	if err != nil {
		return Run{}, fmt.Errorf("read run %s: %w", id, err)
	}
	if live, err := s.live(ctx, s.db.Read, r.SystemID, r.ConfigurationID); err != nil {
		return Run{}, err
	} else if !live {
		return Run{}, missing
	}
	return r.run(), nil
}

// slicesOf gives the slices that a query is about. For a pair it does not matter
// whether it is still assigned: history stays.
func (s *Service) slicesOf(ctx context.Context, systemID, configurationID string) ([]sliceKey, error) {
	if systemID != "" && configurationID != "" {
		live, err := s.live(ctx, s.db.Read, systemID, configurationID)
		if err != nil || !live {
			return nil, err
		}
		return []sliceKey{{sliceID(systemID, configurationID), systemID, configurationID}}, nil
	}
	column, value := "system_id", systemID
	if systemID == "" {
		column, value = "configuration_id", configurationID
	}
	var rows []struct {
		SliceID                   int64
		SystemID, ConfigurationID string
	}
	if err := s.db.Read.NewRaw("SELECT slice_id, system_id, configuration_id FROM health_check_assignments WHERE ? = ?",
		bun.Ident(column), value).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read slices: %w", err)
	}
	keys := make([]sliceKey, len(rows))
	for i, r := range rows {
		keys[i] = sliceKey{r.SliceID, r.SystemID, r.ConfigurationID}
	}
	return keys, nil
}

// newest gives up to n runs of each slice, from the end that q's order begins
// with.
func (s *Service) newest(ctx context.Context, keys []sliceKey, q HistoryQuery, n int) ([]Run, error) {
	byID := make(map[int64]sliceKey, len(keys))
	for _, k := range keys {
		byID[k.id] = k
	}
	where, args := q.bounds()
	runs := []Run{}
	for part := range slices.Chunk(keys, unionLimit) {
		texts := make([]string, len(part))
		var all []any
		for i, k := range part {
			texts[i] = "SELECT * FROM (SELECT r.id, r.slice_id, r.status, r.latency_ms FROM health_check_runs r WHERE r.slice_id = ?" +
				where + " ORDER BY r.id " + q.order() + " LIMIT ?) AS s"
			all = append(append(append(all, k.id), args...), n)
		}
		var rows []runRow
		if err := s.db.Read.NewRaw(strings.Join(texts, " UNION ALL "), all...).Scan(ctx, &rows); err != nil {
			return nil, fmt.Errorf("read runs: %w", err)
		}
		for _, r := range rows {
			k := byID[r.SliceID]
			r.SystemID, r.ConfigurationID = k.systemID, k.configurationID
			runs = append(runs, r.run())
		}
	}
	return runs, nil
}

func (s *Service) countRuns(ctx context.Context, keys []sliceKey, q HistoryQuery) (int, error) {
	ids := make([]int64, len(keys))
	for i, k := range keys {
		ids[i] = k.id
	}
	where, args := q.bounds()
	var n int
	err := s.db.Read.NewRaw("SELECT count(*) FROM (SELECT 1 AS one FROM health_check_runs r WHERE r.slice_id IN (?)"+where+" LIMIT ?) AS s",
		append(append([]any{bun.List(ids)}, args...), MaxCounted)...).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("count runs: %w", err)
	}
	return n, nil
}

// globalHistory reads over all checks, in the order of time.
func (s *Service) globalHistory(ctx context.Context, q HistoryQuery) ([]Run, int, error) {
	where, args := q.bounds()
	where = ` WHERE EXISTS (SELECT 1 FROM health_check_configurations c WHERE c.id = r.configuration_id)
		AND EXISTS (SELECT 1 FROM health_check_systems h WHERE h.system_id = r.system_id)` + where
	var rows []runRow
	if err := s.db.Read.NewRaw("SELECT r.id, r.slice_id, r.configuration_id, r.system_id, r.status, r.latency_ms FROM health_check_runs r"+
		where+" ORDER BY r.id "+q.order()+" LIMIT ? OFFSET ?", append(slices.Clone(args), q.Limit, q.Offset)...).Scan(ctx, &rows); err != nil {
		return nil, 0, fmt.Errorf("read runs: %w", err)
	}
	var n int
	if err := s.db.Read.NewRaw("SELECT count(*) FROM (SELECT 1 AS one FROM health_check_runs r"+where+" LIMIT ?) AS s",
		append(slices.Clone(args), MaxCounted)...).Scan(ctx, &n); err != nil {
		return nil, 0, fmt.Errorf("count runs: %w", err)
	}
	runs := make([]Run, len(rows))
	for i, r := range rows {
		runs[i] = r.run()
	}
	return runs, n, nil
}
