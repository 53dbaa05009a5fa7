package agent

import "github.com/checkstack/checkstack/internal/authz"

// The access rules of the assistant and of its connections.
var (
	RuleChat              = authz.Rule{ID: "ai.chat.read", Description: "Talk to the assistant", Default: true}
	RuleTools             = authz.Rule{ID: "ai.tools.manage", Description: "See the assistant's tools and their schemas"}
	RuleConnectionsRead   = authz.Rule{ID: "integration.connection.read", Description: "See connections to other systems, without their credentials"}
	RuleConnectionsManage = authz.Rule{ID: "integration.connection.manage", Description: "Create, change, test and delete connections to other systems"}
)

// Rules gives every rule that this package enforces.
func Rules() []authz.Rule {
	return []authz.Rule{RuleChat, RuleTools, RuleConnectionsRead, RuleConnectionsManage}
}
