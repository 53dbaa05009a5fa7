package maintenance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// horizonDays is how far ahead occurrences exist as maintenances of their own.
const horizonDays = 90

// materialise makes the occurrences that are not there yet: those that begin
// within the horizon, and always the one after the last that has begun, so that
// a yearly series shows its next one too. The rows in reuse, soonest first,
// become the first of them, which keeps their ids; what is left of reuse is
// taken back. It sets how far the series came and when to look again; the caller
// writes the row, whose lock it holds.
func (s *Service) materialise(ctx context.Context, tx bun.Tx, r *seriesRow, sch schedule, systemIDs []string, reuse []row, now time.Time) ([]Maintenance, error) {
	if err := loosen(ctx, tx, reuse); err != nil {
		return nil, err
	}
	taken, err := takenKeys(ctx, tx, r.ID)
	if err != nil {
		return nil, err
	}
	var moved, made []row
	for _, o := range r.next(sch, now) {
		// What is over before it was made never took place.
		if taken[o.Key] || !o.EndAt.After(now) {
			continue
		}
		m := row{ID: newID(), SeriesID: &r.ID, Status: Scheduled, Version: 1, CreatedAt: now, UpdatedAt: now}
		again := len(moved) < len(reuse)
		if again {
			m = reuse[len(moved)]
			m.Version, m.UpdatedAt = m.Version+1, now
		}
		m.OccurrenceKey = &o.Key
		m.set(Fields{Title: r.Title, Description: r.Description, SuppressNotifications: r.SuppressNotifications, StartAt: db.Time(o.StartAt), EndAt: db.Time(o.EndAt)})
		m.plan()
		if again {
			moved = append(moved, m)
		} else {
			made = append(made, m)
		}
	}
	if err := takeBack(ctx, tx, reuse[len(moved):]); err != nil {
		return nil, err
	}
	for i := range moved {
		if _, err := tx.NewUpdate().Model(&moved[i]).WherePK().Exec(ctx); err != nil {
			return nil, fmt.Errorf("move occurrence: %w", err)
		}
	}
	if len(made) > 0 {
		if _, err := tx.NewInsert().Model(&made).Exec(ctx); err != nil {
			return nil, fmt.Errorf("make occurrences: %w", err)
		}
	}
	if err := replaceSystems(ctx, tx, idsOf(moved), systemIDs); err != nil {
		return nil, err
	}
	if err := insertSystems(ctx, tx, idsOf(made), systemIDs); err != nil {
		return nil, err
	}
	all := slices.Concat(moved, made)
	out := make([]Maintenance, len(all))
	for i := range all {
		out[i] = all[i].maintenance()
		out[i].SystemIDs = slices.Sorted(slices.Values(systemIDs))
	}
	return out, nil
}

// next gives the occurrences that are to be made now, and sets how far the
// series has come then and when to look again.
func (r *seriesRow) next(sch schedule, now time.Time) []occurrence {
	horizon := now.AddDate(0, 0, horizonDays)
	var list []occurrence
	var last *occurrence
	for o := range sch.occurrences(sch.horizon(now)) {
		if o.Key > r.GeneratedThrough {
			if last != nil && last.StartAt.After(now) && o.StartAt.After(horizon) {
				look := o.StartAt.AddDate(0, 0, -horizonDays)
				if last.StartAt.Before(look) {
					look = last.StartAt
				}
				r.ExtendAt = &look
				return list
			}
			r.GeneratedThrough = o.Key
			list = append(list, o)
		}
		last = &o
	}
	// There is none to come, as far as can be seen.
	switch finite := sch.rule.count > 0 || sch.rule.until != ""; {
	case !finite:
		look := now.AddDate(1, 0, 0)
		r.ExtendAt = &look
	case last != nil && last.EndAt.After(now):
		r.ExtendAt = &last.EndAt
	default:
		r.ExtendAt, r.EndedAt = nil, &now
		if last != nil {
			end := db.Time(last.EndAt)
			r.EndedAt = &end
		}
	}
	return list
}

// loosen takes occurrences out of their dates, so that they can be given others
// in any order.
func loosen(ctx context.Context, tx bun.Tx, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.NewRaw("UPDATE maintenances SET occurrence_key = NULL WHERE id IN (?)", bun.List(idsOf(rows))).Exec(ctx); err != nil {
		return fmt.Errorf("move occurrences: %w", err)
	}
	return nil
}

// takenKeys gives the dates of a series that have an occurrence already, or had
// one that was deleted.
func takenKeys(ctx context.Context, tx bun.Tx, id string) (map[string]bool, error) {
	var keys []string
	err := tx.NewRaw(`SELECT occurrence_key FROM maintenances WHERE series_id = ? AND occurrence_key IS NOT NULL
		UNION SELECT occurrence_key FROM maintenance_series_exclusions WHERE series_id = ?`, id, id).Scan(ctx, &keys)
	if err != nil {
		return nil, fmt.Errorf("read occurrences: %w", err)
	}
	taken := make(map[string]bool, len(keys))
	for _, k := range keys {
		taken[k] = true
	}
	return taken, nil
}

func exclude(ctx context.Context, tx bun.Tx, seriesID, key string) error {
	_, err := tx.NewRaw("INSERT INTO maintenance_series_exclusions (series_id, occurrence_key) VALUES (?, ?) ON CONFLICT DO NOTHING", seriesID, key).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remember the deleted occurrence: %w", err)
	}
	return nil
}

// retryBroken is when a series that cannot be read is looked at again: a newer
// version of the product may know its zone.
const retryBroken = time.Hour

// extend makes the occurrences of a series that have come within the horizon. A
// series that cannot go on is marked as broken; its occurrences so far stay.
func (s *Service) extend(ctx context.Context, id string, now time.Time) error {
	var made []Maintenance
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, systems, err := s.store.lockSeries(ctx, tx, id)
		if err != nil {
			return err
		}
		if r.ExtendAt == nil || r.ExtendAt.After(now) || r.EndedAt != nil {
			return nil // another replica was faster
		}
		sch, err := r.schedule()
		if err == nil && len(systems) == 0 {
			err = errNoSystems
		}
		if err != nil {
			text, again := err.Error(), now.Add(retryBroken)
			if value(r.Problem) != text {
				s.log.WarnContext(ctx, "a series of maintenances makes no more occurrences", "series_id", id, "problem", text)
			}
			r.Problem, r.ExtendAt = &text, &again
		} else {
			r.Problem = nil
			if made, err = s.materialise(ctx, tx, r, sch, systems, nil, now); err != nil {
				return err
			}
		}
		_, err = tx.NewUpdate().Model(r).WherePK().Exec(ctx)
		return err
	})
	switch {
	case problem.Is(err, problem.KindNotFound):
		return nil // deleted meanwhile
	case err != nil:
		return fmt.Errorf("extend series: %w", err)
	}
	if len(made) > 0 {
		s.tell(ctx, made[0].ID, made[0].SystemIDs, ActionCreated)
	}
	return nil
}

// errNoSystems is why a series whose systems were all deleted makes nothing.
var errNoSystems = errors.New("all of its systems were deleted; choose others or end the series")
