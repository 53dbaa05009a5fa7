package builtin

// itIntents are requests about "it" that fit an incident and a maintenance
// alike. What the conversation was last about is meant.
func itIntents() []intent {
	const it = "{=name it|this|that|this one|that one}"
	return []intent{
		define("show it", either(planShow(incidents, "incident_get"), planShow(maintenances, "maintenance_get")),
			"(show|display|describe|view|show me|details of|what about|tell me about) [the] [details of] "+it),
		define("update it", either(planIncidentUpdate, planMaintenanceUpdate),
			"(update|comment on) "+it+" : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] {=audience internal|private|public|logged-in} (update|comment|note|message) (to|on|for) "+it+" : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] (update|comment|note|message) [to|on|for] "+it+" : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] {=audience internal|private|public|logged-in} (update|comment|note|message) : {message}",
			"(add|post|write|send|publish) [a|an|the] [new] (update|comment|note|message) : {message}").prose(),
		define("rename it", either(planRetitle(incidents, "incident_update"), planRetitle(maintenances, "maintenance_update")),
			"rename "+it+" (to|as|into) {new}").prose(),
		define("close it", either(planResolve, planClose),
			"(close|end|finish) "+it+" (with|and) [a|the] (note|message|comment|update) [:] {message}",
			"(close|end|finish) "+it+" : {message}", "(close|end|finish) "+it).prose(),
		define("delete it", either(planRecordDelete(incidents, "incident_delete"), planRecordDelete(maintenances, "maintenance_delete")),
			"("+deleteWords+") "+it),
		define("cancel it", planMaintenanceStatus("cancelled", "Cancel %s"), "(cancel|call off) "+it),
	}
}

func either(incident, maintenance func(*turn, matched) step) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		if t.last == maintenances.noun {
			return maintenance(t, m)
		}
		return incident(t, m)
	}
}
