package incident

import (
	"context"
	"net/http"
	"slices"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

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
