package incident

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// View is an incident in an API answer.
type View struct {
	ID                    string       `json:"id" format:"uuid"`
	Title                 string       `json:"title"`
	Description           *string      `json:"description" nullable:"true" doc:"Markdown"`
	Status                string       `json:"status" enum:"investigating,identified,fixing,monitoring,resolved" doc:"Every status but resolved is active"`
	Severity              string       `json:"severity" enum:"minor,major,critical"`
	SuppressNotifications bool         `json:"suppressNotifications" doc:"While active, nobody is told about changes of the systems' health"`
	Override              *string      `json:"override" nullable:"true" enum:"degraded,unhealthy" doc:"While active, the health of the systems is at best this"`
	SystemIDs             []string     `json:"systemIds" doc:"Systems concerned that still exist"`
	Systems               []SystemView `json:"systems" doc:"The same with their names; empty for callers who may not see systems"`
	CreatedAt             time.Time    `json:"createdAt"`
	UpdatedAt             time.Time    `json:"updatedAt"`
	ResolvedAt            *time.Time   `json:"resolvedAt" nullable:"true" doc:"Set while the status is resolved"`
	Version               int64        `json:"version" doc:"Rises with every change of the incident's own fields; pass it to an update to be refused when someone else was faster"`
}

// SystemView names a system of an incident.
type SystemView struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// DetailView is an incident with its timeline and links.
type DetailView struct {
	View
	Updates []UpdateView `json:"updates" doc:"Those that are for the caller, oldest first"`
	Links   []LinkView   `json:"links"`
}

// UpdateView is an entry of the timeline.
type UpdateView struct {
	ID            string    `json:"id" format:"uuid"`
	Message       string    `json:"message" doc:"Markdown"`
	StatusChange  *string   `json:"statusChange" nullable:"true" enum:"investigating,identified,fixing,monitoring,resolved" doc:"The status that the incident got with this update"`
	Audience      string    `json:"audience" enum:"public,logged-in,internal"`
	CreatedAt     time.Time `json:"createdAt"`
	CreatedBy     *string   `json:"createdBy" nullable:"true" doc:"Id of the person or application; only for callers who manage incidents"`
	CreatedByName *string   `json:"createdByName" nullable:"true" doc:"Null as well when the author was deleted"`
}

// LinkView is a link in an API answer.
type LinkView struct {
	ID    string `json:"id" format:"uuid"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

// RefView is an incident to mention in a text.
type RefView struct {
	ID     string `json:"id" format:"uuid"`
	Title  string `json:"title"`
	Active bool   `json:"active"`
}

// ListInput filters incidents.
type ListInput struct {
	Status          string `json:"status,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"Only this status; it beats includeResolved"`
	Severity        string `json:"severity,omitempty" enum:"minor,major,critical"`
	SystemID        string `json:"systemId,omitempty" format:"uuid" doc:"Only incidents of this system. An id, never a name."`
	Query           string `json:"query,omitempty" maxLength:"200" doc:"Only incidents whose title contains this text, whatever its case"`
	IncludeResolved bool   `json:"includeResolved,omitempty" doc:"Resolved ones as well"`
	Limit           int    `json:"limit,omitempty" default:"50" minimum:"1" maximum:"100"`
	Cursor          string `json:"cursor,omitempty" maxLength:"100" doc:"nextCursor of the page before"`
}

// ListOutput is a page of incidents.
type ListOutput struct {
	Incidents   []View  `json:"incidents" doc:"Newest first"`
	NextCursor  *string `json:"nextCursor" nullable:"true" doc:"Null on the last page"`
	ActiveCount int     `json:"activeCount" doc:"All active incidents, whatever the filter"`
}

// IDInput names an incident.
type IDInput struct {
	ID string `json:"id" format:"uuid" doc:"Id of the incident"`
}

// SystemIDInput names a system.
type SystemIDInput struct {
	SystemID string `json:"systemId" format:"uuid" doc:"Id of the system"`
}

// SystemIDsInput names systems.
type SystemIDsInput struct {
	SystemIDs []string `json:"systemIds" maxItems:"500" format:"uuid"`
}

// IDsInput names incidents.
type IDsInput struct {
	IncidentIDs []string `json:"incidentIds" maxItems:"100" format:"uuid"`
}

// OfSystemOutput lists incidents.
type OfSystemOutput struct {
	Incidents []View `json:"incidents"`
}

// BySystemOutput lists incidents by system.
type BySystemOutput struct {
	Incidents map[string][]View `json:"incidents" doc:"By the id of the system; of each the newest 50"`
}

// UpdatesOutput lists updates by incident.
type UpdatesOutput struct {
	Updates map[string][]UpdateView `json:"updates" doc:"By the id of the incident, oldest first; of each the newest 50 that are for the caller"`
}

// CreateInput describes a new incident.
type CreateInput struct {
	Title                 string   `json:"title" minLength:"1" maxLength:"200" doc:"What is wrong, in one line"`
	Description           *string  `json:"description,omitempty" maxLength:"10000" doc:"Markdown"`
	Severity              string   `json:"severity" enum:"minor,major,critical"`
	SuppressNotifications bool     `json:"suppressNotifications,omitempty" doc:"While active, tell nobody about changes of the systems' health"`
	SystemIDs             []string `json:"systemIds" maxItems:"100" doc:"Systems concerned, at least one. Ids, never names."`
	Override              *string  `json:"override,omitempty" enum:"degraded,unhealthy" doc:"While active, show the systems' health as at best this, whatever their checks say"`
	InitialMessage        string   `json:"initialMessage,omitempty" maxLength:"10000" doc:"First update of the timeline, for everyone"`
}

// UpdateInput changes an incident; what is left out stays.
type UpdateInput struct {
	ID                    string                  `json:"id" format:"uuid"`
	Version               int64                   `json:"version,omitempty" minimum:"1" doc:"The version this change was made against; the update is refused when it has moved"`
	Title                 *string                 `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description           operation.Patch[string] `json:"description,omitzero" required:"false" doc:"null clears it"`
	Status                *string                 `json:"status,omitempty" enum:"investigating,identified,fixing,monitoring,resolved"`
	Severity              *string                 `json:"severity,omitempty" enum:"minor,major,critical"`
	SuppressNotifications *bool                   `json:"suppressNotifications,omitempty"`
	SystemIDs             []string                `json:"systemIds,omitzero" required:"false" maxItems:"100" doc:"Replaces the systems concerned"`
	Override              operation.Patch[string] `json:"override,omitzero" required:"false" enum:"degraded,unhealthy" doc:"null clears it"`
}

// AddUpdateInput is a new entry of the timeline.
type AddUpdateInput struct {
	IncidentID   string `json:"incidentId" format:"uuid"`
	Message      string `json:"message" maxLength:"10000" doc:"Markdown"`
	StatusChange string `json:"statusChange,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"New status of the incident"`
	Audience     string `json:"audience,omitempty" default:"public" enum:"public,logged-in,internal" doc:"Who sees it: everyone who may read incidents, of those who is signed in, or who manages incidents"`
	FromStatus   string `json:"fromStatus,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"The status that the change was decided in; the update is refused when it has moved"`
}

// ResolveInput ends an incident.
type ResolveInput struct {
	ID      string `json:"id" format:"uuid"`
	Message string `json:"message,omitempty" maxLength:"10000" doc:"Last update, for everyone; \"Incident resolved\" when left out"`
}

// AddLinkInput describes a new link.
type AddLinkInput struct {
	IncidentID string `json:"incidentId" format:"uuid"`
	Label      string `json:"label" minLength:"1" maxLength:"100"`
	URL        string `json:"url" minLength:"1" maxLength:"2000" doc:"http or https address"`
}

// RemoveLinkInput names a link of an incident.
type RemoveLinkInput struct {
	IncidentID string `json:"incidentId" format:"uuid"`
	ID         string `json:"id" format:"uuid" doc:"Id of the link"`
}

// BulkInput names incidents to act on.
type BulkInput struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100" format:"uuid"`
}

// BulkOutput says what became of each incident, in the order asked.
type BulkOutput struct {
	Results []BulkResult `json:"results"`
}

// BulkResult is the outcome for one incident.
type BulkResult struct {
	ID      string  `json:"id"`
	Status  string  `json:"status" enum:"resolved,deleted,skipped,not_found,failed" doc:"skipped: it was resolved already"`
	Message *string `json:"message,omitempty" doc:"Why it was not done"`
}

// RefIDsInput names what a text mentions.
type RefIDsInput struct {
	IDs []string `json:"ids" maxItems:"200"`
}

// RefsOutput gives what the caller may read of it.
type RefsOutput struct {
	Readable []RefView `json:"readable"`
}

// SearchRefsInput is what was typed into the picker of mentions.
type SearchRefsInput struct {
	Query string `json:"query,omitempty" maxLength:"200"`
	Limit int    `json:"limit,omitempty" default:"10" minimum:"1" maximum:"20"`
}

// SearchRefsOutput gives incidents to mention, best first.
type SearchRefsOutput struct {
	Items []RefView `json:"items"`
}

// Success is the answer of a change that has nothing to show.
type Success struct {
	Success bool `json:"success"`
}

// Operations declares the operations of incidents.
func (s *Service) Operations() []operation.Operation {
	o := s.operations()
	return []operation.Operation{o.list, o.get, o.forSystem, o.forSystems, o.bulkUpdates,
		o.create, o.update, o.addUpdate, o.resolve, o.delete, o.addLink, o.removeLink, o.bulkResolve, o.bulkDelete,
		o.resolveRefs, o.searchRefs}
}

type operations struct {
	list        *operation.Op[ListInput, ListOutput]
	get         *operation.Op[IDInput, DetailView]
	forSystem   *operation.Op[SystemIDInput, OfSystemOutput]
	forSystems  *operation.Op[SystemIDsInput, BySystemOutput]
	bulkUpdates *operation.Op[IDsInput, UpdatesOutput]
	create      *operation.Op[CreateInput, View]
	update      *operation.Op[UpdateInput, View]
	addUpdate   *operation.Op[AddUpdateInput, UpdateView]
	resolve     *operation.Op[ResolveInput, View]
	delete      *operation.Op[IDInput, Success]
	addLink     *operation.Op[AddLinkInput, LinkView]
	removeLink  *operation.Op[RemoveLinkInput, Success]
	bulkResolve *operation.Op[BulkInput, BulkOutput]
	bulkDelete  *operation.Op[BulkInput, BulkOutput]
	resolveRefs *operation.Op[RefIDsInput, RefsOutput]
	searchRefs  *operation.Op[SearchRefsInput, SearchRefsOutput]
}

func query(id, summary string) operation.Declaration {
	return operation.Declaration{ID: "incident." + id, Kind: operation.Query, Caller: operation.Public, Summary: summary, Access: []authz.Rule{Read}}
}

// post is a query whose input does not fit into an address.
func post(id, summary string) operation.Declaration {
	d := query(id, summary)
	d.Method = http.MethodPost
	return d
}

func mutation(id, summary string) operation.Declaration {
	return operation.Declaration{ID: "incident." + id, Kind: operation.Mutation, Caller: operation.Authenticated, Summary: summary, Access: []authz.Rule{Manage}}
}

func (s *Service) operations() operations {
	return operations{
		list: operation.New(query("listIncidents", "List incidents, newest first; active ones unless asked otherwise"),
			func(ctx context.Context, in *ListInput) (*ListOutput, error) {
				p, err := s.List(ctx, in.filter())
				if err != nil {
					return nil, err
				}
				return &ListOutput{Incidents: viewAll(ctx, p.Incidents), NextCursor: optional(p.Next), ActiveCount: p.Active}, nil
			}),
		get: operation.New(query("getIncident", "Get one incident with its updates and links"),
			func(ctx context.Context, in *IDInput) (*DetailView, error) {
				d, err := s.Detail(ctx, in.ID)
				if err != nil {
					return nil, err
				}
				updates, err := s.viewUpdates(ctx, d.Updates)
				if err != nil {
					return nil, err
				}
				links := make([]LinkView, len(d.Links))
				for i, l := range d.Links {
					links[i] = viewLink(l)
				}
				return &DetailView{view(ctx, d.Incident), updates, links}, nil
			}),
		forSystem: operation.New(query("getIncidentsForSystem", "List the active incidents of a system, newest first, at most 50"),
			func(ctx context.Context, in *SystemIDInput) (*OfSystemOutput, error) {
				m, err := s.ForSystems(ctx, []string{in.SystemID})
				if err != nil {
					return nil, err
				}
				return &OfSystemOutput{viewAll(ctx, m[in.SystemID])}, nil
			}),
		forSystems: operation.New(post("getBulkIncidentsForSystems", "List the active incidents of several systems"),
			func(ctx context.Context, in *SystemIDsInput) (*BySystemOutput, error) {
				m, err := s.ForSystems(ctx, in.SystemIDs)
				if err != nil {
					return nil, err
				}
				out := make(map[string][]View, len(m))
				for id, list := range m {
					out[id] = viewAll(ctx, list)
				}
				return &BySystemOutput{out}, nil
			}),
		bulkUpdates: operation.New(post("getBulkIncidentUpdates", "List the updates of several incidents"),
			func(ctx context.Context, in *IDsInput) (*UpdatesOutput, error) {
				m, err := s.Updates(ctx, in.IncidentIDs)
				if err != nil {
					return nil, err
				}
				out := make(map[string][]UpdateView, len(m))
				for id, list := range m {
					if out[id], err = s.viewUpdates(ctx, list); err != nil {
						return nil, err
					}
				}
				return &UpdatesOutput{out}, nil
			}),
		create: operation.New(mutation("createIncident", "Open an incident"),
			func(ctx context.Context, in *CreateInput) (*View, error) {
				return viewOf(ctx)(s.Create(ctx, in.incident()))
			}),
		update: operation.New(mutation("updateIncident", "Change an incident's own fields"),
			func(ctx context.Context, in *UpdateInput) (*View, error) {
				return viewOf(ctx)(s.Update(ctx, in.ID, in.edit()))
			}),
		addUpdate: operation.New(mutation("addUpdate", "Add an update to an incident's timeline, and change its status with it"),
			func(ctx context.Context, in *AddUpdateInput) (*UpdateView, error) {
				u, err := s.AddUpdate(ctx, in.update(), Status(in.FromStatus))
				if err != nil {
					return nil, err
				}
				views, err := s.viewUpdates(ctx, []Update{u})
				if err != nil {
					return nil, err
				}
				return &views[0], nil
			}),
		resolve: operation.New(mutation("resolveIncident", "Resolve an incident; refused with ALREADY_RESOLVED when it is"),
			func(ctx context.Context, in *ResolveInput) (*View, error) {
				return viewOf(ctx)(s.Resolve(ctx, in.ID, in.Message))
			}),
		delete: operation.New(mutation("deleteIncident", "Delete an incident with its updates and links"),
			func(ctx context.Context, in *IDInput) (*Success, error) {
				return done(s.Delete(ctx, in.ID))
			}),
		addLink: operation.New(mutation("addLink", "Add a link to an incident"),
			func(ctx context.Context, in *AddLinkInput) (*LinkView, error) {
				l, err := s.AddLink(ctx, Link{IncidentID: in.IncidentID, Label: in.Label, URL: in.URL})
				if err != nil {
					return nil, err
				}
				v := viewLink(l)
				return &v, nil
			}),
		removeLink: operation.New(mutation("removeLink", "Remove a link from an incident"),
			func(ctx context.Context, in *RemoveLinkInput) (*Success, error) {
				return done(s.RemoveLink(ctx, in.IncidentID, in.ID))
			}),
		bulkResolve: operation.New(mutation("bulkResolveIncidents", "Resolve several incidents and say what became of each"),
			func(ctx context.Context, in *BulkInput) (*BulkOutput, error) {
				return s.bulk(ctx, in.IDs, resolved, func(ctx context.Context, id string) error {
					_, err := s.Resolve(ctx, id, "")
					return err
				})
			}),
		bulkDelete: operation.New(mutation("bulkDeleteIncidents", "Delete several incidents and say what became of each"),
			func(ctx context.Context, in *BulkInput) (*BulkOutput, error) {
				return s.bulk(ctx, in.IDs, deleted, s.Delete)
			}),
		resolveRefs: operation.New(post("resolveIncidentRefs", "Say which of the incidents that a text mentions the caller may read"),
			func(ctx context.Context, in *RefIDsInput) (*RefsOutput, error) {
				list, err := s.Refs(ctx, in.IDs)
				return &RefsOutput{viewRefs(list)}, err
			}),
		searchRefs: operation.New(query("searchIncidentRefs", "Find incidents to mention in a text"),
			func(ctx context.Context, in *SearchRefsInput) (*SearchRefsOutput, error) {
				list, err := s.SearchRefs(ctx, in.Query, in.Limit)
				return &SearchRefsOutput{viewRefs(list)}, err
			}),
	}
}

func (in *ListInput) filter() Filter {
	return Filter{Status: Status(in.Status), Severity: Severity(in.Severity), SystemID: in.SystemID, Text: in.Query,
		IncludeResolved: in.IncludeResolved, Before: in.Cursor, Limit: in.Limit}
}

func (in *CreateInput) incident() NewIncident {
	n := NewIncident{InitialMessage: in.InitialMessage, Fields: Fields{Title: in.Title, Description: in.Description,
		Severity: Severity(in.Severity), SuppressNotifications: in.SuppressNotifications, SystemIDs: in.SystemIDs}}
	n.Override = Health(value(in.Override))
	return n
}

func (in *UpdateInput) edit() Edit {
	e := Edit{Version: in.Version, Title: in.Title, Description: in.Description, Status: as[Status](in.Status), Severity: as[Severity](in.Severity),
		SuppressNotifications: in.SuppressNotifications, SystemIDs: in.SystemIDs}
	e.Override = operation.Patch[Health]{Set: in.Override.Set, Value: as[Health](in.Override.Value)}
	return e
}

func (in *AddUpdateInput) update() Update {
	return Update{IncidentID: in.IncidentID, Message: in.Message, StatusChange: Status(in.StatusChange), Audience: Audience(in.Audience)}
}

// as turns an optional text into an optional named one.
func as[T ~string](s *string) *T {
	if s == nil {
		return nil
	}
	v := T(*s)
	return &v
}

func viewOf(ctx context.Context) func(Incident, error) (*View, error) {
	return func(in Incident, err error) (*View, error) {
		if err != nil {
			return nil, err
		}
		v := view(ctx, in)
		return &v, nil
	}
}

func done(err error) (*Success, error) {
	if err != nil {
		return nil, err
	}
	return &Success{Success: true}, nil
}

// view shows an incident to the caller.
func view(ctx context.Context, in Incident) View {
	v := View{ID: in.ID, Title: in.Title, Description: in.Description, Status: string(in.Status), Severity: string(in.Severity),
		SuppressNotifications: in.SuppressNotifications, Override: optional(string(in.Override)), SystemIDs: in.SystemIDs, Systems: []SystemView{},
		CreatedAt: in.CreatedAt, UpdatedAt: in.UpdatedAt, ResolvedAt: optional(in.ResolvedAt), Version: in.Version}
	if readerOf(ctx).sysReader {
		for _, sys := range in.Systems {
			v.Systems = append(v.Systems, SystemView(sys))
		}
	}
	return v
}

func viewAll(ctx context.Context, list []Incident) []View {
	out := make([]View, len(list))
	for i, in := range list {
		out[i] = view(ctx, in)
	}
	return out
}

// viewUpdates shows updates to the caller: who wrote them only to those who
// manage incidents.
func (s *Service) viewUpdates(ctx context.Context, list []Update) ([]UpdateView, error) {
	out := make([]UpdateView, len(list))
	for i, u := range list {
		out[i] = UpdateView{ID: u.ID, Message: u.Message, StatusChange: optional(string(u.StatusChange)), Audience: string(u.Audience), CreatedAt: u.CreatedAt}
	}
	if !readerOf(ctx).manages || len(list) == 0 {
		return out, nil
	}
	ids := make([]string, len(list))
	for i, u := range list {
		ids[i] = u.AuthorID
	}
	slices.Sort(ids)
	names, err := s.authors.Names(ctx, slices.Compact(ids))
	if err != nil {
		return nil, err
	}
	for i, u := range list {
		out[i].CreatedBy, out[i].CreatedByName = optional(u.AuthorID), optional(names[u.AuthorID])
	}
	return out, nil
}

func viewLink(l Link) LinkView { return LinkView{ID: l.ID, Label: l.Label, URL: l.URL} }

func viewRefs(list []Ref) []RefView {
	out := make([]RefView, len(list))
	for i, r := range list {
		out[i] = RefView(r)
	}
	return out
}
