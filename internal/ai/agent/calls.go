package agent

import (
	"context"
	"encoding/json"
	"errors"
	"sync"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/problem"
)

// parallelReads bounds the reads of one step that run at the same time.
const parallelReads = 6

// entry is a call of this turn that others may repeat. A failed one is taken
// out again, so that a corrected or later try is allowed.
type entry struct {
	read   bool
	done   chan struct{}
	output json.RawMessage
	err    error
}

// runCalls runs the calls of one round: reads side by side, changes one after
// another, in the order the model asked. It gives one result per call, and
// whether a change was among them.
func (t *turn) runCalls(ctx context.Context, calls []llm.ToolCall) (results []llm.Message, changes bool) {
	results = make([]llm.Message, len(calls))
	slots := make(chan struct{}, parallelReads)
	var reads sync.WaitGroup
	for i, c := range calls {
		part := t.partOf(c)
		results[i] = llm.Message{Role: llm.RoleTool, ToolCallID: c.ID, ToolName: c.Name}
		prepared, err := t.admit(ctx, part, c)
		if err != nil {
			t.answer(ctx, &results[i], part, nil, nil, err)
			continue
		}
		if prepared.Disposition() != proposal.AutoRun {
			reads.Wait()
			changes = true
			t.change(ctx, &results[i], part, prepared)
			continue
		}
		mine, e := t.claim(prepared)
		reads.Go(func() {
			if !mine {
				// The first result answers the repeat too.
				select {
				case <-e.done:
				case <-ctx.Done():
					t.answer(ctx, &results[i], part, nil, nil, ctx.Err())
					return
				}
				t.answer(ctx, &results[i], part, e.output, e.output, e.err)
				return
			}
			select {
			case slots <- struct{}{}:
				e.output, e.err = t.read(ctx, part, prepared)
				<-slots
			case <-ctx.Done():
				e.err = ctx.Err()
			}
			if e.err != nil {
				t.release(prepared)
			}
			close(e.done)
			t.answer(ctx, &results[i], part, e.output, e.output, e.err)
		})
	}
	reads.Wait()
	return results, changes
}

// admit shows the call and checks it.
func (t *turn) admit(ctx context.Context, part int, c llm.ToolCall) (*proposal.Call, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	input, err := t.s.gate.Redact(c.Name, c.Arguments)
	if err != nil {
		input = json.RawMessage("{}")
	}
	t.mu.Lock()
	t.parts[part].Input = input
	t.mu.Unlock()
	prepared, err := t.s.gate.Prepare(ctx, c.Name, c.Arguments, t.conv.mode())
	if err != nil {
		return nil, err
	}
	if err := t.headless.admit(prepared.Tool()); err != nil {
		return nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.parts[part]
	p.ToolName, p.State = prepared.Tool().Name(), stateRunning
	t.changed = true
	t.out.send(frame{Type: "tool-input-available", ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: true, Input: input})
	return prepared, nil
}

// claim takes the call's key before anything waits; mine is false when the
// turn has made this call before.
func (t *turn) claim(c *proposal.Call) (mine bool, e *entry) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.seen[c.Key()]; ok {
		return false, e
	}
	e = &entry{read: c.Disposition() == proposal.AutoRun, done: make(chan struct{})}
	t.seen[c.Key()] = e
	return true, e
}

func (t *turn) release(c *proposal.Call) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, c.Key())
}

func (t *turn) callID(part int) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.parts[part].ToolCallID
}

func (t *turn) origin(part int) proposal.Origin {
	return proposal.Origin{ID: t.callID(part), Transport: t.transport, ConversationID: t.conv.ID}
}

// read runs a read and gives the lean, scrubbed and clamped result, which the
// person and the model both get.
func (t *turn) read(ctx context.Context, part int, c *proposal.Call) (json.RawMessage, error) {
	out, err := t.s.gate.Execute(ctx, c, t.origin(part))
	if err != nil {
		return nil, err
	}
	asks := c.Tool().Name() == askTool
	if asks {
		t.mu.Lock()
		t.asked = true
		t.mu.Unlock()
	}
	return t.present(c.Tool().Lean(out.Result), asks)
}

// askTool puts a question to the person and thereby ends the turn; the answer
// is the next message. Its result alone may look like a question card.
const askTool = "ai.askOperator"

func (t *turn) present(result any, asks bool) (json.RawMessage, error) {
	v, err := scrub.Any(result)
	if err != nil {
		return nil, err
	}
	return json.Marshal(clamp(noCard(v, asks), clampBudget(t.conn.ContextTokens)))
}

// change proposes or applies. A repeat within the turn does neither.
func (t *turn) change(ctx context.Context, m *llm.Message, part int, c *proposal.Call) {
	mine, e := t.claim(c)
	if !mine {
		t.answer(ctx, m, part, nil, nil, &duplicateError{mode: t.conv.mode()})
		return
	}
	close(e.done) // nobody waits for a change
	shown, model, err := t.makeChange(ctx, part, c)
	if err != nil {
		t.release(c)
	}
	t.answer(ctx, m, part, shown, model, err)
}

func (t *turn) makeChange(ctx context.Context, part int, c *proposal.Call) (shown, model json.RawMessage, err error) {
	out, err := t.s.gate.Execute(ctx, c, t.origin(part))
	if err != nil {
		return nil, nil, err
	}
	p := out.Proposal
	if out.Disposition == proposal.AutoApply {
		t.forgetReads()
		result, err := t.present(out.Result, false)
		if err != nil {
			return nil, nil, err
		}
		card := appliedCard{Applied: true, ToolName: p.ToolName, Effect: p.Effect, Summary: p.Summary, ToolCallID: p.ID,
			Result: result, Diff: p.Diff, Note: appliedNote}
		if shown, err = json.Marshal(card); err != nil {
			return nil, nil, err
		}
		card.Note = ""
		model, err = json.Marshal(card)
		return shown, model, err
	}
	card := newConfirmCard(p)
	if shown, err = json.Marshal(card); err != nil {
		return nil, nil, err
	}
	model, err = json.Marshal(card.forModel())
	return shown, model, err
}

// forgetReads makes the next read look again: something has changed.
func (t *turn) forgetReads() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for k, e := range t.seen {
		if e.read {
			delete(t.seen, k)
		}
	}
}

// answer closes a call: a frame for the person, a message for the model.
func (t *turn) answer(ctx context.Context, m *llm.Message, part int, shown, model json.RawMessage, err error) {
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		p := &t.parts[part]
		p.State, p.Output = stateOutput, shown
		t.changed = true
		t.out.send(frame{Type: "tool-output-available", ToolCallID: p.ToolCallID, Dynamic: true, Output: shown})
		m.Text = string(model)
		return
	}
	forPerson, forModel, note := t.refusal(ctx, m.ToolName, err)
	m.Text, m.Note, m.IsError = forModel, note, true
	t.failInput(part, forPerson)
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.parts[part]
	if p.State == stateError {
		return
	}
	p.State, p.ErrorText = stateError, forPerson
	t.changed = true
	t.out.send(frame{Type: "tool-output-error", ToolCallID: p.ToolCallID, Dynamic: true, ErrorText: forPerson})
}

// refusal words a failed call for the person and for the model, and logs what
// is a fault of ours. What the tool said and what we say about it reach the
// model apart: the former may hold foreign text.
func (t *turn) refusal(ctx context.Context, toolName string, err error) (forPerson, forModel, note string) {
	var dup *duplicateError
	if errors.As(err, &dup) {
		return dup.Error(), "duplicate_call", dup.forModel()
	}
	if p, ok := problem.As(err); ok {
		text := scrub.Prose(p.Error())
		if errors.Is(err, proposal.ErrFailed) {
			return text, text, "It was tried and failed; tell the operator, and look at the present state before you try anything again."
		}
		if p.Kind == problem.KindInvalid {
			return text, validationIssues(toolName, p), validationNote
		}
		return text, text, ""
	}
	switch {
	case errors.Is(err, context.Canceled):
		return stoppedText, stoppedText, ""
	case errors.Is(err, context.DeadlineExceeded):
		return "It took too long and was stopped", "The tool took too long and was stopped.", "Nothing is known about its result."
	}
	t.s.log.ErrorContext(ctx, "tool call failed", "tool", toolName, "conversation_id", t.conv.ID, "error", err)
	text := "Something went wrong on the server while this ran; its log says what"
	return text, text, "Do not call it again with the same arguments; tell the operator."
}
