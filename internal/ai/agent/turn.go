package agent

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
)

// turn is one turn while it runs, in the chat or without a person.
type turn struct {
	s         *Service
	who       authz.Principal
	id        string        // of the message it writes
	conv      *Conversation // one without id when nobody talks
	conn      *Connection
	model     llm.Model
	modelID   string
	transport proposal.Transport
	maxSteps  int
	stored    []Message   // what the conversation holds
	last      llm.Message // what the turn answers
	history   []llm.Message
	first     *llm.Request // what the first round is asked with, when it is known already
	tools     []tool.Tool
	now       time.Time
	zone      *time.Location
	idle      time.Duration // since the conversation's last activity; 0 when it does not matter
	fence     string        // the mark around foreign text, new in each turn
	notes     notes
	out       *stream
	question  string    // the person's words; empty in a decision turn
	answers   *answered // the decision of a decision turn
	guarded   bool      // the topic guard looks at question
	title     bool      // the conversation has none yet
	headless  *headless
	verdict   chan struct{} // closed when the guard has decided; nil without one
	ledger    ledger

	mu       sync.Mutex // guards what follows: reads of one step run side by side, and the turn is saved while it runs
	parts    []Part
	text     int // index of the open text part, -1 when none is open
	textID   string
	open     strings.Builder // text of the open part
	flow     scrub.Flow      // what it is scrubbed with
	seen     map[string]*entry
	added    []llm.Message // what the turn adds to the history
	usage    llm.Usage     // of the finished rounds
	changed  bool          // since it was saved last
	round0   int           // index of the first part of this round
	asking   *llm.Request  // what the running round was asked with
	asked    bool          // a question to the person ends the turn
	toldCut  bool
	callPart map[string]int // part of each call of this round, by the model's id
}

// newTurn gives a turn whose caller sets what it is about.
func (s *Service) newTurn(who authz.Principal, conv *Conversation, conn *Connection) (*turn, error) {
	fence, err := newFence()
	if err != nil {
		return nil, err
	}
	return &turn{s: s, who: who, id: uuid.Must(uuid.NewV7()).String(), conv: conv, conn: conn, transport: proposal.Chat, maxSteps: maxSteps,
		tools: s.tools.For(who), now: s.now(), zone: s.zone, fence: fence, seen: map[string]*entry{}, text: -1}, nil
}

// newFence gives a mark that no text can hold, since it is made after them.
func newFence() (string, error) {
	var b [6]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("random mark: %w", err)
	}
	return "data-" + hex.EncodeToString(b[:]), nil
}

// write appends streamed text, without credentials: what is shown is what is
// stored.
func (t *turn) write(delta string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.show(t.flow.Write(delta))
}

// show needs the lock. White space before the first word opens no part: models
// like to send some before a call.
func (t *turn) show(delta string) {
	if delta == "" {
		return
	}
	if t.text < 0 {
		if delta = strings.TrimLeft(delta, " \t\r\n"); delta == "" {
			return
		}
		t.text = len(t.parts)
		t.textID = uuid.Must(uuid.NewV7()).String()
		t.parts = append(t.parts, Part{Type: partText, State: stateDone})
		t.out.send(frame{Type: "text-start", ID: t.textID})
	}
	t.open.WriteString(delta)
	t.changed = true
	t.out.delta(t.textID, delta)
}

func (t *turn) closeText() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeTextLocked()
}

func (t *turn) closeTextLocked() {
	t.show(t.flow.Close())
	if t.text < 0 {
		return
	}
	t.parts[t.text].Text = t.open.String()
	t.open.Reset()
	t.out.send(frame{Type: "text-end", ID: t.textID})
	t.text = -1
}

// say adds a text of ours.
func (t *turn) say(text string) {
	t.write(text)
	t.closeText()
}

// beginStep opens a round.
func (t *turn) beginStep() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.round0 = len(t.parts)
	t.asking = &llm.Request{}
	t.callPart = map[string]int{}
	t.parts = append(t.parts, Part{Type: partStep})
	t.out.send(frame{Type: "start-step"})
}

// startCall opens the part of a call. Its id is ours: a provider may use one
// twice.
func (t *turn) startCall(modelID, name string) int {
	if tl, ok := t.s.tools.Get(name); ok {
		name = tl.Name()
	} else {
		name = scrub.Text(shortName(name))
	}
	p := Part{Type: partTool, ToolName: name, ToolCallID: uuid.Must(uuid.NewV7()).String(), State: stateInput, Input: json.RawMessage("{}")}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closeTextLocked()
	t.parts = append(t.parts, p)
	i := len(t.parts) - 1
	t.callPart[modelID] = i
	t.changed = true
	t.out.send(frame{Type: "tool-input-start", ToolCallID: p.ToolCallID, ToolName: name, Dynamic: true})
	return i
}

// partOf gives the part of a call, opening it when the provider announced none.
func (t *turn) partOf(c llm.ToolCall) int {
	t.mu.Lock()
	i, ok := t.callPart[c.ID]
	t.mu.Unlock()
	if !ok {
		i = t.startCall(c.ID, c.Name)
	}
	return i
}

// dropCalls closes the calls of a round that will not be run.
func (t *turn) dropCalls(reason string) {
	t.mu.Lock()
	open := make([]int, 0, len(t.callPart))
	for _, i := range t.callPart {
		open = append(open, i)
	}
	t.mu.Unlock()
	slices.Sort(open)
	for _, i := range open {
		t.failInput(i, reason)
	}
}

// failInput closes a part whose arguments are of no use.
func (t *turn) failInput(i int, reason string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := &t.parts[i]
	if p.State != stateInput {
		return
	}
	p.State, p.ErrorText = stateError, reason
	t.changed = true
	t.out.send(frame{Type: "tool-input-error", ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: true, Input: p.Input, ErrorText: reason})
}

// add appends to what the turn adds to the history.
func (t *turn) add(messages ...llm.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.added = append(t.added, messages...)
	t.changed = true
}

// endRound takes over what a round gave.
func (t *turn) endRound(round llm.Round) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.usage = t.usage.Add(round.Usage)
	t.asking = nil
	if strings.TrimSpace(round.Text) != "" || len(round.ToolCalls) > 0 {
		m := round.Message()
		m.Text = scrub.Prose(m.Text) // as it was shown
		t.added = append(t.added, m)
	}
	t.changed = true
}

// snapshot is a turn as it is now.
type snapshot struct {
	parts []Part
	added []llm.Message
	usage llm.Usage
}

// snapshot copies what the person has seen so far and what the history gains by
// it, including the text of a round that still runs.
func (t *turn) snapshot() snapshot {
	t.mu.Lock()
	defer t.mu.Unlock()
	snap := snapshot{parts: slices.Clone(t.parts), added: slices.Clone(t.added), usage: t.usage}
	if t.text >= 0 {
		snap.parts[t.text].Text = t.open.String()
	}
	if t.asking != nil {
		text := visibleText(snap.parts[t.round0:])
		if text != "" {
			snap.added = append(snap.added, llm.Message{Role: llm.RoleAssistant, Text: text})
		}
		in, out := llm.EstimateRequest(*t.asking), llm.EstimateTokens(text)
		snap.usage = snap.usage.Add(llm.Usage{InputTokens: in, OutputTokens: out, TotalTokens: in + out, Estimated: true})
	}
	t.changed = false
	return snap
}

// refuse throws away what a round has made that nobody has seen, and says text
// instead.
func (t *turn) refuse(text string) {
	t.mu.Lock()
	t.parts, t.added, t.text = nil, nil, -1
	t.open.Reset()
	t.flow = scrub.Flow{}
	t.mu.Unlock()
	t.out.drop()
	t.say(text)
	t.add(llm.Message{Role: llm.RoleAssistant, Text: text})
}

// decided waits until the topic guard lets the turn go on.
func (t *turn) decided(ctx context.Context) error {
	if t.verdict == nil {
		return ctx.Err()
	}
	select {
	case <-t.verdict:
	case <-ctx.Done():
	}
	return ctx.Err()
}
