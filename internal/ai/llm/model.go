package llm

import (
	"context"
	"encoding/json"
	"time"
)

// Model is anything that can play one round of a conversation.
type Model interface {
	// Stream runs one model round. Events arrive through yield in order; an
	// error of yield ends the round and is returned. The Round is complete
	// only when err is nil; with an error it still carries the text so far
	// and the usage, and never a tool call.
	Stream(ctx context.Context, req Request, yield func(Event) error) (Round, error)
}

// Request is what one round is asked with.
type Request struct {
	Model    string
	System   string
	Messages []Message
	// Tools are the tools offered in this round; a model can call no other.
	Tools []ToolDef
	// MaxTokens limits the answer; zero leaves it to the provider.
	MaxTokens int
	Turn      TurnContext
}

// TurnContext is what a model that works without a prompt has to know about
// the turn. Providers get the same facts through the system prompt.
type TurnContext struct {
	Now  time.Time
	Zone *time.Location
	// Mode is the conversation's permission mode, ModeApprove or ModeAuto.
	Mode string
	// Forced marks the last step: no tools, write the answer now.
	Forced bool
}

// The permission modes of a conversation.
const (
	ModeApprove = "approve"
	ModeAuto    = "auto"
)

// ToolDef offers one tool.
type ToolDef struct {
	// Name is the wire name: dots of the registry's name replaced by "_".
	Name        string
	Description string
	// Parameters is the JSON Schema of the arguments, an object schema.
	Parameters json.RawMessage

	encoded json.RawMessage
	tokens  int
}

// Prepared gives the definition with what every request would otherwise work
// out again: its form on the wire and its size.
func (t ToolDef) Prepared() (ToolDef, error) {
	encoded, err := t.wire()
	if err != nil {
		return t, err
	}
	t.tokens = t.estimate()
	t.encoded = encoded
	return t, nil
}

func (t ToolDef) estimate() int {
	if t.tokens > 0 {
		return t.tokens
	}
	return EstimateTokens(t.Name) + EstimateTokens(t.Description) + EstimateTokens(string(t.Parameters))
}

// Role says who speaks.
type Role string

// The roles. RoleTool carries one tool's result.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Valid reports whether r is one of the four roles.
func (r Role) Valid() bool {
	switch r {
	case RoleSystem, RoleUser, RoleAssistant, RoleTool:
		return true
	}
	return false
}

// Message is one canonical message. It is stored per turn as JSON and replayed
// to whatever provider the conversation uses then.
type Message struct {
	Role Role   `json:"role"`
	Text string `json:"text,omitempty"`
	// ToolCalls are the calls an assistant message asked for.
	ToolCalls []ToolCall `json:"toolCalls,omitempty"`
	// ToolCallID, ToolName and IsError belong to a RoleTool message, whose
	// Text is the result's JSON or, with IsError, a readable reason.
	ToolCallID string `json:"toolCallId,omitempty"`
	ToolName   string `json:"toolName,omitempty"`
	IsError    bool   `json:"isError,omitempty"`
	// Note is what we add to a tool's result, such as what to do about an error;
	// Text then holds only what the tool said.
	Note string `json:"note,omitempty"`
}

// Content is the message's text as a provider gets it.
func (m Message) Content() string {
	switch {
	case m.Note == "":
		return m.Text
	case m.Text == "":
		return m.Note
	}
	return m.Text + "\n" + m.Note
}

// structured reports whether m is part of a call and its result.
func (m Message) structured() bool {
	return m.Role == RoleTool || len(m.ToolCalls) > 0
}

// ToolCall is a call that arrived whole.
type ToolCall struct {
	// ID is unique among the calls of the request's messages and this round.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is valid JSON: an object, or, when the model wrote something
	// that is not one, what it wrote, as a JSON string if need be. Validation
	// against the tool's object schema refuses the latter.
	Arguments json.RawMessage `json:"arguments"`
}

// Event is a piece of a round, see the types that implement it.
type Event interface{ event() }

// TextDelta is a fragment of the answer.
type TextDelta struct{ Text string }

// ReasoningDelta is a fragment of the model's reasoning. It is neither shown
// nor stored as answer text.
type ReasoningDelta struct{ Text string }

// ToolCallStart says that a call begins. It may yet be cut off.
type ToolCallStart struct{ ID, Name string }

// ToolCallDelta is a fragment of a call's arguments as the provider wrote it.
type ToolCallDelta struct{ ID, Text string }

// ToolCallDone says that a call is whole. All of them arrive at the end of the
// round, once it is known that nothing was cut.
type ToolCallDone struct{ Call ToolCall }

func (TextDelta) event()      {}
func (ReasoningDelta) event() {}
func (ToolCallStart) event()  {}
func (ToolCallDelta) event()  {}
func (ToolCallDone) event()   {}

// Finish reasons of a Round, whatever the provider called them. A reason we
// do not know is passed on in lower case.
const (
	FinishStop          = "stop"
	FinishToolCalls     = "tool_calls"
	FinishLength        = "length"
	FinishContentFilter = "content_filter"
)

// Round is the outcome of one model round.
type Round struct {
	Text string
	// ToolCalls are to be run; empty when the round was Truncated.
	ToolCalls    []ToolCall
	FinishReason string
	Usage        Usage
	// Truncated says that the output ended before the model was done. The
	// text may be used, calls may not.
	Truncated bool
	// CutCalls are the calls a truncated round would have made, for telling
	// the person and, once, the model.
	CutCalls []CutCall
}

// CutCall names a call that was cut off. It deliberately has no arguments.
type CutCall struct{ ID, Name string }

// Message is the canonical assistant message of the round.
func (r Round) Message() Message {
	return Message{Role: RoleAssistant, Text: r.Text, ToolCalls: r.ToolCalls}
}

// Usage counts tokens.
type Usage struct {
	InputTokens  int `json:"inputTokens"`
	OutputTokens int `json:"outputTokens"`
	TotalTokens  int `json:"totalTokens"`
	// Estimated says that the provider reported nothing usable and that
	// EstimateRequest and EstimateTokens stand in.
	Estimated bool `json:"estimated,omitempty"`
}

// Add gives the sum of two rounds' usage.
func (u Usage) Add(v Usage) Usage {
	return Usage{
		InputTokens:  u.InputTokens + v.InputTokens,
		OutputTokens: u.OutputTokens + v.OutputTokens,
		TotalTokens:  u.TotalTokens + v.TotalTokens,
		Estimated:    u.Estimated || v.Estimated,
	}
}
