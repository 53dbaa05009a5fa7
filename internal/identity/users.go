package identity

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// Users gives everybody who has an account, by name.
func (s *Service) Users(ctx context.Context) ([]User, error) { return s.store.users(ctx, s.db.Read) }

// Names gives the names of those of the people and applications that exist, by
// id. It asks for no rule: other domains use it to say who did something.
func (s *Service) Names(ctx context.Context, ids []string) (map[string]string, error) {
	return s.store.names(ctx, s.db.Read, ids)
}

// UsersWithRule gives the ids of all people who satisfy the rule,
// administrators included.
func (s *Service) UsersWithRule(ctx context.Context, rule string) ([]string, error) {
	rules := []string{rule}
	if base, ok := strings.CutSuffix(rule, ".read"); ok {
		rules = append(rules, base+".manage")
	}
	return s.store.usersWithRule(ctx, s.db.Read, rules)
}

// Profile gives the caller's own account.
func (s *Service) Profile(ctx context.Context) (User, error) {
	p, err := caller(ctx)
	if err != nil {
		return User{}, err
	}
	return s.store.user(ctx, s.db.Read, p.ID)
}

// UpdateProfile changes the caller's own name and address; nil leaves one
// alone. Only an account with a password can change its address: otherwise the
// directory that signs the person in owns it.
func (s *Service) UpdateProfile(ctx context.Context, name, email *string) (User, error) {
	p, err := caller(ctx)
	if err != nil {
		return User{}, err
	}
	var is issues
	if name != nil {
		*name = is.name("name", *name)
	}
	if email != nil {
		*email = is.email("email", *email)
	}
	if err := problem.InputIssues(is); err != nil {
		return User{}, err
	}
	var u User
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// Two tabs that change name and address at once must not undo each other.
		if err := s.lockUser(ctx, tx, p.ID); err != nil {
			return err
		}
		if u, err = s.store.user(ctx, tx, p.ID); err != nil {
			return err
		}
		if name != nil {
			u.Name = *name
		}
		if email != nil && *email != u.Email {
			if !u.HasPassword {
				return problem.Forbidden("The email address of an account without a password cannot be changed here")
			}
			u.Email = *email
		}
		return s.store.updateProfile(ctx, tx, u, s.now())
	})
	return u, err
}

// ChangePassword sets a new password for the caller and ends all sessions but
// the caller's own.
func (s *Service) ChangePassword(ctx context.Context, current, next secret.String) error {
	p, err := caller(ctx)
	if err != nil {
		return err
	}
	var is issues
	is.password("newPassword", next)
	if err := is.err("newPassword"); err != nil {
		return err
	}
	counted, err := s.take(ctx, passwordPerUser, p.ID)
	if err != nil {
		return err
	}
	cred, err := s.store.credentialBy(ctx, s.db.Read, "id", p.ID)
	if err != nil {
		return err
	}
	if cred.PasswordHash == "" {
		return problem.Forbidden("This account has no password")
	}
	ok, _, err := s.hasher.verify(ctx, current, cred.PasswordHash)
	if err != nil {
		return err
	}
	if !ok {
		return problem.Field("currentPassword", "is not your current password")
	}
	hash, err := s.hasher.hash(ctx, next)
	if err != nil {
		return err
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockUser(ctx, tx, p.ID); err != nil {
			return err
		}
		replaced, err := s.store.replaceHash(ctx, tx, p.ID, cred.PasswordHash, hash, s.now())
		if err != nil {
			return err
		}
		if !replaced {
			return problem.Conflict("The password was changed in another session meanwhile")
		}
		if err := s.giveBack(ctx, tx, counted); err != nil {
			return err
		}
		return s.store.deleteOtherSessions(ctx, tx, p.ID, p.SessionID)
	})
}

// CreateUser makes an account for somebody else, whether or not registration is
// open. Nil roles mean the role "users".
func (s *Service) CreateUser(ctx context.Context, a NewAccount, roleIDs []string) (User, error) {
	if roleIDs == nil {
		roleIDs = []string{RoleUsers}
	}
	// Checked before the hash, which is the costly part.
	roleIDs, err := s.assignable(ctx, s.db.Read, "roleIds", roleIDs)
	if err != nil {
		return User{}, err
	}
	u, hash, err := s.prepareAccount(ctx, a, roleIDs...)
	if err != nil {
		return User{}, err
	}
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.mayGrantRoles(ctx, tx, without(roleIDs, []string{RoleUsers})); err != nil {
			return err
		}
		return s.store.insertUser(ctx, tx, u, hash)
	})
	return u, err
}

// SetUserRoles replaces the roles of somebody else. The last administrator
// stays one.
func (s *Service) SetUserRoles(ctx context.Context, userID string, roleIDs []string) (User, error) {
	if authz.From(ctx).ID == userID {
		return User{}, problem.Forbidden("Cannot update your own roles")
	}
	var u User
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockAccounts(ctx, tx); err != nil {
			return err
		}
		var err error
		if u, err = s.store.user(ctx, tx, userID); err != nil {
			return err
		}
		wanted, err := s.assignable(ctx, tx, "roleIds", roleIDs)
		if err != nil {
			return err
		}
		added, removed := without(wanted, u.Roles), without(u.Roles, wanted)
		guarded := without(added, []string{RoleUsers}) // what every account gets anyway
		if slices.Contains(removed, RoleAdmin) {
			guarded = append(guarded, RoleAdmin)
			others, err := s.store.otherAdmins(ctx, tx, userID)
			if err != nil {
				return err
			}
			if others == 0 {
				return problem.Conflict("This is the only administrator; make somebody else one first")
			}
		}
		if err := s.mayGrantRoles(ctx, tx, guarded); err != nil {
			return err
		}
		if err := s.store.addRoles(ctx, tx, "user", userID, added); err != nil {
			return err
		}
		u.Roles = wanted
		return s.store.removeRoles(ctx, tx, "user", userID, removed)
	})
	return u, err
}

// DeleteUser deletes an account with its sessions, password and roles, and runs
// Deps.UserDeleted in the same transaction. An administrator must be demoted
// first.
func (s *Service) DeleteUser(ctx context.Context, userID string) error {
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockAccounts(ctx, tx); err != nil {
			return err
		}
		u, err := s.store.user(ctx, tx, userID)
		if err != nil {
			return err
		}
		if slices.Contains(u.Roles, RoleAdmin) {
			return problem.Forbidden("Cannot delete users with the admin role")
		}
		for _, hook := range s.userDeleted {
			if err := hook(ctx, tx, userID); err != nil {
				return fmt.Errorf("clean up after user: %w", err)
			}
		}
		return s.store.deleteUser(ctx, tx, userID)
	})
	if err == nil {
		s.log.InfoContext(ctx, "user deleted", "deleted_user_id", userID)
	}
	return err
}
