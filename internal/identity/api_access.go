package identity

import (
	"context"
	"time"

	"github.com/checkstack/checkstack/internal/operation"
)

type (
	roleItem struct {
		ID          string   `json:"id"`
		Name        string   `json:"name"`
		Description string   `json:"description"`
		IsSystem    bool     `json:"isSystem" doc:"Always exists and cannot be deleted"`
		AccessRules []string `json:"accessRules" doc:"Rule ids. The role admin satisfies every rule for a person"`
		MemberCount int      `json:"memberCount" doc:"Users and applications that have the role"`
	}
	rolesOutput struct {
		Roles []roleItem `json:"roles"`
	}
	ruleItem struct {
		ID          string `json:"id"`
		Description string `json:"description"`
		IsDefault   bool   `json:"isDefault" doc:"The role users has it unless it was taken away"`
		IsPublic    bool   `json:"isPublic" doc:"The role anonymous has it unless it was taken away"`
	}
	rulesOutput struct {
		AccessRules []ruleItem `json:"accessRules"`
	}
	createRoleInput struct {
		Name        string   `json:"name" maxLength:"1024" doc:"1 to 100 characters, unique"`
		Description string   `json:"description,omitempty" maxLength:"4096" doc:"Up to 500 characters"`
		AccessRules []string `json:"accessRules" maxItems:"1000" doc:"Rule ids"`
	}
	updateRoleInput struct {
		ID          string                  `json:"id" minLength:"1" maxLength:"64"`
		Name        *string                 `json:"name,omitempty" maxLength:"1024" doc:"1 to 100 characters, unique"`
		Description operation.Patch[string] `json:"description,omitzero" required:"false" doc:"Up to 500 characters; null clears it"`
		AccessRules *[]string               `json:"accessRules,omitempty" maxItems:"1000" doc:"All rule ids the role shall hold"`
	}
)

func roleItemOf(r Role) *roleItem {
	return &roleItem{ID: r.ID, Name: r.Name, Description: r.Description, IsSystem: r.System, AccessRules: list(r.Rules), MemberCount: r.Members}
}

func (s *Service) getRoles(ctx context.Context, _ *operation.Empty) (*rolesOutput, error) {
	roles, err := s.Roles(ctx)
	out := &rolesOutput{Roles: make([]roleItem, len(roles))}
	for i, r := range roles {
		out.Roles[i] = *roleItemOf(r)
	}
	return out, err
}

func (s *Service) getAccessRules(ctx context.Context, _ *operation.Empty) (*rulesOutput, error) {
	rules, err := s.AccessRules(ctx)
	out := &rulesOutput{AccessRules: make([]ruleItem, len(rules))}
	for i, r := range rules {
		out.AccessRules[i] = ruleItem{ID: r.ID, Description: r.Description, IsDefault: r.Default, IsPublic: r.Public}
	}
	return out, err
}

func (s *Service) createRole(ctx context.Context, in *createRoleInput) (*roleItem, error) {
	r, err := s.CreateRole(ctx, in.Name, in.Description, in.AccessRules)
	return roleItemOf(r), err
}

func (s *Service) updateRole(ctx context.Context, in *updateRoleInput) (*roleItem, error) {
	r, err := s.UpdateRole(ctx, in.ID, RoleChange{Name: in.Name, Description: cleared(in.Description), Rules: in.AccessRules})
	return roleItemOf(r), err
}

// cleared reads a patch of a text for which null means empty.
func cleared(p operation.Patch[string]) *string {
	if p.Set && p.Value == nil {
		return new(string)
	}
	return p.Value
}

func (s *Service) deleteRole(ctx context.Context, in *idInput) (*successOutput, error) {
	return success(s.DeleteRole(ctx, in.ID))
}

type (
	applicationItem struct {
		ID          string     `json:"id"`
		Name        string     `json:"name"`
		Description string     `json:"description"`
		Roles       []string   `json:"roles" doc:"Role ids"`
		CreatedAt   time.Time  `json:"createdAt"`
		LastUsedAt  *time.Time `json:"lastUsedAt,omitempty" doc:"To the minute. Absent: never used"`
	}
	applicationsOutput struct {
		Applications []applicationItem `json:"applications"`
	}
	createApplicationInput struct {
		Name        string    `json:"name" maxLength:"1024" doc:"1 to 100 characters"`
		Description string    `json:"description,omitempty" maxLength:"4096" doc:"Up to 500 characters"`
		RoleIDs     *[]string `json:"roleIds,omitempty" maxItems:"100" doc:"Without it the application gets the role applications"`
	}
	createApplicationOutput struct {
		Application applicationItem `json:"application"`
		Key         string          `json:"key" doc:"Send it as Authorization: Bearer. It is shown only now"`
	}
	updateApplicationInput struct {
		ID          string                  `json:"id" minLength:"1" maxLength:"64"`
		Name        *string                 `json:"name,omitempty" maxLength:"1024" doc:"1 to 100 characters"`
		Description operation.Patch[string] `json:"description,omitzero" required:"false" doc:"Up to 500 characters; null clears it"`
		RoleIDs     *[]string               `json:"roleIds,omitempty" maxItems:"100" doc:"All roles the application shall have"`
	}
	keyOutput struct {
		Key string `json:"key" doc:"Send it as Authorization: Bearer. It is shown only now"`
	}
)

func applicationItemOf(a Application) *applicationItem {
	return &applicationItem{ID: a.ID, Name: a.Name, Description: a.Description, Roles: list(a.Roles), CreatedAt: a.CreatedAt, LastUsedAt: a.LastUsedAt}
}

func (s *Service) getApplications(ctx context.Context, _ *operation.Empty) (*applicationsOutput, error) {
	apps, err := s.Applications(ctx)
	out := &applicationsOutput{Applications: make([]applicationItem, len(apps))}
	for i, a := range apps {
		out.Applications[i] = *applicationItemOf(a)
	}
	return out, err
}

func (s *Service) createApplication(ctx context.Context, in *createApplicationInput) (*createApplicationOutput, error) {
	var roles []string
	if in.RoleIDs != nil {
		roles = list(*in.RoleIDs)
	}
	a, key, err := s.CreateApplication(ctx, in.Name, in.Description, roles)
	return &createApplicationOutput{Application: *applicationItemOf(a), Key: key.Reveal()}, err
}

func (s *Service) updateApplication(ctx context.Context, in *updateApplicationInput) (*applicationItem, error) {
	a, err := s.UpdateApplication(ctx, in.ID, ApplicationChange{Name: in.Name, Description: cleared(in.Description), Roles: in.RoleIDs})
	return applicationItemOf(a), err
}

func (s *Service) regenerateApplicationSecret(ctx context.Context, in *idInput) (*keyOutput, error) {
	key, err := s.RegenerateKey(ctx, in.ID)
	return &keyOutput{Key: key.Reveal()}, err
}

func (s *Service) deleteApplication(ctx context.Context, in *idInput) (*successOutput, error) {
	return success(s.DeleteApplication(ctx, in.ID))
}
