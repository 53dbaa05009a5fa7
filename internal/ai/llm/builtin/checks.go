package builtin

import (
	"fmt"
	"strings"
)

func checkIntents() []intent {
	return []intent{
		define("check interval", planInterval,
			"(change|set|update|make) [the] [check] (interval|frequency|period|schedule) (of|for) [the] [check|health check] {check} to [every] {interval}",
			"(change|set|update|make) [the] [check|health check] {check} (interval|frequency|period) to [every] {interval}",
			"(run|execute|do|repeat) [the] [check|health check] {check} every {interval}",
			"(let|make|have) [the] [check|health check] {check} run every {interval}",
			"(change|set|update) [the] [check|health check] {check} to (every|run every) {interval}",
			"(change|set|update) [the] (check|health check) {check} to {interval}",
			"check {check} every {interval}"),
		define("pause check", planPause(true),
			"(pause|suspend|halt|disable|mute) [the] (check|health check|monitor|monitoring) [for|of|on|called|named] {check}",
			"(pause|suspend|halt|disable|mute) [the] {check} (check|health check|monitor)",
			"(pause|suspend|halt|disable|mute) [the] [monitoring of|monitoring for] {check}",
			"stop (monitoring|watching|checking|the check|check) {check}"),
		define("resume check", planPause(false),
			"(resume|unpause|continue|enable|reactivate|unmute|restart) [the] (check|health check|monitor|monitoring) [for|of|on|called|named] {check}",
			"(resume|unpause|continue|enable|reactivate|unmute|restart) [the] {check} (check|health check|monitor)",
			"(resume|unpause|continue|reactivate|unmute) [the] [monitoring of|monitoring for|monitoring|watching|checking] {check}"),
		define("rename check", planRename("check"), "rename [the] (check|health check|monitor) {name} (to|as|into) {new}"),
		define("delete check", planDelete("check"),
			"(delete|remove|drop|get rid of|erase) [the] (check|health check|healthcheck|monitor) [called|named|with id] {name}",
			"(delete|remove|drop|get rid of|erase) [the] {name} (check|health check|healthcheck|monitor)"),
		define("list checks", planListChecks,
			"(list|show|display|get|give|print|what are|see|view) [me] [all] [of] [the|my|our] (checks|health checks|healthchecks|monitors)",
			"[all|my|our] (checks|health checks|healthchecks|monitors)",
			"(what|which|how many) (checks|health checks|healthchecks|monitors) [are there|do we have|do i have|exist|are running|are configured]",
			"what (is monitored|is watched|is being monitored|is being watched|do we monitor|do you monitor|are we monitoring|are you monitoring|are you watching)"),
	}
}

func planInterval(t *turn, m matched) step {
	seconds, err := parseInterval(m.get("interval"))
	if err != nil {
		return answer("I cannot use that interval. " + err.Error() + ".")
	}
	c, s := t.find(m.get("check"), "check")
	if s != nil {
		return *s
	}
	return t.change("", call{"healthcheck_update", args{"id": c.id, "body": args{"intervalSeconds": seconds}},
		fmt.Sprintf("Run check “%s” %s", c.name, every(seconds))})
}

func planPause(paused bool) func(*turn, matched) step {
	verb := "Resume"
	if paused {
		verb = "Pause"
	}
	return func(t *turn, m matched) step {
		c, s := t.find(m.get("check"), "check")
		if s != nil {
			return *s
		}
		return t.change("", call{"healthcheck_update", args{"id": c.id, "body": args{"paused": paused}}, verb + " check “" + c.name + "”"})
	}
}

func planListChecks(t *turn, _ matched) step {
	results, s := t.need(listChecks)
	if s != nil {
		return *s
	}
	if !results[0].has("checks") {
		return answer("I could not read the list of checks: its answer has an unexpected form.")
	}
	checks := results[0].checks()
	if len(checks) == 0 {
		return answer(nothingWatched)
	}
	var lines []string
	for _, c := range checks {
		line := bold(c.name)
		if c.system != "" {
			line += " on " + bold(c.system)
		}
		line += ": " + c.state()
		if c.interval > 0 {
			line += ", " + every(c.interval)
		}
		if at := t.since(c.lastRun); at != "" {
			line += ", last run " + at
		}
		lines = append(lines, line)
	}
	return answer(listing(plural(len(checks), "check"), lines, results[0].cutShort()))
}

// state words a check's status.
func (c check) state() string {
	switch {
	case c.paused:
		return "paused"
	case c.status == "":
		return "no result yet"
	}
	return plain(c.status)
}

// listing shows a list with its heading, at most maxListed lines of it.
func listing(heading string, lines []string, short bool) string {
	more := ""
	if len(lines) > maxListed {
		more = fmt.Sprintf("\n\nand %d more.", len(lines)-maxListed)
		lines = lines[:maxListed]
	}
	if short {
		heading = "The first " + heading + ", the list is too long to see all of it"
	}
	return strings.TrimSpace(heading + ":\n\n" + bullets(lines) + more)
}
