package builtin

import "regexp"

// intent is one thing the assistant understands: the ways to say it, and the
// plan that does it.
type intent struct {
	name     string
	patterns []*regexp.Regexp
	// accept refuses a match whose slots do not fit; nil accepts all.
	accept func(matched) bool
	plan   func(*turn, matched) step
	// verbatim intents take over what the person wrote; see pattern.go.
	verbatim bool
}

func define(name string, plan func(*turn, matched) step, patterns ...string) intent {
	in := intent{name: name, plan: plan}
	for _, p := range patterns {
		in.patterns = append(in.patterns, compile(p))
	}
	return in
}

func (in intent) when(accept func(matched) bool) intent {
	in.accept = accept
	return in
}

// prose makes the intent verbatim.
func (in intent) prose() intent {
	in.verbatim = true
	return in
}

// intents in order: the first match wins, so the special stand before the
// general.
var intents = concat(itIntents(), incidentIntents(), maintenanceIntents(), helpIntents(), monitorIntents(), checkIntents(), groupIntents(), systemIntents(), statusIntents())

func concat(lists ...[]intent) []intent {
	var out []intent
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}
