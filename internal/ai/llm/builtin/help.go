package builtin

import (
	"regexp"
	"strings"
)

func helpIntents() []intent {
	return []intent{
		define("help", planHelp,
			"help [me]", "(what|how) can you [do|help|help with|help me with|do for me]", "what do you (do|understand|know)", "who are you", "what are you",
			"are you (an ai|a bot|human|real|chatgpt|a language model|an llm)", "commands", "examples", "how does this work", "how do i start", "get started",
			"what can i (ask|do|say|ask you)", "(hi|hello|hey|good morning|good evening|moin) [there]", "show [me] (help|examples|commands)"),
		define("thanks", func(*turn, matched) step { return answer("You are welcome.") },
			"(thanks|thank you|thx|cheers|great|perfect|nice|cool|ok|okay|good|alright)", "(thanks|thank you) (a lot|very much|so much)"),
		define("several", func(*turn, matched) step {
			return answer("One request at a time, please: I read each message as a single request. If that was part of a name or description, put it in quotes.")
		},
			"(create|add|make|new|delete|remove|rename|pause|resume|put|move|monitor|watch|set|change|update|list|show) {first} (and|and then|then) (add|create|put|delete|remove|rename|pause|resume|monitor|watch|assign|move) {second}",
			"(create|add|make|new|delete|remove|pause|resume) {first} and [a|the] [new] (system|group|check|health check) {second}"),
		define("bulk", func(*turn, matched) step {
			return answer("I change one thing at a time. Name it, for example `delete system Billing`; `list systems`, `list checks`, `list incidents` and the like show what there is. Nothing was changed.")
		},
			"(delete|remove|drop|erase|get rid of|pause|suspend|disable|stop|resume|unpause|enable|rename|resolve|close|end|finish|cancel|update|extend|move) (everything|all|every|them all|both) [of] [the|my|our] [open|active|resolved|upcoming|scheduled] [systems|checks|groups|system|check|group|health checks|monitors|incidents|incident|maintenances|maintenance]"),
		define("decide", func(*turn, matched) step {
			return answer("I cannot decide that for you. If a card is waiting, use its Apply or Decline button; otherwise tell me what to do.")
		}, "(yes|yep|yeah|sure|stop|abort|apply|apply it|apply both|apply all|approve|approve it|confirm|do it|go ahead|no|nope|cancel|decline|decline it|reject|never mind|undo|undo it)"),
	}
}

const examples = "- `what is down?` or `is Payments API ok?`\n" +
	"- `monitor https://example.com/health every 30 seconds as \"Payments API\"`\n" +
	"- `list systems`, `list checks`, `list groups`\n" +
	"- `create system Billing with description invoices and payments`\n" +
	"- `rename system Billing to Invoicing`, `delete system Invoicing`\n" +
	"- `open a critical incident on Payments API: card payments fail`, `update incident Card payments fail: we found the cause`, `resolve the Payments incident`\n" +
	"- `schedule maintenance \"DB upgrade\" for Payments API tomorrow 22:00 to 23:30`, `extend maintenance DB upgrade by 30 minutes`\n" +
	"- `schedule maintenance for Search every Sunday 02:00 to 03:00`, `move maintenance DB upgrade to Saturday`\n" +
	"- `list incidents`, `show incident Card payments fail`, `upcoming maintenances`, `cancel maintenance DB upgrade`\n" +
	"- `create group Backend`, `add Billing to group Backend`\n" +
	"- `pause check Payments API`, `change interval of check Payments API to 5 minutes`"

const connectHint = "For free conversation, add a connection to a language model in the settings."

func planHelp(*turn, matched) step {
	return answer("I am the built-in assistant, no language model. I understand a fixed set of requests about your systems, health checks, incidents and maintenances, for example:\n\n" +
		examples + "\n\nI change nothing by surprise: in approve mode each change waits for your decision, and a deletion always does.\n\n" + connectHint)
}

func notUnderstood(command string) string {
	if strings.TrimSpace(command) == "" {
		return "I am the built-in assistant, no language model. Ask me something like:\n\n" + examples + "\n\n" + connectHint
	}
	return "I did not understand that. I am the built-in assistant, no language model, and understand requests like these:\n\n" + examples + "\n\n" + connectHint
}

var (
	decisionPattern = regexp.MustCompile(`\b(APPLIED|DECLINED|FAILED)\b`)
	// The summary runs from the first mark to the last, since the names in it
	// may hold marks themselves.
	summaryPattern = regexp.MustCompile(`["“](.+)["”]`)
)

// decision answers the server's note about what the operator decided. The
// verdict is looked for outside the summary, which holds foreign names.
func decision(text string) (step, bool) {
	if !strings.Contains(strings.ToLower(text), "operator") {
		return step{}, false
	}
	what, verdict := "the change", decisionPattern.FindString(text)
	if s := summaryPattern.FindStringSubmatchIndex(text); s != nil {
		what = quoted(text[s[2]:s[3]])
		if v := decisionPattern.FindString(text[:s[0]] + " " + text[s[1]:]); v != "" {
			verdict = v
		}
	}
	switch verdict {
	case "":
		return step{}, false
	case "APPLIED":
		return answer("Done: " + what + " is applied and live now. Ask `status` to see how things stand."), true
	case "FAILED":
		return answer("It did not work: " + what + " could not be applied. Ask `status` to see how things stand, then try again."), true
	}
	return answer("Understood: " + what + " was declined, so nothing was created or changed by it. Tell me what to adjust, or leave it as it is."), true
}
