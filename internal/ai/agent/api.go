package agent

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm/builtin"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
)

// Operations gives the API of the assistant; the chat itself is ChatHandler.
func (s *Service) Operations() []operation.Operation {
	return slices.Concat(s.toolOperations(), s.conversationOperations(), s.connectionOperations(), s.spendOperations())
}

type toolDescriptor struct {
	Name                string          `json:"name"`
	Description         string          `json:"description"`
	Effect              tool.Effect     `json:"effect" enum:"read,mutate,destructive"`
	InputSchema         json.RawMessage `json:"inputSchema" doc:"JSON Schema of the arguments"`
	OutputSchema        json.RawMessage `json:"outputSchema,omitempty" doc:"JSON Schema of the result, when it is known"`
	RequiredAccessRules []string        `json:"requiredAccessRules"`
}

type listToolsOutput struct {
	Tools []toolDescriptor `json:"tools"`
}

type proposeInput struct {
	ToolName string          `json:"toolName" minLength:"1" maxLength:"200" doc:"Dotted name; the form with underscores is accepted too"`
	Input    json.RawMessage `json:"input" doc:"Arguments of the tool"`
}

type proposalOutput struct {
	Token      string          `json:"token" doc:"Applies or declines the proposal, once"`
	Summary    string          `json:"summary"`
	Payload    json.RawMessage `json:"payload" doc:"What apply will run; credentials are covered"`
	ToolCallID string          `json:"toolCallId"`
	ExpiresAt  time.Time       `json:"expiresAt"`
	Diff       []tool.Change   `json:"diff,omitempty"`
}

type tokenInput struct {
	Token string `json:"token" minLength:"1" maxLength:"500"`
}

type applyOutput struct {
	ToolCallID string `json:"toolCallId"`
	Result     any    `json:"result" doc:"The tool's result"`
}

type declineOutput struct {
	Declined bool `json:"declined"`
}

type getProposalInput struct {
	ToolCallID string `json:"toolCallId" minLength:"1" maxLength:"100"`
}

type getProposalOutput struct {
	ToolCallID     string          `json:"toolCallId"`
	Status         proposal.Status `json:"status" enum:"proposed,applying,applied,failed,expired,rejected"`
	ToolName       string          `json:"toolName"`
	Effect         tool.Effect     `json:"effect" enum:"mutate,destructive"`
	Summary        string          `json:"summary"`
	Payload        json.RawMessage `json:"payload" doc:"Credentials are covered"`
	Diff           []tool.Change   `json:"diff,omitempty"`
	Token          string          `json:"token,omitempty" doc:"Only while the proposal waits"`
	ExpiresAt      time.Time       `json:"expiresAt"`
	ProposedAt     time.Time       `json:"proposedAt"`
	AppliedAt      *time.Time      `json:"appliedAt,omitempty"`
	AppliedBy      *proposal.Who   `json:"appliedBy,omitempty" doc:"Who applied or declined"`
	Result         json.RawMessage `json:"result,omitempty" doc:"Result of an applied change"`
	Error          string          `json:"error,omitempty" doc:"Why a change failed"`
	Outdated       bool            `json:"outdated,omitempty" doc:"It failed because what it would change had changed"`
	ConversationID string          `json:"conversationId,omitempty"`
}

type examplesOutput struct {
	Examples []string `json:"examples"`
}

func (s *Service) toolOperations() []operation.Operation {
	chat := []authz.Rule{RuleChat}
	return []operation.Operation{
		operation.New(operation.Declaration{ID: "ai.listTools", Kind: operation.Query, Caller: operation.Authenticated, Access: []authz.Rule{RuleTools},
			Summary: "List the tools that the caller may use through the assistant"}, s.listTools),
		operation.New(operation.Declaration{ID: "ai.proposeTool", Kind: operation.Mutation, Caller: operation.Authenticated, Access: chat,
			Summary:     "Propose a change",
			Description: "Runs the tool's dry run and stores the change for approval. Nothing is changed until the token is applied or a person approves it in the inbox, within a day."}, s.proposeTool),
		operation.New(operation.Declaration{ID: "ai.applyTool", Kind: operation.Mutation, Caller: operation.Authenticated, Access: chat,
			Summary:     "Apply a proposed change",
			Description: "Carries out the stored payload, once. If the dry run refuses by now, the answer says why: the proposal keeps waiting, or is over because what it would change has changed."}, s.applyTool),
		operation.New(operation.Declaration{ID: "ai.declineTool", Kind: operation.Mutation, Caller: operation.Authenticated, Access: chat,
			Summary: "Decline a proposed change"}, s.declineTool),
		operation.New(operation.Declaration{ID: "ai.getProposal", Kind: operation.Query, Caller: operation.Authenticated, Access: chat,
			Summary: "Get the present state of a change that the caller proposed"}, s.getProposal),
		operation.New(operation.Declaration{ID: "ai.getExamples", Kind: operation.Query, Caller: operation.Authenticated, Access: chat,
			Summary: "List things one can ask the assistant"}, s.getExamples),
	}
}

func (s *Service) listTools(ctx context.Context, _ *operation.Empty) (*listToolsOutput, error) {
	out := &listToolsOutput{Tools: []toolDescriptor{}}
	for _, t := range s.tools.For(authz.From(ctx)) {
		d := toolDescriptor{Name: t.Name(), Description: t.Description(), Effect: t.Effect(), RequiredAccessRules: []string{}}
		var err error
		if d.InputSchema, err = t.Input().JSON(); err != nil {
			return nil, err
		}
		if o := t.Output(); o != nil {
			if d.OutputSchema, err = o.JSON(); err != nil {
				return nil, err
			}
		}
		for _, r := range t.Access() {
			d.RequiredAccessRules = append(d.RequiredAccessRules, r.ID)
		}
		out.Tools = append(out.Tools, d)
	}
	return out, nil
}

func (s *Service) proposeTool(ctx context.Context, in *proposeInput) (*proposalOutput, error) {
	p, err := s.gate.Propose(ctx, in.ToolName, in.Input, proposal.Origin{Transport: proposal.API})
	if err != nil {
		return nil, err
	}
	return &proposalOutput{Token: p.Token, Summary: p.Summary, Payload: p.Payload, ToolCallID: p.ID, ExpiresAt: p.ExpiresAt, Diff: p.Diff}, nil
}

func (s *Service) applyTool(ctx context.Context, in *tokenInput) (*applyOutput, error) {
	applied, err := s.gate.Apply(ctx, in.Token)
	if err != nil {
		return nil, err
	}
	// The change has happened; a result that cannot be shown must not hide that.
	result, err := scrub.Any(applied.Result)
	if err != nil {
		s.log.ErrorContext(ctx, "result of an applied change cannot be shown", "call_id", applied.CallID, "error", err)
	}
	return &applyOutput{ToolCallID: applied.CallID, Result: result}, nil
}

func (s *Service) declineTool(ctx context.Context, in *tokenInput) (*declineOutput, error) {
	if err := s.gate.Decline(ctx, in.Token); err != nil {
		return nil, err
	}
	return &declineOutput{Declined: true}, nil
}

func (s *Service) getProposal(ctx context.Context, in *getProposalInput) (*getProposalOutput, error) {
	r, err := s.gate.Record(ctx, in.ToolCallID)
	if err != nil {
		return nil, err
	}
	out := &getProposalOutput{ToolCallID: r.ID, Status: r.Status, ToolName: r.ToolName, Effect: r.Effect, Summary: r.Summary,
		Payload: r.Payload, Diff: r.Diff, Token: r.Token, ExpiresAt: r.ExpiresAt, ProposedAt: r.ProposedAt, AppliedAt: r.AppliedAt,
		Result: r.Result, Error: r.Error, Outdated: r.Outdated, ConversationID: r.ConversationID}
	if r.AppliedBy.ID != "" {
		out.AppliedBy = &r.AppliedBy
	}
	return out, nil
}

func (s *Service) getExamples(context.Context, *operation.Empty) (*examplesOutput, error) {
	return &examplesOutput{Examples: builtin.ExamplePrompts()}, nil
}
