package maintenance

import "github.com/checkstack/checkstack/internal/authz"

// The access rules of maintenances, spec/monitoring.md 17.
var (
	Read   = authz.Rule{ID: "maintenance.maintenance.read", Description: "See maintenances", Default: true, Public: true}
	Manage = authz.Rule{ID: "maintenance.maintenance.manage", Description: "Plan, change, close and delete maintenances, and see internal updates and who wrote them"}
)

// Rules lists them for the role editor.
func Rules() []authz.Rule { return []authz.Rule{Read, Manage} }

func rules(r ...authz.Rule) []authz.Rule { return r }
