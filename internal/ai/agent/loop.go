package agent

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/tool"
)

// maxSteps is how many model rounds a turn has. The last one is offered no
// tools and must answer.
const maxSteps = 16

// turn is one turn while it runs.
type turn struct {
	s       *Service
	conv    *Conversation
	conn    *Connection
	model   llm.Model
	modelID string
	history []llm.Message
	tools   []tool.Tool
	now     time.Time
	zone    *time.Location
	idle    time.Duration // since the conversation's last activity; 0 when it does not matter
	fence   string        // the mark around tool results, new in each turn
	out     *stream

	mu    sync.Mutex // guards parts and seen: reads of one step run side by side
	parts []Part
	seen  map[string]*entry

	text    int            // index of the open text part, -1 when none is open
	textID  string         // its id in the stream
	calls   map[string]int // part of each call of this round, by the model's id
	added   []llm.Message  // what the turn adds to the history
	usage   llm.Usage
	toldCut bool
}

// run plays rounds until one makes no call.
func (t *turn) run(ctx context.Context) error {
	for step := range maxSteps {
		more, err := t.step(ctx, step == maxSteps-1)
		if err != nil || !more {
			return err
		}
	}
	return nil
}

func (t *turn) step(ctx context.Context, forced bool) (more bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	t.parts = append(t.parts, Part{Type: partStep})
	t.out.send(frame{Type: "start-step"})
	defer t.out.send(frame{Type: "finish-step"})

	round, err := t.round(ctx, forced)
	t.usage = t.usage.Add(round.Usage)
	t.closeText()
	if forced {
		// Calls that nobody offered are not run and not remembered.
		round.ToolCalls = nil
	}
	if err != nil || round.Truncated {
		reason := cutText
		if ctx.Err() != nil {
			reason = stoppedText
		}
		t.dropCalls(reason)
		round.ToolCalls = nil
	}
	if strings.TrimSpace(round.Text) != "" || len(round.ToolCalls) > 0 {
		t.added = append(t.added, round.Message())
	}
	switch {
	case err != nil:
		return false, err
	case round.Truncated && len(round.CutCalls) > 0 && !forced && !t.toldCut:
		t.toldCut = true
		t.added = append(t.added, llm.Message{Role: llm.RoleUser, Text: cutNote(round.CutCalls)})
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
	t.added = append(t.added, t.runCalls(ctx, round.ToolCalls)...)
	return true, ctx.Err()
}

// round asks the model once and streams what comes.
func (t *turn) round(ctx context.Context, forced bool) (llm.Round, error) {
	t.calls = map[string]int{}
	req := llm.Request{
		Model:    t.modelID,
		System:   t.system(forced),
		Messages: t.fenced(llm.Normalize(append(append([]llm.Message(nil), t.history...), t.added...))),
		Turn:     llm.TurnContext{Now: t.now, Zone: t.zone, Mode: t.conv.PermissionMode, Forced: forced},
	}
	if !forced {
		for _, tl := range t.tools {
			req.Tools = append(req.Tools, t.s.toolDef(tl))
		}
	}
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

// write appends streamed text. White space before the first word opens no
// part: models like to send some before a call.
func (t *turn) write(delta string) {
	if t.text < 0 {
		if delta = strings.TrimLeft(delta, " \t\r\n"); delta == "" {
			return
		}
		t.text = len(t.parts)
		t.textID = uuid.Must(uuid.NewV7()).String()
		t.parts = append(t.parts, Part{Type: partText, State: stateDone})
		t.out.send(frame{Type: "text-start", ID: t.textID})
	}
	t.parts[t.text].Text += delta
	t.out.send(frame{Type: "text-delta", ID: t.textID, Delta: delta})
}

func (t *turn) closeText() {
	if t.text >= 0 {
		t.out.send(frame{Type: "text-end", ID: t.textID})
		t.text = -1
	}
}

// say adds a text of ours.
func (t *turn) say(text string) {
	t.write(text)
	t.closeText()
}

// startCall opens the part of a call. Its id is ours: a provider may use one
// twice.
func (t *turn) startCall(modelID, name string) int {
	t.closeText()
	if tl, ok := t.s.tools.Get(name); ok {
		name = tl.Name()
	} else {
		name = shortName(name)
	}
	p := Part{Type: partTool, ToolName: name, ToolCallID: uuid.Must(uuid.NewV7()).String(), State: stateInput, Input: json.RawMessage("{}")}
	t.mu.Lock()
	t.parts = append(t.parts, p)
	i := len(t.parts) - 1
	t.mu.Unlock()
	t.calls[modelID] = i
	t.out.send(frame{Type: "tool-input-start", ToolCallID: p.ToolCallID, ToolName: name, Dynamic: true})
	return i
}

// dropCalls closes the calls of a round that will not be run.
func (t *turn) dropCalls(reason string) {
	for _, i := range t.calls {
		t.failInput(i, reason)
	}
}

// failInput closes a part whose arguments are of no use.
func (t *turn) failInput(i int, reason string) {
	t.mu.Lock()
	p := &t.parts[i]
	if p.State != stateInput {
		t.mu.Unlock()
		return
	}
	p.State, p.ErrorText = stateError, reason
	f := frame{Type: "tool-input-error", ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: true, Input: p.Input, ErrorText: reason}
	t.mu.Unlock()
	t.out.send(f)
}

// fenced gives the messages as a provider gets them: tool results between marks
// that their text cannot forge, and what we have to say about a change behind
// them. The built-in assistant reads results itself and obeys none.
func (t *turn) fenced(messages []llm.Message) []llm.Message {
	if t.conn.builtin() {
		return messages
	}
	for i, m := range messages {
		if m.Role != llm.RoleTool || m.IsError {
			continue
		}
		text := "<" + t.fence + ">\n" + m.Text + "\n</" + t.fence + ">"
		if tl, ok := t.s.tools.Get(m.ToolName); ok && tl.Effect() != tool.Read {
			if isCard(json.RawMessage(m.Text)) {
				text += "\n" + confirmNote
			} else {
				text += "\n" + appliedNote
			}
		}
		messages[i].Text = text
	}
	return messages
}

// finish stores what the turn showed and used. It works for a browser that has
// gone, and never fails the turn.
func (t *turn) finish(ctx context.Context, messageID string, failure error) {
	stopped := failure != nil && (ctx.Err() != nil || errors.Is(failure, context.Canceled))
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	t.s.recordSpend(ctx, principalOf(ctx), t.conn, t.conv.ID, t.modelID, t.usage)

	m := Message{ID: messageID, Role: llm.RoleAssistant, Text: visibleText(t.parts), Stopped: stopped, CreatedAt: t.s.now(), model: t.added}
	shown := false
	for _, p := range t.parts {
		shown = shown || p.Type != partStep
	}
	if !shown {
		return
	}
	if failure != nil && !stopped {
		m.Error = llm.UserText(failure)
	}
	var err error
	if m.Parts, err = storedParts(t.parts); err == nil {
		err = t.s.appendMessage(ctx, t.conv.ID, m, used{})
	}
	if err != nil {
		t.s.log.ErrorContext(ctx, "assistant message could not be stored", "conversation_id", t.conv.ID, "error", err)
	}
}
