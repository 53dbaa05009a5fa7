package oauth

import (
	"slices"
	"strings"

	"github.com/checkstack/checkstack/internal/authz"
)

// The bundles of scopes, spec/ai-platform.md 31.6.
const (
	ScopeRead  = "checkstack:read"  // every read rule there is
	ScopeWrite = "checkstack:write" // every read and manage rule there is
)

// scopeOffline asks for a refresh token; every client gets one, so it changes
// nothing, but common clients ask.
const scopeOffline = "offline_access"

const (
	maxScopes    = 100
	maxScopeText = 8000
)

// expand gives the rules that scopes stand for, out of those that exist.
func expand(scopes []string, rules []authz.Rule) []string {
	var out []string
	for _, r := range rules {
		read, manage := strings.HasSuffix(r.ID, ".read"), strings.HasSuffix(r.ID, ".manage")
		if slices.Contains(scopes, r.ID) ||
			(read && slices.Contains(scopes, ScopeRead)) ||
			((read || manage) && slices.Contains(scopes, ScopeWrite)) {
			out = append(out, r.ID)
		}
	}
	return out
}

// narrow gives the person as a token with these scopes sees them: the rules
// that exist, that the scopes cover, and that the person holds now. The result
// never has the wildcard and no roles.
func narrow(p authz.Principal, scopes []string, rules []authz.Rule) authz.Principal {
	granted := authz.Principal{Kind: authz.User, Rules: expand(scopes, rules)}
	out := authz.Principal{Kind: p.Kind, ID: p.ID, Name: p.Name}
	for _, r := range rules {
		if granted.Has(r.ID) && p.Has(r.ID) {
			out.Rules = append(out.Rules, r.ID)
		}
	}
	return out
}

// parseScopes reads a scope parameter; nothing asked for means reading. It
// gives the scopes once each, sorted, and the first one that does not exist.
func parseScopes(text string, rules []authz.Rule) (scopes []string, unknown string) {
	if len(text) > maxScopeText {
		return nil, "(too long)"
	}
	for _, s := range strings.Split(text, " ") { // RFC 6749 3.3: nothing but a space separates
		switch {
		case s == "":
		case s == scopeOffline:
		case s == ScopeRead, s == ScopeWrite, slices.ContainsFunc(rules, func(r authz.Rule) bool { return r.ID == s }):
			scopes = append(scopes, s)
		default:
			return nil, s
		}
	}
	if len(scopes) > maxScopes {
		return nil, "(too many)"
	}
	if len(scopes) == 0 {
		scopes = []string{ScopeRead}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes), ""
}

// within says that every scope of inner is one of outer, or a rule that outer
// covers.
func within(inner, outer []string, rules []authz.Rule) bool {
	covered := authz.Principal{Kind: authz.User, Rules: expand(outer, rules)}
	for _, s := range inner {
		if slices.Contains(outer, s) || (s == ScopeRead && slices.Contains(outer, ScopeWrite)) {
			continue
		}
		if s == ScopeRead || s == ScopeWrite || !covered.Has(s) {
			return false
		}
	}
	return true
}
