package proposal

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// maxWaiting bounds the inbox; more than this nobody reads, and the soonest to
// expire come first.
const maxWaiting = 200

// maxOwn is how many changes of one principal may wait, not counting those in
// chats: nobody fills the inbox of everybody.
const maxOwn = 100

// roomFor refuses a further proposal of a principal that has maxOwn waiting.
// Those that come at the same moment can be a few more.
func (g *Gate) roomFor(ctx context.Context, who Who) error {
	now := db.Time(g.now())
	var n []int
	err := g.db.ScanPrepared(ctx, g.db.Read, &n, `SELECT count(*) FROM ai_tool_calls WHERE principal_kind = ? AND principal_id = ?
		AND created_at > ? AND status = ? AND proposal_expires_at > ? AND transport <> ?`,
		string(who.Kind), who.ID, now.Add(-InboxTTL), string(Proposed), now, string(Chat))
	if err != nil {
		return fmt.Errorf("count waiting proposals: %w", err)
	}
	if n[0] >= maxOwn {
		return problem.Conflict("At most %d changes of one proposer can wait for a decision, and that many do. Have some of them decided in Approvals first", maxOwn)
	}
	return nil
}

// Waiting gives the changes that the principal in ctx may decide: their own,
// and those of others that came from no chat, are not private and change what the
// principal may change: a chat is its owner's alone. Those that end soonest come first. No tokens.
func (g *Gate) Waiting(ctx context.Context) ([]Record, error) {
	return g.inbox(ctx, "status = ? AND proposal_expires_at > ?", Proposed, db.Time(g.now()))
}

// inInbox loads a proposal for a decision by id instead of by token. The person
// decides as somebody who sees it in the inbox, so the same ones are reachable
// and all others do not exist.
func (g *Gate) inInbox(ctx context.Context, id string) (authz.Principal, *row, error) {
	p := authz.From(ctx)
	if p.Kind != authz.User {
		return p, nil, problem.Forbidden("Forbidden: only a person decides in the approvals inbox")
	}
	gone := problem.NotFound("This proposal does not exist")
	r, err := g.load(ctx, id)
	if err != nil {
		return p, nil, err
	}
	t, ok := g.tools.Get(r.ToolName)
	if r.ProposalNonce == nil || !ok || (!r.ofCaller(ctx) && (r.Private || Transport(r.Transport) == Chat || !t.Allowed(p))) {
		return p, nil, gone
	}
	return p, r, nil
}

// Approve is Apply for a proposal in the inbox of the person in ctx.
func (g *Gate) Approve(ctx context.Context, id string) (AppliedChange, error) {
	p, r, err := g.inInbox(ctx, id)
	if err != nil {
		return AppliedChange{}, err
	}
	return g.apply(ctx, p, r)
}

// Reject is Decline for a proposal in the inbox of the person in ctx.
func (g *Gate) Reject(ctx context.Context, id string) error {
	p, r, err := g.inInbox(ctx, id)
	if err != nil {
		return err
	}
	return g.decline(ctx, p, r)
}

// Query selects calls of the audit log. Zero values do not restrict.
type Query struct {
	Who       Who
	ToolName  string
	Effect    string
	Status    Status
	Transport Transport
	From, To  time.Time // from is inclusive, to is not
	// Before is the id of the last call of the page before.
	Before string
	Limit  int
}

// Calls gives calls, newest first. Whose calls the caller may see is decided by
// the operation that asks.
func (g *Gate) Calls(ctx context.Context, q Query) ([]Record, error) {
	sel := g.db.Read.NewSelect().TableExpr("ai_tool_calls").ColumnExpr(rowColumns).OrderExpr("id DESC").Limit(int64(q.Limit))
	where := func(set bool, expr string, args ...any) {
		if set {
			sel = sel.Where(expr, args...)
		}
	}
	where(q.Who.ID != "", "principal_kind = ? AND principal_id = ?", q.Who.Kind, q.Who.ID)
	where(q.ToolName != "", "tool_name = ?", q.ToolName)
	where(q.Effect != "", "effect = ?", q.Effect)
	where(q.Transport != "", "transport = ?", q.Transport)
	where(q.Before != "", "id < ?", q.Before)
	where(!q.From.IsZero(), "created_at >= ?", db.Time(q.From))
	where(!q.To.IsZero(), "created_at < ?", db.Time(q.To))
	now := db.Time(g.now())
	switch q.Status {
	case "":
	case Applying:
		sel = sel.Where("status = ? AND finished_at IS NULL", Applied)
	case Applied:
		sel = sel.Where("status = ? AND finished_at IS NOT NULL", Applied)
	case Proposed:
		sel = sel.Where("status = ? AND proposal_expires_at > ?", Proposed, now)
	case Expired:
		sel = sel.Where("(status = ? OR (status = ? AND proposal_expires_at <= ?))", Expired, Proposed, now)
	default:
		sel = sel.Where("status = ?", q.Status)
	}
	var rows []row
	if err := sel.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read calls: %w", err)
	}
	out := make([]Record, len(rows))
	for i := range rows {
		rec, err := g.record(&rows[i])
		if err != nil {
			return nil, err
		}
		out[i] = *rec
	}
	return out, nil
}

// ToolNames gives the names of the tools of the running product, sorted.
func (g *Gate) ToolNames() []string {
	var out []string
	for _, t := range g.tools.All() {
		out = append(out, t.Name())
	}
	slices.Sort(out)
	return out
}

// Retention is how long calls are kept.
const Retention = 365 * 24 * time.Hour

// retainBatch bounds one deletion, so that it never holds the database long.
const retainBatch = 1000

// Retain deletes calls that are older than Retention.
func (g *Gate) Retain(ctx context.Context) error {
	limit := db.Time(g.now().Add(-Retention))
	for {
		res, err := g.db.Write.NewRaw(`DELETE FROM ai_tool_calls WHERE id IN
			(SELECT id FROM ai_tool_calls WHERE created_at < ? ORDER BY created_at LIMIT ?)`, limit, retainBatch).Exec(ctx)
		if err != nil {
			return fmt.Errorf("delete old calls: %w", err)
		}
		if n, err := res.RowsAffected(); err != nil || n < retainBatch {
			return err
		}
	}
}

// Tool finds a tool by its dotted or its wire name.
func (g *Gate) Tool(name string) (tool.Tool, bool) { return g.tools.Get(name) }
