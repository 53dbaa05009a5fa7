package proposal

import "github.com/checkstack/checkstack/internal/authz"

// RuleAudit lets its holder see the tool calls of everybody; one's own calls
// need no rule.
var RuleAudit = authz.Rule{ID: "ai.audit.read", Description: "See every tool call that people, applications and automations made"}

// Rules gives every rule that this package enforces.
func Rules() []authz.Rule { return []authz.Rule{RuleAudit} }
