package identity

import (
	"context"
	"slices"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// Roles gives all roles, the system roles first.
func (s *Service) Roles(ctx context.Context) ([]Role, error) { return s.store.roles(ctx, s.db.Read) }

// CreateRole makes a role. Rules nobody declares are dropped.
func (s *Service) CreateRole(ctx context.Context, name, description string, rules []string) (Role, error) {
	var is issues
	r := Role{ID: newID(), Name: is.name("name", name), Description: is.description("description", description)}
	if err := problem.InputIssues(is); err != nil {
		return Role{}, err
	}
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockRules(ctx, tx); err != nil {
			return err
		}
		known, err := s.knownRules(ctx, tx, rules)
		if err != nil {
			return err
		}
		if err := mayGrantRules(authz.From(ctx), known); err != nil {
			return err
		}
		if err := s.store.insertRole(ctx, tx, r, s.now(), false); err != nil {
			return err
		}
		if err := s.store.addRules(ctx, tx, r.ID, known); err != nil {
			return err
		}
		r, err = s.store.role(ctx, tx, r.ID)
		return err
	})
	return r, err
}

// RoleChange says what to change of a role; nil leaves a field alone.
type RoleChange struct {
	Name        *string
	Description *string
	Rules       *[]string
}

// UpdateRole changes a role. The rules of "admin" and of the caller's own roles
// stay as they are, silently: a form that sends the whole role must be able to
// save its name.
func (s *Service) UpdateRole(ctx context.Context, id string, change RoleChange) (Role, error) {
	var is issues
	if change.Name != nil {
		*change.Name = is.name("name", *change.Name)
	}
	if change.Description != nil {
		*change.Description = is.description("description", *change.Description)
	}
	if err := problem.InputIssues(is); err != nil {
		return Role{}, err
	}
	var r Role
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockRules(ctx, tx); err != nil {
			return err
		}
		var err error
		if r, err = s.store.role(ctx, tx, id); err != nil {
			return err
		}
		if change.Name != nil {
			r.Name = *change.Name
		}
		if change.Description != nil {
			r.Description = *change.Description
		}
		if err := s.store.updateRole(ctx, tx, r, s.now()); err != nil {
			return err
		}
		if change.Rules != nil && id != RoleAdmin && !slices.Contains(authz.From(ctx).Roles, id) {
			if err := s.setRules(ctx, tx, r, *change.Rules); err != nil {
				return err
			}
		}
		r, err = s.store.role(ctx, tx, id)
		return err
	})
	return r, err
}

func (s *Service) setRules(ctx context.Context, tx bun.Tx, r Role, wanted []string) error {
	known, err := s.knownRules(ctx, tx, wanted)
	if err != nil {
		return err
	}
	added, removed := without(known, r.Rules), without(r.Rules, known)
	if err := mayGrantRules(authz.From(ctx), added); err != nil {
		return err
	}
	if err := s.store.addRules(ctx, tx, r.ID, added); err != nil {
		return err
	}
	if err := s.store.removeRules(ctx, tx, r.ID, removed); err != nil {
		return err
	}
	if r.ID != RoleUsers && r.ID != RoleAnonymous {
		return nil
	}
	if err := s.store.forget(ctx, tx, r.ID, known); err != nil {
		return err
	}
	return s.store.remember(ctx, tx, r.ID, removed)
}

// knownRules keeps the ids that are declared, sorted and each once.
func (s *Service) knownRules(ctx context.Context, tx bun.Tx, wanted []string) ([]string, error) {
	all, err := s.store.rules(ctx, tx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, r := range all {
		if slices.Contains(wanted, r.ID) {
			out = append(out, r.ID)
		}
	}
	return out, nil
}

// DeleteRole deletes a role and takes it from everybody who has it.
func (s *Service) DeleteRole(ctx context.Context, id string) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, err := s.store.role(ctx, tx, id)
		switch {
		case err != nil:
			return err
		case r.System:
			return problem.Forbidden("Cannot delete system roles")
		case slices.Contains(authz.From(ctx).Roles, id):
			return problem.Forbidden("Cannot delete a role that you have yourself")
		}
		return s.store.deleteRole(ctx, tx, id)
	})
}
