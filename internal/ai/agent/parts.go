package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
)

// Part is one piece of a message as the browser's chat library keeps it: a
// step's start, text, or a tool call ("dynamic-tool").
type Part struct {
	Type       string          `json:"type" doc:"step-start, text or dynamic-tool"`
	Text       string          `json:"text,omitempty"`
	State      string          `json:"state,omitempty" doc:"done, output-available or output-error"`
	ToolName   string          `json:"toolName,omitempty"`
	ToolCallID string          `json:"toolCallId,omitempty"`
	Input      json.RawMessage `json:"input,omitempty"`
	Output     json.RawMessage `json:"output,omitempty"`
	ErrorText  string          `json:"errorText,omitempty"`
}

// unfinished says whether a call has no outcome.
func (p Part) unfinished() bool { return p.State == stateInput || p.State == stateRunning }

const (
	partStep = "step-start"
	partText = "text"
	partTool = "dynamic-tool"

	stateDone    = "done"
	stateInput   = "input-streaming"
	stateRunning = "input-available"
	stateOutput  = "output-available"
	stateError   = "output-error"
)

// confirmCard is the result of a change that waits for the person.
type confirmCard struct {
	Confirm    bool            `json:"__confirm"`
	Status     string          `json:"status"`
	ToolName   string          `json:"toolName"`
	Effect     tool.Effect     `json:"effect"`
	Summary    string          `json:"summary"`
	Token      string          `json:"token,omitempty"`
	Payload    json.RawMessage `json:"payload,omitempty"`
	Diff       []tool.Change   `json:"diff,omitempty"`
	Blocked    string          `json:"blocked,omitempty"`
	ExpiresAt  time.Time       `json:"expiresAt"`
	ToolCallID string          `json:"toolCallId"`
	Note       string          `json:"note"`
}

const awaiting = "awaiting_operator"

// What the model is told behind a card whose proposal has been decided since.
const (
	declinedNote = "The operator declined this change; nothing was changed. Do not propose it again unless asked."
	expiredNote  = "Nobody decided in time: this change ran out and nothing was changed. Propose it again if the operator still wants it."
	failedNote   = "The operator approved this change, but it failed. Tell the operator why, and look at the present state before you try anything again."
	outdatedNote = "This card is out of date: what it would change had changed before it was applied, so nothing was done. " +
		"When the operator still wants the change, look at the present state and propose it anew."
)

const confirmNote = "The card with this change is on the operator's screen and waits for a decision. This call has succeeded: stop, do not call the tool again for this change, do not claim it is applied. Tell the operator that you are waiting."

// appliedCard is the result of a change that mode auto applied.
type appliedCard struct {
	Applied    bool          `json:"__applied"`
	ToolName   string        `json:"toolName"`
	Effect     tool.Effect   `json:"effect"`
	Summary    string        `json:"summary"`
	ToolCallID string        `json:"toolCallId"`
	Result     any           `json:"result"`
	Diff       []tool.Change `json:"diff,omitempty"`
	Note       string        `json:"note"`
}

const appliedNote = "This change is applied. Do not call the tool again for it; confirm briefly what changed."

func newConfirmCard(p *proposal.Proposal) confirmCard {
	return confirmCard{Confirm: true, Status: awaiting, ToolName: p.ToolName, Effect: p.Effect, Summary: p.Summary, Token: p.Token,
		Payload: p.Payload, Diff: p.Diff, Blocked: p.Blocked, ExpiresAt: p.ExpiresAt, ToolCallID: p.ID, Note: confirmNote}
}

// forModel is the card without what the model does not need: with the token in
// its context, the token would be in the stored history too.
func (c confirmCard) forModel() confirmCard {
	c.Token, c.Payload = "", nil
	return c
}

// cardKeys mark a card in a tool's output.
var cardKeys = []string{"__confirm", "__applied", "__question"}

// noCard takes the marks of a card off a read's result: monitored text must not
// be able to look like a card of ours. The tool that asks may make a question.
func noCard(v any, asks bool) any {
	m, ok := v.(map[string]any)
	if !ok {
		return v
	}
	for _, k := range cardKeys {
		if !asks || k != "__question" {
			delete(m, k)
		}
	}
	return m
}

// isCard says whether a stored output is a confirm card.
func isCard(output json.RawMessage) bool {
	var mark struct {
		Confirm bool `json:"__confirm"`
	}
	return json.Unmarshal(output, &mark) == nil && mark.Confirm
}

// cardNow brings a stored card to the present state of its proposal. Only a
// card that still waits has a token.
func cardNow(output json.RawMessage, rec *proposal.Record) (json.RawMessage, error) {
	var card map[string]any
	if err := json.Unmarshal(output, &card); err != nil {
		return nil, fmt.Errorf("read stored card: %w", err)
	}
	delete(card, "token")
	if rec == nil || rec.Status != proposal.Proposed {
		delete(card, "note") // it speaks of a card that waits
	}
	if rec == nil {
		// The record is kept longer than any card can wait.
		card["status"] = proposal.Expired
		return json.Marshal(card)
	}
	card["status"] = rec.Status
	if rec.Token != "" {
		card["token"] = rec.Token
	}
	if rec.Error != "" {
		card["error"] = rec.Error
	}
	if rec.Outdated {
		card["outdated"] = true
	}
	if rec.Result != nil {
		card["result"] = rec.Result
	}
	return json.Marshal(card)
}

// storedParts is the form of the shown parts that is kept: without tokens.
func storedParts(parts []Part) ([]Part, error) {
	out := make([]Part, len(parts))
	for i, p := range parts {
		if p.Type == partTool && isCard(p.Output) {
			var card map[string]any
			if err := json.Unmarshal(p.Output, &card); err != nil {
				return nil, fmt.Errorf("read card: %w", err)
			}
			delete(card, "token")
			raw, err := json.Marshal(card)
			if err != nil {
				return nil, fmt.Errorf("encode card: %w", err)
			}
			p.Output = raw
		}
		out[i] = p
	}
	return out, nil
}

// visibleText joins the texts of a message.
func visibleText(parts []Part) string {
	var texts []string
	for _, p := range parts {
		if p.Type == partText && strings.TrimSpace(p.Text) != "" {
			texts = append(texts, p.Text)
		}
	}
	return strings.Join(texts, "\n\n")
}
