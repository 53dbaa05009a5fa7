package maintenance

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	errNotFound       = problem.NotFound("Maintenance not found")
	errSeriesNotFound = problem.NotFound("Series not found")
	errLinkNotFound   = problem.NotFound("Link not found")
	errMoved          = problem.Conflict("This was changed by someone else in the meantime. Reload it and apply your change again.").Because(problem.ErrMoved)
)

type row struct {
	bun.BaseModel `bun:"table:maintenances,alias:m"`

	ID                    string     `bun:"id,pk"`
	Title                 string     `bun:"title"`
	TitleKey              string     `bun:"title_key"`
	Description           *string    `bun:"description"`
	Status                Status     `bun:"status"`
	SuppressNotifications bool       `bun:"suppress_notifications"`
	StartAt               time.Time  `bun:"start_at"`
	EndAt                 time.Time  `bun:"end_at"`
	StartedAt             *time.Time `bun:"started_at"`
	EndedAt               *time.Time `bun:"ended_at"`
	NextTransitionAt      *time.Time `bun:"next_transition_at"`
	SeriesID              *string    `bun:"series_id"`
	OccurrenceKey         *string    `bun:"occurrence_key"`
	Detached              bool       `bun:"detached"`
	Version               int64      `bun:"version"`
	CreatedAt             time.Time  `bun:"created_at"`
	UpdatedAt             time.Time  `bun:"updated_at"`
}

type systemRow struct {
	bun.BaseModel `bun:"table:maintenance_systems"`

	MaintenanceID string `bun:"maintenance_id,pk"`
	SystemID      string `bun:"system_id,pk"`
}

type updateRow struct {
	bun.BaseModel `bun:"table:maintenance_updates,alias:u"`

	ID            string    `bun:"id,pk"`
	MaintenanceID string    `bun:"maintenance_id"`
	Message       string    `bun:"message"`
	StatusChange  *Status   `bun:"status_change"`
	Audience      Audience  `bun:"audience"`
	CreatedAt     time.Time `bun:"created_at"`
	AuthorID      *string   `bun:"author_id"`
}

type linkRow struct {
	bun.BaseModel `bun:"table:maintenance_links"`

	ID            string    `bun:"id,pk"`
	MaintenanceID string    `bun:"maintenance_id"`
	Label         string    `bun:"label"`
	URL           string    `bun:"url"`
	CreatedAt     time.Time `bun:"created_at"`
}

// titleKey is the form in which titles are searched.
func titleKey(title string) string { return strings.ToLower(title) }

// likePattern finds a text anywhere in a title key.
func likePattern(query string) string { return db.LikePattern(titleKey(query)) }

// optional gives nil for the empty value.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// value gives the empty value for nil.
func value[T any](p *T) T {
	var zero T
	if p == nil {
		return zero
	}
	return *p
}

func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := t.UTC()
	return &u
}

func (r *row) maintenance() Maintenance {
	return Maintenance{ID: r.ID, Status: r.Status, StartedAt: utc(r.StartedAt), EndedAt: utc(r.EndedAt), SeriesID: r.SeriesID, Key: r.OccurrenceKey,
		Detached: r.Detached, Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(),
		Fields: Fields{Title: r.Title, Description: r.Description, StartAt: r.StartAt.UTC(), EndAt: r.EndAt.UTC(),
			SuppressNotifications: r.SuppressNotifications, SystemIDs: []string{}}}
}

// set takes over what an operator decides.
func (r *row) set(f Fields) {
	r.Title, r.TitleKey, r.Description, r.SuppressNotifications = f.Title, titleKey(f.Title), f.Description, f.SuppressNotifications
	r.StartAt, r.EndAt = f.StartAt, f.EndAt
}

// enter puts the row into a status and sets what the clock does next.
func (r *row) enter(s Status, now time.Time) {
	if r.Status == Scheduled && s == InProgress {
		r.StartedAt = &now
	}
	if r.Status.Open() && !s.Open() {
		r.EndedAt = &now
	}
	r.Status = s
	r.plan()
}

func (r *row) plan() {
	f := Fields{StartAt: r.StartAt, EndAt: r.EndAt}
	r.NextTransitionAt = f.due(r.Status)
}

func (r *updateRow) update() Update {
	return Update{ID: r.ID, MaintenanceID: r.MaintenanceID, Message: r.Message, StatusChange: r.StatusChange, Audience: r.Audience,
		CreatedAt: r.CreatedAt.UTC(), AuthorID: value(r.AuthorID)}
}

func (r *linkRow) link() Link {
	return Link{ID: r.ID, MaintenanceID: r.MaintenanceID, Label: r.Label, URL: r.URL}
}

// store is the SQL of maintenances. Every method runs in or out of a
// transaction.
type store struct{ db *db.DB }

// lock reads a row so that no other writer changes it before tx ends.
func (st store) lock(ctx context.Context, tx bun.Tx, id string) (*row, error) {
	r := &row{}
	q := tx.NewSelect().Model(r).Where("id = ?", id)
	if st.db.Postgres() {
		q = q.For("UPDATE")
	}
	if err := q.Scan(ctx); err != nil {
		return nil, db.Found(err, errNotFound)
	}
	return r, nil
}

func (st store) one(ctx context.Context, idb bun.IDB, id string) (Maintenance, error) {
	list, err := st.all(ctx, idb, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("m.id = ?", id) })
	if err != nil {
		return Maintenance{}, err
	}
	if len(list) == 0 {
		return Maintenance{}, errNotFound
	}
	return list[0], nil
}

// all reads the maintenances that q selects, with their systems.
func (st store) all(ctx context.Context, idb bun.IDB, filter func(*bun.SelectQuery) *bun.SelectQuery) ([]Maintenance, error) {
	var rows []row
	if err := filter(idb.NewSelect().Model(&rows)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read maintenances: %w", err)
	}
	out := make([]Maintenance, len(rows))
	ids := make([]string, len(rows))
	for i := range rows {
		out[i], ids[i] = rows[i].maintenance(), rows[i].ID
	}
	systems, err := st.systems(ctx, idb, ids)
	if err != nil {
		return nil, err
	}
	for i := range out {
		if s := systems[out[i].ID]; s != nil {
			out[i].SystemIDs = s
		}
	}
	return out, nil
}

// systems gives the ids of the systems of each maintenance.
func (store) systems(ctx context.Context, idb bun.IDB, ids []string) (map[string][]string, error) {
	out := make(map[string][]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []systemRow
	if err := idb.NewSelect().Model(&rows).Where("maintenance_id IN (?)", bun.List(ids)).OrderExpr("system_id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read systems of maintenances: %w", err)
	}
	for _, r := range rows {
		out[r.MaintenanceID] = append(out[r.MaintenanceID], r.SystemID)
	}
	return out, nil
}

// errSystemGone is a system that was deleted between being looked up and used.
var errSystemGone = problem.Field("systemIds", "one of the systems does not exist any more")

// keepSystems keeps systems from being deleted until tx ends: the deletion and
// who rewrites the rows that go with it would otherwise wait for each other.
func (st store) keepSystems(ctx context.Context, tx bun.Tx, lists ...[]string) error {
	ids := slices.Concat(lists...)
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.NewRaw("SELECT id FROM systems WHERE id IN (?) ORDER BY id ?", bun.List(ids), st.db.KeyShare()).Exec(ctx); err != nil {
		return fmt.Errorf("keep systems: %w", err)
	}
	return nil
}

// replaceSystems gives each of the maintenances exactly these systems.
func replaceSystems(ctx context.Context, tx bun.Tx, ids, systemIDs []string) error {
	if len(ids) == 0 {
		return nil
	}
	if _, err := tx.NewDelete().Table("maintenance_systems").Where("maintenance_id IN (?)", bun.List(ids)).Exec(ctx); err != nil {
		return fmt.Errorf("replace systems: %w", err)
	}
	return insertSystems(ctx, tx, ids, systemIDs)
}

func insertSystems(ctx context.Context, tx bun.Tx, ids, systemIDs []string) error {
	rows := make([]systemRow, 0, len(ids)*len(systemIDs))
	for _, id := range ids {
		for _, sys := range systemIDs {
			rows = append(rows, systemRow{MaintenanceID: id, SystemID: sys})
		}
	}
	for part := range slices.Chunk(rows, 500) {
		if _, err := tx.NewInsert().Model(&part).Exec(ctx); db.IsForeignKey(err) {
			return errSystemGone
		} else if err != nil {
			return fmt.Errorf("add systems: %w", err)
		}
	}
	return nil
}

// save writes the row back. The caller holds its lock; on SQLite the transaction
// is one.
func (store) save(ctx context.Context, tx bun.Tx, r *row, raise bool, now time.Time) error {
	before := r.Version
	if r.UpdatedAt = now; raise {
		r.Version++
	}
	res, err := tx.NewUpdate().Model(r).WherePK().Where("version = ?", before).Exec(ctx)
	return db.MustAffect(res, err, errMoved)
}

func (store) updates(ctx context.Context, idb bun.IDB, ids []string) (map[string][]Update, error) {
	out := make(map[string][]Update, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []updateRow
	if err := idb.NewSelect().Model(&rows).Where("maintenance_id IN (?)", bun.List(ids)).OrderExpr("created_at, id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read updates: %w", err)
	}
	for _, r := range rows {
		out[r.MaintenanceID] = append(out[r.MaintenanceID], r.update())
	}
	return out, nil
}

func (store) links(ctx context.Context, idb bun.IDB, id string) ([]Link, error) {
	var rows []linkRow
	if err := idb.NewSelect().Model(&rows).Where("maintenance_id = ?", id).OrderExpr("created_at, id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read links: %w", err)
	}
	out := make([]Link, len(rows))
	for i, r := range rows {
		out[i] = r.link()
	}
	return out, nil
}

// Filter selects maintenances.
type Filter struct {
	Status   Status // empty: any
	Open     *bool  // only those to come or running, or only those that are over
	SystemID string
	SeriesID string
	Query    string // part of the title, whatever its case
	// From and To keep what overlaps the time between them.
	From, To *time.Time
	// Soonest puts the earliest start first; otherwise the latest is.
	Soonest bool
	Limit   int
	After   *cursor
}

// list gives one page in the order of the filter, by start.
func (st store) list(ctx context.Context, idb bun.IDB, f Filter) ([]Maintenance, error) {
	return st.all(ctx, idb, func(q *bun.SelectQuery) *bun.SelectQuery {
		if f.Status != "" {
			q = q.Where("m.status = ?", f.Status)
		}
		if f.Open != nil {
			statuses := []Status{Completed, Cancelled}
			if *f.Open {
				statuses = []Status{Scheduled, InProgress}
			}
			q = q.Where("m.status IN (?)", bun.List(statuses))
		}
		if f.SystemID != "" {
			q = q.Where("m.id IN (SELECT maintenance_id FROM maintenance_systems WHERE system_id = ?)", f.SystemID)
		}
		if f.SeriesID != "" {
			q = q.Where("m.series_id = ?", f.SeriesID)
		}
		if f.Query != "" {
			q = q.Where("m.title_key LIKE ? ESCAPE '!'", likePattern(f.Query))
		}
		if f.From != nil {
			// No window is longer than maxLength, so the index on the start bounds
			// what is read.
			q = q.Where("m.end_at > ?", *f.From).Where("m.start_at > ?", f.From.Add(-maxLength-time.Second))
		}
		if f.To != nil {
			q = q.Where("m.start_at < ?", *f.To)
		}
		order := "m.start_at DESC, m.id DESC"
		beyond := "(m.start_at, m.id) < (?, ?)"
		if f.Soonest {
			order, beyond = "m.start_at, m.id", "(m.start_at, m.id) > (?, ?)"
		}
		if f.After != nil {
			q = q.Where(beyond, f.After.at(), f.After.ID)
		}
		return q.OrderExpr(order).Limit(int64(f.Limit))
	})
}

// cursor names the last row of a page.
type cursor struct {
	Ms int64  `json:"t"`
	ID string `json:"i"`
}

func (c *cursor) at() time.Time { return time.UnixMilli(c.Ms).UTC() }

func (c *cursor) String() string {
	raw, _ := json.Marshal(c) // a number and a text always encode
	return base64.RawURLEncoding.EncodeToString(raw)
}

// parseCursor reads what String wrote; an empty text is no cursor.
func parseCursor(s string) (*cursor, error) {
	if s == "" {
		return nil, nil
	}
	bad := problem.Field("cursor", "must be the nextCursor of an earlier answer")
	raw, err := base64.RawURLEncoding.DecodeString(s)
	if err != nil {
		return nil, bad
	}
	var c cursor
	if err := json.Unmarshal(raw, &c); err != nil || c.ID == "" || len(c.ID) > 100 || strings.ContainsRune(c.ID, 0) || c.at().Year() < 1900 || c.at().Year() > 2500 {
		return nil, bad
	}
	return &c, nil
}
