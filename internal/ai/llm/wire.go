package llm

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
)

// The chat-completions request, as far as we use it.
type (
	wireRequest struct {
		Model               string        `json:"model"`
		Messages            []wireMessage `json:"messages"`
		MaxTokens           int           `json:"max_tokens,omitempty"`
		MaxCompletionTokens int           `json:"max_completion_tokens,omitempty"`
		Stream              bool          `json:"stream"`
		StreamOptions       *wireOptions  `json:"stream_options,omitempty"`
	}
	wireOptions struct {
		IncludeUsage bool `json:"include_usage"`
	}
	wireMessage struct {
		Role       Role          `json:"role"`
		Content    *string       `json:"content"`
		ToolCalls  []wireOutCall `json:"tool_calls,omitempty"`
		ToolCallID string        `json:"tool_call_id,omitempty"`
	}
	wireOutCall struct {
		ID       string      `json:"id"`
		Type     string      `json:"type"`
		Function wireOutFunc `json:"function"`
	}
	wireOutFunc struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	wireTool struct {
		Type     string       `json:"type"`
		Function wireFunction `json:"function"`
	}
	wireFunction struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Parameters  json.RawMessage `json:"parameters,omitempty"`
	}
)

func encodeRequest(req Request, d dialect) ([]byte, error) {
	out := wireRequest{Model: req.Model, Stream: true}
	if !d.noStreamOptions {
		out.StreamOptions = &wireOptions{IncludeUsage: true}
	}
	if d.completionTokens {
		out.MaxCompletionTokens = req.MaxTokens
	} else {
		out.MaxTokens = req.MaxTokens
	}
	if req.System != "" {
		out.Messages = append(out.Messages, wireMessage{Role: RoleSystem, Content: &req.System})
	}
	for _, m := range Normalize(req.Messages) {
		text := m.Content()
		w := wireMessage{Role: m.Role, Content: &text, ToolCallID: m.ToolCallID}
		if len(m.ToolCalls) > 0 && text == "" {
			w.Content = nil
		}
		for _, c := range m.ToolCalls {
			w.ToolCalls = append(w.ToolCalls, wireOutCall{ID: c.ID, Type: "function",
				Function: wireOutFunc{Name: c.Name, Arguments: replayArguments(c.Arguments)}})
		}
		out.Messages = append(out.Messages, w)
	}
	body, err := json.Marshal(out)
	if err != nil || len(req.Tools) == 0 {
		return body, err
	}
	// The tools are the largest part and the same in every request, so their
	// JSON is kept and put in as it is.
	size := 32
	for _, t := range req.Tools {
		size += len(t.encoded) + 1
	}
	body = slices.Grow(body, size)
	body = append(body[:len(body)-1], `,"tools":[`...)
	for i, t := range req.Tools {
		tool, err := t.wire()
		if err != nil {
			return nil, err
		}
		if i > 0 {
			body = append(body, ',')
		}
		body = append(body, tool...)
	}
	return append(body, "]}"...), nil
}

func (t ToolDef) wire() (json.RawMessage, error) {
	if t.encoded != nil {
		return t.encoded, nil
	}
	return json.Marshal(wireTool{Type: "function", Function: wireFunction{t.Name, t.Description, t.Parameters}})
}

// replayArguments gives the arguments of an earlier call. What was not an
// object then is sent as an empty one: gateways parse it and refuse the rest,
// and the call's result already told the model what was wrong.
func replayArguments(raw json.RawMessage) string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return "{}"
	}
	return string(raw)
}

// wireChunk is one event of the answer.
type wireChunk struct {
	Choices []wireChoice    `json:"choices"`
	Usage   *wireUsage      `json:"usage"`
	Error   json.RawMessage `json:"error"`
	// Object and Message are the error form of some gateways.
	Object  flexText        `json:"object"`
	Message json.RawMessage `json:"message"`
}

type wireChoice struct {
	Index        int        `json:"index"`
	Delta        *wireDelta `json:"delta"`
	Message      *wireDelta `json:"message"`
	FinishReason flexText   `json:"finish_reason"`
}

type wireDelta struct {
	Content          flexText   `json:"content"`
	Refusal          flexText   `json:"refusal"`
	ReasoningContent flexText   `json:"reasoning_content"`
	Reasoning        flexText   `json:"reasoning"`
	ToolCalls        []wireCall `json:"tool_calls"`
}

// errorText gives the message of an error event; empty when it is none.
func (c wireChunk) errorText(event string) string {
	raw := bytes.TrimSpace(c.Error)
	if len(raw) == 0 || string(raw) == "null" || string(raw) == "false" {
		if c.Object != "error" && event != "error" {
			return ""
		}
		if raw = bytes.TrimSpace(c.Message); len(raw) == 0 {
			return "no reason given"
		}
	}
	var s string
	if json.Unmarshal(raw, &s) == nil && strings.TrimSpace(s) != "" {
		return s
	}
	var o struct {
		Message flexText `json:"message"`
		Code    flexText `json:"code"`
		Type    flexText `json:"type"`
	}
	if json.Unmarshal(raw, &o) != nil || o.Message == "" {
		return string(raw)
	}
	for _, detail := range []flexText{o.Code, o.Type} {
		if detail != "" {
			return string(o.Message) + " (" + string(detail) + ")"
		}
	}
	return string(o.Message)
}

// flexText reads a string, a number as text, or the text parts of a list of
// content parts; null, objects and booleans are empty.
type flexText string

// UnmarshalJSON never fails, so that an odd field does not end the stream.
func (t *flexText) UnmarshalJSON(b []byte) error {
	*t = ""
	b = bytes.TrimSpace(b)
	if len(b) == 0 {
		return nil
	}
	switch {
	case b[0] == '"':
		var s string
		if json.Unmarshal(b, &s) == nil {
			*t = flexText(s)
		}
	case b[0] == '[':
		var parts []struct {
			Type string   `json:"type"`
			Text flexText `json:"text"`
		}
		if json.Unmarshal(b, &parts) == nil {
			for _, p := range parts {
				if p.Type == "" || p.Type == "text" || p.Type == "output_text" {
					*t += p.Text
				}
			}
		}
	case b[0] == '-' || (b[0] >= '0' && b[0] <= '9'):
		*t = flexText(b)
	}
	return nil
}

// wireUsage is a usage report, whose fields may be absent, null or text.
type wireUsage struct {
	Prompt     flexCount `json:"prompt_tokens"`
	Completion flexCount `json:"completion_tokens"`
	Input      flexCount `json:"input_tokens"`
	Output     flexCount `json:"output_tokens"`
	Total      flexCount `json:"total_tokens"`
}

// UnmarshalJSON never fails: a report of another shape says nothing usable.
func (u *wireUsage) UnmarshalJSON(b []byte) error {
	type plain wireUsage
	var p plain
	if json.Unmarshal(b, &p) != nil {
		p = plain{}
	}
	*u = wireUsage(p)
	return nil
}

// flexIndex reads a position that may be a number or text; nil when neither.
type flexIndex struct{ n *int }

// UnmarshalJSON never fails, see flexText.
func (x *flexIndex) UnmarshalJSON(b []byte) error {
	x.n = nil
	if n, err := strconv.Atoi(strings.Trim(string(b), `"`)); err == nil {
		x.n = &n
	}
	return nil
}

// flexCount reads a count of tokens; anything that is no sensible count is 0.
type flexCount int

// UnmarshalJSON never fails, see flexText.
func (n *flexCount) UnmarshalJSON(b []byte) error {
	*n = 0
	f, err := strconv.ParseFloat(strings.TrimSpace(strings.Trim(string(b), `"`)), 64)
	if err == nil && f > 0 && f <= math.MaxInt32 {
		*n = flexCount(f)
	}
	return nil
}

// usage makes the report whole; false when it says nothing usable. With only a
// total, output is taken from the estimate and input is the rest.
func (u *wireUsage) usage(outputEstimate int) (Usage, bool) {
	if u == nil {
		return Usage{}, false
	}
	in, out, total := int(max(u.Prompt, u.Input)), int(max(u.Completion, u.Output)), int(u.Total)
	switch {
	case in == 0 && out == 0 && total == 0:
		return Usage{}, false
	case in == 0 && out == 0:
		out = min(outputEstimate, total)
		in = total - out
	case in == 0 && total > out:
		in = total - out
	case out == 0 && total > in:
		out = total - in
	}
	return Usage{InputTokens: in, OutputTokens: out, TotalTokens: max(total, in+out)}, true
}

// finishReason maps the providers' words to ours.
func finishReason(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	switch s {
	case "stop", "end_turn", "eos", "eos_token", "stop_sequence", "complete", "completed":
		return FinishStop
	case "tool_calls", "tool_call", "tool_use", "function_call":
		return FinishToolCalls
	case "length", "max_tokens", "max_output_tokens", "model_length", "max_length":
		return FinishLength
	case "content_filter", "safety", "refusal", "recitation", "prohibited_content", "blocklist":
		return FinishContentFilter
	}
	return s
}
