package maintenance

import (
	"context"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

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
		} else if len(systemIDs) == 0 {
			s.Problem = errNoSystems.Error()
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
		if made, err = s.materialise(ctx, tx, r, sch, f.SystemIDs, nil, now); err != nil {
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
