package healthcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/problem"
)

// errNoConfiguration is the answer for an unknown configuration.
var errNoConfiguration = problem.NotFound("Configuration not found")

// configurationRow is a row of health_check_configurations.
type configurationRow struct {
	ID              string
	Name            string
	StrategyID      string
	Config          string
	Collectors      string
	IntervalSeconds int
	Paused          bool
	Version         int64
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

const configurationColumns = "id, name, strategy_id, config, collectors, interval_seconds, paused, version, created_at, updated_at"

// draft gives the row's strategy part, with marks in place of secrets.
func (r configurationRow) draft() (strategy.Draft, error) {
	d := strategy.Draft{StrategyID: r.StrategyID, Config: json.RawMessage(r.Config)}
	if err := json.Unmarshal([]byte(r.Collectors), &d.Collectors); err != nil {
		return d, fmt.Errorf("read collectors of configuration %s: %w", r.ID, err)
	}
	return d, nil
}

func (r *configurationRow) setDraft(d strategy.Draft) error {
	if d.Collectors == nil {
		d.Collectors = []strategy.CollectorConfig{}
	}
	raw, err := json.Marshal(d.Collectors)
	if err != nil {
		return fmt.Errorf("write collectors of configuration %s: %w", r.ID, err)
	}
	r.StrategyID, r.Config, r.Collectors = d.StrategyID, string(d.Config), string(raw)
	return nil
}

// forUpdate is the clause that locks rows until the transaction ends; SQLite's
// writing transaction already excludes everyone.
func (s *Service) forUpdate() string {
	if s.db.Postgres() {
		return " FOR UPDATE"
	}
	return ""
}

func (s *Service) lockConfiguration(ctx context.Context, tx bun.Tx, id string) (configurationRow, error) {
	var r configurationRow
	err := tx.NewRaw("SELECT "+configurationColumns+" FROM health_check_configurations WHERE id = ?"+s.forUpdate(), id).Scan(ctx, &r)
	return r, db.Found(err, errNoConfiguration)
}

func readConfigurations(ctx context.Context, idb bun.IDB, where string, args ...any) ([]configurationRow, error) {
	var rows []configurationRow
	err := idb.NewRaw("SELECT "+configurationColumns+" FROM health_check_configurations"+where, args...).Scan(ctx, &rows)
	return rows, err
}

func insertConfiguration(ctx context.Context, tx bun.Tx, r configurationRow) error {
	_, err := tx.NewRaw("INSERT INTO health_check_configurations ("+configurationColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.ID, r.Name, r.StrategyID, r.Config, r.Collectors, r.IntervalSeconds, r.Paused, r.Version, r.CreatedAt, r.UpdatedAt).Exec(ctx)
	return err
}

func updateConfiguration(ctx context.Context, tx bun.Tx, r configurationRow) error {
	_, err := tx.NewRaw(`UPDATE health_check_configurations SET name = ?, strategy_id = ?, config = ?, collectors = ?,
		interval_seconds = ?, paused = ?, version = ?, updated_at = ? WHERE id = ?`,
		r.Name, r.StrategyID, r.Config, r.Collectors, r.IntervalSeconds, r.Paused, r.Version, r.UpdatedAt, r.ID).Exec(ctx)
	return err
}

// sliceRow is a row of health_check_assignments.
type sliceRow struct {
	SliceID              int64
	SystemID             string
	ConfigurationID      string
	Enabled              bool
	Thresholds           string
	Active               bool
	ConfigurationVersion int64
	IntervalMs           int64
	PhaseMs              int64
	LeaseMs              int64
	NextDueMs            int64
	DueMs                int64
	ClaimedBy            string
	ClaimedUntilMs       int64
	Recent               string
	Status               Status
	SinceMs              int64
	LastRunMs            int64
	Reason               string
}

const sliceColumns = `slice_id, system_id, configuration_id, enabled, thresholds, active, configuration_version, interval_ms,
	phase_ms, lease_ms, next_due_ms, due_ms, claimed_by, claimed_until_ms, recent, status, since_ms, last_run_ms, reason`

// judge brings the state of the slice in line with its outcomes and thresholds.
// It reports whether the status changed.
func (r *sliceRow) judge(t Thresholds, at time.Time) bool {
	next := stateOf(t, r.Recent, r.Status)
	if next == r.Status {
		return false
	}
	r.Status, r.SinceMs = next, at.UnixMilli()
	return true
}

// lockSlices reads slices and keeps others from changing them until tx ends. The
// order is what keeps two transactions from waiting for each other.
func (s *Service) lockSlices(ctx context.Context, tx bun.Tx, where string, args ...any) ([]sliceRow, error) {
	var rows []sliceRow
	err := tx.NewRaw("SELECT "+sliceColumns+" FROM health_check_assignments WHERE "+where+" ORDER BY slice_id"+s.forUpdate(), args...).Scan(ctx, &rows)
	return rows, err
}

func insertSlice(ctx context.Context, tx bun.Tx, r sliceRow) error {
	_, err := tx.NewRaw("INSERT INTO health_check_assignments ("+sliceColumns+") VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.SliceID, r.SystemID, r.ConfigurationID, r.Enabled, r.Thresholds, r.Active, r.ConfigurationVersion, r.IntervalMs,
		r.PhaseMs, r.LeaseMs, r.NextDueMs, r.DueMs, r.ClaimedBy, r.ClaimedUntilMs, r.Recent, r.Status, r.SinceMs, r.LastRunMs, r.Reason).Exec(ctx)
	if err != nil {
		return err
	}
	_, err = tx.NewRaw(`INSERT INTO health_check_systems (system_id, status, since_ms) VALUES (?, ?, 0)
		ON CONFLICT (system_id) DO NOTHING`, r.SystemID, Unknown).Exec(ctx)
	return err
}

// updateSlice writes what an edit may change; the schedule's claim is not touched.
func updateSlice(ctx context.Context, tx bun.Tx, r sliceRow) error {
	_, err := tx.NewRaw(`UPDATE health_check_assignments SET enabled = ?, thresholds = ?, active = ?, configuration_version = ?,
		interval_ms = ?, phase_ms = ?, lease_ms = ?, next_due_ms = ?, status = ?, since_ms = ? WHERE slice_id = ?`,
		r.Enabled, r.Thresholds, r.Active, r.ConfigurationVersion, r.IntervalMs, r.PhaseMs, r.LeaseMs, r.NextDueMs,
		r.Status, r.SinceMs, r.SliceID).Exec(ctx)
	return err
}

// thresholdsRow is the stored form of Thresholds; the column is empty for the
// default.
type thresholdsRow struct {
	Mode      Mode `json:"mode"`
	Healthy   int  `json:"healthy,omitempty"`
	Degraded  int  `json:"degraded"`
	Unhealthy int  `json:"unhealthy"`
	Window    int  `json:"window,omitempty"`
}

func storeThresholds(t *Thresholds) string {
	if t == nil {
		return ""
	}
	raw, _ := json.Marshal(thresholdsRow{t.Mode, t.HealthyAfter, t.DegradedAfter, t.UnhealthyAfter, t.WindowSize}) // plain fields always encode
	return string(raw)
}

// readThresholds gives nil for the default, which also stands in for a text that
// cannot be read: a check must be judged somehow.
func readThresholds(text string) *Thresholds {
	var r thresholdsRow
	if text == "" || json.Unmarshal([]byte(text), &r) != nil {
		return nil
	}
	return &Thresholds{Mode: r.Mode, HealthyAfter: r.Healthy, DegradedAfter: r.Degraded, UnhealthyAfter: r.Unhealthy, WindowSize: r.Window}
}

func thresholdsOf(text string) Thresholds {
	if t := readThresholds(text); t != nil {
		return *t
	}
	return DefaultThresholds()
}
