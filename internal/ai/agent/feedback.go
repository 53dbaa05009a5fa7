package agent

import (
	"fmt"
	"log/slog"
	"strings"
	"unicode"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/problem"
)

const (
	cutText      = "The model's answer was cut off before this call was complete; nothing was run"
	stoppedText  = "Stopped before it finished"
	noAnswerText = "I have used all my steps without reaching an answer. Ask again, if possible for one thing at a time."
)

// cutNote tells the model, once per turn, that calls were lost.
func cutNote(cut []llm.CutCall) string {
	names := make([]string, len(cut))
	for i, c := range cut {
		names[i] = shortName(c.Name)
	}
	return "[Note from Checkstack] Your answer was cut off before these calls were complete: " + strings.Join(names, ", ") +
		". None of them was run and nothing was changed. Call again, one tool at a time with short arguments, or answer without them."
}

// truncatedText tells the person why an answer ends early.
func truncatedText(finish string, calls bool) string {
	why := "The answer ends here because the model reached its output limit."
	if finish == llm.FinishContentFilter {
		why = "The answer ends here because the provider's content filter stopped it."
	}
	if calls {
		why += " A tool call was cut off with it and was not run."
	}
	return why
}

// validationIssues lists what is wrong with the model's draft. All issues are
// in the text: what stands beside it does not reach every model.
func validationIssues(toolName string, p *problem.Error) string {
	var b strings.Builder
	fmt.Fprintf(&b, "validation_failed: the call of %s was not accepted: %s.", shortName(toolName), p.Message)
	for _, is := range p.Issues {
		at := is.Path
		if at == "" {
			at = "(whole input)"
		}
		fmt.Fprintf(&b, "\n- %s: %s", at, is.Message)
	}
	return scrub.Text(b.String())
}

const validationNote = "Fix every issue and call the tool again. Nothing was proposed or applied. Do not tell the operator that it is done. When a value is missing, ask the operator for it instead of inventing one."

// duplicateError says that the turn has made this change before.
type duplicateError struct{ mode proposal.Mode }

// Error is for the person.
func (e *duplicateError) Error() string { return "Already handled in this turn; it was not done twice" }

func (e *duplicateError) forModel() string {
	if e.mode == proposal.Auto {
		return "This very change was already handled earlier in this turn. Do not call the tool again for it; confirm briefly what changed, or that its card waits for the operator."
	}
	return "This very change was already proposed earlier in this turn and its card waits for the operator. Do not call the tool again for it; tell the operator that you are waiting."
}

// decision is what the operator decided about a card.
type decision struct {
	rec   *proposal.Record
	apply bool
}

// note tells the model of the decision. It is made of the stored proposal
// alone. The summary holds names that others gave, so it is fenced, or quoted
// when fenced is nil.
func (d *decision) note(fenced func(string) string) string {
	what := strings.Join(strings.Fields(strings.ReplaceAll(d.rec.Summary, `"`, "'")), " ")
	switch {
	case what == "":
		what = fmt.Sprintf("the change with the tool %q", d.rec.ToolName)
	case fenced == nil:
		what = fmt.Sprintf("the change %q", what)
	default:
		what = fmt.Sprintf("the change with the tool %q, whose summary is\n%s\n", d.rec.ToolName, fenced(what))
	}
	if d.apply {
		return fmt.Sprintf("[Note from Checkstack] The operator approved %s. It was APPLIED and is live now. "+
			"Confirm it in one or two sentences and suggest a sensible next step. Do not propose it again.", what)
	}
	return fmt.Sprintf("[Note from Checkstack] The operator DECLINED %s. Nothing was changed. "+
		"Acknowledge it and ask what to adjust. Do not propose it again unless asked.", what)
}

// failureAttrs describes a failed round for the log. A provider's error may
// repeat what it was sent.
func failureAttrs(err error) []slog.Attr {
	attrs := llm.LogAttrs(err)
	for i, a := range attrs {
		if a.Value.Kind() == slog.KindString {
			attrs[i].Value = slog.StringValue(scrub.Prose(a.Value.String()))
		}
	}
	return attrs
}

// shortName makes a name that the model wrote fit to show.
func shortName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) { // controls, and what turns the direction of writing
			return -1
		}
		return r
	}, name)
	if r := []rune(name); len(r) > 64 {
		return string(r[:64]) + "…"
	}
	if name == "" {
		return "tool"
	}
	return name
}
