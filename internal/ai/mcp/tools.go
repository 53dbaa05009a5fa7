package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// proposes is what clients are told about a tool that changes something.
const proposes = " Calling it changes nothing: it stores a proposal, which a person approves or declines in Checkstack."

// addTools registers every tool; visible decides who sees which.
func (s *Server) addTools(server *sdk.Server, tools *tool.Registry) error {
	for _, t := range tools.All() {
		input, err := t.Input().JSON()
		if err != nil {
			return fmt.Errorf("schema of %s: %w", t.Name(), err)
		}
		m := &sdk.Tool{Name: t.WireName(), Title: t.Name(), Description: t.Description(), InputSchema: input, Annotations: annotations(t)}
		if t.Effect() != tool.Read {
			m.Description += proposes
		} else if out := t.Output(); out != nil {
			// The schema of a projected result is nobody's; the full one is promised
			// only for what is sent in full.
			raw, err := out.JSON()
			if err != nil {
				return fmt.Errorf("output schema of %s: %w", t.Name(), err)
			}
			if object(raw) {
				m.OutputSchema = raw
			}
		}
		server.AddTool(m, s.run(t))
	}
	return nil
}

// object says whether a schema describes an object, the only structured
// content there is.
func object(schema json.RawMessage) bool {
	var s struct {
		Type string `json:"type"`
	}
	return json.Unmarshal(schema, &s) == nil && s.Type == "object"
}

// annotations tell clients what the effect says. They are hints; the rule is
// in run.
func annotations(t tool.Tool) *sdk.ToolAnnotations {
	yes, no := true, false
	a := &sdk.ToolAnnotations{Title: t.Name(), OpenWorldHint: &no}
	switch t.Effect() {
	case tool.Read:
		a.ReadOnlyHint, a.IdempotentHint = true, true
		if t.ReachesOut() {
			a.OpenWorldHint = &yes
		}
	case tool.Mutate:
		a.DestructiveHint = &no
	default:
		a.DestructiveHint = &yes
	}
	return a
}

// offered says whether a caller of this request sees a tool.
func offered(ctx context.Context, t tool.Tool) bool {
	return (t.Effect() == tool.Read || callOf(ctx).proposals) && t.Allowed(authz.From(ctx))
}

// interactive tools need a person in the conversation, who is not here.
var interactive = map[string]bool{"ai.askOperator": true}

// visible filters lists of tools and answers calls of unknown ones.
func (s *Server) visible(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, req sdk.Request) (sdk.Result, error) {
		if call, ok := req.(*sdk.CallToolRequest); ok {
			t, found := s.gate.Tool(call.Params.Name)
			if !found || interactive[t.Name()] {
				return nil, &jsonrpc.Error{Code: codeInvalidParams, Message: "There is no such tool"}
			}
			call.Params.Name = t.WireName()
		}
		res, err := next(ctx, method, req)
		list, ok := res.(*sdk.ListToolsResult)
		if err != nil || !ok {
			return res, err
		}
		shown := *list
		shown.Tools = []*sdk.Tool{}
		for _, m := range list.Tools {
			if t, found := s.gate.Tool(m.Name); found && !interactive[t.Name()] && offered(ctx, t) {
				shown.Tools = append(shown.Tools, m)
			}
		}
		return &shown, nil
	}
}

// run is a call of a tool.
func (s *Server) run(t tool.Tool) sdk.ToolHandler {
	return func(ctx context.Context, req *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
		c := callOf(ctx)
		if missing := authz.From(ctx).Missing(t.Access()...); len(missing) > 0 {
			// Whoever signs in again asks for this, so what was given stays in it.
			c.status, c.scope = http.StatusForbidden, strings.Join(slices.Concat(c.scopes, missing), " ")
			return nil, &jsonrpc.Error{Code: codeForbidden, Message: "You may not use " + t.WireName() + " (missing permission: " + strings.Join(missing, ", ") + ")"}
		}
		args := req.Params.Arguments
		if string(args) == "null" {
			args = nil
		}
		if t.Effect() != tool.Read {
			if !c.proposals {
				c.status = http.StatusForbidden
				return nil, &jsonrpc.Error{Code: codeForbidden, Message: t.WireName() +
					" changes something, and this installation only lets MCP clients read. Make the change in Checkstack, or ask an administrator to let MCP clients propose changes"}
			}
			return s.propose(ctx, c, t, args)
		}
		prepared, err := s.gate.Prepare(ctx, t.Name(), args, proposal.Approve)
		if err != nil {
			return s.refused(ctx, c, t, err)
		}
		out, err := s.gate.Execute(ctx, prepared, proposal.Origin{Transport: proposal.MCP})
		if err != nil {
			return s.refused(ctx, c, t, err)
		}
		return result(t, out.Result)
	}
}

// result shows what a read tool found, as text for the model and, where the
// tool promises a shape, as data.
func result(t tool.Tool, full any) (*sdk.CallToolResult, error) {
	clean, err := scrub.Any(t.Lean(full))
	if err != nil {
		return nil, fmt.Errorf("result of %s: %w", t.Name(), err)
	}
	raw, err := json.Marshal(clean)
	if err != nil {
		return nil, fmt.Errorf("result of %s: %w", t.Name(), err)
	}
	res := &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: string(raw)}}}
	if t.Output() != nil && len(raw) > 0 && raw[0] == '{' {
		res.StructuredContent = json.RawMessage(raw)
	}
	return res, nil
}

// propose stores a change for a person's decision.
func (s *Server) propose(ctx context.Context, c *call, t tool.Tool, args json.RawMessage) (*sdk.CallToolResult, error) {
	p, err := s.gate.Propose(ctx, t.Name(), args, proposal.Origin{Transport: proposal.MCP})
	if err != nil {
		return s.refused(ctx, c, t, err)
	}
	text := fmt.Sprintf("Proposed, not done: %s\nA person approves or declines it at %s/approvals?call=%s until %s. Tell your operator; do not say that it is done.",
		p.Summary, strings.TrimSuffix(s.base.String(), "/"), p.ID, p.ExpiresAt.UTC().Format("2006-01-02T15:04:05Z"))
	if p.Blocked != "" {
		text += "\nFirst: " + p.Blocked
	}
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}}, nil
}

// refused tells why a call led to nothing. What the model can repair is a
// result with isError, so that it reads it; the rest is a protocol error.
func (s *Server) refused(ctx context.Context, c *call, t tool.Tool, err error) (*sdk.CallToolResult, error) {
	p, ok := problem.As(err)
	switch {
	case ok && p.Kind == problem.KindTooMany:
		c.status, c.wait = http.StatusTooManyRequests, p.RetryAfter
		return nil, &jsonrpc.Error{Code: codeBudget, Message: p.Message}
	case ok && p.Kind == problem.KindForbidden:
		c.status = http.StatusForbidden
		return nil, &jsonrpc.Error{Code: codeForbidden, Message: p.Message}
	case ok:
		text := p.Message
		for _, is := range p.Issues {
			if is.Path != "" {
				text += "\n- " + is.Path + ": " + is.Message
			} else {
				text += "\n- " + is.Message
			}
		}
		return failed(scrub.Text(text)), nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return failed("The call took too long or was cancelled"), nil
	}
	s.log.ErrorContext(ctx, "MCP tool failed", "tool", t.Name(), "error", err)
	return failed("The tool failed inside Checkstack; the log of the server says why"), nil
}

func failed(text string) *sdk.CallToolResult {
	return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: text}}, IsError: true}
}
