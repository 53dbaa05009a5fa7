package maintenance

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

// horizonDays is how far ahead occurrences exist as maintenances of their own.
const horizonDays = 90

// Series is a rule that makes maintenances.
type Series struct {
	ID                    string
	Title                 string
	Description           *string
	SuppressNotifications bool
	SystemIDs             []string
	Recurrence
	// StartLocal is the wall clock time the series starts at, StartAt its
	// instant; every occurrence lasts Length.
	StartLocal string
	StartAt    time.Time
	Length     time.Duration
	// Problem says why no occurrences can be made; empty when all is well.
	Problem   string
	EndedAt   *time.Time
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

type seriesRow struct {
	bun.BaseModel `bun:"table:maintenance_series,alias:s"`

	ID                    string     `bun:"id,pk"`
	Title                 string     `bun:"title"`
	Description           *string    `bun:"description"`
	SuppressNotifications bool       `bun:"suppress_notifications"`
	Rule                  string     `bun:"rule"`
	TimeZone              string     `bun:"time_zone"`
	StartLocal            string     `bun:"start_local"`
	StartAt               time.Time  `bun:"start_at"`
	DurationMs            int64      `bun:"duration_ms"`
	GeneratedThrough      string     `bun:"generated_through"`
	ExtendAt              *time.Time `bun:"extend_at"`
	Problem               *string    `bun:"problem"`
	EndedAt               *time.Time `bun:"ended_at"`
	Version               int64      `bun:"version"`
	CreatedAt             time.Time  `bun:"created_at"`
	UpdatedAt             time.Time  `bun:"updated_at"`
}

type seriesSystemRow struct {
	bun.BaseModel `bun:"table:maintenance_series_systems"`

	SeriesID string `bun:"series_id,pk"`
	SystemID string `bun:"system_id,pk"`
}

func (r *seriesRow) series(systemIDs []string) Series {
	if systemIDs == nil {
		systemIDs = []string{}
	}
	s := Series{ID: r.ID, Title: r.Title, Description: r.Description, SuppressNotifications: r.SuppressNotifications, SystemIDs: systemIDs,
		Recurrence: Recurrence{r.Rule, r.TimeZone}, StartLocal: r.StartLocal, StartAt: r.StartAt.UTC(),
		Length: time.Duration(r.DurationMs) * time.Millisecond, EndedAt: utc(r.EndedAt),
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if r.EndedAt == nil {
		// Told at once, not only after the next occurrence could not be made.
		if _, err := r.schedule(); err != nil {
			s.Problem = err.Error()
		} else if r.Problem != nil {
			s.Problem = *r.Problem
		}
	}
	return s
}

// schedule reads the stored recurrence. It fails when this version of the
// product does not understand it: an unknown zone, say.
func (r *seriesRow) schedule() (schedule, error) {
	s := schedule{startAt: r.StartAt.UTC(), length: time.Duration(r.DurationMs) * time.Millisecond}
	var err error
	if s.rule, err = parseRule(r.Rule); err != nil {
		return s, fmt.Errorf("the rule %w", err)
	}
	if s.loc, err = zone.Load(r.TimeZone); err != nil {
		return s, fmt.Errorf("the time zone of this series is not known: %w", err)
	}
	if s.local, err = time.Parse(localLayout, r.StartLocal); err != nil {
		return s, fmt.Errorf("the start of this series cannot be read: %w", err)
	}
	return s, nil
}

// setSchedule stores a recurrence; occurrences are made anew after the key.
func (r *seriesRow) setSchedule(s schedule, after string) {
	r.Rule, r.TimeZone, r.StartLocal, r.StartAt = s.rule.String(), s.loc.String(), s.local.Format(localLayout), s.startAt.UTC()
	r.DurationMs, r.GeneratedThrough = s.length.Milliseconds(), after
}

func (r *seriesRow) set(f Fields) {
	r.Title, r.Description, r.SuppressNotifications = f.Title, f.Description, f.SuppressNotifications
}

// createSeries stores a series and its first occurrences, and gives the first.
func (s *Service) createSeries(ctx context.Context, f Fields, sch schedule, now time.Time) (Maintenance, error) {
	var made []Maintenance
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r := &seriesRow{ID: newID(), Version: 1, CreatedAt: now, UpdatedAt: now}
		r.set(f)
		r.setSchedule(sch, "")
		if _, err := tx.NewInsert().Model(r).Exec(ctx); err != nil {
			return fmt.Errorf("create series: %w", err)
		}
		if err := setSeriesSystems(ctx, tx, r.ID, f.SystemIDs); err != nil {
			return err
		}
		var err error
		if made, err = s.materialise(ctx, tx, r, sch, f.SystemIDs, now); err != nil {
			return err
		}
		if len(made) == 0 {
			return problem.Field("recurrence.rule", "makes no occurrence that is still to come")
		}
		if _, err := tx.NewUpdate().Model(r).WherePK().Exec(ctx); err != nil {
			return fmt.Errorf("create series: %w", err)
		}
		return event.Publish(ctx, s.bus, tx, CreatedTopic, created(made[0]))
	})
	if err != nil {
		return Maintenance{}, err
	}
	s.tell(ctx, made[0].ID, made[0].SystemIDs, ActionCreated)
	return made[0], nil
}

func setSeriesSystems(ctx context.Context, tx bun.Tx, id string, systemIDs []string) error {
	if _, err := tx.NewDelete().Table("maintenance_series_systems").Where("series_id = ?", id).Exec(ctx); err != nil {
		return fmt.Errorf("replace systems: %w", err)
	}
	rows := make([]seriesSystemRow, len(systemIDs))
	for i, sys := range systemIDs {
		rows[i] = seriesSystemRow{SeriesID: id, SystemID: sys}
	}
	if len(rows) == 0 {
		return nil
	}
	if _, err := tx.NewInsert().Model(&rows).Exec(ctx); db.IsForeignKey(err) {
		return errSystemGone
	} else if err != nil {
		return fmt.Errorf("add systems: %w", err)
	}
	return nil
}

// materialise makes the occurrences that are not there yet: those that begin
// within the horizon, and always the one after the last that has begun, so that
// a yearly series shows its next one too. It sets how far it came and when to
// look again; the caller writes the row, whose lock it holds.
func (s *Service) materialise(ctx context.Context, tx bun.Tx, r *seriesRow, sch schedule, systemIDs []string, now time.Time) ([]Maintenance, error) {
	taken, err := takenKeys(ctx, tx, r.ID)
	if err != nil {
		return nil, err
	}
	horizon := now.AddDate(0, 0, horizonDays)
	var rows []*row
	var last *occurrence
	r.ExtendAt = nil
	for o := range sch.occurrences(sch.horizon(now)) {
		if o.StartAt.After(horizon) && last != nil && last.StartAt.After(now) && o.Key > r.GeneratedThrough {
			look := o.StartAt.AddDate(0, 0, -horizonDays)
			if last.StartAt.Before(look) {
				look = last.StartAt
			}
			r.ExtendAt = &look
			break
		}
		last = &o
		if o.Key <= r.GeneratedThrough {
			continue
		}
		r.GeneratedThrough = o.Key
		// What is over before it was made never took place.
		if taken[o.Key] || !o.EndAt.After(now) {
			continue
		}
		m := &row{ID: newID(), Status: Scheduled, SeriesID: &r.ID, OccurrenceKey: &o.Key, Version: 1, CreatedAt: now, UpdatedAt: now}
		m.set(Fields{Title: r.Title, Description: r.Description, SuppressNotifications: r.SuppressNotifications, StartAt: db.Time(o.StartAt), EndAt: db.Time(o.EndAt)})
		m.plan()
		rows = append(rows, m)
	}
	if len(rows) == 0 {
		return nil, nil
	}
	ids := make([]string, len(rows))
	out := make([]Maintenance, len(rows))
	for i, m := range rows {
		ids[i], out[i] = m.ID, m.maintenance()
		out[i].SystemIDs = slices.Sorted(slices.Values(systemIDs))
	}
	if _, err := tx.NewInsert().Model(&rows).Exec(ctx); err != nil {
		return nil, fmt.Errorf("make occurrences: %w", err)
	}
	return out, insertSystems(ctx, tx, ids, systemIDs)
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

// lockSeries reads a series so that no other writer changes it before tx ends.
func (st store) lockSeries(ctx context.Context, tx bun.Tx, id string) (*seriesRow, []string, error) {
	r := &seriesRow{}
	q := tx.NewSelect().Model(r).Where("id = ?", id)
	if st.db.Postgres() {
		q = q.For("UPDATE")
	}
	if err := q.Scan(ctx); err != nil {
		return nil, nil, db.Found(err, errSeriesNotFound)
	}
	systems, err := st.seriesSystems(ctx, tx, []string{id})
	return r, systems[id], err
}

func (store) seriesSystems(ctx context.Context, idb bun.IDB, ids []string) (map[string][]string, error) {
	out := make(map[string][]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []seriesSystemRow
	if err := idb.NewSelect().Model(&rows).Where("series_id IN (?)", bun.List(ids)).OrderExpr("system_id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read systems of series: %w", err)
	}
	for _, r := range rows {
		out[r.SeriesID] = append(out[r.SeriesID], r.SystemID)
	}
	return out, nil
}

// retryBroken is when a series that cannot be read is looked at again: a newer
// version of the product may know its zone.
const retryBroken = time.Hour

// extend makes the occurrences of a series that have come within the horizon. A
// series that cannot be read is marked as broken; its occurrences so far stay.
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
		if err != nil {
			text, again := err.Error(), now.Add(retryBroken)
			r.Problem, r.ExtendAt = &text, &again
			s.log.WarnContext(ctx, "a series of maintenances makes no more occurrences", "series_id", id, "problem", text)
		} else {
			r.Problem = nil
			if made, err = s.materialise(ctx, tx, r, sch, systems, now); err != nil {
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

// Series gives one series.
func (s *Service) Series(ctx context.Context, id string) (Series, error) {
	list, err := s.readSeries(ctx, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("s.id = ?", id) })
	if err != nil {
		return Series{}, err
	}
	if len(list) == 0 {
		return Series{}, errSeriesNotFound
	}
	return list[0], nil
}

// SeriesList gives one page of the series, newest first, and the cursor of the
// next, empty at the end.
func (s *Service) SeriesList(ctx context.Context, ended bool, limit int, after string) ([]Series, string, error) {
	c, err := parseCursor(after)
	if err != nil {
		return nil, "", err
	}
	list, err := s.readSeries(ctx, func(q *bun.SelectQuery) *bun.SelectQuery {
		if !ended {
			q = q.Where("s.ended_at IS NULL")
		}
		if c != nil {
			q = q.Where("(s.created_at, s.id) < (?, ?)", c.at(), c.ID)
		}
		return q.OrderExpr("s.created_at DESC, s.id DESC").Limit(int64(limit) + 1)
	})
	if err != nil || len(list) <= limit {
		return list, "", err
	}
	last := list[limit-1]
	return list[:limit], (&cursor{last.CreatedAt.UnixMilli(), last.ID}).String(), nil
}

func (s *Service) readSeries(ctx context.Context, filter func(*bun.SelectQuery) *bun.SelectQuery) ([]Series, error) {
	var rows []seriesRow
	if err := filter(s.db.Read.NewSelect().Model(&rows)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read series: %w", err)
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	systems, err := s.store.seriesSystems(ctx, s.db.Read, ids)
	if err != nil {
		return nil, err
	}
	out := make([]Series, len(rows))
	for i, r := range rows {
		out[i] = r.series(systems[r.ID])
	}
	return out, nil
}

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
	if _, err := tx.NewDelete().Table("maintenance_systems").Where("maintenance_id IN (?)", bun.List(ids)).Exec(ctx); err != nil {
		return fmt.Errorf("change systems of occurrences: %w", err)
	}
	return insertSystems(ctx, tx, ids, f.SystemIDs)
}

// reschedule replaces the untouched occurrences by those of a new schedule that
// starts with the first of them. Everything before stays as it is.
func (s *Service) reschedule(ctx context.Context, tx bun.Tx, r *seriesRow, systemIDs []string, reached []row, e SeriesEdit, now time.Time) ([]Maintenance, error) {
	sch, after, err := r.moved(e, reached, now)
	if err != nil {
		return nil, err
	}
	if err := takeBack(ctx, tx, reached); err != nil {
		return nil, err
	}
	r.setSchedule(sch, after)
	r.Problem = nil
	return s.materialise(ctx, tx, r, sch, systemIDs, now)
}

// moved gives the new schedule of a series from the first reached occurrence on,
// and the key after which its occurrences are made.
func (r *seriesRow) moved(e SeriesEdit, reached []row, now time.Time) (schedule, string, error) {
	old, oldErr := r.schedule()
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
