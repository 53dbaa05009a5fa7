package builtin

func systemIntents() []intent {
	return []intent{
		define("list systems", planListSystems,
			"(list|show|display|get|give|print|what are|see|view) [me] [all] [of] [the|my|our] (systems|services|catalog)",
			"[all|my|our] (systems|services|catalog)",
			"(what|which|how many) (systems|services) [are there|do we have|do i have|exist|are in the catalog]"),
		define("create system", planCreate("system"),
			"(create|add|make|new|set up|register) [a|an|the] [new] (system|service) [called|named] {name} (with|and) [the|a] description [of] {description}",
			"(create|add|make|new|set up|register) [a|an|the] [new] (system|service) [called|named] {name} described as {description}",
			"(create|add|make|new|set up|register) [a|an|the] [new] (system|service) [called|named] {name}"),
		define("create without name", func(*turn, matched) step {
			return answer("What should it be called? For example `create system Billing` or `create group Backend`.")
		}, "(create|add|make|new|set up|register) [a|an|the] [new] (system|service|group)"),
		define("describe", planDescribe,
			"(change|set|update) [the] description (of|for) [the] [system] {name} to {description}",
			"describe [the] [system] {name} as {description}"),
		define("rename system", planRename("system"), "rename [the] (system|service) {name} (to|as|into) {new}",
			"(change|set|update) [the] name of [the] system {name} to {new}", "(change|set|update|edit) [the] system {name} name to {new}"),
		define("rename", planRename("system", "group", "check"), "rename [the] {name} (to|as|into) {new}"),
		define("delete system", planDelete("system"),
			"(delete|remove|drop|get rid of|erase) [the] (system|service) [called|named|with id] {name}",
			"(delete|remove|drop|get rid of|erase) [the] {name} (system|service)"),
		define("delete", planDelete("system", "group", "check"), "(delete|remove|drop|get rid of|erase) [the] {name}"),
	}
}

// describe shows a thing with its description.
func describe(x thing) string {
	if x.description == "" {
		return bold(x.name)
	}
	return bold(x.name) + ": " + plain(x.description)
}

func planListSystems(t *turn, _ matched) step {
	results, s := t.need(listSystems)
	if s != nil {
		return *s
	}
	if !results[0].has("systems") {
		return answer("I could not read the list of systems: its answer has an unexpected form.")
	}
	systems := results[0].things("system", "systems")
	if len(systems) == 0 {
		return answer("There is no system yet that you may see. Say `create system Billing`, or watch an address at once: `monitor https://example.com/health every minute as \"Billing\"`.")
	}
	var lines []string
	for _, x := range systems {
		lines = append(lines, describe(x))
	}
	return answer(listing(plural(len(systems), "system"), lines, results[0].cutShort()))
}

// createTools and the like name the tool for each kind of thing.
var (
	createTools = map[string]string{"system": "catalog_createSystem", "group": "catalog_createGroup"}
	updateTools = map[string]string{"system": "catalog_updateSystem", "group": "catalog_updateGroup", "check": "healthcheck_update"}
	deleteTools = map[string]string{"system": "catalog_deleteSystem", "group": "catalog_deleteGroup", "check": "healthcheck_delete"}
)

// planCreate creates a system or group unless its name is taken.
func planCreate(kind string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		a := args{"name": m.get("name")}
		if d := m.get("description"); d != "" {
			a["description"] = d
		}
		c := call{createTools[kind], a, "Create " + kind + " “" + m.get("name") + "”"}
		if t.done(c) {
			return t.change("", c)
		}
		if t.offered[lists[kind].call.tool] {
			results, s := t.need(lists[kind].call)
			if s != nil {
				return *s
			}
			if found := named(results[0].things(kind, lists[kind].key), m.get("name")); len(found) > 0 {
				return answer("There is a " + kind + " called " + bold(found[0].name) + " already (id " + plain(found[0].id) + "). Nothing was changed.")
			}
		}
		return t.change("", c)
	}
}

func planDescribe(t *turn, m matched) step {
	x, s := t.find(m.get("name"), "system")
	if s != nil {
		return *s
	}
	return t.change("", call{"catalog_updateSystem", args{"id": x.id, "description": m.get("description")}, "Change the description of system “" + x.name + "”"})
}

func planRename(kinds ...string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		x, s := t.find(m.get("name"), kinds...)
		if s != nil {
			return *s
		}
		a := args{"id": x.id, "name": m.get("new")}
		if x.kind == "check" {
			a = args{"id": x.id, "body": args{"name": m.get("new")}}
		}
		return t.change("", call{updateTools[x.kind], a, "Rename " + x.kind + " “" + x.name + "” to “" + m.get("new") + "”"})
	}
}

func planDelete(kinds ...string) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		x, s := t.find(m.get("name"), kinds...)
		if s != nil {
			return *s
		}
		return t.change("", call{deleteTools[x.kind], args{"id": x.id}, "Delete " + x.kind + " “" + x.name + "”"})
	}
}

// done reports whether a call has its result in this turn.
func (t *turn) done(c call) bool {
	_, ok := t.results[c.key()]
	return ok
}
