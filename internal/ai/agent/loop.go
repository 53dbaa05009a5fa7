package agent

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
)

// maxSteps is how many model rounds a turn has. The last one is offered no
// tools and must answer.
const maxSteps = 16

// run plays rounds until one makes no call.
func (t *turn) run(ctx context.Context) error {
	if t.stored != nil {
		if rest := t.compact(ctx, t.stored); len(rest) != len(t.stored) {
			t.history, t.first = append(replay(rest), t.last), nil
		}
	}
	for step := range t.maxSteps {
		more, err := t.step(ctx, step)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (t *turn) step(ctx context.Context, step int) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	forced := step == t.maxSteps-1
	t.beginStep()
	defer t.out.send(frame{Type: "finish-step"})

	round, err := t.round(ctx, step, forced)
	t.closeText()
	if forced {
		// Calls that nobody offered are not run and not remembered.
		round.ToolCalls = nil
	}
	// What the guard refuses was never run, shown or remembered.
	if gerr := t.decided(ctx); gerr != nil && err == nil {
		err = gerr
	}
	if err != nil || round.Truncated {
		reason := cutText
		if ctx.Err() != nil {
			reason = stoppedText
		}
		t.dropCalls(reason)
		round.ToolCalls = nil
	}
	t.endRound(round)
	switch {
	case err != nil:
		return false, err
	case round.Truncated && len(round.CutCalls) > 0 && !forced && !t.toldCut:
		t.toldCut = true
		t.add(llm.Message{Role: llm.RoleUser, Text: cutNote(round.CutCalls)})
		return true, nil
	case round.Truncated:
		t.say(truncatedText(round.FinishReason, len(round.CutCalls) > 0))
		return false, nil
	case len(round.ToolCalls) == 0:
		if strings.TrimSpace(round.Text) == "" {
			t.say(noAnswerText)
		}
		return false, nil
	}
	results, changes := t.runCalls(ctx, round.ToolCalls)
	t.add(results...)
	if changes {
		// A process that dies now must not leave a change that nobody sees.
		t.save(ctx)
	}
	return !t.asked, ctx.Err()
}

// round asks the model once and streams what comes.
func (t *turn) round(ctx context.Context, step int, forced bool) (llm.Round, error) {
	var req llm.Request
	if step == 0 && t.first != nil && !forced {
		req = *t.first
	} else {
		req = t.request(forced)
	}
	if step > 0 { // the first was reserved before the turn began
		if err := t.reserve(ctx, req); err != nil {
			return llm.Round{}, err
		}
	}
	t.mu.Lock()
	t.asking = &req
	t.mu.Unlock()
	return t.model.Stream(ctx, req, func(e llm.Event) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		switch e := e.(type) {
		case llm.TextDelta:
			t.write(e.Text)
		case llm.ToolCallStart:
			if !forced {
				t.startCall(e.ID, e.Name)
			}
		}
		return nil
	})
}

// request is what a round is asked with.
func (t *turn) request(forced bool) llm.Request {
	var messages []llm.Message
	if note := t.notes.message(t.fencedText); note != "" {
		messages = append(messages, llm.Message{Role: llm.RoleUser, Text: note})
	}
	t.mu.Lock()
	messages = append(append(messages, t.history...), t.added...)
	t.mu.Unlock()
	req := llm.Request{
		Model:  t.modelID,
		System: t.system(forced),
		Turn:   llm.TurnContext{Now: t.now, Zone: t.zone, Mode: t.conv.PermissionMode, Forced: forced},
	}
	if !forced {
		req.Tools = make([]llm.ToolDef, 0, len(t.tools))
		for _, tl := range t.tools {
			req.Tools = append(req.Tools, t.s.toolDef(tl))
		}
	}
	req.Messages = t.fit(req, t.fenced(llm.Normalize(messages)))
	return req
}

// fenced gives the messages as a provider gets them: what tools said, errors
// too, between marks that their text cannot forge, and what we have to say
// about it behind them. The built-in assistant reads results itself and obeys none.
func (t *turn) fenced(messages []llm.Message) []llm.Message {
	if t.conn.builtin() {
		return messages
	}
	for i, m := range messages {
		if m.Role != llm.RoleTool {
			continue
		}
		text := t.fencedText(m.Text)
		if m.IsError {
			messages[i].Text = text
			continue
		}
		if tl, ok := t.s.tools.Get(m.ToolName); ok && tl.Effect() != tool.Read {
			text += "\n" + cardNote(json.RawMessage(m.Text))
		}
		messages[i].Text = text
	}
	return messages
}

// cardNote is what the model has to know about a change that it asked for.
func cardNote(output json.RawMessage) string {
	var card struct {
		Confirm  bool   `json:"__confirm"`
		Status   string `json:"status"`
		Outdated bool   `json:"outdated"`
	}
	if json.Unmarshal(output, &card) != nil || !card.Confirm {
		return appliedNote
	}
	switch proposal.Status(card.Status) {
	case proposal.Applied, proposal.Applying:
		return appliedNote
	case proposal.Rejected:
		return declinedNote
	case proposal.Expired:
		return expiredNote
	case proposal.Failed:
		if card.Outdated {
			return outdatedNote
		}
		return failedNote
	}
	return confirmNote
}

func (t *turn) fencedText(text string) string {
	return "<" + t.fence + ">\n" + text + "\n</" + t.fence + ">"
}
