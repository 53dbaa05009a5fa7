package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// How long a proposal waits for a person. In a chat the person is there; what
// came through another door waits in the approvals inbox until somebody looks.
const (
	TTL      = 10 * time.Minute
	InboxTTL = 24 * time.Hour
)

func ttl(tr Transport) time.Duration {
	if tr == Chat {
		return TTL
	}
	return InboxTTL
}

// workLimit ends a read, a dry run or an applied change that hangs.
const workLimit = 2 * time.Minute

// Mode is the permission mode of a conversation.
type Mode string

// The modes. Anything that is not Auto behaves like Approve.
const (
	Approve Mode = "approve"
	Auto    Mode = "auto"
)

// Disposition is what happens with a call.
type Disposition string

// The dispositions, spec/ai-platform.md 24.
const (
	AutoRun   Disposition = "auto-run"   // run now
	AutoApply Disposition = "auto-apply" // propose and apply now
	Propose   Disposition = "propose"    // wait for a person
)

// decide is the table of effect and mode. An effect that nobody thought of
// waits for a person.
func decide(effect tool.Effect, mode Mode) Disposition {
	switch effect {
	case tool.Read:
		return AutoRun
	case tool.Mutate:
		return decideMutate(mode)
	default:
		return Propose
	}
}

// decideMutate is the only place where the mode counts, and the only one that
// gives AutoApply.
func decideMutate(mode Mode) Disposition {
	if mode == Auto {
		return AutoApply
	}
	return Propose
}

// Transport says through which door a call came.
type Transport string

// The transports.
const (
	Chat       Transport = "chat"
	API        Transport = "api" // ai.proposeTool
	MCP        Transport = "mcp"
	Automation Transport = "automation"
)

// Origin is where a call came from.
type Origin struct {
	// ID becomes the id of the call's row; empty makes a new one.
	ID             string
	Transport      Transport
	ConversationID string
}

// ToolCalled is the event "ai.toolCalled": who called what, never arguments or
// results.
type ToolCalled struct {
	PrincipalKind authz.Kind  `json:"principalKind"`
	PrincipalID   string      `json:"principalId"`
	Transport     Transport   `json:"transport"`
	ToolName      string      `json:"toolName"`
	Effect        tool.Effect `json:"effect"`
	Status        Status      `json:"status"`
}

// Events hears of calls. It must not block for long and cannot fail a call.
type Events interface {
	ToolCalled(ctx context.Context, e ToolCalled)
}

// People knows who exists.
type People interface {
	// Names gives the names of those of the people and applications that exist,
	// by id.
	Names(ctx context.Context, ids []string) (map[string]string, error)
}

// Deps is what a Gate needs. Events may be nil; without People the inbox and
// the audit log name nobody.
type Deps struct {
	DB     *db.DB
	Tools  *tool.Registry
	Box    *secret.Box
	Events Events
	People People
	Log    *slog.Logger
	Now    func() time.Time
}

// Gate is the door to every tool.
type Gate struct {
	db     *db.DB
	tools  *tool.Registry
	shapes map[string]shape
	box    *secret.Box
	events Events
	people People
	log    *slog.Logger
	now    func() time.Time
	ledger ledger

	budgets budgets
}

// New makes a gate. It fails when a tool's schema cannot be read.
func New(d Deps) (*Gate, error) {
	g := &Gate{db: d.DB, tools: d.Tools, shapes: map[string]shape{}, box: d.Box, events: d.Events, people: d.People, log: d.Log, now: d.Now}
	if g.now == nil {
		g.now = time.Now
	}
	g.ledger.db, g.ledger.now = d.DB, g.now
	for _, t := range d.Tools.All() {
		s, err := shapeOf(t)
		if err != nil {
			return nil, fmt.Errorf("tool %s: %w", t.Name(), err)
		}
		g.shapes[t.Name()] = s
	}
	return g, nil
}

// Call is a call that passed the first checks: the tool exists, the caller may
// use it, the arguments fit its schema.
type Call struct {
	tool        tool.Tool
	args        json.RawMessage
	hash        string
	mode        Mode
	disposition Disposition
}

// Tool gives the called tool.
func (c *Call) Tool() tool.Tool { return c.tool }

// Disposition says what Execute will do.
func (c *Call) Disposition() Disposition { return c.disposition }

// Key is equal for two calls of one tool whose arguments mean the same.
func (c *Call) Key() string { return c.tool.Name() + ":" + c.hash }

// Prepare checks a call of the principal in ctx without running anything.
func (g *Gate) Prepare(ctx context.Context, name string, args json.RawMessage, mode Mode) (*Call, error) {
	t, err := g.resolve(authz.From(ctx), name)
	if err != nil {
		return nil, err
	}
	return g.prepare(t, args, mode)
}

func (g *Gate) prepare(t tool.Tool, args json.RawMessage, mode Mode) (*Call, error) {
	if err := t.Validate(args); err != nil {
		return nil, err
	}
	hash, err := g.shapes[t.Name()].hash(args)
	if err != nil {
		return nil, fmt.Errorf("hash arguments of %s: %w", t.Name(), err)
	}
	return &Call{tool: t, args: args, hash: hash, mode: mode, disposition: decide(t.Effect(), mode)}, nil
}

// resolve finds a tool and checks the caller's rules.
func (g *Gate) resolve(p authz.Principal, name string) (tool.Tool, error) {
	if err := acceptable(p); err != nil {
		return tool.Tool{}, err
	}
	t, ok := g.tools.Get(name)
	if !ok {
		return tool.Tool{}, problem.NotFound("There is no tool called %q", short(name, 64))
	}
	return t, permitted(p, t)
}

func acceptable(p authz.Principal) error {
	switch p.Kind {
	case authz.User, authz.Application:
		return nil
	case authz.Guest:
		return problem.Unauthenticated("Authentication required")
	}
	return problem.Forbidden("Forbidden: tools are for people and applications")
}

func permitted(p authz.Principal, t tool.Tool) error {
	if t.Allowed(p) {
		return nil
	}
	missing := p.Missing(t.Access()...)
	if len(missing) == 0 {
		return problem.Forbidden("Forbidden: %s is for people only", t.Name())
	}
	return problem.Forbidden("Forbidden: %s (missing permission: %s)", t.Name(), strings.Join(missing, ", "))
}

// Outcome is what a call led to.
type Outcome struct {
	// CallID is the id of the call's row.
	CallID      string
	Disposition Disposition
	// Result is the full result of a read or of an applied change.
	Result any
	// Proposal is set for changes. An applied one has no token.
	Proposal *Proposal
}

// Execute does what the call's disposition says: run, propose, or propose and
// apply. A spent budget is problem.TooMany and leaves no row.
func (g *Gate) Execute(ctx context.Context, c *Call, o Origin) (Outcome, error) {
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return Outcome{}, err
	}
	if err := permitted(p, c.tool); err != nil {
		return Outcome{}, err
	}
	id := o.ID
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	at, who := db.Time(g.now()), Who{p.Kind, p.ID}
	if wait := g.budgets.enter(who, at); wait > 0 {
		return Outcome{}, tooMany(wait)
	}
	out := Outcome{CallID: id, Disposition: c.disposition}
	var err error
	if c.disposition == AutoRun && !c.tool.ReachesOut() {
		out.Result, err = g.read(ctx, who, id, at, c, o)
		return out, err
	}
	if c.disposition == Propose && o.Transport != Chat {
		if err := g.roomFor(ctx, who); err != nil {
			g.budgets.leave(who, at)
			return Outcome{}, err
		}
	}
	if err := g.reserve(ctx, who, id, at, c, o); err != nil {
		return Outcome{}, err
	}
	switch c.disposition {
	case AutoRun:
		out.Result, err = g.readOutside(ctx, p, id, c, o)
	case AutoApply:
		out.Proposal, out.Result, err = g.autoApply(ctx, p, id, c, o)
	default:
		out.Proposal, err = g.propose(ctx, p, id, c, o)
	}
	return out, err
}

// Propose stores a change of the principal in ctx for approval; it is Prepare
// and Execute for callers that want a proposal and nothing else.
func (g *Gate) Propose(ctx context.Context, name string, args json.RawMessage, o Origin) (*Proposal, error) {
	t, err := g.resolve(authz.From(ctx), name)
	if err != nil {
		return nil, err
	}
	if t.Effect() == tool.Read {
		return nil, problem.Invalid(fmt.Sprintf("%s only reads; there is nothing to approve", t.Name()))
	}
	c, err := g.prepare(t, args, Approve)
	if err != nil {
		return nil, err
	}
	out, err := g.Execute(ctx, c, o)
	return out.Proposal, err
}

// read runs a read and then writes its row. Nothing of what it found leaves
// before the row stands, and nothing when there was no budget for it; a process
// killed in between has told nobody anything.
func (g *Gate) read(ctx context.Context, who Who, id string, at time.Time, c *Call, o Origin) (any, error) {
	result, runErr := c.run(ctx)
	status := outcome(runErr)
	if err := g.conclude(ctx, who, id, at, c, o, status, runErr); err != nil {
		if problem.Is(err, problem.KindTooMany) {
			return nil, err
		}
		return nil, errors.Join(err, runErr) // nothing of it is told
	}
	g.emit(ctx, who, o.Transport, c.tool, status)
	return result, runErr
}

// readOutside is read for a tool that others outside notice, so its row comes
// first.
func (g *Gate) readOutside(ctx context.Context, p authz.Principal, id string, c *Call, o Origin) (any, error) {
	result, runErr := c.run(ctx)
	status := outcome(runErr)
	if err := g.finish(ctx, id, o, status, runErr); err != nil {
		return nil, fmt.Errorf("record call of %s: %w", c.tool.Name(), errors.Join(err, runErr))
	}
	g.emit(ctx, Who{p.Kind, p.ID}, o.Transport, c.tool, status)
	return result, runErr
}

func (c *Call) run(ctx context.Context) (any, error) {
	return guard(ctx, func(ctx context.Context) (any, error) { return c.tool.Run(ctx, c.args) })
}

func outcome(err error) Status {
	if err != nil {
		return Failed
	}
	return Executed
}

func (g *Gate) propose(ctx context.Context, p authz.Principal, id string, c *Call, o Origin) (*Proposal, error) {
	dry, err := guard(ctx, func(ctx context.Context) (tool.Dry, error) { return c.tool.Preview(ctx, c.args) })
	if err == nil {
		if bad := c.tool.Validate(dry.Payload); bad != nil {
			// Not %w: this is a fault of the tool, not of its caller.
			err = fmt.Errorf("the dry run of %s made a payload that its own schema refuses: %w", c.tool.Name(), bad)
		}
	}
	var made *Proposal
	if err == nil {
		made, err = g.store(ctx, id, c.tool, dry, ttl(o.Transport))
	}
	if err != nil {
		if ferr := g.finish(ctx, id, o, Failed, err); ferr != nil {
			g.log.ErrorContext(ctx, "failed proposal could not be recorded", "call_id", id, "tool", c.tool.Name(), "error", ferr)
		}
		g.emit(ctx, Who{p.Kind, p.ID}, o.Transport, c.tool, Failed)
		return nil, err
	}
	g.emit(ctx, Who{p.Kind, p.ID}, o.Transport, c.tool, Proposed)
	return made, nil
}

// autoApply is the propose and apply of a change in mode auto. The checks are
// those of a click; nothing is left to click when it fails.
func (g *Gate) autoApply(ctx context.Context, p authz.Principal, id string, c *Call, o Origin) (*Proposal, any, error) {
	if decide(c.tool.Effect(), c.mode) != AutoApply {
		return nil, nil, fmt.Errorf("%s with effect %s was sent to auto-apply", c.tool.Name(), c.tool.Effect())
	}
	made, err := g.propose(ctx, p, id, c, o)
	if err != nil {
		return nil, nil, err
	}
	applied, err := g.Apply(ctx, made.Token)
	if err != nil {
		if rerr := g.withdraw(ctx, id, err); rerr != nil {
			g.log.ErrorContext(ctx, "unapplied proposal could not be withdrawn", "call_id", id, "tool", c.tool.Name(), "error", rerr)
		}
		return nil, nil, err
	}
	made.Token = ""
	return made, applied.Result, nil
}

// emit tells of a call of who; a decision is told under the one who asked.
func (g *Gate) emit(ctx context.Context, who Who, tr Transport, t tool.Tool, s Status) {
	if g.events == nil {
		return
	}
	g.events.ToolCalled(ctx, ToolCalled{PrincipalKind: who.Kind, PrincipalID: who.ID, Transport: tr,
		ToolName: t.Name(), Effect: t.Effect(), Status: s})
}

// guard runs a piece of a tool with a time limit and turns a panic into an
// error, so that the call's row is always finished.
func guard[T any](ctx context.Context, work func(context.Context) (T, error)) (out T, err error) {
	ctx, cancel := context.WithTimeout(ctx, workLimit)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("tool panicked: %v\n%s", r, debug.Stack())
		}
	}()
	return work(ctx)
}

// short cuts a text after n characters.
func short(s string, n int) string {
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}
