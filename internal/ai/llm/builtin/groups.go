package builtin

import (
	"slices"
)

func groupIntents() []intent {
	return []intent{
		define("list groups", planListGroups,
			"(list|show|display|get|give|print|what are|see|view) [me] [all] [of] [the|my|our] groups",
			"[all|my|our] groups",
			"(what|which|how many) groups [are there|do we have|do i have|exist]"),
		define("create group", planCreate("group"),
			"(create|add|make|new|set up|register) [a|an|the] [new] group [called|named] {name} (with|and) [the|a] description [of] {description}",
			"(create|add|make|new|set up|register) [a|an|the] [new] group [called|named] {name} described as {description}",
			"(create|add|make|new|set up|register) [a|an|the] [new] group [called|named] {name}"),
		define("rename group", planRename("group"), "rename [the] group {name} (to|as|into) {new}"),
		define("remove from group", planMember(false),
			"(remove|take|drop|delete) [the] [system] {system} (from|out of) [the] [group] {group}"),
		define("delete group", planDelete("group"),
			"(delete|remove|drop|get rid of|erase) [the] group [called|named|with id] {name}",
			"(delete|remove|drop|get rid of|erase) [the] {name} group"),
		define("add to group", planMember(true),
			"(add|put|move|assign) [the] [system] {system} (to|into|in) [the] [group] {group}"),
		define("show group", planShowGroup,
			"(show|describe|display|view) [me] [the] group {name}",
			"(what|which) (is|are|systems are) in [the] [group] {name}",
			"(list|show) [me] [all] [the] systems (in|of) [the] [group] {name}",
			"(members|systems) (of|in) [the] [group] {name}"),
	}
}

func planListGroups(t *turn, _ matched) step {
	results, s := t.need(listGroups)
	if s != nil {
		return *s
	}
	if !results[0].has("groups") {
		return answer("I could not read the list of groups: its answer has an unexpected form.")
	}
	groups := results[0].things("group", "groups")
	if len(groups) == 0 {
		return answer("There is no group yet that you may see. Say `create group Backend` to make one.")
	}
	var lines []string
	for _, g := range groups {
		lines = append(lines, describe(g)+", "+plural(len(g.members), "system"))
	}
	return answer(listing(plural(len(groups), "group"), lines, results[0].cutShort()))
}

func planShowGroup(t *turn, m matched) step {
	g, s := t.find(m.get("name"), "group")
	if s != nil {
		return *s
	}
	if len(g.members) == 0 {
		return answer(describe(g) + " has no systems that you may see.")
	}
	results, s := t.need(listSystems)
	if s != nil {
		return *s
	}
	var lines []string
	for _, x := range results[0].things("system", "systems") {
		if slices.Contains(g.members, x.id) {
			lines = append(lines, describe(x))
		}
	}
	return answer(listing(bold(g.name)+" has "+plural(len(g.members), "system"), lines, results[0].cutShort()))
}

// planMember adds a system to a group or takes it out.
func planMember(add bool) func(*turn, matched) step {
	return func(t *turn, m matched) step {
		// Both lists in one round.
		if _, s := t.need(listSystems, listGroups); s != nil {
			return *s
		}
		system, s := t.find(m.get("system"), "system")
		if s != nil {
			return *s
		}
		group, s := t.find(m.get("group"), "group")
		if s != nil {
			return *s
		}
		a := args{"groupId": group.id, "systemId": system.id}
		inside := slices.Contains(group.members, system.id)
		switch {
		case add && inside && !t.done(call{tool: "catalog_addSystemToGroup", args: a}):
			return answer(bold(system.name) + " is in group " + bold(group.name) + " already. Nothing was changed.")
		case add:
			return t.change("", call{"catalog_addSystemToGroup", a, "Add “" + system.name + "” to group “" + group.name + "”"})
		case !inside && !t.done(call{tool: "catalog_removeSystemFromGroup", args: a}):
			return answer(bold(system.name) + " is not in group " + bold(group.name) + ". Nothing was changed.")
		}
		return t.change("", call{"catalog_removeSystemFromGroup", a, "Remove “" + system.name + "” from group “" + group.name + "”"})
	}
}
