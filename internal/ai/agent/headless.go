package agent

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// The unattended runner, spec/ai-platform.md 37.

// The model rounds of an unattended run, the answer included.
const (
	DefaultRunSteps = 12
	MaxRunSteps     = 30
)

// maxRunMemories is how many memories one run may save.
const maxRunMemories = 3

// saveMemoryTool is the tool that maxRunMemories bounds.
const saveMemoryTool = "ai.saveMemory"

// RunInput says what an unattended run is to do. It runs as the principal in
// the context, which must be an application.
type RunInput struct {
	// ConnectionID names the model connection; Model one of its models, its
	// default when empty or not allowed.
	ConnectionID, Model string
	// SystemPrompt adds to the baseline and replaces nothing of it.
	SystemPrompt string
	// Prompt is the task.
	Prompt string
	// Output, when set, is the JSON Schema of an object to make of the outcome.
	Output json.RawMessage
	// MaxSteps bounds the model rounds, 1 to MaxRunSteps; zero means
	// DefaultRunSteps.
	MaxSteps int
}

// RunCall is a tool call of a run.
type RunCall struct {
	Tool string `json:"tool"`
	OK   bool   `json:"ok"`
}

// RunResult is what a run came to.
type RunResult struct {
	Text string
	// Object fits RunInput.Output; nil without one.
	Object    json.RawMessage
	ToolCalls []RunCall
	Usage     llm.Usage
}

// headless is what a turn has to know when nobody is there.
type headless struct {
	systemPrompt string
	memories     int
}

// admit refuses what is not offered to an unattended run, whatever the model
// writes. A nil headless is a chat and refuses nothing.
func (h *headless) admit(t tool.Tool) error {
	switch {
	case h == nil:
		return nil
	case !offeredHeadless(t):
		return problem.Forbidden("%s is not available to an unattended run", t.Name())
	case t.Name() == saveMemoryTool:
		if h.memories >= maxRunMemories {
			return problem.TooMany("This run has saved %d memories, which is the most it may", maxRunMemories)
		}
		h.memories++
	}
	return nil
}

// offeredHeadless says which tools an unattended run may have: none that
// destroys, and none that asks a person.
func offeredHeadless(t tool.Tool) bool {
	return (t.Effect() == tool.Read || t.Effect() == tool.Mutate) && t.Name() != askTool
}

// Run plays rounds without a person: reads and changes that can be undone run
// at once, with the rights of the principal in ctx; nothing else is offered.
// Every call is recorded and counts against the account's tool budget, every
// token against its spend cap. A failing tool is told to the model and does
// not end the run. Errors: problem.Forbidden for anybody but an application,
// problem.Invalid for a bad input or connection, problem.TooMany when the cap
// is reached, and those of llm.Model.
func (s *Service) Run(ctx context.Context, in RunInput) (*RunResult, error) {
	who := principalOf(ctx)
	if who.Kind != authz.Application {
		return nil, problem.Forbidden("Unattended runs are made by service accounts")
	}
	conn, err := s.Connection(ctx, in.ConnectionID)
	if problem.Is(err, problem.KindNotFound) {
		return nil, problem.Field("connectionId", "names no model connection")
	}
	if err != nil {
		return nil, err
	}
	if in.MaxSteps == 0 {
		in.MaxSteps = DefaultRunSteps
	}
	shape, err := in.check()
	if err != nil {
		return nil, err
	}
	t, err := s.newTurn(who, &Conversation{PermissionMode: string(proposal.Auto)}, conn)
	if err != nil {
		return nil, err
	}
	t.headless = &headless{systemPrompt: in.SystemPrompt}
	t.transport, t.maxSteps, t.modelID = proposal.Automation, in.MaxSteps, conn.resolveModel(in.Model)
	t.tools = slices.DeleteFunc(t.tools, func(tl tool.Tool) bool { return !offeredHeadless(tl) })
	t.history = []llm.Message{{Role: llm.RoleUser, Text: in.Prompt}}
	if t.model, err = s.model(ctx, conn); err != nil {
		return nil, err
	}
	if err := t.reserve(ctx, t.request(t.maxSteps == 1)); err != nil {
		return nil, err
	}
	defer t.writeDown(ctx)
	if err := t.run(ctx); err != nil {
		if ctx.Err() == nil {
			attrs := append(failureAttrs(err), slog.String("principal_id", who.ID), slog.String("model", t.modelID), slog.String("connection_id", conn.ID))
			s.log.LogAttrs(ctx, slog.LevelError, "unattended model round failed", attrs...)
		}
		return nil, err
	}
	snap := t.snapshot()
	out := &RunResult{Text: visibleText(snap.parts[t.round0:])}
	for _, p := range snap.parts {
		if p.Type == partTool {
			out.ToolCalls = append(out.ToolCalls, RunCall{Tool: p.ToolName, OK: p.State == stateOutput})
		}
	}
	if shape != nil {
		if out.Object, err = t.structured(ctx, shape, out.Text); err != nil {
			return nil, err
		}
	}
	out.Usage = t.snapshot().usage
	return out, nil
}

func (in *RunInput) check() (*outputShape, error) {
	var issues []problem.Issue
	if in.Prompt == "" {
		issues = append(issues, problem.Issue{Path: "prompt", Message: "is required"})
	}
	if in.MaxSteps < 1 || in.MaxSteps > MaxRunSteps {
		issues = append(issues, problem.Issue{Path: "maxSteps", Message: "must be between 1 and 30"})
	}
	var shape *outputShape
	if len(in.Output) > 0 {
		var err error
		if shape, err = newOutputShape(in.Output); err != nil {
			issues = append(issues, problem.Issue{Path: "outputSchema", Message: err.Error()})
		}
	}
	return shape, problem.InputIssues(issues)
}

// writeDown records what a run used.
func (t *turn) writeDown(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	steps := t.spendSteps(t.snapshot().usage)
	if len(steps) == 0 {
		return
	}
	if err := t.s.db.Together(ctx, nil, steps...); err != nil {
		t.s.log.ErrorContext(ctx, "spend could not be recorded", "principal_id", t.who.ID, "connection_id", t.conn.ID, "error", err)
	}
}
