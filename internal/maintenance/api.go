package maintenance

import (
	"context"
	"net/http"
	"time"

	"github.com/checkstack/checkstack/internal/operation"
)

// Operations declares the operations of maintenances, spec/monitoring.md 9.3.
func (s *Service) Operations() []operation.Operation {
	o := s.operations()
	return []operation.Operation{o.list, o.get, o.forSystem, o.forSystems, o.updates,
		o.create, o.update, o.addUpdate, o.close, o.delete, o.addLink, o.removeLink, o.bulkClose, o.bulkDelete,
		o.resolveRefs, o.searchRefs, o.preview, o.checkLocalTime,
		o.listSeries, o.getSeries, o.updateSeries, o.endSeries, o.deleteSeries, o.skip}
}

type operations struct {
	list           *operation.Op[ListInput, ListOutput]
	get            *operation.Op[IDInput, DetailView]
	forSystem      *operation.Op[SystemIDInput, SystemOutput]
	forSystems     *operation.Op[SystemIDsInput, SystemsOutput]
	updates        *operation.Op[MaintenanceIDsInput, UpdatesOutput]
	create         *operation.Op[CreateInput, View]
	update         *operation.Op[UpdateInput, View]
	addUpdate      *operation.Op[AddUpdateInput, UpdateView]
	close          *operation.Op[CloseInput, View]
	delete         *operation.Op[IDInput, Success]
	addLink        *operation.Op[AddLinkInput, LinkView]
	removeLink     *operation.Op[RemoveLinkInput, Success]
	bulkClose      *operation.Op[BulkInput, BulkOutput]
	bulkDelete     *operation.Op[BulkInput, BulkOutput]
	resolveRefs    *operation.Op[RefsInput, RefsOutput]
	searchRefs     *operation.Op[SearchRefsInput, SearchRefsOutput]
	preview        *operation.Op[PreviewInput, PreviewOutput]
	checkLocalTime *operation.Op[LocalTimeInput, LocalTimeOutput]
	listSeries     *operation.Op[SeriesListInput, SeriesListOutput]
	getSeries      *operation.Op[IDInput, SeriesView]
	updateSeries   *operation.Op[UpdateSeriesInput, SeriesView]
	endSeries      *operation.Op[EndSeriesInput, SeriesView]
	deleteSeries   *operation.Op[IDInput, Success]
	skip           *operation.Op[IDInput, View]
}

func query(id, summary string) operation.Declaration {
	return operation.Declaration{ID: "maintenance." + id, Kind: operation.Query, Caller: operation.Public, Summary: summary,
		Access: rules(Read)}
}

// posted is a query whose input is too large or too structured for an address.
func posted(d operation.Declaration) operation.Declaration {
	d.Method = http.MethodPost
	return d
}

func mutation(id, summary string) operation.Declaration {
	return operation.Declaration{ID: "maintenance." + id, Kind: operation.Mutation, Caller: operation.Authenticated, Summary: summary,
		Access: rules(Manage)}
}

func (s *Service) operations() operations {
	o := operations{
		list: operation.New(query("listMaintenances", "List maintenances by start"),
			func(ctx context.Context, in *ListInput) (*ListOutput, error) {
				list, next, err := s.List(ctx, Filter{Status: in.Status, Open: in.Open, SystemID: in.SystemID, SeriesID: in.SeriesID, Query: in.Query,
					From: in.From, To: in.To, Soonest: in.SortOrder == "asc", Limit: in.Limit}, in.Cursor)
				if err != nil {
					return nil, err
				}
				views, err := s.views(ctx, list)
				return &ListOutput{views, optional(next)}, err
			}),
		get: operation.New(query("getMaintenance", "Get one maintenance with its updates and links"),
			func(ctx context.Context, in *IDInput) (*DetailView, error) { return s.detail(ctx, in.ID) }),
		forSystem: operation.New(query("getMaintenancesForSystem", "List what is scheduled or in progress on a system, soonest first, at most 50"),
			func(ctx context.Context, in *SystemIDInput) (*SystemOutput, error) {
				out, err := s.bySystem(ctx, []string{in.SystemID}, perSystem)
				if err != nil {
					return nil, err
				}
				return &SystemOutput{out[in.SystemID]}, nil
			}),
		forSystems: operation.New(query("getBulkMaintenancesForSystems", "List what is scheduled or in progress on each of many systems, of each the soonest ten"),
			func(ctx context.Context, in *SystemIDsInput) (*SystemsOutput, error) {
				out, err := s.bySystem(ctx, in.SystemIDs, perBulk)
				return &SystemsOutput{out}, err
			}),
		updates: operation.New(query("getBulkMaintenanceUpdates", "Get the updates of many maintenances"),
			func(ctx context.Context, in *MaintenanceIDsInput) (*UpdatesOutput, error) {
				all, err := s.Updates(ctx, in.MaintenanceIDs)
				out := make(map[string][]UpdateView, len(all))
				for id, list := range all {
					out[id] = viewUpdates(list)
				}
				return &UpdatesOutput{out}, err
			}),
		create: operation.New(mutation("createMaintenance", "Plan a maintenance, or with a recurrence a series, of which the answer is the first"),
			func(ctx context.Context, in *CreateInput) (*View, error) {
				return s.viewed(ctx)(s.Create(ctx, in.fields(), in.Recurrence.recurrence()))
			}),
		update: operation.New(mutation("updateMaintenance", "Change a maintenance"),
			func(ctx context.Context, in *UpdateInput) (*View, error) {
				return s.viewed(ctx)(s.Update(ctx, in.ID, in.edit()))
			}),
		addUpdate: operation.New(mutation("addUpdate", "Add to the timeline of a maintenance, with or without a change of status"),
			func(ctx context.Context, in *AddUpdateInput) (*UpdateView, error) {
				u, err := s.AddUpdate(ctx, in.MaintenanceID, NewUpdate{Message: in.Message, StatusChange: in.StatusChange, From: in.FromStatus, Audience: in.Audience})
				if err != nil {
					return nil, err
				}
				if err := s.sign(ctx, []*Update{&u}); err != nil {
					return nil, err
				}
				v := viewUpdate(u)
				return &v, nil
			}),
		close: operation.New(mutation("closeMaintenance", "Complete a maintenance before its end"),
			func(ctx context.Context, in *CloseInput) (*View, error) {
				return s.viewed(ctx)(s.Close(ctx, in.ID, in.Message))
			}),
		delete: operation.New(mutation("deleteMaintenance", "Delete a maintenance"),
			func(ctx context.Context, in *IDInput) (*Success, error) { return done(s.Delete(ctx, in.ID)) }),
		addLink: operation.New(mutation("addLink", "Add a link to a maintenance"),
			func(ctx context.Context, in *AddLinkInput) (*LinkView, error) {
				return viewOf(viewLink)(s.AddLink(ctx, Link{MaintenanceID: in.MaintenanceID, Label: in.Label, URL: in.URL}))
			}),
		removeLink: operation.New(mutation("removeLink", "Remove a link from a maintenance"),
			func(ctx context.Context, in *RemoveLinkInput) (*Success, error) {
				return done(s.RemoveLink(ctx, in.MaintenanceID, in.ID))
			}),
		bulkClose: operation.New(mutation("bulkCloseMaintenances", "Complete many maintenances; the answer tells the outcome of each"),
			func(ctx context.Context, in *BulkInput) (*BulkOutput, error) {
				return viewOutcomes(s.BulkClose(ctx, in.IDs))
			}),
		bulkDelete: operation.New(mutation("bulkDeleteMaintenances", "Delete many maintenances; the answer tells the outcome of each"),
			func(ctx context.Context, in *BulkInput) (*BulkOutput, error) {
				return viewOutcomes(s.BulkDelete(ctx, in.IDs))
			}),
		resolveRefs: operation.New(posted(query("resolveMaintenanceRefs", "Tell which mentioned maintenances the caller may read")),
			func(ctx context.Context, in *RefsInput) (*RefsOutput, error) {
				list, err := s.Refs(ctx, in.IDs)
				return &RefsOutput{viewRefs(list)}, err
			}),
		searchRefs: operation.New(query("searchMaintenanceRefs", "Look for maintenances to mention"),
			func(ctx context.Context, in *SearchRefsInput) (*SearchRefsOutput, error) {
				list, err := s.SearchRefs(ctx, in.Query, in.Limit)
				return &SearchRefsOutput{viewRefs(list)}, err
			}),
		checkLocalTime: operation.New(query("checkLocalTime", "Tell which instants a date and time of day in a time zone means"),
			func(_ context.Context, in *LocalTimeInput) (*LocalTimeOutput, error) {
				return viewOf(viewLocalTime)(CheckLocalTime(in.TimeZone, in.Local))
			}),
	}
	s.seriesOperations(&o)
	return o
}

func (s *Service) seriesOperations(o *operations) {
	preview := posted(query("previewRecurrence", "Show the next ten occurrences of a recurrence before it is saved"))
	preview.Caller, preview.Access = operation.Authenticated, rules(Manage)
	o.preview = operation.New(preview, func(_ context.Context, in *PreviewInput) (*PreviewOutput, error) {
		list, rule, complete, err := s.Preview(in.StartAt, in.EndAt, *in.Recurrence.recurrence())
		if err != nil {
			return nil, err
		}
		return viewPreview(list, rule, complete), nil
	})
	o.listSeries = operation.New(query("listSeries", "List the series of maintenances, newest first"),
		func(ctx context.Context, in *SeriesListInput) (*SeriesListOutput, error) {
			list, next, err := s.SeriesList(ctx, in.IncludeEnded, in.Limit, in.Cursor)
			if err != nil {
				return nil, err
			}
			ids := make([][]string, len(list))
			for i, v := range list {
				ids[i] = v.SystemIDs
			}
			names, err := s.names(ctx, ids...)
			out := make([]SeriesView, len(list))
			for i, v := range list {
				out[i] = viewSeries(v, names)
			}
			return &SeriesListOutput{out, optional(next)}, err
		})
	o.getSeries = operation.New(query("getSeries", "Get one series of maintenances"),
		func(ctx context.Context, in *IDInput) (*SeriesView, error) {
			return s.seriesViewed(ctx)(s.Series(ctx, in.ID))
		})
	o.updateSeries = operation.New(mutation("updateSeries", "Change a series and its occurrences that have not begun and that nobody changed by hand"),
		func(ctx context.Context, in *UpdateSeriesInput) (*SeriesView, error) {
			return s.seriesViewed(ctx)(s.UpdateSeries(ctx, in.ID, in.edit()))
		})
	o.endSeries = operation.New(mutation("endSeries", "End a series and take back its occurrences that have not begun"),
		func(ctx context.Context, in *EndSeriesInput) (*SeriesView, error) {
			return s.seriesViewed(ctx)(s.EndSeries(ctx, in.ID, in.Version))
		})
	o.deleteSeries = operation.New(mutation("deleteSeries", "Delete a series and its occurrences that have not begun; the others stay"),
		func(ctx context.Context, in *IDInput) (*Success, error) { return done(s.DeleteSeries(ctx, in.ID)) })
	o.skip = operation.New(mutation("skipOccurrence", "Cancel one occurrence of a series"),
		func(ctx context.Context, in *IDInput) (*View, error) { return s.viewed(ctx)(s.Skip(ctx, in.ID)) })
}

func (s *Service) detail(ctx context.Context, id string) (*DetailView, error) {
	d, err := s.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	ids := d.SystemIDs
	if d.Series != nil {
		ids = append(ids[:len(ids):len(ids)], d.Series.SystemIDs...)
	}
	names, err := s.names(ctx, ids)
	if err != nil {
		return nil, err
	}
	out := &DetailView{View: view(d.Maintenance, names), Updates: viewUpdates(d.Updates), Links: make([]LinkView, len(d.Links))}
	for i, l := range d.Links {
		out.Links[i] = viewLink(l)
	}
	if d.Series != nil {
		v := viewSeries(*d.Series, names)
		out.Series = &v
	}
	return out, nil
}

func (s *Service) bySystem(ctx context.Context, ids []string, limit int) (map[string][]View, error) {
	all, err := s.ForSystems(ctx, ids, limit)
	if err != nil {
		return nil, err
	}
	var systems [][]string
	for _, list := range all {
		for _, m := range list {
			systems = append(systems, m.SystemIDs)
		}
	}
	names, err := s.names(ctx, systems...)
	out := make(map[string][]View, len(all))
	for id, list := range all {
		out[id] = make([]View, len(list))
		for i, m := range list {
			out[id][i] = view(m, names)
		}
	}
	return out, err
}

// viewed turns the result of a use case into its view.
func (s *Service) viewed(ctx context.Context) func(Maintenance, error) (*View, error) {
	return func(m Maintenance, err error) (*View, error) {
		if err != nil {
			return nil, err
		}
		views, err := s.views(ctx, []Maintenance{m})
		if err != nil {
			return nil, err
		}
		return &views[0], nil
	}
}

func (s *Service) seriesViewed(ctx context.Context) func(Series, error) (*SeriesView, error) {
	return func(v Series, err error) (*SeriesView, error) {
		if err != nil {
			return nil, err
		}
		names, err := s.names(ctx, v.SystemIDs)
		if err != nil {
			return nil, err
		}
		out := viewSeries(v, names)
		return &out, nil
	}
}

func viewOf[T, V any](view func(T) V) func(T, error) (*V, error) {
	return func(v T, err error) (*V, error) {
		if err != nil {
			return nil, err
		}
		out := view(v)
		return &out, nil
	}
}

func done(err error) (*Success, error) {
	if err != nil {
		return nil, err
	}
	return &Success{Success: true}, nil
}

func viewOutcomes(list []Outcome, err error) (*BulkOutput, error) {
	if err != nil {
		return nil, err
	}
	out := &BulkOutput{Results: make([]BulkResult, len(list))}
	for i, o := range list {
		out.Results[i] = BulkResult{ID: o.ID, Status: o.Status}
		if o.Message != "" {
			out.Results[i].Message = &o.Message
		}
	}
	return out, nil
}

func viewPreview(list []Planned, rule string, complete bool) *PreviewOutput {
	out := &PreviewOutput{Occurrences: make([]OccurrenceView, len(list)), Complete: complete, Rule: rule}
	for i, p := range list {
		out.Occurrences[i] = OccurrenceView{StartAt: p.StartAt, EndAt: p.EndAt,
			LocalStart: p.LocalStart.Format(time.RFC3339), LocalEnd: p.LocalEnd.Format(time.RFC3339)}
		if p.Note != "" {
			out.Occurrences[i].Note = &p.Note
		}
	}
	if len(list) > 0 {
		out.RuleText = describeRule(rule, list[0].LocalStart.Format(localLayout))
	}
	return out
}

func viewLocalTime(l LocalTime) LocalTimeOutput {
	out := LocalTimeOutput{Kind: l.Kind, Instants: make([]InstantView, len(l.Instants))}
	for i, at := range l.Instants {
		out.Instants[i] = InstantView{At: at.UTC(), Offset: offsetOf(at), Local: at.Format(time.RFC3339)}
	}
	return out
}
