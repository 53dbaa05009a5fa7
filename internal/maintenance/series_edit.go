package maintenance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

// SeriesEdit is a change of a series. It reaches the occurrences that have not
// begun and that nobody changed by hand: all of them, or those from From on.
type SeriesEdit struct {
	Version int64
	// From is the id of the first occurrence to change, empty for all.
	From   string
	Change func(*Fields)
	// StartAt and EndAt are the window of the first occurrence from then on;
	// zero keeps what is.
	StartAt, EndAt time.Time
	// Rule and TimeZone replace the present ones, unless empty.
	Rule, TimeZone string
}

// plain drops what the edit only repeats: forms send what they show.
func (e SeriesEdit) plain(s Series) SeriesEdit {
	if r, err := parseRule(e.Rule); err == nil && r.String() == s.Rule {
		e.Rule = ""
	}
	if name, ok := zone.Canonical(e.TimeZone); ok && name == s.TimeZone {
		e.TimeZone = ""
	}
	if e.StartAt.Equal(s.StartAt) && (e.EndAt.IsZero() || e.EndAt.Equal(s.StartAt.Add(s.Length))) {
		e.StartAt, e.EndAt = time.Time{}, time.Time{}
	}
	return e
}

func (e SeriesEdit) reschedules() bool {
	return !e.StartAt.IsZero() || !e.EndAt.IsZero() || e.Rule != "" || e.TimeZone != ""
}

// untouched locks and gives the occurrences that a change of the series
// reaches, soonest first.
func (st store) untouched(ctx context.Context, tx bun.Tx, id, fromKey string, now time.Time) ([]row, error) {
	var rows []row
	q := tx.NewSelect().Model(&rows).Where("series_id = ?", id).Where("status = ?", Scheduled).Where("detached = ?", false).
		Where("start_at > ?", now).Where("occurrence_key >= ?", fromKey).OrderExpr("start_at, id")
	if st.db.Postgres() {
		q = q.For("UPDATE")
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("find occurrences: %w", err)
	}
	return rows, nil
}

func idsOf(rows []row) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

// takeBack deletes occurrences that have not begun.
func takeBack(ctx context.Context, tx bun.Tx, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.NewDelete().Table("maintenances").Where("id IN (?)", bun.List(idsOf(rows))).Exec(ctx); err != nil {
		return fmt.Errorf("take back occurrences: %w", err)
	}
	return nil
}

// UpdateSeries changes a series.
func (s *Service) UpdateSeries(ctx context.Context, id string, e SeriesEdit) (Series, error) {
	now := s.clock()
	present, err := s.Series(ctx, id)
	if err != nil {
		return Series{}, err
	}
	e = e.plain(present)
	f := present.fields()
	if e.Change != nil {
		e.Change(&f)
	}
	// The window is judged with the schedule; here only texts and systems are.
	before := present.fields()
	if err := problem.InputIssues(f.check(&before, now)); err != nil {
		return Series{}, err
	}
	if len(without(f.SystemIDs, before.SystemIDs)) > 0 {
		if err := s.known(ctx, f.SystemIDs); err != nil {
			return Series{}, err
		}
	}
	var told []string
	var first string
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, systems, err := s.store.lockSeries(ctx, tx, id)
		if err != nil {
			return err
		}
		if (e.Version != 0 && e.Version != r.Version) || r.Version != present.Version {
			return errMoved
		}
		if r.EndedAt != nil {
			return problem.Conflict("This series has ended; plan a new one instead")
		}
		if err := s.store.keepSystems(ctx, tx, systems, f.SystemIDs); err != nil {
			return err
		}
		told = append(slices.Clone(f.SystemIDs), without(systems, f.SystemIDs)...)
		first, err = s.rewrite(ctx, tx, r, f, systems, e, now)
		return err
	})
	if err != nil {
		return Series{}, err
	}
	s.tell(ctx, first, told, ActionUpdated)
	return s.Series(ctx, id)
}

func (s Series) fields() Fields {
	return Fields{Title: s.Title, Description: s.Description, SuppressNotifications: s.SuppressNotifications, SystemIDs: s.SystemIDs,
		StartAt: s.StartAt, EndAt: s.StartAt.Add(s.Length)}
}

// rewrite changes a series and its untouched occurrences, and gives the id of
// the first of them, for the signal.
func (s *Service) rewrite(ctx context.Context, tx bun.Tx, r *seriesRow, f Fields, systems []string, e SeriesEdit, now time.Time) (string, error) {
	fromKey := ""
	if e.From != "" {
		var keys []*string
		if err := tx.NewRaw("SELECT occurrence_key FROM maintenances WHERE id = ? AND series_id = ?", e.From, r.ID).Scan(ctx, &keys); err != nil {
			return "", fmt.Errorf("find occurrence: %w", err)
		}
		if len(keys) == 0 || keys[0] == nil {
			return "", problem.Field("fromMaintenanceId", "is not an occurrence of this series")
		}
		fromKey = *keys[0]
	}
	reached, err := s.store.untouched(ctx, tx, r.ID, fromKey, now)
	if err != nil {
		return "", err
	}
	r.set(f)
	if err := setSeriesSystems(ctx, tx, r.ID, f.SystemIDs); err != nil {
		return "", err
	}
	r.Version, r.UpdatedAt = r.Version+1, now
	first := ""
	if e.reschedules() {
		made, err := s.reschedule(ctx, tx, r, f.SystemIDs, reached, e, now)
		if err != nil {
			return "", err
		}
		if len(made) > 0 {
			first = made[0].ID
		}
	} else if len(reached) > 0 {
		first = reached[0].ID
		if err := repaint(ctx, tx, reached, f, slices.Equal(systems, slices.Sorted(slices.Values(f.SystemIDs))), now); err != nil {
			return "", err
		}
	}
	if r.Problem != nil {
		r.ExtendAt = &now // it may be able to go on now
	}
	res, err := tx.NewUpdate().Model(r).WherePK().Exec(ctx)
	return first, db.MustAffect(res, err, errSeriesNotFound)
}

// repaint gives occurrences the texts, flag and systems of their series.
func repaint(ctx context.Context, tx bun.Tx, reached []row, f Fields, sameSystems bool, now time.Time) error {
	ids := idsOf(reached)
	if _, err := tx.NewRaw(`UPDATE maintenances SET title = ?, title_key = ?, description = ?, suppress_notifications = ?, version = version + 1, updated_at = ? WHERE id IN (?)`,
		f.Title, titleKey(f.Title), f.Description, f.SuppressNotifications, now, bun.List(ids)).Exec(ctx); err != nil {
		return fmt.Errorf("change occurrences: %w", err)
	}
	if sameSystems {
		return nil
	}
	return replaceSystems(ctx, tx, ids, f.SystemIDs)
}

// reschedule moves the untouched occurrences to a new schedule that starts with
// the first of them. Everything before stays as it is.
func (s *Service) reschedule(ctx context.Context, tx bun.Tx, r *seriesRow, systemIDs []string, reached []row, e SeriesEdit, now time.Time) ([]Maintenance, error) {
	sch, after, err := r.moved(e, reached, now)
	if err != nil {
		return nil, err
	}
	r.setSchedule(sch, after)
	r.Problem = nil
	return s.materialise(ctx, tx, r, sch, systemIDs, reached, now)
}

// moved gives the new schedule of a series from the first reached occurrence on,
// and the key after which its occurrences are made.
func (r *seriesRow) moved(e SeriesEdit, reached []row, now time.Time) (schedule, string, error) {
	old, oldErr := r.schedule()
	if oldErr != nil && e.TimeZone != "" { // the zone may be what was wrong
		mended := *r
		mended.TimeZone = e.TimeZone
		old, oldErr = mended.schedule()
	}
	rec := Recurrence{Rule: r.Rule, TimeZone: r.TimeZone}
	if e.Rule != "" {
		rec.Rule = e.Rule
	}
	if e.TimeZone != "" {
		rec.TimeZone = e.TimeZone
	}
	// The anchor is the first occurrence that may change.
	start, key := r.StartAt.UTC(), ""
	if len(reached) > 0 {
		start, key = reached[0].StartAt.UTC(), *reached[0].OccurrenceKey
	} else if oldErr == nil {
		for o := range old.occurrences(old.horizon(now)) {
			if o.StartAt.After(now) && o.Key > r.GeneratedThrough {
				start, key = o.StartAt, o.Key
				break
			}
		}
	}
	length := time.Duration(r.DurationMs) * time.Millisecond
	if !e.StartAt.IsZero() {
		start = db.Time(e.StartAt)
	}
	end := start.Add(length)
	if !e.EndAt.IsZero() {
		end = db.Time(e.EndAt)
	}
	sch, issues := newSchedule(rec, start, end, "")
	issues = append(issues, checkTimes(start, end, now)...)
	if len(issues) == 0 && e.StartAt.IsZero() && oldErr == nil && key != "" {
		// The clock time stays, also on a day on which it had to give way and also
		// in another zone.
		if day, err := time.Parse(keyLayout, key); err == nil {
			sch.local = day.Add(old.local.Sub(dateOf(old.local)))
			sch.startAt = readClock(sch.local, sch.loc).used
		}
	}
	if len(issues) == 0 && e.Rule == "" && sch.rule.count > 0 && oldErr == nil && key != "" {
		// COUNT has counted the occurrences before.
		for o := range old.occurrences(old.horizon(now)) {
			if o.Key >= key {
				break
			}
			sch.rule.count--
		}
		sch.rule.count = max(sch.rule.count, 1)
	}
	if len(issues) == 0 {
		issues = sch.check(now, "")
	}
	if len(issues) == 0 && !sch.startAt.After(now) {
		issues = []problem.Issue{{Path: "startAt", Message: "must be still to come: what has begun is changed one by one"}}
	}
	after := sch.local.AddDate(0, 0, -1).Format(keyLayout)
	return sch, after, problem.InputIssues(issues)
}

// EndSeries makes no more occurrences and takes back those that have not begun
// and that nobody changed by hand.
func (s *Service) EndSeries(ctx context.Context, id string, version int64) (Series, error) {
	err := s.finish(ctx, id, version, func(ctx context.Context, tx bun.Tx, r *seriesRow, now time.Time) error {
		if r.EndedAt != nil {
			return problem.Conflict("This series has ended already")
		}
		r.EndedAt, r.ExtendAt, r.UpdatedAt, r.Version = &now, nil, now, r.Version+1
		_, err := tx.NewUpdate().Model(r).WherePK().Exec(ctx)
		return err
	})
	if err != nil {
		return Series{}, err
	}
	return s.Series(ctx, id)
}

// DeleteSeries removes a series and the occurrences that have not begun and that
// nobody changed by hand. The others stay as maintenances on their own.
func (s *Service) DeleteSeries(ctx context.Context, id string) error {
	return s.finish(ctx, id, 0, func(ctx context.Context, tx bun.Tx, r *seriesRow, _ time.Time) error {
		_, err := tx.NewDelete().Model(r).WherePK().Exec(ctx)
		return err
	})
}

func (s *Service) finish(ctx context.Context, id string, version int64, end func(ctx context.Context, tx bun.Tx, r *seriesRow, now time.Time) error) error {
	var systems []string
	first := ""
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, sys, err := s.store.lockSeries(ctx, tx, id)
		if err != nil {
			return err
		}
		if version != 0 && version != r.Version {
			return errMoved
		}
		systems = sys
		if err := s.store.keepSystems(ctx, tx, sys); err != nil {
			return err
		}
		now := s.clock()
		rows, err := s.store.untouched(ctx, tx, id, "", now)
		if err != nil {
			return err
		}
		if len(rows) > 0 {
			first = rows[0].ID
		}
		if err := takeBack(ctx, tx, rows); err != nil {
			return err
		}
		return end(ctx, tx, r, now)
	})
	if err != nil {
		return err
	}
	if systems == nil {
		systems = []string{}
	}
	s.tell(ctx, first, systems, ActionClosed)
	return nil
}

// Skip cancels one occurrence of a series; the others stay.
func (s *Service) Skip(ctx context.Context, id string) (Maintenance, error) {
	return s.change(ctx, id, func(ctx context.Context, _ bun.Tx, w *work) error {
		switch {
		case w.row.SeriesID == nil:
			return problem.Conflict("This maintenance does not repeat; cancel it instead")
		case w.row.Status != Scheduled:
			return problem.Conflict("Only a scheduled occurrence can be skipped; this one %s", w.row.Status.sentence())
		}
		w.status(Cancelled, "This occurrence is skipped", Everyone, caller(ctx))
		return nil
	})
}
