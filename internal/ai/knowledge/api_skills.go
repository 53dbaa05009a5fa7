package knowledge

import (
	"context"
	"strings"

	"github.com/checkstack/checkstack/internal/authz"
)

func viewSkill(p authz.Principal, k Skill) *SkillView {
	v := &SkillView{ID: k.ID, Name: k.Name, Description: k.Description, Targets: k.Targets, SystemPrompt: k.SystemPrompt, PromptTemplate: k.PromptTemplate,
		SuggestedOutputFields: k.OutputFields, Tags: k.Tags, Source: k.Source, OwnerID: k.OwnerID, OwnerName: k.OwnerName, CanEdit: mayEdit(p, &k), Version: k.Version}
	if k.Source == SourceBuiltin {
		v.PluginID, _, _ = strings.Cut(k.ID, ".")
		return v
	}
	v.CreatedAt, v.UpdatedAt = &k.CreatedAt, &k.UpdatedAt
	return v
}

func (s *Service) opListSkills(ctx context.Context, in *ListSkillsInput) (*SkillsOutput, error) {
	list, err := s.Skills(ctx, in.Target)
	if err != nil {
		return nil, err
	}
	out := &SkillsOutput{Skills: make([]SkillView, len(list))}
	for i, k := range list {
		out.Skills[i] = *viewSkill(authz.From(ctx), k)
	}
	return out, nil
}

func (s *Service) opGetSkill(ctx context.Context, in *SkillIDInput) (*SkillView, error) {
	k, err := s.Skill(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return viewSkill(authz.From(ctx), k), nil
}

func (s *Service) opCreateSkill(ctx context.Context, in *CreateSkillInput) (*SkillView, error) {
	p := authz.From(ctx)
	k, err := s.CreateSkill(ctx, p, Skill{Name: in.Name, Description: in.Description, Targets: in.Targets, SystemPrompt: in.SystemPrompt,
		PromptTemplate: in.PromptTemplate, OutputFields: in.SuggestedOutputFields, Tags: in.Tags})
	if err != nil {
		return nil, err
	}
	return viewSkill(p, k), nil
}

func (in *UpdateSkillInput) change(k *Skill) {
	if in.Name != nil {
		k.Name = *in.Name
	}
	if in.Description != nil {
		k.Description = *in.Description
	}
	if in.Targets != nil {
		k.Targets = in.Targets
	}
	if in.SystemPrompt.Set {
		k.SystemPrompt = valueOf(in.SystemPrompt.Value)
	}
	if in.PromptTemplate.Set {
		k.PromptTemplate = valueOf(in.PromptTemplate.Value)
	}
	if in.SuggestedOutputFields.Set {
		k.OutputFields = valueOf(in.SuggestedOutputFields.Value)
	}
	if in.Tags.Set {
		k.Tags = valueOf(in.Tags.Value)
	}
}

func valueOf[T any](v *T) T {
	if v == nil {
		var zero T
		return zero
	}
	return *v
}

func (s *Service) opUpdateSkill(ctx context.Context, in *UpdateSkillInput) (*SkillView, error) {
	p := authz.From(ctx)
	k, err := s.UpdateSkill(ctx, p, in.ID, in.Version, in.change)
	if err != nil {
		return nil, err
	}
	return viewSkill(p, k), nil
}

func (s *Service) opDeleteSkill(ctx context.Context, in *SkillIDInput) (*DeletedOutput, error) {
	err := s.DeleteSkill(ctx, authz.From(ctx), in.ID)
	return &DeletedOutput{err == nil}, err
}
