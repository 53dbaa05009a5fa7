package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// Dependents tells what other domains would lose with a system, each as a
// phrase such as `health check "HTTP"`.
type Dependents func(ctx context.Context, systemID string) ([]string, error)

type systemBrief struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Description *string        `json:"description,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	GroupIDs    []string       `json:"groupIds,omitempty"`
}

type groupBrief struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description *string  `json:"description,omitempty"`
	SystemIDs   []string `json:"systemIds"`
}

// updateToolInput is flat, which models fill in more reliably than a nested
// object.
type updateToolInput struct {
	ID          string         `json:"id" format:"uuid" doc:"Id from a list tool, never a name"`
	Name        *string        `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Description *string        `json:"description,omitempty" maxLength:"10000" doc:"An empty text clears it"`
	Metadata    map[string]any `json:"metadata,omitempty" doc:"Replaces all custom fields. Custom data for check templates, not tags; only keys the operator asked for."`
	Version     int64          `json:"version,omitempty" doc:"Leave out; the preview fills it in"`
}

func (in updateToolInput) edit() Edit {
	return Edit{Version: in.Version, Change: in.change}
}

func (in updateToolInput) change(f *Fields) {
	if in.Name != nil {
		f.Name = *in.Name
	}
	if in.Description != nil {
		f.Description = in.Description
	}
	if in.Metadata != nil {
		f.Metadata = in.Metadata
	}
}

func (in updateToolInput) input() UpdateInput {
	d := UpdateField{Name: in.Name}
	if in.Description != nil {
		d.Description.Set = true
		if *in.Description != "" {
			d.Description.Value = in.Description
		}
	}
	if in.Metadata != nil {
		d.Metadata.Set, d.Metadata.Value = true, &in.Metadata
	}
	return UpdateInput{ID: in.ID, Version: in.Version, Data: d}
}

type fieldsView struct {
	Name        string         `json:"name"`
	Description *string        `json:"description"`
	Metadata    map[string]any `json:"metadata"`
}

func (f Fields) view() fieldsView { return fieldsView(f) }

// Tools makes the catalog's tools. dependents may be nil.
func (s *Service) Tools(dependents Dependents) []tool.Tool {
	o := s.operations()
	system := func(ctx context.Context, id string) (*SystemView, error) {
		return o.getSystem.Call(ctx, SystemIDInput{SystemID: id})
	}
	group := func(ctx context.Context, id string) (GroupView, error) {
		out, err := o.getGroups.Call(ctx, struct{}{})
		if err != nil {
			return GroupView{}, err
		}
		for _, g := range out.Groups {
			if g.ID == id {
				return g, nil
			}
		}
		return GroupView{}, errGroupNotFound
	}
	change := func(name, description string, effect tool.Effect, rules ...authz.Rule) tool.Spec {
		return tool.Spec{Name: "catalog." + name, Description: description, Effect: effect, Access: rules}
	}
	membership := func(verb string) func(context.Context, MembershipInput) (tool.Preview[MembershipInput], error) {
		return func(ctx context.Context, in MembershipInput) (tool.Preview[MembershipInput], error) {
			sys, err := system(ctx, in.SystemID)
			if err != nil {
				return tool.Preview[MembershipInput]{}, err
			}
			g, err := group(ctx, in.GroupID)
			if err != nil {
				return tool.Preview[MembershipInput]{}, err
			}
			return tool.Preview[MembershipInput]{Payload: in, Summary: fmt.Sprintf(verb, quote(sys.Name), quote(g.Name))}, nil
		}
	}
	return []tool.Tool{
		tool.FromOperation(o.getSystems, tool.Spec{Name: "catalog.listSystems", Effect: tool.Read,
			Description: "List systems, the watched services. Use it to find a system's id by its name, and to answer which systems exist. Returns id, name, description, custom fields and group ids."},
			func(out *SystemsOutput) any {
				brief := make([]systemBrief, len(out.Systems.Systems))
				for i, v := range out.Systems.Systems {
					brief[i] = systemBrief{v.ID, v.Name, v.Description, v.Metadata, v.GroupIDs}
				}
				return map[string]any{"systems": brief}
			}),
		tool.FromOperation(o.getGroups, tool.Spec{Name: "catalog.listGroups", Effect: tool.Read,
			Description: "List groups and the ids of the systems in each. Use it to find a group's id by its name."},
			func(out *GroupsOutput) any {
				brief := make([]groupBrief, len(out.Groups))
				for i, v := range out.Groups {
					brief[i] = groupBrief{v.ID, v.Name, v.Description, v.SystemIDs}
				}
				return map[string]any{"groups": brief}
			}),
		tool.DefineChange(change("createSystem", "Create a system, the watched unit: one logical service. Watching it needs a health check as well.", tool.Mutate, SystemManage),
			func(_ context.Context, in CreateInput) (tool.Preview[CreateInput], error) {
				return previewCreate("system", in)
			},
			func(ctx context.Context, in CreateInput) (*SystemView, error) { return o.createSystem.Call(ctx, in) }),
		tool.DefineChange(change("updateSystem", "Change a system's name, description or custom fields. Pass the id and only what changes.", tool.Mutate, SystemManage),
			func(ctx context.Context, in updateToolInput) (tool.Preview[updateToolInput], error) {
				cur, err := system(ctx, in.ID)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				return previewUpdate("system", in, cur.Version, Fields{cur.Name, cur.Description, cur.Metadata})
			},
			func(ctx context.Context, in updateToolInput) (*SystemView, error) {
				return o.updateSystem.Call(ctx, in.input())
			}),
		tool.DefineChange(change("deleteSystem", "Delete a system for good, with its links, group memberships and check assignments. Pass the id.", tool.Destructive, SystemManage),
			func(ctx context.Context, in IDInput) (tool.Preview[IDInput], error) {
				cur, err := system(ctx, in.ID)
				if err != nil {
					return tool.Preview[IDInput]{}, err
				}
				summary := "Delete system " + quote(cur.Name)
				if dependents != nil {
					lost, err := dependents(ctx, in.ID)
					if err != nil {
						return tool.Preview[IDInput]{}, err
					}
					if len(lost) > 0 {
						summary += ", and with it " + strings.Join(lost, ", ")
					}
				}
				return tool.Preview[IDInput]{Summary: summary, Payload: in,
					Before: map[string]any{"system": Fields{cur.Name, cur.Description, cur.Metadata}.view()}, After: map[string]any{}}, nil
			},
			func(ctx context.Context, in IDInput) (*Success, error) { return o.deleteSystem.Call(ctx, in) }),
		tool.DefineChange(change("createGroup", "Create a group, a label that bundles systems.", tool.Mutate, GroupManage),
			func(_ context.Context, in CreateInput) (tool.Preview[CreateInput], error) {
				return previewCreate("group", in)
			},
			func(ctx context.Context, in CreateInput) (*GroupView, error) { return o.createGroup.Call(ctx, in) }),
		tool.DefineChange(change("updateGroup", "Change a group's name, description or custom fields. Pass the id and only what changes.", tool.Mutate, GroupManage, GroupRead),
			func(ctx context.Context, in updateToolInput) (tool.Preview[updateToolInput], error) {
				cur, err := group(ctx, in.ID)
				if err != nil {
					return tool.Preview[updateToolInput]{}, err
				}
				return previewUpdate("group", in, cur.Version, Fields{cur.Name, cur.Description, cur.Metadata})
			},
			func(ctx context.Context, in updateToolInput) (*GroupView, error) {
				return o.updateGroup.Call(ctx, in.input())
			}),
		tool.DefineChange(change("deleteGroup", "Delete a group for good; its systems stay. Pass the id.", tool.Destructive, GroupManage, GroupRead),
			func(ctx context.Context, in IDInput) (tool.Preview[IDInput], error) {
				cur, err := group(ctx, in.ID)
				if err != nil {
					return tool.Preview[IDInput]{}, err
				}
				return tool.Preview[IDInput]{Payload: in,
					Summary: fmt.Sprintf("Delete group %s; its %d systems stay", quote(cur.Name), len(cur.SystemIDs)),
					Before:  map[string]any{"group": Fields{cur.Name, cur.Description, cur.Metadata}.view()}, After: map[string]any{}}, nil
			},
			func(ctx context.Context, in IDInput) (*Success, error) { return o.deleteGroup.Call(ctx, in) }),
		tool.DefineChange(change("addSystemToGroup", "Put a system into a group. Pass both ids.", tool.Mutate, SystemManage, GroupRead),
			membership("Add system %s to group %s"),
			func(ctx context.Context, in MembershipInput) (*Success, error) {
				return o.addSystemToGroup.Call(ctx, in)
			}),
		tool.DefineChange(change("removeSystemFromGroup", "Take a system out of a group. Pass both ids.", tool.Mutate, SystemManage, GroupRead),
			membership("Remove system %s from group %s"),
			func(ctx context.Context, in MembershipInput) (*Success, error) {
				return o.removeSystemFromGroup.Call(ctx, in)
			}),
	}
}

func quote(name string) string { return `"` + name + `"` }

func previewCreate(noun string, in CreateInput) (tool.Preview[CreateInput], error) {
	f := in.fields()
	if err := problem.InputIssues(f.check("")); err != nil {
		return tool.Preview[CreateInput]{}, err
	}
	in.Name, in.Description = f.Name, f.Description
	return tool.Preview[CreateInput]{Summary: "Create " + noun + " " + quote(f.Name), Payload: in}, nil
}

// previewUpdate finds the outcome of the edit without writing it and pins the
// version it was made against.
func previewUpdate(noun string, in updateToolInput, version int64, before Fields) (tool.Preview[updateToolInput], error) {
	after, err := in.edit().apply(version, before)
	if err != nil {
		return tool.Preview[updateToolInput]{}, err
	}
	in.Version = version
	return tool.Preview[updateToolInput]{Summary: "Update " + noun + " " + quote(before.Name), Payload: in,
		Before: before.view(), After: after.view()}, nil
}
