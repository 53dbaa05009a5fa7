package healthcheck

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
)

// tally is what the slices and overrides of a system add up to.
type tally struct {
	worst           Status
	healthy, checks int
}

// rollUp brings the status of systems in line with their slices and overrides,
// records the changes and publishes them. drivers says which configuration caused it, by system id; its keys
// are the systems to look at. Call it after the slices or overrides were written; other
// transactions that roll up the same systems wait until this one ends, so none
// works with another's outdated slices.
func (s *Service) rollUp(ctx context.Context, tx bun.Tx, drivers map[string]string, at time.Time) ([]Transition, error) {
	if len(drivers) == 0 {
		return nil, nil
	}
	ids := make([]string, 0, len(drivers))
	for id := range drivers {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	var rows []struct {
		SystemID string
		Status   Status
		SinceMs  int64
	}
	if err := tx.NewRaw("SELECT system_id, status, since_ms FROM health_check_systems WHERE system_id IN (?) ORDER BY system_id"+s.forUpdate(),
		bun.List(ids)).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("lock systems: %w", err)
	}
	var said []struct {
		SystemID string
		Status   Status
		Forced   bool
	}
	if err := tx.NewRaw(`SELECT system_id, status, FALSE AS forced FROM health_check_assignments WHERE active AND system_id IN (?)
		UNION ALL SELECT system_id, status, TRUE FROM health_check_overrides WHERE system_id IN (?)`,
		bun.List(ids), bun.List(ids)).Scan(ctx, &said); err != nil {
		return nil, fmt.Errorf("read slices of systems: %w", err)
	}
	tallies := make(map[string]tally, len(ids))
	for _, id := range ids {
		tallies[id] = tally{worst: Unknown}
	}
	for _, c := range said {
		t := tallies[c.SystemID]
		t.worst = worse(t.worst, c.Status)
		if !c.Forced {
			t.checks++
			if c.Status == Healthy {
				t.healthy++
			}
		}
		tallies[c.SystemID] = t
	}
	var changes []Transition
	for _, r := range rows {
		to := tallies[r.SystemID].worst
		if to == r.Status {
			continue
		}
		t := Transition{ID: runID(at), SystemID: r.SystemID, ConfigurationID: drivers[r.SystemID], From: r.Status, To: to, At: at}
		if r.Status == Unknown && r.SinceMs == 0 {
			t.From = ""
		}
		changes = append(changes, t)
	}
	if err := writeTransitions(ctx, tx, changes); err != nil {
		return nil, err
	}
	return changes, s.publish(ctx, tx, changes, tallies)
}

func writeTransitions(ctx context.Context, tx bun.Tx, changes []Transition) error {
	if len(changes) == 0 {
		return nil
	}
	update := newValues("system_id", "status", "since_ms")
	insert := newValues()
	for _, c := range changes {
		update.add(c.SystemID, c.To, c.At.UnixMilli())
		insert.add(c.ID, c.SystemID, nullText(c.ConfigurationID), nullText(string(c.From)), c.To, db.Time(c.At))
	}
	if _, err := tx.NewRaw("WITH v ("+update.names+") AS (VALUES "+update.text()+`)
		UPDATE health_check_systems SET status = v.status, since_ms = v.since_ms
		FROM v WHERE health_check_systems.system_id = v.system_id`, update.args...).Exec(ctx); err != nil {
		return fmt.Errorf("update systems: %w", err)
	}
	if _, err := tx.NewRaw(`INSERT INTO health_check_state_transitions (id, system_id, configuration_id, from_status, to_status, transitioned_at)
		VALUES `+insert.text(), insert.args...).Exec(ctx); err != nil {
		return fmt.Errorf("store transitions: %w", err)
	}
	return nil
}

func nullText(v string) any {
	if v == "" {
		return nil
	}
	return v
}
