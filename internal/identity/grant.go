package identity

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// assignable checks role ids that shall be assigned: each must exist, and
// "anonymous" belongs to nobody. It gives them sorted, each once.
func (s *Service) assignable(ctx context.Context, idb bun.IDB, path string, roleIDs []string) ([]string, error) {
	existing, err := s.store.existingRoles(ctx, idb, roleIDs)
	if err != nil {
		return nil, err
	}
	var is issues
	for i, id := range roleIDs {
		at := path + "[" + strconv.Itoa(i) + "]"
		switch {
		case id == RoleAnonymous:
			is.add(at, "the role anonymous cannot be assigned")
		case !slices.Contains(existing, id):
			is.add(at, "there is no role with this id")
		}
	}
	if err := problem.InputIssues(is); err != nil {
		return nil, err
	}
	out := slices.Clone(roleIDs)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// mayGrantRoles refuses to hand out roles that allow more than the caller may
// do itself. Without it, whoever may assign roles is an administrator.
func (s *Service) mayGrantRoles(ctx context.Context, idb bun.IDB, roleIDs []string) error {
	p := authz.From(ctx)
	if p.Has(authz.Wildcard) {
		return nil
	}
	if slices.Contains(roleIDs, RoleAdmin) {
		return problem.Forbidden("Only an administrator can give or take the role admin")
	}
	rules, err := s.store.rulesOf(ctx, idb, roleIDs...)
	if err != nil {
		return err
	}
	return mayGrantRules(p, rules)
}

func mayGrantRules(p authz.Principal, rules []string) error {
	var missing []string
	for _, r := range rules {
		if !p.Has(r) {
			missing = append(missing, r)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return problem.Forbidden("You cannot grant access that you do not have yourself: %s", strings.Join(missing, ", "))
}

// without gives the items of list that are not in other.
func without(list, other []string) []string {
	var out []string
	for _, v := range list {
		if !slices.Contains(other, v) {
			out = append(out, v)
		}
	}
	return out
}
