package healthcheck

import "github.com/checkstack/checkstack/internal/authz"

// The access rules of spec/monitoring.md 4.1.
var (
	// RuleStatus shows how things are: statuses, history without payloads, charts.
	RuleStatus = authz.Rule{ID: "healthcheck.healthcheck.status.read", Default: true, Public: true,
		Description: "See the health of systems, run history and charts"}
	// RuleRead shows what is configured.
	RuleRead = authz.Rule{ID: "healthcheck.healthcheck.read",
		Description: "See health check configurations and where they are assigned"}
	// RuleManage changes what is configured.
	RuleManage = authz.Rule{ID: "healthcheck.healthcheck.manage",
		Description: "Create, change, assign, pause, run and delete health checks"}
	// RuleDetails shows what probes brought back, which may be sensitive.
	RuleDetails = authz.Rule{ID: "healthcheck.healthcheck.details.read",
		Description: "See the full results of health check runs"}
)

// Rules gives every rule of this domain.
func Rules() []authz.Rule { return []authz.Rule{RuleStatus, RuleRead, RuleManage, RuleDetails} }
