package catalog

import "github.com/checkstack/checkstack/internal/authz"

// The access rules of the catalog, spec/monitoring.md 2.2.
var (
	SystemRead   = authz.Rule{ID: "catalog.system.read", Description: "See systems", Default: true, Public: true}
	SystemManage = authz.Rule{ID: "catalog.system.manage", Description: "Create, change and delete systems, their links and their groups' members"}
	GroupRead    = authz.Rule{ID: "catalog.group.read", Description: "See groups", Default: true, Public: true}
	GroupManage  = authz.Rule{ID: "catalog.group.manage", Description: "Create, change and delete groups"}
)

// Rules lists them for the role editor.
func Rules() []authz.Rule { return []authz.Rule{SystemRead, SystemManage, GroupRead, GroupManage} }
