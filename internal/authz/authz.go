// Package authz is the vocabulary of access: who the caller is (Principal),
// what may be granted (Rule), and the one function that decides whether a
// caller holds a rule. Every surface asks the same function: the operation
// chain, the tool resolver and the realtime signals. Loading a principal's
// roles and rules is identity's work.
package authz

import (
	"context"
	"slices"
	"strings"
)

// Rule is something that can be granted to a role. Rules are declared once, in
// the access.go of the domain that enforces them.
type Rule struct {
	// ID is "<plugin>.<resource>.<read|manage>", such as "catalog.system.read".
	ID string
	// Description says in plain words what the rule allows.
	Description string
	// Default grants the rule to the role "users".
	Default bool
	// Public grants the rule to the role "anonymous".
	Public bool
}

// Wildcard is the rule that satisfies every other: the role "admin" has it.
const Wildcard = "*"

// Kind says what sort of caller a principal is.
type Kind string

// The kinds of principal. The zero value of Principal is Guest.
const (
	Guest       Kind = ""            // nobody identified itself
	User        Kind = "user"        // a person with a session
	Application Kind = "application" // an API key
	Service     Kind = "service"     // a trusted part of this process; never crosses a trust boundary
)

// Principal is the caller on whose behalf something runs. It is immutable.
type Principal struct {
	Kind Kind
	// ID is the user's, application's or service's id; empty for a guest.
	ID string
	// Name is for display and audit.
	Name string
	// Roles are the role ids the rules came from.
	Roles []string
	// Rules are the rule ids held, or the wildcard. A guest carries the rules
	// of the role "anonymous".
	Rules []string
	// SessionID names the session of a user principal, for sign-out and audit.
	SessionID string
}

// Has says whether p satisfies the rule id. A service is trusted and always
// does; the wildcard satisfies every rule; a manage rule satisfies the read
// rule of the same resource.
func (p Principal) Has(rule string) bool {
	if p.Kind == Service {
		return true
	}
	manage := ""
	if base, ok := strings.CutSuffix(rule, ".read"); ok {
		manage = base + ".manage"
	}
	return slices.ContainsFunc(p.Rules, func(held string) bool {
		return held == rule || held == Wildcard || (manage != "" && held == manage)
	})
}

// Missing gives the ids of the rules that p does not satisfy, in the order
// asked; empty means allowed.
func (p Principal) Missing(rules ...Rule) []string {
	var missing []string
	for _, r := range rules {
		if !p.Has(r.ID) {
			missing = append(missing, r.ID)
		}
	}
	return missing
}

// IsGuest says that nobody identified itself.
func (p Principal) IsGuest() bool { return p.Kind == Guest }

type contextKey struct{}

// With puts the principal into the context. Only the edge (httpapi, a job, a
// test) does this.
func With(ctx context.Context, p Principal) context.Context {
	return context.WithValue(ctx, contextKey{}, p)
}

// From gives the principal of the context, a guest without rules when there is
// none.
func From(ctx context.Context) Principal {
	p, _ := ctx.Value(contextKey{}).(Principal)
	return p
}
