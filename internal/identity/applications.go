package identity

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// Applications gives all applications, by name.
func (s *Service) Applications(ctx context.Context) ([]Application, error) {
	return s.store.applications(ctx, s.db.Read)
}

// CreateApplication makes an application and gives its key, which cannot be
// read again. Nil roles mean the role "applications".
func (s *Service) CreateApplication(ctx context.Context, name, description string, roleIDs []string) (Application, secret.String, error) {
	p, err := caller(ctx)
	if err != nil {
		return Application{}, secret.String{}, err
	}
	var is issues
	a := Application{ID: newID(), Name: is.name("name", name), Description: is.description("description", description), CreatedAt: s.now()}
	if err := problem.InputIssues(is); err != nil {
		return Application{}, secret.String{}, err
	}
	if roleIDs == nil {
		roleIDs = []string{RoleApplications}
	}
	key := newKeySecret()
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var err error
		if a.Roles, err = s.assignable(ctx, tx, "roleIds", roleIDs); err != nil {
			return err
		}
		if err := s.mayGrantRoles(ctx, tx, a.Roles); err != nil {
			return err
		}
		return s.store.insertApplication(ctx, tx, a, digest(key), p.ID)
	})
	if err != nil {
		return Application{}, secret.String{}, err
	}
	return a, formatKey(a.ID, key), nil
}

// ApplicationChange says what to change of an application; nil leaves a field
// alone.
type ApplicationChange struct {
	Name        *string
	Description *string
	Roles       *[]string
}

// UpdateApplication changes an application; its key stays.
func (s *Service) UpdateApplication(ctx context.Context, id string, change ApplicationChange) (Application, error) {
	var is issues
	if change.Name != nil {
		*change.Name = is.name("name", *change.Name)
	}
	if change.Description != nil {
		*change.Description = is.description("description", *change.Description)
	}
	if err := problem.InputIssues(is); err != nil {
		return Application{}, err
	}
	var a Application
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockAccounts(ctx, tx); err != nil {
			return err
		}
		var err error
		if a, err = s.store.application(ctx, tx, id); err != nil {
			return err
		}
		if change.Name != nil {
			a.Name = *change.Name
		}
		if change.Description != nil {
			a.Description = *change.Description
		}
		if change.Roles != nil {
			if err := s.setApplicationRoles(ctx, tx, &a, *change.Roles); err != nil {
				return err
			}
		}
		return s.store.updateApplication(ctx, tx, a, s.now())
	})
	return a, err
}

func (s *Service) setApplicationRoles(ctx context.Context, tx bun.Tx, a *Application, roleIDs []string) error {
	wanted, err := s.assignable(ctx, tx, "roleIds", roleIDs)
	if err != nil {
		return err
	}
	added, removed := without(wanted, a.Roles), without(a.Roles, wanted)
	if err := s.mayGrantRoles(ctx, tx, added); err != nil {
		return err
	}
	if err := s.store.addRoles(ctx, tx, "application", a.ID, added); err != nil {
		return err
	}
	a.Roles = wanted
	return s.store.removeRoles(ctx, tx, "application", a.ID, removed)
}

// RegenerateKey gives an application a new key; the old one is refused from now
// on. The caller gets to act as the application, so it must hold all that the
// application may do.
func (s *Service) RegenerateKey(ctx context.Context, id string) (secret.String, error) {
	key := newKeySecret()
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockAccounts(ctx, tx); err != nil {
			return err
		}
		a, err := s.store.application(ctx, tx, id)
		if err != nil {
			return err
		}
		if err := s.mayGrantRoles(ctx, tx, a.Roles); err != nil {
			return err
		}
		return s.store.setApplicationSecret(ctx, tx, id, digest(key), s.now())
	})
	if err != nil {
		return secret.String{}, err
	}
	return formatKey(id, key), nil
}

// DeleteApplication deletes an application; its key is refused from now on.
func (s *Service) DeleteApplication(ctx context.Context, id string) error {
	return s.store.deleteApplication(ctx, s.db.Write, id)
}
