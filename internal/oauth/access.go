package oauth

import "github.com/checkstack/checkstack/internal/authz"

// RuleManage guards the settings and clients of the authorization server.
var RuleManage = authz.Rule{ID: "ai.mcp.manage", Description: "Open Checkstack to outside agents over MCP, and see and remove their clients"}

// Rules gives every rule that this package enforces.
func Rules() []authz.Rule { return []authz.Rule{RuleManage} }
