package maintenance

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// brief is a maintenance in a list for a model.
type brief struct {
	ID                    string       `json:"id"`
	Title                 string       `json:"title"`
	Status                Status       `json:"status"`
	StartAt               time.Time    `json:"startAt"`
	EndAt                 time.Time    `json:"endAt"`
	Systems               []SystemView `json:"systems"`
	SuppressNotifications bool         `json:"suppressNotifications"`
	SeriesID              *string      `json:"seriesId,omitempty"`
}

// full is one maintenance for a model.
type full struct {
	brief
	Description *string       `json:"description,omitempty"`
	StartedAt   *time.Time    `json:"startedAt,omitempty"`
	EndedAt     *time.Time    `json:"endedAt,omitempty"`
	Repeats     string        `json:"repeats,omitempty"`
	Updates     []updateBrief `json:"updates"`
	Links       []LinkView    `json:"links"`
}

type updateBrief struct {
	At           time.Time `json:"at"`
	By           *string   `json:"by,omitempty"`
	Audience     Audience  `json:"audience"`
	StatusChange *Status   `json:"statusChange,omitempty"`
	Message      string    `json:"message"`
}

func (v View) brief() brief {
	b := brief{v.ID, v.Title, v.Status, v.StartAt, v.EndAt, v.Systems, v.SuppressNotifications, v.SeriesID}
	if len(b.Systems) == 0 { // the reader may not see their names
		b.Systems = make([]SystemView, len(v.SystemIDs))
		for i, id := range v.SystemIDs {
			b.Systems[i].ID = id
		}
	}
	return b
}

func (v DetailView) full() full {
	f := full{brief: v.brief(), Description: v.Description, StartedAt: v.StartedAt, EndedAt: v.EndedAt,
		Updates: make([]updateBrief, len(v.Updates)), Links: v.Links}
	if v.Series != nil {
		f.Repeats = v.Series.RuleText + " in " + v.Series.TimeZone
	}
	for i, u := range v.Updates {
		f.Updates[i] = updateBrief{u.CreatedAt, u.CreatedByName, u.Audience, u.StatusChange, u.Message}
	}
	return f
}

// updateToolInput is an update as a model fills it in.
type updateToolInput struct {
	ID                    string     `json:"id" format:"uuid" doc:"Id from maintenance.list, never a title"`
	Title                 *string    `json:"title,omitempty" maxLength:"200"`
	Description           *string    `json:"description,omitempty" maxLength:"10000" doc:"Markdown; an empty text clears it"`
	StartAt               *time.Time `json:"startAt,omitempty" doc:"Cannot change once the maintenance has started"`
	EndAt                 *time.Time `json:"endAt,omitempty" doc:"Move it later to extend the maintenance"`
	SystemIDs             []string   `json:"systemIds,omitzero" required:"false" format:"uuid" doc:"All systems worked on: replaces the present ones. Ids from catalog.listSystems."`
	SuppressNotifications *bool      `json:"suppressNotifications,omitempty" doc:"Keep health notifications about the systems back while it is in progress"`
	Status                Status     `json:"status,omitempty" enum:"scheduled,in_progress,completed,cancelled" doc:"cancelled calls it off, in_progress starts it early; to end a running one use maintenance.close"`
	Version               int64      `json:"version,omitempty" doc:"Leave out; the preview fills it in"`
}

func (in updateToolInput) input() UpdateInput {
	u := UpdateInput{ID: in.ID, Version: in.Version, Title: in.Title, StartAt: in.StartAt, EndAt: in.EndAt, SystemIDs: in.SystemIDs,
		SuppressNotifications: in.SuppressNotifications, Status: in.Status}
	if in.Description != nil {
		u.Description = operation.Patch[string]{Set: true, Value: optional(*in.Description)}
	}
	return u
}

// fieldsView is what an edit may change, as the diff shows it; times are
// instants in RFC 3339.
type fieldsView struct {
	Title                 string    `json:"title"`
	Description           *string   `json:"description"`
	Status                Status    `json:"status"`
	StartAt               time.Time `json:"startAt"`
	EndAt                 time.Time `json:"endAt"`
	SuppressNotifications bool      `json:"suppressNotifications"`
	Systems               []string  `json:"systems"`
}

func (v View) fields() fieldsView {
	f := fieldsView{v.Title, v.Description, v.Status, v.StartAt, v.EndAt, v.SuppressNotifications, v.SystemIDs}
	if len(v.Systems) > 0 {
		f.Systems = make([]string, len(v.Systems))
		for i, s := range v.Systems {
			f.Systems[i] = s.Name
		}
	}
	return f
}

// where says on which systems, in a few words.
func where(v View) string {
	const named = 3
	switch n := len(v.SystemIDs); {
	case n == 0:
		return ""
	case len(v.Systems) == n && n <= named:
		return " on " + strings.Join(v.fields().Systems, ", ")
	case n == 1:
		return " on 1 system"
	default:
		return fmt.Sprintf(" on %d systems", n)
	}
}

// when gives a window as its two instants.
func when(f Fields) string {
	return f.StartAt.Format(time.RFC3339) + " to " + f.EndAt.Format(time.RFC3339)
}

// statusDiff shows a change of status as the diff of a card.
func statusDiff[In any](p tool.Preview[In], before, after Status) tool.Preview[In] {
	if before != after {
		p.Before, p.After = map[string]any{"status": before}, map[string]any{"status": after}
	}
	return p
}

// toMaintenance is the maintenance that a detail shows, as far as an edit needs
// it.
func (v DetailView) toMaintenance() Maintenance {
	return Maintenance{ID: v.ID, Status: v.Status, Version: v.Version, SeriesID: v.SeriesID, Fields: Fields{Title: v.Title, Description: v.Description,
		StartAt: v.StartAt, EndAt: v.EndAt, SuppressNotifications: v.SuppressNotifications, SystemIDs: v.SystemIDs}}
}

// Tools makes the assistant's tools for maintenances, spec/ai-platform.md 45.
func (s *Service) Tools() []tool.Tool {
	o := s.operations()
	read := func(name, description string) tool.Spec {
		return tool.Spec{Name: "maintenance." + name, Description: description, Effect: tool.Read}
	}
	return append([]tool.Tool{
		tool.FromOperation(o.list, read("list", "List maintenances (planned work windows), the latest start first; pass sortOrder asc for the soonest first. Use open=true for what is scheduled or in progress, "+
			"from and to for a span of time, systemId from catalog.listSystems for one system, and query to find an id by title. Returns id, title, status, times and systems."),
			func(out *ListOutput) any {
				list := make([]brief, len(out.Maintenances))
				for i, v := range out.Maintenances {
					list[i] = v.brief()
				}
				m := map[string]any{"maintenances": list}
				if out.NextCursor != nil {
					m["nextCursor"] = *out.NextCursor
				}
				return m
			}),
		tool.FromOperation(o.get, read("get", "Get one maintenance with its timeline of updates, its links and how it repeats. Pass the id from maintenance.list."),
			func(out *DetailView) any { return out.full() }),
	}, s.changeTools(o)...)
}

func (s *Service) changeTools(o operations) []tool.Tool {
	get := func(ctx context.Context, id string) (*DetailView, error) { return o.get.Call(ctx, IDInput{ID: id}) }
	change := func(name, description string, effect tool.Effect) tool.Spec {
		return tool.Spec{Name: "maintenance." + name, Description: description, Effect: effect, Access: []authz.Rule{Manage}}
	}
	return []tool.Tool{
		tool.DefineChange(change("create", "Plan a maintenance, a window of work on one or more systems. First find the systems' ids with catalog.listSystems. startAt and endAt are RFC 3339 date-times with the offset of the operator's time zone. "+
			"For one that repeats pass recurrence with an RFC 5545 rule (FREQ=WEEKLY;BYDAY=SU) and the operator's IANA time zone; startAt and endAt are then the first window. "+
			"Leave suppressNotifications out unless the operator wants health notifications kept back during the work.", tool.Mutate),
			s.previewCreate,
			func(ctx context.Context, in CreateInput) (*View, error) { return o.create.Call(ctx, in) }),
		tool.DefineChange(change("update", "Change a maintenance: title, description, times (a later endAt extends it), systems, whether health notifications are kept back, or cancel it (status cancelled). Pass the id and only what changes. "+
			"One occurrence of a repeating maintenance changes alone. To tell people about progress use maintenance.addUpdate; to end a running one early, maintenance.close.", tool.Mutate),
			func(ctx context.Context, in updateToolInput) (tool.Preview[updateToolInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				return s.previewUpdate(ctx, cur, in)
			},
			func(ctx context.Context, in updateToolInput) (*View, error) { return o.update.Call(ctx, in.input()) }),
		tool.DefineChange(change("addUpdate", "Add an update to a maintenance's timeline: what people should know now, in a sentence or two of Markdown. Pass statusChange only when the work has really started, is done or is called off. "+
			"Audience: public unless the operator says that it is only for signed-in people or internal. Leave fromStatus out; the preview fills it in.", tool.Mutate),
			func(ctx context.Context, in AddUpdateInput) (tool.Preview[AddUpdateInput], error) {
				cur, err := get(ctx, in.MaintenanceID)
				if err != nil {
					return tool.Preview[AddUpdateInput]{}, err
				}
				return previewAddUpdate(cur, in)
			},
			func(ctx context.Context, in AddUpdateInput) (*UpdateView, error) { return o.addUpdate.Call(ctx, in) }),
		tool.DefineChange(change("close", "Complete a maintenance before its planned end: the work is done. Pass the id, and a message that says what was done, if known. Health notifications go out again at once. To call off one that has not started, use maintenance.update with status cancelled.", tool.Mutate),
			func(ctx context.Context, in CloseInput) (tool.Preview[CloseInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[CloseInput]{}, err
				}
				if !cur.Status.Open() {
					return tool.Preview[CloseInput]{}, cur.Status.closed()
				}
				if in.Message != "" {
					var issues []problem.Issue
					if in.Message, issues = checkMessage(in.Message); len(issues) > 0 {
						return tool.Preview[CloseInput]{}, problem.InputIssues(issues)
					}
				}
				return statusDiff(tool.Preview[CloseInput]{Summary: "Complete maintenance " + quote(cur.Title) + where(cur.View) + " early", Payload: in}, cur.Status, Completed), nil
			},
			func(ctx context.Context, in CloseInput) (*View, error) {
				return o.close.Call(ctx, in)
			}),
		tool.DefineChange(change("addLink", "Add a labelled http or https link to a maintenance, such as the change ticket.", tool.Mutate),
			func(ctx context.Context, in AddLinkInput) (tool.Preview[AddLinkInput], error) {
				cur, err := get(ctx, in.MaintenanceID)
				if err != nil {
					return tool.Preview[AddLinkInput]{}, err
				}
				l := Link{Label: in.Label, URL: in.URL}
				if err := problem.InputIssues(l.check()); err != nil {
					return tool.Preview[AddLinkInput]{}, err
				}
				in.Label, in.URL = l.Label, l.URL
				return tool.Preview[AddLinkInput]{Summary: fmt.Sprintf("Add link %s to maintenance %s", quote(l.Label), quote(cur.Title)), Payload: in}, nil
			},
			func(ctx context.Context, in AddLinkInput) (*LinkView, error) { return o.addLink.Call(ctx, in) }),
		tool.DefineChange(change("removeLink", "Remove a link from a maintenance. Pass the maintenance's id and the id of the link from maintenance.get.", tool.Destructive),
			func(ctx context.Context, in RemoveLinkInput) (tool.Preview[RemoveLinkInput], error) {
				cur, err := get(ctx, in.MaintenanceID)
				if err != nil {
					return tool.Preview[RemoveLinkInput]{}, err
				}
				for _, l := range cur.Links {
					if l.ID == in.ID {
						return tool.Preview[RemoveLinkInput]{Summary: fmt.Sprintf("Remove link %s from maintenance %s", quote(l.Label), quote(cur.Title)), Payload: in,
							Before: map[string]any{"link": l}, After: map[string]any{}}, nil
					}
				}
				return tool.Preview[RemoveLinkInput]{}, errLinkNotFound
			},
			func(ctx context.Context, in RemoveLinkInput) (*Success, error) { return o.removeLink.Call(ctx, in) }),
		tool.DefineChange(change("delete", "Delete a maintenance for good, with its timeline and links; of one that repeats only this occurrence. To call one off that people know of, use maintenance.update with status cancelled: it stays on record. Pass the id.", tool.Destructive),
			func(ctx context.Context, in IDInput) (tool.Preview[IDInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[IDInput]{}, err
				}
				summary := fmt.Sprintf("Delete %s maintenance %s%s, with its %s and %s", cur.Status.words(), quote(cur.Title), where(cur.View),
					count(len(cur.Updates), "update"), count(len(cur.Links), "link"))
				if cur.SeriesID != nil {
					summary += "; the other occurrences of its series stay"
				}
				return tool.Preview[IDInput]{Summary: summary, Payload: in,
					Before: map[string]any{"maintenance": cur.fields()}, After: map[string]any{}}, nil
			},
			func(ctx context.Context, in IDInput) (*Success, error) { return o.delete.Call(ctx, in) }),
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// previewCreate finds what would be planned. Its times are in the payload and in
// the summary as instants, so that what is confirmed is what is stored.
func (s *Service) previewCreate(ctx context.Context, in CreateInput) (tool.Preview[CreateInput], error) {
	f, r := in.fields(), in.Recurrence.recurrence()
	sch, err := s.checkNew(ctx, &f, r, s.clock())
	if err != nil {
		return tool.Preview[CreateInput]{}, err
	}
	in.Title, in.Description, in.StartAt, in.EndAt, in.SystemIDs = f.Title, f.Description, f.StartAt, f.EndAt, f.SystemIDs
	names, err := s.names(ctx, f.SystemIDs)
	if err != nil {
		return tool.Preview[CreateInput]{}, err
	}
	summary := "Plan maintenance " + quote(f.Title) + where(View{SystemIDs: f.SystemIDs, Systems: named(f.SystemIDs, names)}) + ", " + when(f)
	if r != nil {
		in.Recurrence = &RecurrenceInput{Rule: sch.rule.String(), TimeZone: sch.loc.String()}
		list, rule, _, err := s.Preview(f.StartAt, f.EndAt, *in.Recurrence.recurrence())
		if err != nil {
			return tool.Preview[CreateInput]{}, err
		}
		summary += ", repeating " + describeRule(rule, sch.local.Format(localLayout)) + " at " + sch.local.Format("15:04") + " in " + in.Recurrence.TimeZone
		next := make([]string, 0, 3)
		for _, p := range list[:min(len(list), cap(next))] {
			next = append(next, p.LocalStart.Format(time.RFC3339))
		}
		summary += " (" + strings.Join(next, ", ")
		if len(list) > len(next) {
			summary += ", …"
		}
		summary += ")"
	}
	if f.SuppressNotifications {
		summary += "; health notifications are kept back meanwhile"
	}
	return tool.Preview[CreateInput]{Summary: summary, Payload: in}, nil
}

// previewUpdate finds the outcome of an edit without writing it and pins the
// version it was made against.
func (s *Service) previewUpdate(ctx context.Context, cur *DetailView, in updateToolInput) (tool.Preview[updateToolInput], error) {
	m, u := cur.toMaintenance(), in.input()
	edit := u.edit()
	f, err := edit.apply(m, s.clock())
	if err != nil {
		return tool.Preview[updateToolInput]{}, err
	}
	if len(without(f.SystemIDs, m.SystemIDs)) > 0 {
		if err := s.known(ctx, f.SystemIDs); err != nil {
			return tool.Preview[updateToolInput]{}, err
		}
	}
	if equalFields(f, m.Fields) && (edit.Status == "" || edit.Status == m.Status) {
		return tool.Preview[updateToolInput]{}, problem.Invalid("The maintenance is like that already: nothing would change")
	}
	names, err := s.names(ctx, f.SystemIDs)
	if err != nil {
		return tool.Preview[updateToolInput]{}, err
	}
	after := m
	after.Fields = f
	summary := "Update maintenance " + quote(cur.Title)
	if edit.Status != "" && edit.Status != m.Status {
		after.Status = edit.Status
		summary = map[Status]string{InProgress: "Start", Completed: "Complete", Cancelled: "Cancel"}[edit.Status] + " maintenance " + quote(cur.Title) + where(cur.View)
	}
	if !f.StartAt.Equal(m.StartAt) || !f.EndAt.Equal(m.EndAt) {
		summary += ", " + when(f)
	}
	if cur.SeriesID != nil {
		summary += " (only this occurrence of its series)"
	}
	in.Version = cur.Version
	return tool.Preview[updateToolInput]{Summary: summary, Payload: in, Before: cur.fields(), After: view(after, names).fields()}, nil
}

func previewAddUpdate(cur *DetailView, in AddUpdateInput) (tool.Preview[AddUpdateInput], error) {
	message, issues := checkMessage(in.Message)
	if err := problem.InputIssues(issues); err != nil {
		return tool.Preview[AddUpdateInput]{}, err
	}
	if in.FromStatus != "" && in.FromStatus != cur.Status {
		return tool.Preview[AddUpdateInput]{}, errMoved
	}
	in.Message = message
	summary, status := "Add an update to maintenance "+quote(cur.Title), cur.Status
	if in.StatusChange != "" && in.StatusChange != status {
		if err := status.may(in.StatusChange); err != nil {
			return tool.Preview[AddUpdateInput]{}, err
		}
		status, in.FromStatus = in.StatusChange, status
		summary += " and " + map[Status]string{InProgress: "start it", Completed: "complete it", Cancelled: "cancel it"}[status]
	}
	if in.Audience != "" && in.Audience != Everyone {
		summary += " (" + string(in.Audience) + ")"
	}
	return statusDiff(tool.Preview[AddUpdateInput]{Summary: summary, Payload: in}, cur.Status, status), nil
}
