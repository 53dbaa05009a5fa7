package incident

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

const (
	// perSystem bounds the active incidents given for one system, and perBulk
	// the updates given for one of many incidents; the newest are given.
	perSystem = 50
	perBulk   = 50
	// maxQuery bounds what can be searched for, in characters.
	maxQuery = 200
)

// Page is one page of a list.
type Page struct {
	Incidents []Incident
	// Next is the cursor of the next page; empty on the last one.
	Next string
	// Active counts all active incidents, whatever the filter.
	Active int
}

// List gives incidents, newest first. f.Before is a cursor of a page before.
func (s *Service) List(ctx context.Context, f Filter) (Page, error) {
	if err := checkFilter(&f); err != nil {
		return Page{}, err
	}
	limit := f.Limit
	f.Limit++ // one more tells whether there is a next page
	list, err := s.store.list(ctx, s.db.Read, f)
	if err != nil {
		return Page{}, err
	}
	p := Page{Incidents: list}
	if len(list) > limit {
		p.Incidents = list[:limit]
		p.Next = p.Incidents[limit-1].ID
	}
	p.Active, err = s.store.countActive(ctx, s.db.Read)
	return p, err
}

// checkFilter brings a filter to the form in which it is looked up.
func checkFilter(f *Filter) error {
	var issues []problem.Issue
	if f.Text = text.Clean(f.Text); f.Text != "" {
		issues = text.Line("query", f.Text, maxQuery)
	}
	if f.Before != "" {
		id, err := uuid.Parse(f.Before)
		if err != nil {
			issues = append(issues, problem.Issue{Path: "cursor", Message: "is not a cursor of this list; leave it out to begin at the first page"})
		}
		f.Before = id.String()
	}
	return problem.InputIssues(issues)
}

// Detail is an incident with what hangs on it, as far as the reader may see it.
type Detail struct {
	Incident
	Updates []Update
	Links   []Link
}

// Detail gives one incident with the updates that are for the caller.
func (s *Service) Detail(ctx context.Context, id string) (Detail, error) {
	in, err := s.store.incident(ctx, s.db.Read, id)
	if err != nil {
		return Detail{}, err
	}
	d := Detail{Incident: in}
	if d.Updates, err = s.store.updates(ctx, s.db.Read, []string{id}, readerOf(ctx).audiences(), maxUpdates); err != nil {
		return Detail{}, err
	}
	d.Links, err = s.store.links(ctx, s.db.Read, id)
	return d, err
}

// ForSystems gives the active incidents of each system, newest first, at most
// fifty of each.
func (s *Service) ForSystems(ctx context.Context, systemIDs []string) (map[string][]Incident, error) {
	out := make(map[string][]Incident, len(systemIDs))
	for _, id := range systemIDs {
		out[id] = []Incident{}
	}
	pairs, err := s.store.activePairs(ctx, s.db.Read, systemIDs, perSystem)
	if err != nil || len(pairs) == 0 {
		return out, err
	}
	ids := make([]string, 0, len(pairs))
	seen := make(map[string]bool, len(pairs))
	for _, p := range pairs {
		if !seen[p.IncidentID] {
			seen[p.IncidentID] = true
			ids = append(ids, p.IncidentID)
		}
	}
	list, err := s.store.byID(ctx, s.db.Read, ids)
	if err != nil {
		return nil, err
	}
	byID := make(map[string]Incident, len(list))
	for _, in := range list {
		byID[in.ID] = in
	}
	for _, p := range pairs {
		if in, found := byID[p.IncidentID]; found {
			out[p.SystemID] = append(out[p.SystemID], in)
		}
	}
	return out, nil
}

// Updates gives the updates of each incident that are for the caller, oldest
// first, of each the newest fifty.
func (s *Service) Updates(ctx context.Context, incidentIDs []string) (map[string][]Update, error) {
	out := make(map[string][]Update, len(incidentIDs))
	for _, id := range incidentIDs {
		out[id] = []Update{}
	}
	list, err := s.store.updates(ctx, s.db.Read, incidentIDs, readerOf(ctx).audiences(), perBulk)
	for _, u := range list {
		out[u.IncidentID] = append(out[u.IncidentID], u)
	}
	return out, err
}

// Suppresses says whether an active incident of the system asks to be quiet
// about its health.
func (s *Service) Suppresses(ctx context.Context, systemID string) (bool, error) {
	found, err := s.db.Read.NewSelect().TableExpr("incident_systems AS s").Join("JOIN incidents AS i ON i.id = s.incident_id").
		Where("s.system_id = ?", systemID).Where("s.active").Where("i.suppress_notifications").Exists(ctx)
	if err != nil {
		return false, fmt.Errorf("suppression by incidents: %w", err)
	}
	return found, nil
}

// Active gives all active incidents, newest first, as the dashboard shows them.
func (s *Service) Active(ctx context.Context) ([]Incident, error) {
	var rows []incidentRow
	err := s.db.Read.NewSelect().Model(&rows).ExcludeColumn("description").Where("i.resolved_at IS NULL").OrderExpr("i.id DESC").Scan(ctx)
	if err != nil {
		return nil, fmt.Errorf("active incidents: %w", err)
	}
	return s.store.complete(ctx, s.db.Read, rows)
}

// Activity is one thing that happened to an incident.
type Activity struct {
	// ID is that of the incident for its creation, otherwise of the update.
	ID         string
	IncidentID string
	Title      string
	Severity   Severity
	// Kind is "created", "updated" or, when the status changed, "status".
	Kind string
	// Status is the one it got, for a change of status.
	Status Status
	At     time.Time
}

// RecentActivity gives what happened last to any incident, newest first, as far
// as it is for the caller.
func (s *Service) RecentActivity(ctx context.Context, limit int) ([]Activity, error) {
	return s.store.activity(ctx, s.db.Read, readerOf(ctx).audiences(), limit)
}

// DependentsOf tells what a system's deletion takes from incidents, in phrases
// that follow "and with it".
func (s *Service) DependentsOf(ctx context.Context, systemID string) ([]string, error) {
	const named = 3
	var n struct{ Active, Resolved int }
	err := s.db.Read.NewSelect().Table("incident_systems").Where("system_id = ?", systemID).
		ColumnExpr("count(CASE WHEN active THEN 1 END) AS active").ColumnExpr("count(CASE WHEN active THEN NULL ELSE 1 END) AS resolved").Scan(ctx, &n)
	if err != nil {
		return nil, fmt.Errorf("incidents of system: %w", err)
	}
	var titles []string
	err = s.db.Read.NewSelect().TableExpr("incident_systems AS s").Join("JOIN incidents AS i ON i.id = s.incident_id").ColumnExpr("i.title").
		Where("s.system_id = ?", systemID).Where("s.active").OrderExpr("s.incident_id DESC").Limit(named).Scan(ctx, &titles)
	if err != nil {
		return nil, fmt.Errorf("incidents of system: %w", err)
	}
	out := make([]string, 0, named+2)
	for _, t := range titles {
		out = append(out, "its place in the active incident "+quote(t))
	}
	if more := n.Active - len(titles); more > 0 {
		out = append(out, fmt.Sprintf("its place in %d more active incidents", more))
	}
	switch {
	case n.Resolved == 1:
		out = append(out, "its place in 1 resolved incident")
	case n.Resolved > 1:
		out = append(out, fmt.Sprintf("its place in %d resolved incidents", n.Resolved))
	}
	return out, nil
}

func quote(s string) string { return `"` + s + `"` }

// Ref is an incident as a mention in a text shows it.
type Ref struct {
	ID     string
	Title  string
	Active bool
}

// Refs gives those of the ids that exist, in their order; whatever else is in
// ids, which come from text that people wrote, is passed over.
func (s *Service) Refs(ctx context.Context, ids []string) ([]Ref, error) {
	known := make([]string, 0, len(ids))
	for _, id := range ids {
		if u, err := uuid.Parse(id); err == nil && u.String() == id {
			known = append(known, id)
		}
	}
	rows, err := s.store.refs(ctx, s.db.Read, known)
	byID := make(map[string]Ref, len(rows))
	for _, r := range rows {
		byID[r.ID] = r
	}
	out := make([]Ref, 0, len(rows))
	for _, id := range known {
		if r, found := byID[id]; found {
			out = append(out, r)
			delete(byID, id)
		}
	}
	return out, err
}

// candidates bounds how many incidents, the newest that match, are ranked.
const candidates = 500

// SearchRefs finds incidents to mention, spec/monitoring.md 1.9: active before
// resolved, then titles that begin with the text, then words that do, then the
// rest, by title; without a text the newest.
func (s *Service) SearchRefs(ctx context.Context, query string, limit int) ([]Ref, error) {
	f := Filter{Text: query}
	if err := checkFilter(&f); err != nil {
		return nil, err
	}
	most := limit
	if f.Text != "" {
		most = candidates
	}
	var out []Ref
	for _, active := range []bool{true, false} {
		if len(out) >= limit {
			break
		}
		list, err := s.store.matchingRefs(ctx, s.db.Read, active, f.Text, most)
		if err != nil {
			return nil, err
		}
		if f.Text != "" {
			rank(list, titleKey(f.Text))
		}
		out = append(out, list...)
	}
	return out[:min(limit, len(out))], nil
}

// rank orders incidents of equal standing, newest first before, by how well
// their title matches.
func rank(list []Ref, key string) {
	place := func(title string) int {
		at := strings.Index(title, key)
		if at == 0 {
			return 0
		}
		for from := 0; at >= 0; at = strings.Index(title[from:], key) {
			before, _ := utf8.DecodeLastRuneInString(title[:from+at])
			if !unicode.IsLetter(before) && !unicode.IsNumber(before) {
				return 1
			}
			from += at + 1
		}
		return 2
	}
	slices.SortStableFunc(list, func(a, b Ref) int {
		x, y := titleKey(a.Title), titleKey(b.Title)
		return cmp.Or(place(x)-place(y), strings.Compare(x, y))
	})
}
