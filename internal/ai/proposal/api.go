package proposal

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

type whoView struct {
	Kind authz.Kind `json:"kind"`
	ID   string     `json:"id"`
	Name string     `json:"name,omitempty" doc:"Absent when the account was deleted"`
}

// callView is a call as the inbox and the audit log show it: redacted, and
// without the token that would apply it.
type callView struct {
	ToolCallID     string          `json:"toolCallId"`
	ToolName       string          `json:"toolName"`
	Effect         tool.Effect     `json:"effect" enum:"read,mutate,destructive"`
	Status         Status          `json:"status" enum:"proposed,applying,applied,executed,failed,expired,rejected"`
	Transport      Transport       `json:"transport" enum:"chat,api,mcp,automation"`
	ConversationID string          `json:"conversationId,omitempty" doc:"The caller's own conversation it came from"`
	Summary        string          `json:"summary,omitempty"`
	Blocked        string          `json:"blocked,omitempty" doc:"What must happen before it can be applied"`
	Diff           []tool.Change   `json:"diff,omitempty"`
	Payload        json.RawMessage `json:"payload,omitempty" doc:"What applying runs, without secrets"`
	Error          string          `json:"error,omitempty"`
	Outdated       bool            `json:"outdated,omitempty" doc:"It failed because what it would change had changed; error says how"`
	ArgsHash       string          `json:"argsHash" doc:"SHA-256 of the arguments in canonical JSON"`
	RequestedBy    whoView         `json:"requestedBy"`
	DecidedBy      *whoView        `json:"decidedBy,omitempty" doc:"Who applied or declined it"`
	Mine           bool            `json:"mine" doc:"Whether the caller asked for it"`
	CreatedAt      time.Time       `json:"createdAt"`
	ExpiresAt      *time.Time      `json:"expiresAt,omitempty"`
	AppliedAt      *time.Time      `json:"appliedAt,omitempty"`
	FinishedAt     *time.Time      `json:"finishedAt,omitempty"`
}

type approvalsOutput struct {
	Approvals []callView `json:"approvals" doc:"Those that expire soonest first, at most 200"`
	Outdated  []callView `json:"outdated" doc:"Those that would still wait, but what they would change has changed; they cannot be applied"`
}

type callIDInput struct {
	ToolCallID string `json:"toolCallId" format:"uuid"`
}

type approveOutput struct {
	ToolCallID string          `json:"toolCallId"`
	Result     json.RawMessage `json:"result" doc:"What the tool answered, without secrets"`
}

type rejectOutput struct {
	Declined bool `json:"declined"`
}

type callsInput struct {
	Mine      bool      `json:"mine,omitempty" doc:"Only the caller's own calls"`
	Kind      string    `json:"principalKind,omitempty" enum:"user,application" doc:"Together with principalId"`
	Principal string    `json:"principalId,omitempty" maxLength:"100"`
	ToolName  string    `json:"toolName,omitempty" maxLength:"100"`
	Effect    string    `json:"effect,omitempty" enum:"read,mutate,destructive"`
	Status    string    `json:"status,omitempty" enum:"proposed,applying,applied,executed,failed,expired,rejected"`
	Transport string    `json:"transport,omitempty" enum:"chat,api,mcp,automation"`
	From      time.Time `json:"from,omitzero" required:"false" doc:"Inclusive"`
	To        time.Time `json:"to,omitzero" required:"false" doc:"Exclusive"`
	Cursor    string    `json:"cursor,omitempty" format:"uuid" doc:"nextCursor of the page before"`
	Limit     int       `json:"limit,omitempty" minimum:"1" maximum:"100" default:"50"`
}

type callsOutput struct {
	Calls      []callView `json:"calls" doc:"Newest first"`
	NextCursor *string    `json:"nextCursor" nullable:"true" doc:"Null on the last page"`
	Everybody  bool       `json:"everybody" doc:"Whether calls of other people can be among them"`
	Tools      []string   `json:"tools" doc:"Names to filter by"`
}

// Operations declares the approvals inbox and the audit log.
func (g *Gate) Operations() []operation.Operation {
	person := func(id string, kind operation.Kind, summary, description string) operation.Declaration {
		return operation.Declaration{ID: id, Kind: kind, Caller: operation.UserOnly, NoRule: true, Summary: summary, Description: description}
	}
	return []operation.Operation{
		operation.New(person("ai.listApprovals", operation.Query, "List the changes that wait for the caller's decision",
			"The caller's own proposals, and those from outside agents, applications and automations that change what the caller may change."), g.listApprovals),
		operation.New(person("ai.approveCall", operation.Mutation, "Apply a change that waits in the inbox",
			"The same checks as ai.applyTool: the caller's rules and the dry run are looked at again, and one decision wins."), g.approveCall),
		operation.New(person("ai.rejectCall", operation.Mutation, "Decline a change that waits in the inbox", ""), g.rejectCall),
		operation.New(operation.Declaration{ID: "ai.listToolCalls", Kind: operation.Query, Caller: operation.Authenticated, NoRule: true,
			Summary:     "List tool calls: the audit log",
			Description: "Everybody sees their own calls; " + RuleAudit.ID + " shows those of everybody."}, g.listToolCalls),
		operation.New(operation.Declaration{ID: "ai.getToolCall", Kind: operation.Query, Caller: operation.Authenticated, NoRule: true,
			Summary: "Get one tool call of the audit log"}, g.getToolCall),
	}
}

func (g *Gate) listApprovals(ctx context.Context, _ *operation.Empty) (*approvalsOutput, error) {
	list, err := g.Waiting(ctx)
	if err != nil {
		return nil, err
	}
	old, err := g.Outdated(ctx)
	if err != nil {
		return nil, err
	}
	views, err := g.views(ctx, slices.Concat(list, old))
	if err != nil {
		return nil, err
	}
	return &approvalsOutput{Approvals: views[:len(list)], Outdated: views[len(list):]}, nil
}

func (g *Gate) approveCall(ctx context.Context, in *callIDInput) (*approveOutput, error) {
	applied, err := g.Approve(ctx, in.ToolCallID)
	if err != nil {
		return nil, err
	}
	rec, err := g.loadRecord(ctx, applied.CallID)
	if err != nil {
		return nil, err
	}
	return &approveOutput{ToolCallID: applied.CallID, Result: rec.Result}, nil
}

func (g *Gate) rejectCall(ctx context.Context, in *callIDInput) (*rejectOutput, error) {
	if err := g.Reject(ctx, in.ToolCallID); err != nil {
		return nil, err
	}
	return &rejectOutput{Declined: true}, nil
}

func (g *Gate) listToolCalls(ctx context.Context, in *callsInput) (*callsOutput, error) {
	p := authz.From(ctx)
	q := Query{Who: Who{authz.Kind(in.Kind), in.Principal}, ToolName: in.ToolName, Effect: in.Effect, Status: Status(in.Status),
		Transport: Transport(in.Transport), From: in.From, To: in.To, Before: in.Cursor, Limit: in.Limit + 1}
	if (in.Kind == "") != (in.Principal == "") {
		return nil, problem.Field("principalId", "goes together with principalKind")
	}
	everybody := p.Has(RuleAudit.ID)
	own := Who{p.Kind, p.ID}
	switch {
	case in.Mine, !everybody && q.Who.ID == "":
		q.Who = own
	case !everybody && q.Who != own:
		return nil, problem.Forbidden("Forbidden: the calls of others (missing permission: %s)", RuleAudit.ID)
	}
	list, err := g.Calls(ctx, q)
	if err != nil {
		return nil, err
	}
	out := &callsOutput{Everybody: everybody, Tools: g.ToolNames()}
	if len(list) > in.Limit {
		list = list[:in.Limit]
		out.NextCursor = &list[in.Limit-1].ID
	}
	out.Calls, err = g.views(ctx, list)
	return out, err
}

func (g *Gate) getToolCall(ctx context.Context, in *callIDInput) (*callView, error) {
	rec, err := g.loadRecord(ctx, in.ToolCallID)
	if err != nil {
		return nil, err
	}
	p := authz.From(ctx)
	if rec.ProposedBy != (Who{p.Kind, p.ID}) && !p.Has(RuleAudit.ID) {
		return nil, problem.NotFound("This tool call does not exist")
	}
	views, err := g.views(ctx, []Record{*rec})
	if err != nil {
		return nil, err
	}
	return &views[0], nil
}

// views shows records to the principal in ctx.
func (g *Gate) views(ctx context.Context, list []Record) ([]callView, error) {
	p := authz.From(ctx)
	names := map[string]string{}
	if g.people != nil {
		var ids []string
		for _, r := range list {
			ids = append(ids, r.ProposedBy.ID)
			if r.AppliedBy.ID != "" {
				ids = append(ids, r.AppliedBy.ID)
			}
		}
		var err error
		if names, err = g.people.Names(ctx, ids); err != nil {
			return nil, err
		}
	}
	out := make([]callView, len(list))
	for i, r := range list {
		v := callView{ToolCallID: r.ID, ToolName: r.ToolName, Effect: r.Effect, Status: r.Status, Transport: r.Transport,
			Summary: r.Summary, Blocked: r.Blocked, Diff: r.Diff, Payload: r.Payload, Error: r.Error, Outdated: r.Outdated, ArgsHash: r.ArgsHash,
			RequestedBy: whoView{r.ProposedBy.Kind, r.ProposedBy.ID, names[r.ProposedBy.ID]},
			Mine:        r.ProposedBy == Who{p.Kind, p.ID}, CreatedAt: r.CreatedAt, AppliedAt: r.AppliedAt, FinishedAt: r.FinishedAt}
		if v.Mine {
			v.ConversationID = r.ConversationID
		} else if r.Private {
			v.Summary, v.Blocked, v.Error, v.Diff, v.Payload = "Something of their own, which only they see", "", "", nil, nil
		}
		if r.AppliedBy.ID != "" {
			v.DecidedBy = &whoView{r.AppliedBy.Kind, r.AppliedBy.ID, names[r.AppliedBy.ID]}
		}
		if !r.ExpiresAt.IsZero() {
			v.ExpiresAt = &r.ExpiresAt
		}
		out[i] = v
	}
	return out, nil
}
