package catalog

import (
	"context"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// SystemView is a system in an API answer.
type SystemView struct {
	ID          string         `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	Description *string        `json:"description" nullable:"true"`
	Metadata    map[string]any `json:"metadata" doc:"Free custom fields, readable in check templates as system.metadata.<key>"`
	Links       []LinkView     `json:"links"`
	GroupIDs    []string       `json:"groupIds" doc:"Groups this system is in"`
	Version     int64          `json:"version" doc:"Rises with every change; pass it to an update to be refused when someone else was faster"`
	CreatedAt   time.Time      `json:"createdAt"`
	UpdatedAt   time.Time      `json:"updatedAt"`
}

// LinkView is a link in an API answer.
type LinkView struct {
	ID    string `json:"id" format:"uuid"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

// GroupView is a group in an API answer.
type GroupView struct {
	ID          string         `json:"id" format:"uuid"`
	Name        string         `json:"name"`
	Description *string        `json:"description" nullable:"true"`
	Metadata    map[string]any `json:"metadata"`
	SystemIDs   []string       `json:"systemIds"`
	Version     int64          `json:"version"`
	CreatedAt   time.Time      `json:"createdAt"`
	UpdatedAt   time.Time      `json:"updatedAt"`
}

// Success is the answer of a change that has nothing to show.
type Success struct {
	Success bool `json:"success"`
}

// EntitiesOutput is the whole catalog.
type EntitiesOutput struct {
	Systems *SystemList `json:"systems"`
	Groups  []GroupView `json:"groups"`
}

// SystemsInput filters systems.
type SystemsInput struct {
	Query string `json:"query,omitempty" maxLength:"200" doc:"Only systems whose name or description contains this text, whatever its case"`
}

// SystemsOutput lists systems by name.
type SystemsOutput struct {
	Systems *SystemList `json:"systems"`
}

// SystemIDInput names a system.
type SystemIDInput struct {
	SystemID string `json:"systemId" format:"uuid" doc:"Id of the system"`
}

// GroupsOutput lists groups by name.
type GroupsOutput struct {
	Groups []GroupView `json:"groups"`
}

// IDInput names what to act on.
type IDInput struct {
	ID string `json:"id" format:"uuid"`
}

// CreateInput describes a new system or group.
type CreateInput struct {
	Name        string         `json:"name" minLength:"1" maxLength:"200" doc:"Name that people know it by"`
	Description *string        `json:"description,omitempty" maxLength:"10000" doc:"What it is and whom to ask, in a sentence or two"`
	Metadata    map[string]any `json:"metadata,omitempty" doc:"Custom data for check templates, not tags. Leave it out unless the operator named keys."`
}

// UpdateInput changes a system or group.
type UpdateInput struct {
	ID      string      `json:"id" format:"uuid"`
	Version int64       `json:"version,omitempty" minimum:"1" doc:"The version this change was made against; the update is refused when it has moved"`
	Data    UpdateField `json:"data"`
}

// UpdateField holds what changes; what is left out stays.
type UpdateField struct {
	Name        *string                         `json:"name,omitempty" minLength:"1" maxLength:"200"`
	Description operation.Patch[string]         `json:"description,omitzero" required:"false" doc:"null clears it"`
	Metadata    operation.Patch[map[string]any] `json:"metadata,omitzero" required:"false" doc:"Replaces all custom fields; null clears them"`
}

// MembershipInput names a system and a group.
type MembershipInput struct {
	GroupID  string `json:"groupId" format:"uuid"`
	SystemID string `json:"systemId" format:"uuid"`
}

// AddLinkInput describes a new link.
type AddLinkInput struct {
	SystemID string `json:"systemId" format:"uuid"`
	Label    string `json:"label" minLength:"1" maxLength:"100"`
	URL      string `json:"url" minLength:"1" maxLength:"2000" doc:"http or https address"`
}

// RemoveLinkInput names a link of a system.
type RemoveLinkInput struct {
	SystemID string `json:"systemId" format:"uuid"`
	ID       string `json:"id" format:"uuid"`
}

// Operations declares the catalog's operations.
func (s *Service) Operations() []operation.Operation {
	o := s.operations()
	return []operation.Operation{o.getEntities, o.getSystems, o.getSystem, o.getGroups, o.getSystemGroups,
		o.createSystem, o.updateSystem, o.deleteSystem, o.addSystemLink, o.removeSystemLink,
		o.createGroup, o.updateGroup, o.deleteGroup, o.addSystemToGroup, o.removeSystemFromGroup}
}

type operations struct {
	getEntities           *operation.Op[operation.Empty, EntitiesOutput]
	getSystems            *operation.Op[SystemsInput, SystemsOutput]
	getSystem             *operation.Op[SystemIDInput, SystemView]
	getGroups             *operation.Op[operation.Empty, GroupsOutput]
	getSystemGroups       *operation.Op[SystemIDInput, GroupsOutput]
	createSystem          *operation.Op[CreateInput, SystemView]
	updateSystem          *operation.Op[UpdateInput, SystemView]
	deleteSystem          *operation.Op[IDInput, Success]
	addSystemLink         *operation.Op[AddLinkInput, LinkView]
	removeSystemLink      *operation.Op[RemoveLinkInput, Success]
	createGroup           *operation.Op[CreateInput, GroupView]
	updateGroup           *operation.Op[UpdateInput, GroupView]
	deleteGroup           *operation.Op[IDInput, Success]
	addSystemToGroup      *operation.Op[MembershipInput, Success]
	removeSystemFromGroup *operation.Op[MembershipInput, Success]
}

func query(id, summary string, rules ...authz.Rule) operation.Declaration {
	return operation.Declaration{ID: "catalog." + id, Kind: operation.Query, Caller: operation.Public, Summary: summary, Access: rules}
}

func mutation(id, summary string, rule authz.Rule) operation.Declaration {
	return operation.Declaration{ID: "catalog." + id, Kind: operation.Mutation, Caller: operation.Authenticated, Summary: summary, Access: []authz.Rule{rule}}
}

func (s *Service) operations() operations {
	return operations{
		getEntities: operation.New(query("getEntities", "List all systems and groups", SystemRead, GroupRead),
			func(ctx context.Context, _ *operation.Empty) (*EntitiesOutput, error) {
				systems, err := s.Systems(ctx, "")
				if err != nil {
					return nil, err
				}
				groups, err := s.Groups(ctx, "")
				return &EntitiesOutput{systems, viewGroups(groups)}, err
			}),
		getSystems: operation.New(query("getSystems", "List systems by name", SystemRead),
			func(ctx context.Context, in *SystemsInput) (*SystemsOutput, error) {
				systems, err := s.Systems(ctx, in.Query)
				return &SystemsOutput{systems}, err
			}),
		getSystem: operation.New(query("getSystem", "Get one system", SystemRead),
			func(ctx context.Context, in *SystemIDInput) (*SystemView, error) {
				return viewOf(viewSystem)(s.System(ctx, in.SystemID))
			}),
		getGroups: operation.New(query("getGroups", "List groups by name", GroupRead),
			func(ctx context.Context, _ *operation.Empty) (*GroupsOutput, error) {
				groups, err := s.Groups(ctx, "")
				return &GroupsOutput{viewGroups(groups)}, err
			}),
		getSystemGroups: operation.New(query("getSystemGroups", "List the groups a system is in", GroupRead),
			func(ctx context.Context, in *SystemIDInput) (*GroupsOutput, error) {
				groups, err := s.Groups(ctx, in.SystemID)
				return &GroupsOutput{viewGroups(groups)}, err
			}),
		createSystem: operation.New(mutation("createSystem", "Create a system", SystemManage),
			func(ctx context.Context, in *CreateInput) (*SystemView, error) {
				return viewOf(viewSystem)(s.CreateSystem(ctx, in.fields()))
			}),
		updateSystem: operation.New(mutation("updateSystem", "Change a system", SystemManage),
			func(ctx context.Context, in *UpdateInput) (*SystemView, error) {
				return viewOf(viewSystem)(s.UpdateSystem(ctx, in.ID, in.edit()))
			}),
		deleteSystem: operation.New(mutation("deleteSystem", "Delete a system with its links, memberships and check assignments", SystemManage),
			func(ctx context.Context, in *IDInput) (*Success, error) {
				return done(s.DeleteSystem(ctx, in.ID))
			}),
		addSystemLink: operation.New(mutation("addSystemLink", "Add a link to a system", SystemManage),
			func(ctx context.Context, in *AddLinkInput) (*LinkView, error) {
				return viewOf(viewLink)(s.AddLink(ctx, Link{SystemID: in.SystemID, Label: in.Label, URL: in.URL}))
			}),
		removeSystemLink: operation.New(mutation("removeSystemLink", "Remove a link from a system", SystemManage),
			func(ctx context.Context, in *RemoveLinkInput) (*Success, error) {
				return done(s.RemoveLink(ctx, in.SystemID, in.ID))
			}),
		createGroup: operation.New(mutation("createGroup", "Create a group", GroupManage),
			func(ctx context.Context, in *CreateInput) (*GroupView, error) {
				return viewOf(viewGroup)(s.CreateGroup(ctx, in.fields()))
			}),
		updateGroup: operation.New(mutation("updateGroup", "Change a group", GroupManage),
			func(ctx context.Context, in *UpdateInput) (*GroupView, error) {
				return viewOf(viewGroup)(s.UpdateGroup(ctx, in.ID, in.edit()))
			}),
		deleteGroup: operation.New(mutation("deleteGroup", "Delete a group; its systems stay", GroupManage),
			func(ctx context.Context, in *IDInput) (*Success, error) {
				return done(s.DeleteGroup(ctx, in.ID))
			}),
		addSystemToGroup: operation.New(mutation("addSystemToGroup", "Put a system into a group; twice is the same as once", SystemManage),
			func(ctx context.Context, in *MembershipInput) (*Success, error) {
				return done(s.AddToGroup(ctx, in.GroupID, in.SystemID))
			}),
		removeSystemFromGroup: operation.New(mutation("removeSystemFromGroup", "Take a system out of a group", SystemManage),
			func(ctx context.Context, in *MembershipInput) (*Success, error) {
				return done(s.RemoveFromGroup(ctx, in.GroupID, in.SystemID))
			}),
	}
}

func (in *CreateInput) fields() Fields {
	return Fields{Name: in.Name, Description: in.Description, Metadata: in.Metadata}
}

func (in *UpdateInput) edit() Edit {
	return Edit{Version: in.Version, Change: in.Data.change}
}

func (d UpdateField) change(f *Fields) {
	if d.Name != nil {
		f.Name = *d.Name
	}
	if d.Description.Set {
		f.Description = d.Description.Value
	}
	if d.Metadata.Set {
		f.Metadata = nil
		if d.Metadata.Value != nil {
			f.Metadata = *d.Metadata.Value
		}
	}
}

// viewOf turns the result of a use case into its view.
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

func viewSystem(s System) SystemView {
	links := make([]LinkView, len(s.Links))
	for i, l := range s.Links {
		links[i] = viewLink(l)
	}
	return SystemView{ID: s.ID, Name: s.Name, Description: s.Description, Metadata: s.Metadata, Links: links, GroupIDs: s.GroupIDs,
		Version: s.Version, CreatedAt: s.CreatedAt, UpdatedAt: s.UpdatedAt}
}

func viewSystems(list []System) []SystemView {
	out := make([]SystemView, len(list))
	for i, s := range list {
		out[i] = viewSystem(s)
	}
	return out
}

func viewLink(l Link) LinkView { return LinkView{ID: l.ID, Label: l.Label, URL: l.URL} }

func viewGroup(g Group) GroupView {
	return GroupView(g)
}

func viewGroups(list []Group) []GroupView {
	out := make([]GroupView, len(list))
	for i, g := range list {
		out[i] = viewGroup(g)
	}
	return out
}
