package maintenance

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Get gives one maintenance with what the principal in ctx may see of it.
func (s *Service) Get(ctx context.Context, id string) (Detail, error) {
	m, err := s.store.one(ctx, s.db.Read, id)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Maintenance: m}
	updates, err := s.Updates(ctx, []string{id})
	if err != nil {
		return Detail{}, err
	}
	d.Updates = updates[id]
	if d.Links, err = s.store.links(ctx, s.db.Read, id); err != nil {
		return Detail{}, err
	}
	if m.SeriesID != nil {
		series, err := s.Series(ctx, *m.SeriesID)
		if err != nil {
			return Detail{}, err
		}
		d.Series = &series
	}
	return d, nil
}

// Updates gives the timelines of maintenances, oldest entry first, as far as the
// principal in ctx may read them. Who wrote an entry is for those who manage
// maintenances.
func (s *Service) Updates(ctx context.Context, ids []string) (map[string][]Update, error) {
	all, err := s.store.updates(ctx, s.db.Read, ids)
	if err != nil {
		return nil, err
	}
	p := authz.From(ctx)
	out := make(map[string][]Update, len(ids))
	var readable []*Update
	for _, id := range ids {
		out[id] = slices.DeleteFunc(append([]Update{}, all[id]...), func(u Update) bool { return !u.Audience.readableBy(p) })
		for i := range out[id] {
			readable = append(readable, &out[id][i])
		}
	}
	return out, s.sign(ctx, readable)
}

// sign gives updates the names of their authors, or takes the authors away when
// they are not for the caller.
func (s *Service) sign(ctx context.Context, list []*Update) error {
	if !canManage(authz.From(ctx)) {
		for _, u := range list {
			u.AuthorID = ""
		}
		return nil
	}
	var ids []string
	for _, u := range list {
		if u.AuthorID != "" && !slices.Contains(ids, u.AuthorID) {
			ids = append(ids, u.AuthorID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	names, err := s.authors.Names(ctx, ids)
	if err != nil {
		return fmt.Errorf("names of authors: %w", err)
	}
	for _, u := range list {
		u.AuthorName = names[u.AuthorID]
	}
	return nil
}

// List gives one page of maintenances and the cursor of the next, empty at the
// end.
func (s *Service) List(ctx context.Context, f Filter, after string) ([]Maintenance, string, error) {
	var err error
	if f.Query, err = cleanQuery(f.Query); err != nil {
		return nil, "", err
	}
	if f.After, err = parseCursor(after); err != nil {
		return nil, "", err
	}
	limit := f.Limit
	f.Limit++
	list, err := s.store.list(ctx, s.db.Read, f)
	if err != nil || len(list) <= limit {
		return list, "", err
	}
	last := list[limit-1]
	return list[:limit], (&cursor{last.StartAt.UnixMilli(), last.ID}).String(), nil
}

// How many open maintenances are given of a system that is asked for alone, and
// of each of many.
const (
	perSystem = 50
	perBulk   = 10
)

// ForSystems gives what is scheduled or in progress on each system, of each the
// limit that begin soonest.
func (s *Service) ForSystems(ctx context.Context, systemIDs []string, limit int) (map[string][]Maintenance, error) {
	out := make(map[string][]Maintenance, len(systemIDs))
	for _, id := range systemIDs {
		out[id] = []Maintenance{}
	}
	if len(systemIDs) == 0 {
		return out, nil
	}
	var rows []systemRow
	err := s.db.Read.NewRaw(`SELECT maintenance_id, system_id FROM (
			SELECT ms.maintenance_id, ms.system_id, row_number() OVER (PARTITION BY ms.system_id ORDER BY m.start_at, m.id) AS place
			FROM maintenance_systems ms JOIN maintenances m ON m.id = ms.maintenance_id
			WHERE ms.system_id IN (?) AND m.status IN (?, ?)) AS ranked
		WHERE place <= ?`, bun.List(systemIDs), Scheduled, InProgress, limit).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read maintenances of systems: %w", err)
	}
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.MaintenanceID
	}
	list, err := s.byID(ctx, ids)
	if err != nil {
		return nil, err
	}
	for _, r := range rows {
		if m, ok := list[r.MaintenanceID]; ok {
			out[r.SystemID] = append(out[r.SystemID], m)
		}
	}
	for _, l := range out {
		slices.SortFunc(l, bySoonest)
	}
	return out, nil
}

func bySoonest(a, b Maintenance) int {
	return cmp.Or(a.StartAt.Compare(b.StartAt), strings.Compare(a.ID, b.ID))
}

func (s *Service) byID(ctx context.Context, ids []string) (map[string]Maintenance, error) {
	out := make(map[string]Maintenance, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	list, err := s.store.all(ctx, s.db.Read, func(q *bun.SelectQuery) *bun.SelectQuery { return q.Where("m.id IN (?)", bun.List(ids)) })
	for _, m := range list {
		out[m.ID] = m
	}
	return out, err
}

// Suppresses says whether health notifications about the system are to be kept
// back: while a maintenance that says so is in progress, and at no other time
// (spec/monitoring.md 11). Who cannot find out sends anyway.
func (s *Service) Suppresses(ctx context.Context, systemID string) (bool, error) {
	return s.running(ctx, systemID, "AND m.suppress_notifications")
}

// HasActive says whether a maintenance of the system is in progress, with or
// without suppression.
func (s *Service) HasActive(ctx context.Context, systemID string) (bool, error) {
	return s.running(ctx, systemID, "")
}

func (s *Service) running(ctx context.Context, systemID, and string) (bool, error) {
	var n int
	err := s.db.Read.NewRaw(`SELECT count(*) FROM (SELECT 1 FROM maintenances m
		JOIN maintenance_systems ms ON ms.maintenance_id = m.id AND ms.system_id = ?
		WHERE m.status = ? ? LIMIT 1) AS found`, systemID, InProgress, bun.Safe(and)).Scan(ctx, &n)
	if err != nil {
		return false, fmt.Errorf("look for a maintenance in progress: %w", err)
	}
	return n > 0, nil
}

// maxActive bounds what the dashboard is told of.
const maxActive = 500

// Active gives what is in progress now, the longest running first.
func (s *Service) Active(ctx context.Context) ([]Maintenance, error) {
	return s.store.list(ctx, s.db.Read, Filter{Status: InProgress, Soonest: true, Limit: maxActive})
}

// Upcoming gives the scheduled maintenances that begin soonest.
func (s *Service) Upcoming(ctx context.Context, limit int) ([]Maintenance, error) {
	return s.store.list(ctx, s.db.Read, Filter{Status: Scheduled, Soonest: true, Limit: limit})
}

// Activity is something that happened to a maintenance.
type Activity struct {
	ID            string
	MaintenanceID string
	Title         string
	SystemIDs     []string
	// Kind is "created", "updated" or, when the status changed, "status".
	Kind string
	// Status is the one it got, for a change of status.
	Status Status
	At     time.Time
}

// RecentActivity gives what happened last to any maintenance, newest first, as
// far as it is for the caller. Occurrences that a series makes are nothing that
// happened.
func (s *Service) RecentActivity(ctx context.Context, limit int) ([]Activity, error) {
	p := authz.From(ctx)
	audiences := slices.DeleteFunc([]Audience{Everyone, SignedIn, Internal}, func(a Audience) bool { return !a.readableBy(p) })
	var updates []updateRow
	if err := s.db.Read.NewSelect().Model(&updates).Where("audience IN (?)", bun.List(audiences)).
		OrderExpr("created_at DESC, id DESC").Limit(int64(limit)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("read recent activity: %w", err)
	}
	planned, err := s.store.all(ctx, s.db.Read, func(q *bun.SelectQuery) *bun.SelectQuery {
		// Written so that SQLite goes by the time of creation: it would rather sort
		// all that have no series.
		return q.Where("coalesce(m.series_id, '') = ''").OrderExpr("m.created_at DESC, m.id DESC").Limit(int64(limit))
	})
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(updates))
	for i, u := range updates {
		ids[i] = u.MaintenanceID
	}
	of, err := s.byID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var out []Activity
	for _, m := range planned {
		out = append(out, Activity{ID: m.ID, MaintenanceID: m.ID, Title: m.Title, SystemIDs: m.SystemIDs, Kind: "created", At: m.CreatedAt})
	}
	for _, u := range updates {
		m, ok := of[u.MaintenanceID]
		if !ok {
			continue
		}
		a := Activity{ID: u.ID, MaintenanceID: m.ID, Title: m.Title, SystemIDs: m.SystemIDs, Kind: "updated", At: u.CreatedAt.UTC()}
		if u.StatusChange != nil {
			a.Kind, a.Status = "status", *u.StatusChange
		}
		out = append(out, a)
	}
	slices.SortStableFunc(out, func(a, b Activity) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(b.ID, a.ID))
	})
	return out[:min(len(out), limit)], nil
}

// DependentsOf tells what a system's deletion takes from maintenances, in
// phrases that follow "and with it".
func (s *Service) DependentsOf(ctx context.Context, systemID string) ([]string, error) {
	const named = 3
	open, err := s.store.list(ctx, s.db.Read, Filter{Open: new(true), SystemID: systemID, Soonest: true, Limit: named})
	if err != nil {
		return nil, err
	}
	var n struct{ Open, Over int }
	err = s.db.Read.NewRaw(`SELECT count(CASE WHEN m.status IN (?, ?) THEN 1 END) AS open, count(CASE WHEN m.status IN (?, ?) THEN NULL ELSE 1 END) AS over
		FROM maintenance_systems ms JOIN maintenances m ON m.id = ms.maintenance_id WHERE ms.system_id = ?`,
		Scheduled, InProgress, Scheduled, InProgress, systemID).Scan(ctx, &n)
	if err != nil {
		return nil, fmt.Errorf("maintenances of system: %w", err)
	}
	out := make([]string, 0, named+2)
	for _, m := range open {
		out = append(out, fmt.Sprintf("its place in the maintenance %s, which is %s", quote(m.Title), m.Status.words()))
	}
	switch more := n.Open - len(open); {
	case more == 1:
		out = append(out, "its place in 1 more planned maintenance")
	case more > 1:
		out = append(out, fmt.Sprintf("its place in %d more planned maintenances", more))
	}
	switch {
	case n.Over == 1:
		out = append(out, "its place in 1 past maintenance")
	case n.Over > 1:
		out = append(out, fmt.Sprintf("its place in %d past maintenances", n.Over))
	}
	return out, nil
}

func quote(s string) string { return `"` + s + `"` }

// Ref is a maintenance as a mention in a text names it.
type Ref struct {
	ID, Title string
	Active    bool
}

type refRow struct {
	ID     string
	Title  string
	Status Status
}

func refs(rows []refRow) []Ref {
	out := make([]Ref, len(rows))
	for i, r := range rows {
		out[i] = Ref{r.ID, r.Title, r.Status.Open()}
	}
	return out
}

// Refs gives those of the ids that exist, in their order; whatever else is in
// ids, which come from text that people wrote, is passed over.
func (s *Service) Refs(ctx context.Context, ids []string) ([]Ref, error) {
	known := make([]string, 0, len(ids))
	for _, id := range ids {
		if u, err := uuid.Parse(id); err == nil && u.String() == id && !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	if len(known) == 0 {
		return []Ref{}, nil
	}
	var rows []refRow
	if err := s.db.Read.NewSelect().Table("maintenances").Column("id", "title", "status").Where("id IN (?)", bun.List(known)).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read references: %w", err)
	}
	out := refs(rows)
	slices.SortFunc(out, func(a, b Ref) int { return slices.Index(known, a.ID) - slices.Index(known, b.ID) })
	return out, nil
}

// SearchRefs finds maintenances to mention, spec/monitoring.md 1.9: open before
// over, then titles that begin with the text, then words that do, then the rest,
// by title; without a text the latest start first.
func (s *Service) SearchRefs(ctx context.Context, query string, limit int) ([]Ref, error) {
	query, err := cleanQuery(query)
	if err != nil {
		return nil, err
	}
	q := s.db.Read.NewSelect().Table("maintenances").Column("id", "title", "status").Limit(int64(limit)).
		OrderExpr("CASE WHEN status IN (?, ?) THEN 0 ELSE 1 END", Scheduled, InProgress)
	if query == "" {
		q = q.OrderExpr("start_at DESC, id")
	} else {
		anywhere := likePattern(query)
		q = q.Where("title_key LIKE ? ESCAPE '!'", anywhere).
			OrderExpr("CASE WHEN title_key LIKE ? ESCAPE '!' THEN 0 WHEN title_key LIKE ? ESCAPE '!' THEN 1 ELSE 2 END", anywhere[1:], "% "+anywhere[1:]).
			OrderExpr("title_key, id DESC")
	}
	var rows []refRow
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("search references: %w", err)
	}
	return refs(rows), nil
}

// maxQuery bounds what can be searched for, in characters.
const maxQuery = 200

func cleanQuery(query string) (string, error) {
	if query = text.Clean(query); query == "" {
		return "", nil
	}
	return query, problem.InputIssues(text.Line("query", query, maxQuery))
}
