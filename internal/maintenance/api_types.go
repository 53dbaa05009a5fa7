package maintenance

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/operation"
)

// View is a maintenance in an API answer.
type View struct {
	ID                    string       `json:"id" format:"uuid"`
	Title                 string       `json:"title"`
	Description           *string      `json:"description" nullable:"true" doc:"Markdown"`
	Status                Status       `json:"status" enum:"scheduled,in_progress,completed,cancelled"`
	SuppressNotifications bool         `json:"suppressNotifications" doc:"While it is in progress, health notifications about its systems are not sent"`
	StartAt               time.Time    `json:"startAt" doc:"Planned start"`
	EndAt                 time.Time    `json:"endAt" doc:"Planned end"`
	StartedAt             *time.Time   `json:"startedAt" nullable:"true" doc:"When it was really started"`
	EndedAt               *time.Time   `json:"endedAt" nullable:"true" doc:"When it was really over"`
	SystemIDs             []string     `json:"systemIds"`
	Systems               []SystemView `json:"systems" doc:"The same with their names; empty for callers who may not see systems"`
	SeriesID              *string      `json:"seriesId" nullable:"true" doc:"The series that made it, for one that repeats"`
	Detached              bool         `json:"detached" doc:"Changed by hand: changes of the series pass it over"`
	CreatedAt             time.Time    `json:"createdAt"`
	UpdatedAt             time.Time    `json:"updatedAt"`
	Version               int64        `json:"version" doc:"Rises with every change; pass it to an update to be refused when someone else was faster"`
}

// SystemView names a system.
type SystemView struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// DetailView is a maintenance with all that hangs on it.
type DetailView struct {
	View
	Updates []UpdateView `json:"updates" doc:"Oldest first, as far as the caller may read them"`
	Links   []LinkView   `json:"links"`
	Series  *SeriesView  `json:"series,omitempty" doc:"Absent for a maintenance that does not repeat"`
}

// UpdateView is an entry of the timeline.
type UpdateView struct {
	ID            string    `json:"id" format:"uuid"`
	Message       string    `json:"message" doc:"Markdown"`
	StatusChange  *Status   `json:"statusChange" nullable:"true" enum:"scheduled,in_progress,completed,cancelled"`
	Audience      Audience  `json:"audience" enum:"public,logged-in,internal"`
	CreatedAt     time.Time `json:"createdAt"`
	CreatedBy     *string   `json:"createdBy" nullable:"true" doc:"Shown to those who manage maintenances; null when the clock did it"`
	CreatedByName *string   `json:"createdByName" nullable:"true"`
}

// LinkView is a link in an API answer.
type LinkView struct {
	ID    string `json:"id" format:"uuid"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

// SeriesView is a series in an API answer.
type SeriesView struct {
	ID                    string       `json:"id" format:"uuid"`
	Title                 string       `json:"title"`
	Description           *string      `json:"description" nullable:"true"`
	SuppressNotifications bool         `json:"suppressNotifications"`
	SystemIDs             []string     `json:"systemIds"`
	Systems               []SystemView `json:"systems" doc:"The same with their names; empty for callers who may not see systems"`
	Rule                  string       `json:"rule" doc:"RRULE of RFC 5545"`
	RuleText              string       `json:"ruleText" doc:"The rule in words"`
	TimeZone              string       `json:"timeZone" doc:"IANA name of the zone whose clocks it follows"`
	StartLocal            string       `json:"startLocal" doc:"Date and time of day in the zone from which the rule counts"`
	StartAt               time.Time    `json:"startAt"`
	EndAt                 time.Time    `json:"endAt" doc:"End of the window that begins at startAt"`
	Problem               *string      `json:"problem" nullable:"true" doc:"Why it makes no more occurrences, if it should and cannot"`
	EndedAt               *time.Time   `json:"endedAt" nullable:"true"`
	CreatedAt             time.Time    `json:"createdAt"`
	UpdatedAt             time.Time    `json:"updatedAt"`
	Version               int64        `json:"version"`
}

// Success is the answer of a change that has nothing to show.
type Success struct {
	Success bool `json:"success"`
}

// ListInput filters and pages maintenances.
type ListInput struct {
	Status    Status     `json:"status,omitempty" enum:"scheduled,in_progress,completed,cancelled"`
	Open      *bool      `json:"open,omitempty" doc:"true: only scheduled and in progress; false: only completed and cancelled"`
	SystemID  string     `json:"systemId,omitempty" format:"uuid" doc:"Only those of this system"`
	SeriesID  string     `json:"seriesId,omitempty" format:"uuid" doc:"Only the occurrences of this series"`
	Query     string     `json:"query,omitempty" maxLength:"200" doc:"Only those whose title contains this text, whatever its case"`
	From      *time.Time `json:"from,omitempty" doc:"Only windows that end after this"`
	To        *time.Time `json:"to,omitempty" doc:"Only windows that begin before this"`
	SortOrder string     `json:"sortOrder,omitempty" enum:"asc,desc" default:"desc" doc:"By start: asc gives the earliest first"`
	Limit     int        `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50"`
	Cursor    string     `json:"cursor,omitempty" maxLength:"400" doc:"nextCursor of the page before"`
}

// ListOutput is one page of maintenances.
type ListOutput struct {
	Maintenances []View  `json:"maintenances"`
	NextCursor   *string `json:"nextCursor" nullable:"true" doc:"null on the last page"`
}

// IDInput names a maintenance.
type IDInput struct {
	ID string `json:"id" format:"uuid"`
}

// SystemIDInput names a system.
type SystemIDInput struct {
	SystemID string `json:"systemId" format:"uuid"`
}

// SystemIDsInput names systems.
type SystemIDsInput struct {
	SystemIDs []string `json:"systemIds" format:"uuid" maxItems:"500"`
}

// SystemOutput lists the open maintenances of a system.
type SystemOutput struct {
	Maintenances []View `json:"maintenances"`
}

// SystemsOutput lists the open maintenances by system.
type SystemsOutput struct {
	Maintenances map[string][]View `json:"maintenances"`
}

// MaintenanceIDsInput names maintenances.
type MaintenanceIDsInput struct {
	MaintenanceIDs []string `json:"maintenanceIds" format:"uuid" maxItems:"100"`
}

// UpdatesOutput gives timelines by maintenance.
type UpdatesOutput struct {
	Updates map[string][]UpdateView `json:"updates"`
}

// RecurrenceInput says how a maintenance repeats.
type RecurrenceInput struct {
	Rule     string `json:"rule" maxLength:"500" doc:"RRULE of RFC 5545 that gives days, such as FREQ=WEEKLY;BYDAY=SU or FREQ=MONTHLY;BYDAY=1SA;COUNT=12. The time of day is that of the start."`
	TimeZone string `json:"timeZone" maxLength:"100" doc:"IANA name of the zone whose clocks the series follows, such as Europe/Berlin"`
}

func (in *RecurrenceInput) recurrence() *Recurrence {
	if in == nil {
		return nil
	}
	return &Recurrence{Rule: in.Rule, TimeZone: in.TimeZone}
}

// CreateInput describes a new maintenance, or a series of them.
type CreateInput struct {
	Title                 string           `json:"title" maxLength:"200" doc:"What is planned, in a few words"`
	Description           *string          `json:"description,omitempty" maxLength:"10000" doc:"Markdown: what will be done and what people will notice"`
	StartAt               time.Time        `json:"startAt" doc:"Planned start"`
	EndAt                 time.Time        `json:"endAt" doc:"Planned end, after the start"`
	SystemIDs             []string         `json:"systemIds" format:"uuid" doc:"The systems worked on, at least one and at most 100"`
	SuppressNotifications bool             `json:"suppressNotifications,omitempty" default:"false" doc:"Keep health notifications about the systems back while it is in progress"`
	Recurrence            *RecurrenceInput `json:"recurrence,omitempty" doc:"Leave it out for a single maintenance"`
}

func (in *CreateInput) fields() Fields {
	return Fields{Title: in.Title, Description: in.Description, StartAt: in.StartAt, EndAt: in.EndAt,
		SuppressNotifications: in.SuppressNotifications, SystemIDs: in.SystemIDs}
}

// UpdateInput changes a maintenance; what is left out stays.
type UpdateInput struct {
	ID                    string                  `json:"id" format:"uuid"`
	Version               int64                   `json:"version,omitempty" minimum:"1" doc:"The version this change was made against; the update is refused when it has moved"`
	Title                 *string                 `json:"title,omitempty" maxLength:"200"`
	Description           operation.Patch[string] `json:"description,omitzero" required:"false" doc:"Markdown; null clears it"`
	StartAt               *time.Time              `json:"startAt,omitempty" doc:"Cannot change once the maintenance has started"`
	EndAt                 *time.Time              `json:"endAt,omitempty" doc:"A time that has passed ends a running maintenance at once"`
	SystemIDs             []string                `json:"systemIds,omitzero" required:"false" format:"uuid" doc:"Replaces the systems, at least one and at most 100"`
	SuppressNotifications *bool                   `json:"suppressNotifications,omitempty"`
	Status                Status                  `json:"status,omitempty" enum:"scheduled,in_progress,completed,cancelled" doc:"in_progress starts it now, completed and cancelled end it for good"`
}

func (in *UpdateInput) edit() Edit {
	return Edit{Version: in.Version, Status: in.Status, Change: func(f *Fields) {
		changeTexts(f, in.Title, in.Description, in.SuppressNotifications, in.SystemIDs)
		if in.StartAt != nil {
			f.StartAt = *in.StartAt
		}
		if in.EndAt != nil {
			f.EndAt = *in.EndAt
		}
	}}
}

func changeTexts(f *Fields, title *string, description operation.Patch[string], suppress *bool, systemIDs []string) {
	if title != nil {
		f.Title = *title
	}
	if description.Set {
		f.Description = description.Value
	}
	if suppress != nil {
		f.SuppressNotifications = *suppress
	}
	if systemIDs != nil {
		f.SystemIDs = systemIDs
	}
}

// AddUpdateInput is a new entry of the timeline.
type AddUpdateInput struct {
	MaintenanceID string   `json:"maintenanceId" format:"uuid"`
	Message       string   `json:"message" maxLength:"10000" doc:"Markdown"`
	StatusChange  Status   `json:"statusChange,omitempty" enum:"scheduled,in_progress,completed,cancelled"`
	Audience      Audience `json:"audience,omitempty" enum:"public,logged-in,internal" default:"public" doc:"Who may read it: everyone who sees the maintenance, those who have signed in, or those who manage maintenances"`
	FromStatus    Status   `json:"fromStatus,omitempty" enum:"scheduled,in_progress,completed,cancelled" doc:"The status that the change was decided in; the update is refused when it has moved"`
}

// CloseInput completes a maintenance early.
type CloseInput struct {
	ID      string `json:"id" format:"uuid"`
	Message string `json:"message,omitempty" maxLength:"10000" doc:"For the timeline; without it: Maintenance completed early"`
}

// AddLinkInput describes a new link.
type AddLinkInput struct {
	MaintenanceID string `json:"maintenanceId" format:"uuid"`
	Label         string `json:"label" maxLength:"100"`
	URL           string `json:"url" maxLength:"2000" doc:"http or https address"`
}

// RemoveLinkInput names a link of a maintenance.
type RemoveLinkInput struct {
	MaintenanceID string `json:"maintenanceId" format:"uuid"`
	ID            string `json:"id" format:"uuid"`
}

// BulkInput names maintenances to act on; ids that name none are reported.
type BulkInput struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100" format:"uuid"`
}

// BulkOutput tells for each id what became of it.
type BulkOutput struct {
	Results []BulkResult `json:"results"`
}

// BulkResult is the outcome of one id.
type BulkResult struct {
	ID      string  `json:"id"`
	Status  string  `json:"status" enum:"closed,deleted,skipped,not_found,failed" doc:"skipped: not eligible any more"`
	Message *string `json:"message,omitempty"`
}

// RefsInput names mentioned maintenances.
type RefsInput struct {
	IDs []string `json:"ids" maxItems:"200"`
}

// RefsOutput gives the mentioned maintenances that the caller may read.
type RefsOutput struct {
	Readable []RefView `json:"readable"`
}

// RefView is a maintenance as a mention names it.
type RefView struct {
	ID     string `json:"id" format:"uuid"`
	Title  string `json:"title"`
	Active bool   `json:"active" doc:"Scheduled or in progress"`
}

// SearchRefsInput looks for maintenances to mention.
type SearchRefsInput struct {
	Query string `json:"query,omitempty" maxLength:"200"`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"50" default:"10"`
}

// SearchRefsOutput lists maintenances to mention, the likeliest first.
type SearchRefsOutput struct {
	Items []RefView `json:"items"`
}

// PreviewInput is a recurrence before it is saved.
type PreviewInput struct {
	StartAt    time.Time       `json:"startAt"`
	EndAt      time.Time       `json:"endAt"`
	Recurrence RecurrenceInput `json:"recurrence"`
}

// PreviewOutput gives the next ten occurrences.
type PreviewOutput struct {
	Occurrences []OccurrenceView `json:"occurrences"`
	Complete    bool             `json:"complete" doc:"There are no more than these"`
	Rule        string           `json:"rule" doc:"The rule in the form in which it is saved"`
	RuleText    string           `json:"ruleText" doc:"The rule in words"`
}

// OccurrenceView is an occurrence that may come.
type OccurrenceView struct {
	StartAt    time.Time `json:"startAt"`
	EndAt      time.Time `json:"endAt"`
	LocalStart string    `json:"localStart" doc:"The start in the zone of the series, with offset"`
	LocalEnd   string    `json:"localEnd"`
	Note       *string   `json:"note,omitempty" doc:"What a change of the clocks does to it"`
}

// LocalTimeInput is a wall clock time in a zone.
type LocalTimeInput struct {
	TimeZone string `json:"timeZone" maxLength:"100" doc:"IANA name, such as Europe/Berlin"`
	Local    string `json:"local" maxLength:"40" doc:"Date and time of day without an offset, such as 2026-03-29T02:30"`
}

// LocalTimeOutput says which instants the wall clock time means.
type LocalTimeOutput struct {
	Kind     string        `json:"kind" enum:"unique,missing,doubled" doc:"missing: clocks leave it out; doubled: they show it twice"`
	Instants []InstantView `json:"instants" doc:"One if unique. If missing or doubled the two that can be meant; the first is what a series uses."`
}

// InstantView is an instant with the offset its zone has then.
type InstantView struct {
	At     time.Time `json:"at"`
	Offset string    `json:"offset" doc:"Such as +02:00"`
	Local  string    `json:"local" doc:"What clocks in the zone show then, with offset"`
}

// SeriesListInput pages series.
type SeriesListInput struct {
	IncludeEnded bool   `json:"includeEnded,omitempty" default:"false"`
	Limit        int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50"`
	Cursor       string `json:"cursor,omitempty" maxLength:"400"`
}

// SeriesListOutput is one page of series, newest first.
type SeriesListOutput struct {
	Series     []SeriesView `json:"series"`
	NextCursor *string      `json:"nextCursor" nullable:"true"`
}

// UpdateSeriesInput changes a series; what is left out stays.
type UpdateSeriesInput struct {
	ID                    string                  `json:"id" format:"uuid"`
	Version               int64                   `json:"version,omitempty" minimum:"1"`
	FromMaintenanceID     string                  `json:"fromMaintenanceId,omitempty" format:"uuid" doc:"Change only this occurrence and those after it"`
	Title                 *string                 `json:"title,omitempty" maxLength:"200"`
	Description           operation.Patch[string] `json:"description,omitzero" required:"false" doc:"Markdown; null clears it"`
	SystemIDs             []string                `json:"systemIds,omitzero" required:"false" format:"uuid"`
	SuppressNotifications *bool                   `json:"suppressNotifications,omitempty"`
	StartAt               *time.Time              `json:"startAt,omitempty" doc:"Start of the first occurrence from then on; the rule counts from it"`
	EndAt                 *time.Time              `json:"endAt,omitempty" doc:"End of that occurrence"`
	Rule                  *string                 `json:"rule,omitempty" minLength:"1" maxLength:"500"`
	TimeZone              *string                 `json:"timeZone,omitempty" minLength:"1" maxLength:"100"`
}

func (in *UpdateSeriesInput) edit() SeriesEdit {
	e := SeriesEdit{Version: in.Version, From: in.FromMaintenanceID, Change: func(f *Fields) {
		changeTexts(f, in.Title, in.Description, in.SuppressNotifications, in.SystemIDs)
	}}
	if in.StartAt != nil {
		e.StartAt = *in.StartAt
	}
	if in.EndAt != nil {
		e.EndAt = *in.EndAt
	}
	if in.Rule != nil {
		e.Rule = *in.Rule
	}
	if in.TimeZone != nil {
		e.TimeZone = *in.TimeZone
	}
	return e
}

// EndSeriesInput ends a series.
type EndSeriesInput struct {
	ID      string `json:"id" format:"uuid"`
	Version int64  `json:"version,omitempty" minimum:"1"`
}

// names gives the systems of views their names, if the caller may see systems.
func (s *Service) names(ctx context.Context, lists ...[]string) (map[string]string, error) {
	if !authz.From(ctx).Has(catalog.SystemRead.ID) {
		return nil, nil
	}
	seen := map[string]bool{}
	ids := []string{}
	for _, l := range lists {
		for _, id := range l {
			if !seen[id] {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return s.systems.SystemNames(ctx, ids)
}

// named gives the systems that have a name; one that was deleted meanwhile has
// none.
func named(ids []string, names map[string]string) []SystemView {
	out := []SystemView{}
	for _, id := range ids {
		if name, ok := names[id]; ok {
			out = append(out, SystemView{id, name})
		}
	}
	slices.SortFunc(out, func(a, b SystemView) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), strings.Compare(a.ID, b.ID))
	})
	return out
}

func (s *Service) views(ctx context.Context, list []Maintenance) ([]View, error) {
	ids := make([][]string, len(list))
	for i, m := range list {
		ids[i] = m.SystemIDs
	}
	names, err := s.names(ctx, ids...)
	if err != nil {
		return nil, err
	}
	out := make([]View, len(list))
	for i, m := range list {
		out[i] = view(m, names)
	}
	return out, nil
}

func view(m Maintenance, names map[string]string) View {
	v := View{ID: m.ID, Title: m.Title, Description: m.Description, Status: m.Status, SuppressNotifications: m.SuppressNotifications,
		StartAt: m.StartAt, EndAt: m.EndAt, StartedAt: m.StartedAt, EndedAt: m.EndedAt, SeriesID: m.SeriesID, Detached: m.Detached,
		CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt, Version: m.Version}
	v.SystemIDs, v.Systems = m.SystemIDs, named(m.SystemIDs, names)
	return v
}

func viewUpdate(u Update) UpdateView {
	return UpdateView{ID: u.ID, Message: u.Message, StatusChange: u.StatusChange, Audience: u.Audience, CreatedAt: u.CreatedAt,
		CreatedBy: optional(u.AuthorID), CreatedByName: optional(u.AuthorName)}
}

func viewUpdates(list []Update) []UpdateView {
	out := make([]UpdateView, len(list))
	for i, u := range list {
		out[i] = viewUpdate(u)
	}
	return out
}

func viewLink(l Link) LinkView { return LinkView{ID: l.ID, Label: l.Label, URL: l.URL} }

func viewSeries(v Series, names map[string]string) SeriesView {
	out := SeriesView{ID: v.ID, Title: v.Title, Description: v.Description, SuppressNotifications: v.SuppressNotifications,
		Rule: v.Rule, RuleText: describeRule(v.Rule, v.StartLocal), TimeZone: v.TimeZone, StartLocal: v.StartLocal, StartAt: v.StartAt, EndAt: v.StartAt.Add(v.Length),
		EndedAt: v.EndedAt, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, Version: v.Version}
	if v.Problem != "" {
		out.Problem = &v.Problem
	}
	out.SystemIDs, out.Systems = v.SystemIDs, named(v.SystemIDs, names)
	return out
}

func viewRefs(list []Ref) []RefView {
	out := make([]RefView, len(list))
	for i, r := range list {
		out[i] = RefView(r)
	}
	return out
}
