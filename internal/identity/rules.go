package identity

import (
	"context"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
)

// systemRoles are created when missing; what an administrator wrote into them
// stays.
var systemRoles = []Role{
	{ID: RoleAdmin, Name: "Administrators", Description: "Full access to everything", System: true},
	{ID: RoleUsers, Name: "Users", Description: "Every person with an account", System: true},
	{ID: RoleAnonymous, Name: "Anonymous Users", Description: "Visitors who are not signed in", System: true},
	{ID: RoleApplications, Name: "Applications", Description: "Programs that use an application key", System: true},
}

// SyncRules brings the stored rules in line with the declared ones, at every
// start. New rules arrive: all of them in "admin", default ones in "users",
// public ones in "anonymous", except what an administrator took away there.
// Rules that are no longer declared vanish from every role. Several replicas
// may run it at once.
func (s *Service) SyncRules(ctx context.Context, rules []authz.Rule) error {
	declared := make(map[string]authz.Rule, len(rules))
	for _, r := range rules {
		if r.ID == "" || r.ID == authz.Wildcard || strings.ContainsAny(r.ID, " \t\n") {
			return fmt.Errorf("sync access rules: %q is not a rule id", r.ID)
		}
		if other, dup := declared[r.ID]; dup && other != r {
			return fmt.Errorf("sync access rules: %s is declared twice, differently", r.ID)
		}
		declared[r.ID] = r
	}
	if len(declared) == 0 {
		return fmt.Errorf("sync access rules: no rules were given, which would take all access from everybody")
	}
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.lockRules(ctx, tx); err != nil {
			return err
		}
		for _, r := range systemRoles {
			if err := s.store.insertRole(ctx, tx, r, s.now(), true); err != nil {
				return err
			}
		}
		stored, err := s.store.rules(ctx, tx)
		if err != nil {
			return err
		}
		var gone []string
		known := make(map[string]authz.Rule, len(stored))
		for _, r := range stored {
			known[r.ID] = r
			if _, still := declared[r.ID]; !still {
				gone = append(gone, r.ID)
			}
		}
		if err := s.store.deleteAccessRules(ctx, tx, gone); err != nil {
			return err
		}
		for id, r := range declared {
			if known[id] != r {
				if err := s.store.putRule(ctx, tx, r); err != nil {
					return err
				}
			}
		}
		return s.store.grantStanding(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("sync access rules: %w", err)
	}
	return nil
}

// lockRules makes changes to what roles hold run one after another.
func (s *Service) lockRules(ctx context.Context, tx bun.Tx) error {
	if err := s.db.LockKey(ctx, tx, "identity.rules"); err != nil {
		return fmt.Errorf("lock rules: %w", err)
	}
	return nil
}

// AccessRules gives every declared rule.
func (s *Service) AccessRules(ctx context.Context) ([]authz.Rule, error) {
	return s.store.rules(ctx, s.db.Read)
}
