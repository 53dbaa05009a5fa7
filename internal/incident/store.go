package incident

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"
	"github.com/uptrace/bun/schema"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	errNotFound     = problem.NotFound("Incident not found")
	errLinkNotFound = problem.NotFound("Link not found")
	errMoved        = problem.Conflict("This incident was changed by someone else in the meantime. Reload it and apply your change again.").Because(problem.ErrMoved)
	errResolved     = problem.Conflict("This incident is already resolved. Add an update to say more about it.").WithCode("ALREADY_RESOLVED")
	errSystemGone   = problem.Field("systemIds", "a system was deleted in the meantime")
)

type incidentRow struct {
	bun.BaseModel `bun:"table:incidents,alias:i"`

	ID                    string     `bun:"id,pk"`
	Title                 string     `bun:"title"`
	TitleKey              string     `bun:"title_key"`
	Description           *string    `bun:"description"`
	Status                Status     `bun:"status"`
	Severity              Severity   `bun:"severity"`
	SuppressNotifications bool       `bun:"suppress_notifications"`
	HealthOverride        *Health    `bun:"health_override"`
	Version               int64      `bun:"version"`
	CreatedAt             time.Time  `bun:"created_at"`
	UpdatedAt             time.Time  `bun:"updated_at"`
	ResolvedAt            *time.Time `bun:"resolved_at"`
}

type systemRow struct {
	bun.BaseModel `bun:"table:incident_systems"`

	IncidentID string `bun:"incident_id,pk"`
	SystemID   string `bun:"system_id,pk"`
	Active     bool   `bun:"active"`
}

type updateRow struct {
	bun.BaseModel `bun:"table:incident_updates,alias:u"`

	ID           string    `bun:"id,pk"`
	IncidentID   string    `bun:"incident_id"`
	Message      string    `bun:"message"`
	StatusChange *Status   `bun:"status_change"`
	Audience     Audience  `bun:"audience"`
	AuthorID     string    `bun:"author_id"`
	CreatedAt    time.Time `bun:"created_at"`
}

type linkRow struct {
	bun.BaseModel `bun:"table:incident_links"`

	ID         string    `bun:"id,pk"`
	IncidentID string    `bun:"incident_id"`
	Label      string    `bun:"label"`
	URL        string    `bun:"url"`
	CreatedAt  time.Time `bun:"created_at"`
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
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func rowOf(in Incident) *incidentRow {
	return &incidentRow{ID: in.ID, Title: in.Title, TitleKey: titleKey(in.Title), Description: in.Description, Status: in.Status, Severity: in.Severity,
		SuppressNotifications: in.SuppressNotifications, HealthOverride: optional(in.Override), Version: in.Version,
		CreatedAt: in.CreatedAt, UpdatedAt: in.UpdatedAt, ResolvedAt: optional(in.ResolvedAt)}
}

func (r *incidentRow) incident() Incident {
	return Incident{ID: r.ID, Systems: []System{}, Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC(), ResolvedAt: value(r.ResolvedAt).UTC(),
		Fields: Fields{Title: r.Title, Description: r.Description, Status: r.Status, Severity: r.Severity,
			SuppressNotifications: r.SuppressNotifications, Override: value(r.HealthOverride), SystemIDs: []string{}}}
}

func systemRows(in Incident) []systemRow {
	rows := make([]systemRow, len(in.SystemIDs))
	for i, id := range in.SystemIDs {
		rows[i] = systemRow{IncidentID: in.ID, SystemID: id, Active: in.Status.Active()}
	}
	return rows
}

// systemsByName gives the systems of the ids that have a name, in the order in
// which they are shown.
func systemsByName(ids []string, names map[string]string) []System {
	list := make([]System, 0, len(ids))
	for _, id := range ids {
		if name, ok := names[id]; ok {
			list = append(list, System{id, name})
		}
	}
	slices.SortFunc(list, func(a, b System) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return list
}

func idsOf(list []System) []string {
	ids := make([]string, len(list))
	for i, s := range list {
		ids[i] = s.ID
	}
	return ids
}

// store is the SQL of incidents. Every method runs in or out of a transaction.
type store struct{}

// complete reads the systems of incidents.
func (store) complete(ctx context.Context, idb bun.IDB, rows []incidentRow) ([]Incident, error) {
	out := make([]Incident, len(rows))
	if len(rows) == 0 {
		return out, nil
	}
	at := make(map[string]*Incident, len(rows))
	ids := make([]string, len(rows))
	for i, r := range rows {
		out[i] = r.incident()
		at[r.ID], ids[i] = &out[i], r.ID
	}
	var list []struct{ IncidentID, ID, Name string }
	err := idb.NewSelect().TableExpr("incident_systems AS s").Join("JOIN systems AS c ON c.id = s.system_id").
		ColumnExpr("s.incident_id, c.id, c.name").Where("s.incident_id IN (?)", bun.List(ids)).Scan(ctx, &list)
	if err != nil {
		return nil, fmt.Errorf("systems of incidents: %w", err)
	}
	names := make(map[string]string, len(list))
	for _, l := range list {
		names[l.ID] = l.Name
		at[l.IncidentID].SystemIDs = append(at[l.IncidentID].SystemIDs, l.ID)
	}
	for i := range out {
		out[i].Systems = systemsByName(out[i].SystemIDs, names)
		out[i].SystemIDs = idsOf(out[i].Systems)
	}
	return out, nil
}

func (st store) incident(ctx context.Context, idb bun.IDB, id string) (Incident, error) {
	list, err := st.byID(ctx, idb, []string{id})
	if err != nil {
		return Incident{}, err
	}
	if len(list) == 0 {
		return Incident{}, errNotFound
	}
	return list[0], nil
}

// keepSystems keeps the systems of an incident from being deleted until tx ends:
// the deletion and the change would write the same rows, here and in health.
func (store) keepSystems(ctx context.Context, tx bun.Tx, id string, keyShare schema.QueryWithArgs) error {
	_, err := tx.NewRaw("SELECT id FROM systems WHERE id IN (SELECT system_id FROM incident_systems WHERE incident_id = ?) ORDER BY id ?", id, keyShare).Exec(ctx)
	if err != nil {
		return fmt.Errorf("keep systems of incident: %w", err)
	}
	return nil
}

// byID gives the incidents among ids that exist, newest first.
func (st store) byID(ctx context.Context, idb bun.IDB, ids []string) ([]Incident, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []incidentRow
	if err := idb.NewSelect().Model(&rows).Where("i.id IN (?)", bun.List(ids)).OrderExpr("i.id DESC").Scan(ctx); err != nil {
		return nil, fmt.Errorf("read incidents: %w", err)
	}
	return st.complete(ctx, idb, rows)
}

// Filter says which incidents to list. Empty fields do not restrict.
type Filter struct {
	// Status beats IncludeResolved.
	Status          Status
	Severity        Severity
	SystemID        string
	Text            string
	IncludeResolved bool
	// Before is the id of the last incident of the page before.
	Before string
	Limit  int
}

// list gives incidents, newest first. It finds their ids first, which the
// indexes alone can answer.
func (st store) list(ctx context.Context, idb bun.IDB, f Filter) ([]Incident, error) {
	q := idb.NewSelect().TableExpr("incidents AS i")
	id := "i.id"
	if f.SystemID != "" {
		// The table that knows the systems leads, so that it also gives the order.
		id = "s.incident_id"
		q = q.Join("JOIN incident_systems AS s ON s.incident_id = i.id").Where("s.system_id = ?", f.SystemID)
	}
	if f.Before != "" {
		q = q.Where(id+" < ?", f.Before)
	}
	if f.Status != "" {
		q = q.Where("i.status = ?", f.Status)
	}
	if f.Status.Active() && (f.Status != "" || !f.IncludeResolved) {
		if f.SystemID != "" {
			q = q.Where("s.active")
		} else {
			q = q.Where("i.resolved_at IS NULL")
		}
	}
	if f.Severity != "" {
		q = q.Where("i.severity = ?", f.Severity)
	}
	if f.Text != "" {
		q = q.Where("i.title_key LIKE ? ESCAPE '!'", likePattern(f.Text))
	}
	var ids []string
	if err := q.ColumnExpr(id).OrderExpr(id+" DESC").Limit(int64(f.Limit)).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("list incidents: %w", err)
	}
	return st.byID(ctx, idb, ids)
}

func (store) countActive(ctx context.Context, idb bun.IDB) (int, error) {
	var n int
	if err := idb.NewRaw("SELECT count(*) FROM incidents WHERE resolved_at IS NULL").Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("count active incidents: %w", err)
	}
	return n, nil
}

func (st store) insert(ctx context.Context, tx bun.Tx, in Incident) error {
	if _, err := tx.NewInsert().Model(rowOf(in)).Exec(ctx); err != nil {
		return fmt.Errorf("create incident: %w", err)
	}
	return st.insertSystems(ctx, tx, in)
}

func (store) insertSystems(ctx context.Context, tx bun.Tx, in Incident) error {
	rows := systemRows(in)
	if len(rows) == 0 {
		return nil
	}
	_, err := tx.NewInsert().Model(&rows).On("CONFLICT DO NOTHING").Exec(ctx)
	if db.IsForeignKey(err) {
		return errSystemGone
	}
	if err != nil {
		return fmt.Errorf("systems of incident: %w", err)
	}
	return nil
}

// save writes all fields of an incident and, where they changed, its systems.
func (st store) save(ctx context.Context, tx bun.Tx, before, after Incident) error {
	res, err := tx.NewUpdate().Model(rowOf(after)).ExcludeColumn("id", "created_at").WherePK().Where("version = ?", before.Version).Exec(ctx)
	if err := db.MustAffect(res, err, errMoved); err != nil {
		return err
	}
	if before.Status.Active() != after.Status.Active() {
		if _, err := tx.NewUpdate().Table("incident_systems").Set("active = ?", after.Status.Active()).Where("incident_id = ?", after.ID).Exec(ctx); err != nil {
			return fmt.Errorf("systems of incident: %w", err)
		}
	}
	if slices.Equal(before.SystemIDs, after.SystemIDs) {
		return nil
	}
	if _, err := tx.NewDelete().Table("incident_systems").Where("incident_id = ? AND system_id NOT IN (?)", after.ID, bun.List(after.SystemIDs)).Exec(ctx); err != nil {
		return fmt.Errorf("systems of incident: %w", err)
	}
	return st.insertSystems(ctx, tx, after)
}

func (store) touch(ctx context.Context, tx bun.Tx, id string, at time.Time) error {
	_, err := tx.NewUpdate().Table("incidents").Set("updated_at = ?", at).Where("id = ?", id).Exec(ctx)
	return err
}

func (store) remove(ctx context.Context, tx bun.Tx, id string) error {
	res, err := tx.NewDelete().Table("incidents").Where("id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNotFound)
}

func (store) insertUpdate(ctx context.Context, tx bun.Tx, u Update) error {
	_, err := tx.NewInsert().Model(&updateRow{ID: u.ID, IncidentID: u.IncidentID, Message: u.Message, StatusChange: optional(u.StatusChange),
		Audience: u.Audience, AuthorID: u.AuthorID, CreatedAt: u.CreatedAt}).Exec(ctx)
	if err != nil {
		return fmt.Errorf("add update: %w", err)
	}
	return nil
}

func (store) countUpdates(ctx context.Context, tx bun.Tx, incidentID string) (int64, error) {
	return tx.NewSelect().Table("incident_updates").Where("incident_id = ?", incidentID).Count(ctx)
}

// updates gives the newest updates of each incident, at most perIncident, that
// are for one of the audiences; oldest first.
func (store) updates(ctx context.Context, idb bun.IDB, incidentIDs []string, audiences []Audience, perIncident int) ([]Update, error) {
	if len(incidentIDs) == 0 {
		return nil, nil
	}
	var rows []updateRow
	ranked := idb.NewSelect().TableExpr("incident_updates").ColumnExpr("id, row_number() OVER (PARTITION BY incident_id ORDER BY id DESC) AS place").
		Where("incident_id IN (?)", bun.List(incidentIDs)).Where("audience IN (?)", bun.List(audiences))
	err := idb.NewSelect().Model(&rows).Join("JOIN (?) AS r ON r.id = u.id", ranked).Where("r.place <= ?", perIncident).OrderExpr("u.id").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("updates of incidents: %w", err)
	}
	out := make([]Update, len(rows))
	for i, r := range rows {
		out[i] = Update{ID: r.ID, IncidentID: r.IncidentID, Message: r.Message, StatusChange: value(r.StatusChange), Audience: r.Audience,
			AuthorID: r.AuthorID, CreatedAt: r.CreatedAt.UTC()}
	}
	return out, nil
}

func (store) insertLink(ctx context.Context, tx bun.Tx, l Link, now time.Time) error {
	_, err := tx.NewInsert().Model(&linkRow{ID: l.ID, IncidentID: l.IncidentID, Label: l.Label, URL: l.URL, CreatedAt: now}).Exec(ctx)
	return err
}

func (store) countLinks(ctx context.Context, tx bun.Tx, incidentID string) (int64, error) {
	return tx.NewSelect().Table("incident_links").Where("incident_id = ?", incidentID).Count(ctx)
}

func (store) links(ctx context.Context, idb bun.IDB, incidentID string) ([]Link, error) {
	var rows []linkRow
	if err := idb.NewSelect().Model(&rows).Where("incident_id = ?", incidentID).OrderExpr("id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("links of incident: %w", err)
	}
	out := make([]Link, len(rows))
	for i, r := range rows {
		out[i] = Link{ID: r.ID, IncidentID: r.IncidentID, Label: r.Label, URL: r.URL}
	}
	return out, nil
}

func (store) removeLink(ctx context.Context, tx bun.Tx, incidentID, id string) error {
	res, err := tx.NewDelete().Table("incident_links").Where("id = ? AND incident_id = ?", id, incidentID).Exec(ctx)
	return db.MustAffect(res, err, errLinkNotFound)
}

// pair is an incident of a system.
type pair struct{ SystemID, IncidentID string }

// activePairs gives the newest active incidents of each system.
func (store) activePairs(ctx context.Context, idb bun.IDB, systemIDs []string, perSystem int) ([]pair, error) {
	if len(systemIDs) == 0 {
		return nil, nil
	}
	ranked := idb.NewSelect().Table("incident_systems").
		ColumnExpr("system_id, incident_id, row_number() OVER (PARTITION BY system_id ORDER BY incident_id DESC) AS place").
		Where("system_id IN (?)", bun.List(systemIDs)).Where("active")
	var out []pair
	err := idb.NewSelect().TableExpr("(?) AS r", ranked).ColumnExpr("r.system_id, r.incident_id").Where("r.place <= ?", perSystem).
		OrderExpr("r.incident_id DESC").Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("incidents of systems: %w", err)
	}
	return out, nil
}

// matchingRefs gives the newest incidents, active or resolved, whose title
// contains text.
func (st store) matchingRefs(ctx context.Context, idb bun.IDB, active bool, text string, limit int) ([]Ref, error) {
	q := idb.NewSelect().TableExpr("incidents AS i").ColumnExpr("i.id").OrderExpr("i.id DESC").Limit(int64(limit))
	if active {
		q = q.Where("i.resolved_at IS NULL")
	} else {
		q = q.Where("i.status = ?", Resolved)
	}
	if text != "" {
		q = q.Where("i.title_key LIKE ? ESCAPE '!'", likePattern(text))
	}
	var ids []string
	if err := q.Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("mentions of incidents: %w", err)
	}
	return st.refs(ctx, idb, ids)
}

// refs gives the incidents among ids that exist, newest first.
func (store) refs(ctx context.Context, idb bun.IDB, ids []string) ([]Ref, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	var rows []incidentRow
	if err := idb.NewSelect().Model(&rows).Column("id", "title", "status").Where("i.id IN (?)", bun.List(ids)).OrderExpr("i.id DESC").Scan(ctx); err != nil {
		return nil, fmt.Errorf("mentions of incidents: %w", err)
	}
	out := make([]Ref, len(rows))
	for i, r := range rows {
		out[i] = Ref{ID: r.ID, Title: r.Title, Active: r.Status.Active()}
	}
	return out, nil
}

// activity gives the latest creations and updates.
func (store) activity(ctx context.Context, idb bun.IDB, audiences []Audience, limit int) ([]Activity, error) {
	var opened []incidentRow
	if err := idb.NewSelect().Model(&opened).Column("id", "title", "severity", "created_at").OrderExpr("i.id DESC").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("activity of incidents: %w", err)
	}
	var said []struct {
		ID           string
		IncidentID   string
		Title        string
		Severity     Severity
		StatusChange *Status
		CreatedAt    time.Time
		OpenedAt     time.Time
	}
	err := idb.NewSelect().TableExpr("incident_updates AS u").Join("JOIN incidents AS i ON i.id = u.incident_id").
		ColumnExpr("u.id, u.incident_id, i.title, i.severity, u.status_change, u.created_at, i.created_at AS opened_at").
		Where("u.audience IN (?)", bun.List(audiences)).OrderExpr("u.id DESC").Limit(int64(limit)).Scan(ctx, &said)
	if err != nil {
		return nil, fmt.Errorf("activity of incidents: %w", err)
	}
	out := make([]Activity, 0, len(opened)+len(said))
	for _, r := range opened {
		out = append(out, Activity{ID: r.ID, IncidentID: r.ID, Title: r.Title, Severity: r.Severity, Kind: "created", At: r.CreatedAt.UTC()})
	}
	for _, u := range said {
		if u.CreatedAt.Equal(u.OpenedAt) {
			continue // said with the creation, which stands for it
		}
		a := Activity{ID: u.ID, IncidentID: u.IncidentID, Title: u.Title, Severity: u.Severity, Kind: "updated", At: u.CreatedAt.UTC()}
		if u.StatusChange != nil {
			a.Kind, a.Status = "status", *u.StatusChange
		}
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b Activity) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID)) })
	return out[:min(limit, len(out))], nil
}
