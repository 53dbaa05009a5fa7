package builtin

import (
	"fmt"
	"strings"
)

// maxListed is how many entries an answer shows.
const maxListed = 50

// The lists that names are looked up in.
var (
	listSystems = call{tool: "catalog_listSystems"}
	listGroups  = call{tool: "catalog_listGroups"}
	listChecks  = call{tool: "healthcheck_status"}
)

var lists = map[string]struct {
	call call
	key  string
}{
	"system": {listSystems, "systems"},
	"group":  {listGroups, "groups"},
	"check":  {listChecks, "checks"},
}

// find resolves a name among the things of the given kinds, which are listed
// if they have not been yet. Kinds whose list is not offered are left out
// unless it is the only one. It gives the one thing meant, or the step that
// asks for what is missing.
func (t *turn) find(name string, kinds ...string) (thing, *step) {
	var calls []call
	var usable []string
	for _, k := range kinds {
		if len(kinds) == 1 || t.may(lists[k].call.tool) {
			calls, usable = append(calls, lists[k].call), append(usable, k)
		}
	}
	if len(usable) == 0 {
		s := answer(notOffered(lists[kinds[0]].call.tool))
		return thing{}, &s
	}
	results, s := t.need(calls...)
	if s != nil {
		return thing{}, s
	}
	var all []thing
	short := false
	for i, r := range results {
		k := usable[i]
		if !r.has(lists[k].key) {
			st := answer("I could not read the list of " + k + "s: its answer has an unexpected form.")
			return thing{}, &st
		}
		all = append(all, r.things(k, lists[k].key)...)
		short = short || r.cutShort()
	}
	found := named(all, name)
	if len(found) == 1 {
		return found[0], nil
	}
	st := answer(undecided(name, strings.Join(usable, " or "), all, found, short))
	return thing{}, &st
}

// named gives the things with that name: exactly, else without regard to case
// and extra words such as "the"; an id works too. A check without a namesake
// is also found by its system's name.
func named(all []thing, name string) []thing {
	for _, same := range []func(thing) bool{
		func(x thing) bool { return x.name == name || x.id == name },
		func(x thing) bool { return fold(x.name) == fold(name) },
		func(x thing) bool { return strip(x.name) == strip(name) },
		func(x thing) bool { return x.kind == "check" && x.owner != "" && strip(x.owner) == strip(name) },
	} {
		var found []thing
		for _, x := range all {
			if same(x) {
				found = append(found, x)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

func fold(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// strip folds a name and drops the words people put around names.
func strip(s string) string {
	s = fold(s)
	for _, p := range []string{"the ", "our ", "my ", "system ", "group ", "check "} {
		s = strings.TrimPrefix(s, p)
	}
	for _, p := range []string{" system", " group", " check"} {
		s = strings.TrimSuffix(s, p)
	}
	return s
}

// near gives things whose names hold the words or the reverse.
func near(all []thing, name string) []thing {
	want := strip(name)
	var out []thing
	for _, x := range all {
		have := strip(x.name)
		if want != "" && have != "" && (strings.Contains(have, want) || strings.Contains(want, have)) {
			out = append(out, x)
		}
	}
	return out
}

func undecided(name, kinds string, all, found []thing, short bool) string {
	if len(found) > 1 {
		return fmt.Sprintf("%s is ambiguous, I found %d. Tell me which one, by its id if the names are the same:\n\n%s",
			quoted(name), len(found), choices(found))
	}
	text := fmt.Sprintf("I know no %s called %s.", kinds, quoted(name))
	if short {
		text += " The list was too long to see all of it, so it may exist; its id works too."
	}
	if n := near(all, name); len(n) > 0 {
		return text + " Did you mean:\n\n" + choices(n)
	}
	if len(all) == 0 {
		return text + " There is none yet that you may see."
	}
	return text + " These exist:\n\n" + choices(all)
}

func choices(things []thing) string {
	var lines []string
	for i, x := range things {
		if i == 10 {
			lines = append(lines, fmt.Sprintf("and %d more", len(things)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s (%s, id %s)", bold(x.name), x.kind, plain(x.id)))
	}
	return bullets(lines)
}
