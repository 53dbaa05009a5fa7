package knowledge

import (
	"context"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// MemoryView is a memory in an API answer.
type MemoryView struct {
	ID           string    `json:"id" format:"uuid"`
	Scope        Scope     `json:"scope" enum:"user,system" doc:"user: seen by its owner alone; system: by everybody who may see the system"`
	SystemID     *string   `json:"systemId" nullable:"true" doc:"The system a memory of scope system is about"`
	SystemName   *string   `json:"systemName" nullable:"true"`
	RecallHint   string    `json:"recallHint" doc:"When it matters, in one line"`
	Content      string    `json:"content" doc:"What to know then"`
	Tags         []string  `json:"tags"`
	AlwaysInject bool      `json:"alwaysInject" doc:"Accompanies every conversation, without a search"`
	Mine         bool      `json:"mine" doc:"The caller saved it"`
	CanManage    bool      `json:"canManage" doc:"The caller may delete it and switch alwaysInject"`
	CanEdit      bool      `json:"canEdit" doc:"The caller may change its text"`
	Version      int64     `json:"version" doc:"Rises with every change"`
	CreatedAt    time.Time `json:"createdAt"`
	UpdatedAt    time.Time `json:"updatedAt"`
}

// ListMemoriesInput selects memories.
type ListMemoriesInput struct {
	SystemID string `json:"systemId,omitempty" maxLength:"100" doc:"Only memories about this system"`
	Limit    int    `json:"limit" required:"false" minimum:"1" maximum:"500" default:"200"`
}

// MemoriesOutput lists memories, changed last first.
type MemoriesOutput struct {
	Memories []MemoryView `json:"memories"`
	Total    int          `json:"total" doc:"How many there are, also beyond the limit"`
}

// SearchMemoryInput looks for memories by words.
type SearchMemoryInput struct {
	Query string `json:"query" minLength:"1" maxLength:"400" doc:"What it is about, in a few words"`
	Limit int    `json:"limit" required:"false" minimum:"1" maximum:"50" default:"10"`
}

// FoundMemoriesOutput lists memories, the best first.
type FoundMemoriesOutput struct {
	Memories []MemoryView `json:"memories"`
}

// MemoryIDInput names a memory.
type MemoryIDInput struct {
	ID string `json:"id" format:"uuid" doc:"The memory, from a search or list"`
}

// SaveMemoryInput is a memory to keep.
type SaveMemoryInput struct {
	Scope        Scope    `json:"scope" enum:"user,system" doc:"user: for this person only; system: for everybody who may see the system"`
	SystemID     string   `json:"systemId,omitempty" maxLength:"100" doc:"The system, by id; needed for scope system"`
	RecallHint   string   `json:"recallHint" minLength:"1" maxLength:"200" doc:"When it matters, in one line, with the words one would search for"`
	Content      string   `json:"content" minLength:"1" maxLength:"2000" doc:"What to know then. No credentials, and nothing that can be looked up"`
	Tags         []string `json:"tags,omitempty" maxItems:"10" doc:"A few words to find it by"`
	AlwaysInject *bool    `json:"alwaysInject,omitempty" doc:"true makes it part of every conversation: only for lasting preferences. For a system it needs the right to manage it"`
	Replaces     string   `json:"replaces,omitempty" format:"uuid" doc:"The memory to change; without it one with nearly the same recallHint is changed if there is one"`
	Version      int64    `json:"version,omitempty" minimum:"1" doc:"With replaces: the version the change was made against; refused when it has moved"`
	OnlyNew      bool     `json:"onlyNew,omitempty" doc:"true refuses to change a memory that exists; the preview fills it in"`
}

// SaveMemoryOutput names what was saved.
type SaveMemoryOutput struct {
	ID      string `json:"id" format:"uuid"`
	Updated bool   `json:"updated" doc:"true when it changed a memory that existed"`
}

// DeletedOutput is the answer of a deletion.
type DeletedOutput struct {
	Deleted bool `json:"deleted"`
}

// SetAlwaysInjectInput switches alwaysInject.
type SetAlwaysInjectInput struct {
	ID           string `json:"id" format:"uuid"`
	AlwaysInject bool   `json:"alwaysInject"`
}

// UpdatedOutput is the answer of a change that has nothing to show.
type UpdatedOutput struct {
	Updated bool `json:"updated"`
}

// SkillView is a skill in an API answer. What it does not have is absent.
type SkillView struct {
	ID                    string        `json:"id" doc:"UUID, or <plugin>.<name> of a built-in skill"`
	Name                  string        `json:"name"`
	Description           string        `json:"description"`
	Targets               []Target      `json:"targets" enum:"chat,ai_analyze" doc:"Where it can be used: chat, or ai_analyze (runs without a person)"`
	SystemPrompt          string        `json:"systemPrompt,omitempty" doc:"Guidance for how to work and answer"`
	PromptTemplate        string        `json:"promptTemplate,omitempty" doc:"Text to begin with"`
	SuggestedOutputFields []OutputField `json:"suggestedOutputFields,omitempty" doc:"Fields of a structured answer"`
	Tags                  []string      `json:"tags,omitempty"`
	Source                Source        `json:"source" enum:"builtin,user"`
	PluginID              string        `json:"pluginId,omitempty" doc:"The part of the product that a built-in skill belongs to"`
	OwnerID               string        `json:"ownerId,omitempty" doc:"Who published it"`
	OwnerName             string        `json:"ownerName,omitempty"`
	CanEdit               bool          `json:"canEdit" doc:"The caller may change and delete it"`
	Version               int64         `json:"version,omitempty" doc:"Rises with every change"`
	CreatedAt             *time.Time    `json:"createdAt,omitempty"`
	UpdatedAt             *time.Time    `json:"updatedAt,omitempty"`
}

// ListSkillsInput selects skills.
type ListSkillsInput struct {
	Target Target `json:"target,omitempty" enum:"chat,ai_analyze" doc:"Only skills that can be used there"`
}

// SkillsOutput lists skills: built-in ones, then those of people, changed last
// first.
type SkillsOutput struct {
	Skills []SkillView `json:"skills"`
}

// SkillIDInput names a skill.
type SkillIDInput struct {
	ID string `json:"id" minLength:"1" maxLength:"100"`
}

// CreateSkillInput is a skill to publish. One of systemPrompt and
// promptTemplate is needed.
type CreateSkillInput struct {
	Name                  string        `json:"name" minLength:"1" maxLength:"100"`
	Description           string        `json:"description" minLength:"1" maxLength:"500" doc:"What it is good for"`
	Targets               []Target      `json:"targets" minItems:"1" maxItems:"2" enum:"chat,ai_analyze"`
	SystemPrompt          string        `json:"systemPrompt,omitempty" maxLength:"8000" doc:"Guidance for how to work and answer"`
	PromptTemplate        string        `json:"promptTemplate,omitempty" maxLength:"4000" doc:"Text to begin with"`
	SuggestedOutputFields []OutputField `json:"suggestedOutputFields,omitempty" maxItems:"20"`
	Tags                  []string      `json:"tags,omitempty" maxItems:"10"`
}

// UpdateSkillInput changes a skill; what is left out stays.
type UpdateSkillInput struct {
	ID                    string                         `json:"id" minLength:"1" maxLength:"100"`
	Version               int64                          `json:"version,omitempty" minimum:"1" doc:"The version the change was made against; refused when it has moved"`
	Name                  *string                        `json:"name,omitempty" minLength:"1" maxLength:"100"`
	Description           *string                        `json:"description,omitempty" minLength:"1" maxLength:"500"`
	Targets               []Target                       `json:"targets,omitempty" minItems:"1" maxItems:"2" enum:"chat,ai_analyze"`
	SystemPrompt          operation.Patch[string]        `json:"systemPrompt,omitzero" required:"false" doc:"null clears it"`
	PromptTemplate        operation.Patch[string]        `json:"promptTemplate,omitzero" required:"false" doc:"null clears it"`
	SuggestedOutputFields operation.Patch[[]OutputField] `json:"suggestedOutputFields,omitzero" required:"false" doc:"Replaces the list; null clears it"`
	Tags                  operation.Patch[[]string]      `json:"tags,omitzero" required:"false" doc:"Replaces the list; null clears it"`
}

type operations struct {
	listMemories    *operation.Op[ListMemoriesInput, MemoriesOutput]
	searchMemories  *operation.Op[SearchMemoryInput, FoundMemoriesOutput]
	getMemory       *operation.Op[MemoryIDInput, MemoryView]
	saveMemory      *operation.Op[SaveMemoryInput, SaveMemoryOutput]
	deleteMemory    *operation.Op[MemoryIDInput, DeletedOutput]
	setAlwaysInject *operation.Op[SetAlwaysInjectInput, UpdatedOutput]
	listSkills      *operation.Op[ListSkillsInput, SkillsOutput]
	getSkill        *operation.Op[SkillIDInput, SkillView]
	createSkill     *operation.Op[CreateSkillInput, SkillView]
	updateSkill     *operation.Op[UpdateSkillInput, SkillView]
	deleteSkill     *operation.Op[SkillIDInput, DeletedOutput]
}

// Operations declares the operations of this package, plugin "ai".
func (s *Service) Operations() []operation.Operation {
	o := s.ops
	return []operation.Operation{o.listMemories, o.searchMemories, o.getMemory, o.saveMemory, o.deleteMemory, o.setAlwaysInject,
		o.listSkills, o.getSkill, o.createSkill, o.updateSkill, o.deleteSkill}
}

func declare(id string, kind operation.Kind, caller operation.Caller, rule authz.Rule, summary string) operation.Declaration {
	return operation.Declaration{ID: "ai." + id, Kind: kind, Caller: caller, Access: []authz.Rule{rule}, Summary: summary}
}

// operations declares them. Applications save and search memories through
// tools; the pages are for people.
func (s *Service) operations() *operations {
	return &operations{
		listMemories:    operation.New(declare("listMemories", operation.Query, operation.UserOnly, MemoryRead, "List the memories that the caller may see"), s.opListMemories),
		searchMemories:  operation.New(declare("searchMemories", operation.Query, operation.Authenticated, MemoryRead, "Find memories by words of hint, tags and content"), s.opSearchMemories),
		getMemory:       operation.New(declare("getMemory", operation.Query, operation.Authenticated, MemoryRead, "Get one memory"), s.opGetMemory),
		saveMemory:      operation.New(saveDeclaration(), s.opSaveMemory),
		deleteMemory:    operation.New(declare("deleteMemory", operation.Mutation, operation.UserOnly, MemoryManage, "Delete a memory"), s.opDeleteMemory),
		setAlwaysInject: operation.New(declare("setMemoryAlwaysInject", operation.Mutation, operation.UserOnly, MemoryManage, "Make a memory part of every conversation, or no longer"), s.opSetAlwaysInject),
		listSkills:      operation.New(declare("listSkills", operation.Query, operation.Authenticated, SkillRead, "List skills, built-in ones first"), s.opListSkills),
		getSkill:        operation.New(declare("getSkill", operation.Query, operation.Authenticated, SkillRead, "Get one skill"), s.opGetSkill),
		createSkill:     operation.New(declare("createSkill", operation.Mutation, operation.UserOnly, SkillCreate, "Publish a skill for everybody"), s.opCreateSkill),
		updateSkill:     operation.New(declare("updateSkill", operation.Mutation, operation.UserOnly, SkillManage, "Change a skill that the caller has published"), s.opUpdateSkill),
		deleteSkill:     operation.New(declare("deleteSkill", operation.Mutation, operation.UserOnly, SkillManage, "Delete a skill that the caller has published"), s.opDeleteSkill),
	}
}

func saveDeclaration() operation.Declaration {
	d := declare("saveMemory", operation.Mutation, operation.Authenticated, MemoryManage, "Save a memory, or change one")
	d.Description = "Without replaces, a memory of the same person or system with nearly the same recallHint is changed instead of keeping two."
	return d
}

func (s *Service) viewMemory(p authz.Principal, m Memory) MemoryView {
	v := MemoryView{ID: m.ID, Scope: m.Scope, RecallHint: m.RecallHint, Content: m.Content, Tags: m.Tags, AlwaysInject: m.AlwaysInject,
		Mine: m.Owner == ownerOf(p), Version: m.Version, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
	may := p.Has(MemoryManage.ID)
	v.CanManage, v.CanEdit = may && s.manages(p, &m), may && s.rewrites(p, &m)
	if m.SystemID != "" {
		v.SystemID, v.SystemName = &m.SystemID, &m.SystemName
	}
	return v
}

func (s *Service) viewMemories(p authz.Principal, list []Memory) []MemoryView {
	out := make([]MemoryView, len(list))
	for i, m := range list {
		out[i] = s.viewMemory(p, m)
	}
	return out
}

func (s *Service) opListMemories(ctx context.Context, in *ListMemoriesInput) (*MemoriesOutput, error) {
	p := authz.From(ctx)
	list, total, err := s.Memories(ctx, p, in.SystemID, in.Limit)
	if err != nil {
		return nil, err
	}
	return &MemoriesOutput{s.viewMemories(p, list), total}, nil
}

func (s *Service) opSearchMemories(ctx context.Context, in *SearchMemoryInput) (*FoundMemoriesOutput, error) {
	p := authz.From(ctx)
	list, err := s.Search(ctx, p, in.Query, in.Limit)
	if err != nil {
		return nil, err
	}
	return &FoundMemoriesOutput{s.viewMemories(p, list)}, nil
}

func (s *Service) opGetMemory(ctx context.Context, in *MemoryIDInput) (*MemoryView, error) {
	p := authz.From(ctx)
	m, err := s.Memory(ctx, p, in.ID)
	if err != nil {
		return nil, err
	}
	list, err := s.visibleOnly(ctx, p, []Memory{m})
	if err != nil {
		return nil, err
	}
	v := s.viewMemory(p, list[0])
	return &v, nil
}

func (in SaveMemoryInput) draft() Draft { return Draft(in) }

func (s *Service) opSaveMemory(ctx context.Context, in *SaveMemoryInput) (*SaveMemoryOutput, error) {
	m, updated, err := s.Save(ctx, authz.From(ctx), in.draft())
	if err != nil {
		return nil, err
	}
	return &SaveMemoryOutput{m.ID, updated}, nil
}

func (s *Service) opDeleteMemory(ctx context.Context, in *MemoryIDInput) (*DeletedOutput, error) {
	err := s.DeleteMemory(ctx, authz.From(ctx), in.ID)
	return &DeletedOutput{err == nil}, err
}

func (s *Service) opSetAlwaysInject(ctx context.Context, in *SetAlwaysInjectInput) (*UpdatedOutput, error) {
	err := s.SetAlwaysInject(ctx, authz.From(ctx), in.ID, in.AlwaysInject)
	return &UpdatedOutput{err == nil}, err
}
