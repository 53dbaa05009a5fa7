package incident

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

// brief is an incident in a list for a model.
type brief struct {
	ID         string       `json:"id"`
	Title      string       `json:"title"`
	Status     string       `json:"status"`
	Severity   string       `json:"severity"`
	Override   *string      `json:"override,omitempty"`
	Systems    []SystemView `json:"systems"`
	CreatedAt  time.Time    `json:"createdAt"`
	ResolvedAt *time.Time   `json:"resolvedAt,omitempty"`
}

// full is one incident for a model.
type full struct {
	brief
	Description           *string       `json:"description,omitempty"`
	SuppressNotifications bool          `json:"suppressNotifications"`
	UpdatedAt             time.Time     `json:"updatedAt"`
	Updates               []updateBrief `json:"updates"`
	Links                 []LinkView    `json:"links"`
}

type updateBrief struct {
	At           time.Time `json:"at"`
	By           *string   `json:"by,omitempty"`
	Audience     string    `json:"audience"`
	StatusChange *string   `json:"statusChange,omitempty"`
	Message      string    `json:"message"`
}

func (v View) brief() brief {
	b := brief{v.ID, v.Title, v.Status, v.Severity, v.Override, v.Systems, v.CreatedAt, v.ResolvedAt}
	if len(b.Systems) == 0 { // the reader may not see their names
		b.Systems = make([]SystemView, len(v.SystemIDs))
		for i, id := range v.SystemIDs {
			b.Systems[i].ID = id
		}
	}
	return b
}

func (v DetailView) full() full {
	f := full{brief: v.brief(), Description: v.Description, SuppressNotifications: v.SuppressNotifications, UpdatedAt: v.UpdatedAt,
		Updates: make([]updateBrief, len(v.Updates)), Links: v.Links}
	for i, u := range v.Updates {
		f.Updates[i] = updateBrief{u.CreatedAt, u.CreatedByName, u.Audience, u.StatusChange, u.Message}
	}
	return f
}

// updateToolInput is an update as a model fills it in: a text that says "none"
// clears more reliably than a null.
type updateToolInput struct {
	ID                    string   `json:"id" format:"uuid" doc:"Id from incident.list, never a title"`
	Title                 *string  `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description           *string  `json:"description,omitempty" maxLength:"10000" doc:"Markdown; an empty text clears it"`
	Status                *string  `json:"status,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"Prefer incident.addUpdate or incident.resolve, which tell people why"`
	Severity              *string  `json:"severity,omitempty" enum:"minor,major,critical"`
	SuppressNotifications *bool    `json:"suppressNotifications,omitempty" doc:"While active, tell nobody about changes of the systems' health"`
	Override              *string  `json:"override,omitempty" enum:"none,degraded,unhealthy" doc:"While active, show the systems' health as at best this; none lifts it"`
	SystemIDs             []string `json:"systemIds,omitzero" required:"false" maxItems:"100" doc:"All systems concerned: replaces the present ones. Ids from catalog.listSystems."`
	Version               int64    `json:"version,omitempty" doc:"Leave out; the preview fills it in"`
}

func (in updateToolInput) input() UpdateInput {
	u := UpdateInput{ID: in.ID, Version: in.Version, Title: in.Title, Status: in.Status, Severity: in.Severity,
		SuppressNotifications: in.SuppressNotifications, SystemIDs: in.SystemIDs}
	if in.Description != nil {
		u.Description = operation.Patch[string]{Set: true, Value: optional(*in.Description)}
	}
	if in.Override != nil {
		u.Override.Set = true
		if *in.Override != "none" {
			u.Override.Value = in.Override
		}
	}
	return u
}

// fieldsView is what an edit may change, as the diff shows it.
type fieldsView struct {
	Title                 string   `json:"title"`
	Description           *string  `json:"description"`
	Status                string   `json:"status"`
	Severity              string   `json:"severity"`
	SuppressNotifications bool     `json:"suppressNotifications"`
	Override              *string  `json:"override"`
	Systems               []string `json:"systems"`
}

func (v View) fields() fieldsView {
	f := fieldsView{v.Title, v.Description, v.Status, v.Severity, v.SuppressNotifications, v.Override, v.SystemIDs}
	if len(v.Systems) > 0 {
		f.Systems = make([]string, len(v.Systems))
		for i, s := range v.Systems {
			f.Systems[i] = s.Name
		}
	}
	return f
}

// where says which systems are concerned, in a few words.
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

// statusDiff shows a change of status as the diff of a card.
func statusDiff[In any](p tool.Preview[In], before, after string) tool.Preview[In] {
	if before != after {
		p.Before, p.After = map[string]any{"status": before}, map[string]any{"status": after}
	}
	return p
}

// incidentOf is the incident that a detail shows, as far as an edit needs it.
func incidentOf(v *DetailView) Incident {
	in := Incident{ID: v.ID, Version: v.Version, Systems: make([]System, len(v.Systems)), Fields: Fields{Title: v.Title, Description: v.Description,
		Status: Status(v.Status), Severity: Severity(v.Severity), SuppressNotifications: v.SuppressNotifications,
		Override: Health(value(v.Override)), SystemIDs: v.SystemIDs}}
	for i, s := range v.Systems {
		in.Systems[i] = System(s)
	}
	return in
}

// Tools makes the assistant's tools for incidents, spec/ai-platform.md 45.
func (s *Service) Tools() []tool.Tool {
	o := s.operations()
	get := func(ctx context.Context, id string) (*DetailView, error) { return o.get.Call(ctx, IDInput{ID: id}) }
	read := func(name, description string) tool.Spec {
		return tool.Spec{Name: "incident." + name, Description: description, Effect: tool.Read}
	}
	change := func(name, description string, effect tool.Effect) tool.Spec {
		return tool.Spec{Name: "incident." + name, Description: description, Effect: effect, Access: []authz.Rule{Manage}}
	}
	return []tool.Tool{
		tool.FromOperation(o.list, read("list", "List incidents, newest first: active ones unless status or includeResolved asks for more. Use it to find an incident's id by its title (query), "+
			"by system (systemId from catalog.listSystems), status or severity, and to answer what is going on. Returns id, title, status, severity, systems and times, and how many are active in all."),
			func(out *ListOutput) any {
				list := make([]brief, len(out.Incidents))
				for i, v := range out.Incidents {
					list[i] = v.brief()
				}
				m := map[string]any{"incidents": list, "activeCount": out.ActiveCount}
				if out.NextCursor != nil {
					m["nextCursor"] = *out.NextCursor
				}
				return m
			}),
		tool.FromOperation(o.get, read("get", "Get one incident with its timeline of updates and its links. Pass the id from incident.list."),
			func(out *DetailView) any { return out.full() }),
		tool.DefineChange(change("create", "Open an incident on one or more systems. First find the systems' ids with catalog.listSystems, and look with incident.list whether an active incident already covers the problem: "+
			"then add an update to that one instead. Severity: minor is an annoyance, major hurts many, critical is an outage. Leave override and suppressNotifications out unless the operator asked for them.", tool.Mutate),
			func(ctx context.Context, in CreateInput) (tool.Preview[CreateInput], error) {
				n, list, err := s.prepare(ctx, in.incident())
				if err != nil {
					return tool.Preview[CreateInput]{}, err
				}
				in.Title, in.Description, in.SystemIDs, in.InitialMessage = n.Title, n.Description, idsOf(list), n.InitialMessage
				v := view(ctx, Incident{Systems: list, Fields: Fields{SystemIDs: in.SystemIDs}})
				summary := fmt.Sprintf("Open %s incident %s%s", in.Severity, quote(in.Title), where(v))
				if in.Override != nil {
					summary += ", showing their health as " + *in.Override
				}
				return tool.Preview[CreateInput]{Summary: summary, Payload: in}, nil
			},
			func(ctx context.Context, in CreateInput) (*View, error) { return o.create.Call(ctx, in) }),
		tool.DefineChange(change("update", "Change an incident's own fields: title, description, severity, systems, health override, whether notifications are suppressed. Pass the id and only what changes. "+
			"To tell people about progress, with or without a new status, use incident.addUpdate; to end it, incident.resolve.", tool.Mutate),
			func(ctx context.Context, in updateToolInput) (tool.Preview[updateToolInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				names, err := s.names(ctx, in.SystemIDs)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				before, u := incidentOf(cur), in.input()
				after, err := u.edit().apply(before, names)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				if after.same(before.Fields) {
					return tool.Preview[updateToolInput]{}, problem.Invalid("The incident is like that already: nothing would change")
				}
				in.Version = cur.Version
				return tool.Preview[updateToolInput]{Summary: "Update incident " + quote(cur.Title), Payload: in,
					Before: cur.fields(), After: view(ctx, after).fields()}, nil
			},
			func(ctx context.Context, in updateToolInput) (*View, error) {
				return o.update.Call(ctx, in.input())
			}),
		tool.DefineChange(change("addUpdate", "Add an update to an incident's timeline: what people should know now, in a sentence or two of Markdown. Pass statusChange when the work has moved on "+
			"(investigating, identified, fixing, monitoring), which also reopens a resolved one. Audience: public unless the operator says that it is only for signed-in people or internal. Leave fromStatus out; the preview fills it in.", tool.Mutate),
			func(ctx context.Context, in AddUpdateInput) (tool.Preview[AddUpdateInput], error) {
				cur, err := get(ctx, in.IncidentID)
				if err != nil {
					return tool.Preview[AddUpdateInput]{}, err
				}
				if err := problem.InputIssues(checkMessage("message", &in.Message)); err != nil {
					return tool.Preview[AddUpdateInput]{}, err
				}
				if in.FromStatus != "" && in.FromStatus != cur.Status {
					return tool.Preview[AddUpdateInput]{}, errMoved
				}
				summary, status := "Add an update to incident "+quote(cur.Title), cur.Status
				if in.StatusChange != "" && in.StatusChange != cur.Status {
					status, in.FromStatus = in.StatusChange, cur.Status
					switch {
					case cur.Status == string(Resolved):
						summary += " and reopen it as " + status
					case status == string(Resolved):
						summary += " and resolve it"
					default:
						summary += " and set it to " + status
					}
				}
				if in.Audience != "" && in.Audience != string(Everyone) {
					summary += " (" + in.Audience + ")"
				}
				return statusDiff(tool.Preview[AddUpdateInput]{Summary: summary, Payload: in}, cur.Status, status), nil
			},
			func(ctx context.Context, in AddUpdateInput) (*UpdateView, error) { return o.addUpdate.Call(ctx, in) }),
		tool.DefineChange(change("resolve", "Resolve an incident: it is over. Pass the id, and a message for everyone that says what was done, if known. Lifts its health override and its silence.", tool.Mutate),
			func(ctx context.Context, in ResolveInput) (tool.Preview[ResolveInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[ResolveInput]{}, err
				}
				if !Status(cur.Status).Active() {
					return tool.Preview[ResolveInput]{}, errResolved
				}
				if in.Message != "" {
					if err := problem.InputIssues(checkMessage("message", &in.Message)); err != nil {
						return tool.Preview[ResolveInput]{}, err
					}
				}
				return statusDiff(tool.Preview[ResolveInput]{Summary: "Resolve incident " + quote(cur.Title) + where(cur.View), Payload: in}, cur.Status, string(Resolved)), nil
			},
			func(ctx context.Context, in ResolveInput) (*View, error) { return o.resolve.Call(ctx, in) }),
		tool.DefineChange(change("addLink", "Add a labelled http or https link to an incident, such as the call or the ticket in which it is worked on.", tool.Mutate),
			func(ctx context.Context, in AddLinkInput) (tool.Preview[AddLinkInput], error) {
				cur, err := get(ctx, in.IncidentID)
				if err != nil {
					return tool.Preview[AddLinkInput]{}, err
				}
				l := Link{Label: in.Label, URL: in.URL}
				if err := problem.InputIssues(l.check()); err != nil {
					return tool.Preview[AddLinkInput]{}, err
				}
				in.Label, in.URL = l.Label, l.URL
				return tool.Preview[AddLinkInput]{Summary: fmt.Sprintf("Add link %s to incident %s", quote(l.Label), quote(cur.Title)), Payload: in}, nil
			},
			func(ctx context.Context, in AddLinkInput) (*LinkView, error) { return o.addLink.Call(ctx, in) }),
		tool.DefineChange(change("removeLink", "Remove a link from an incident. Pass the incident's id and the id of the link from incident.get.", tool.Destructive),
			func(ctx context.Context, in RemoveLinkInput) (tool.Preview[RemoveLinkInput], error) {
				cur, err := get(ctx, in.IncidentID)
				if err != nil {
					return tool.Preview[RemoveLinkInput]{}, err
				}
				for _, l := range cur.Links {
					if l.ID == in.ID {
						return tool.Preview[RemoveLinkInput]{Summary: fmt.Sprintf("Remove link %s from incident %s", quote(l.Label), quote(cur.Title)), Payload: in,
							Before: map[string]any{"link": l}, After: map[string]any{}}, nil
					}
				}
				return tool.Preview[RemoveLinkInput]{}, errLinkNotFound
			},
			func(ctx context.Context, in RemoveLinkInput) (*Success, error) { return o.removeLink.Call(ctx, in) }),
		tool.DefineChange(change("delete", "Delete an incident for good, with its timeline and links. To end one that happened, use incident.resolve: it stays on record. Pass the id.", tool.Destructive),
			func(ctx context.Context, in IDInput) (tool.Preview[IDInput], error) {
				cur, err := get(ctx, in.ID)
				if err != nil {
					return tool.Preview[IDInput]{}, err
				}
				summary := fmt.Sprintf("Delete %s incident %s%s, with its %s and %s", cur.Status, quote(cur.Title), where(cur.View),
					count(len(cur.Updates), "update"), count(len(cur.Links), "link"))
				if cur.Override != nil && Status(cur.Status).Active() {
					summary += ", and lift its health override " + *cur.Override
				}
				return tool.Preview[IDInput]{Summary: summary, Payload: in,
					Before: map[string]any{"incident": cur.fields()}, After: map[string]any{}}, nil
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
