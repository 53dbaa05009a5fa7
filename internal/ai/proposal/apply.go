package proposal

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// Causes that callers can tell apart with errors.Is.
var (
	ErrInvalidToken = errors.New("invalid proposal token")
	ErrExpired      = errors.New("proposal expired")
	ErrConsumed     = errors.New("proposal already decided")
	// ErrFailed says that the work itself failed after the token was consumed.
	ErrFailed = errors.New("applying the change failed")
)

const tokenPrefix = "propose:"

func token(id, nonce string) string { return tokenPrefix + id + "." + nonce }

// parseToken splits at the first dot; dots in the nonce are kept.
func parseToken(t string) (id, nonce string, ok bool) {
	rest, ok := strings.CutPrefix(t, tokenPrefix)
	if !ok {
		return "", "", false
	}
	id, nonce, ok = strings.Cut(rest, ".")
	return id, nonce, ok && id != "" && nonce != ""
}

// find loads the row of a token and checks the nonce.
func (g *Gate) find(ctx context.Context, tok string) (*row, error) {
	invalid := problem.Invalid("This proposal token is not valid").Because(ErrInvalidToken)
	id, nonce, ok := parseToken(tok)
	if !ok {
		return nil, invalid
	}
	r, err := g.load(ctx, id)
	if err != nil {
		return nil, err
	}
	if r.ProposalNonce == nil || (r.Private && !r.ofCaller(ctx)) {
		return nil, problem.NotFound("This proposal does not exist")
	}
	if subtle.ConstantTimeCompare([]byte(*r.ProposalNonce), []byte(nonce)) != 1 {
		return nil, invalid
	}
	return r, nil
}

// Lookup gives the stored proposal of a token whatever its state; a token that
// is malformed, unknown or wrong is problem.NotFound.
func (g *Gate) Lookup(ctx context.Context, tok string) (*Record, error) {
	r, err := g.find(ctx, tok)
	if errors.Is(err, ErrInvalidToken) {
		return nil, problem.NotFound("This proposal does not exist").Because(ErrInvalidToken)
	}
	if err != nil {
		return nil, err
	}
	return g.record(r)
}

// AppliedChange is the outcome of Apply.
type AppliedChange struct {
	CallID string
	Result any
}

// Apply carries out a proposal as the principal in ctx, who need not be the
// proposer but must hold the tool's rules now. The dry run is repeated on the
// stored payload first: when it refuses what may still become possible, the
// error says why and the proposal keeps waiting; when the target has changed, it
// is out of date for good (ErrOutdated). After that the token is consumed and
// the change runs to its end even when the caller goes away.
func (g *Gate) Apply(ctx context.Context, tok string) (AppliedChange, error) {
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return AppliedChange{}, err
	}
	r, err := g.find(ctx, tok)
	if err != nil {
		return AppliedChange{}, err
	}
	return g.apply(ctx, p, r)
}

func (g *Gate) apply(ctx context.Context, p authz.Principal, r *row) (AppliedChange, error) {
	if err := g.open(r); err != nil {
		return AppliedChange{}, err
	}
	t, err := g.resolve(p, r.ToolName)
	if err != nil {
		return AppliedChange{}, err
	}
	payload, err := g.payload(r)
	if err != nil {
		return AppliedChange{}, err
	}
	if err := g.recheck(ctx, p, t, r, payload); err != nil {
		return AppliedChange{}, err
	}
	if err := g.consume(ctx, p, r); err != nil {
		return AppliedChange{}, err
	}
	result, err := g.carryOut(context.WithoutCancel(ctx), p, t, r, payload)
	return AppliedChange{CallID: r.ID, Result: result}, err
}

// open says whether a row still waits, and else why not.
func (g *Gate) open(r *row) error {
	switch {
	case Status(r.Status) == Expired,
		Status(r.Status) == Proposed && (r.ProposalExpiresAt == nil || !r.ProposalExpiresAt.After(g.now())):
		return problem.Conflict("This proposal has expired. Ask for the change again").Because(ErrExpired)
	case Status(r.Status) != Proposed:
		return consumed(r)
	}
	return nil
}

// consumed answers a repeated decision and names the first one's call.
func consumed(r *row) error {
	said := map[Status]string{
		Applied:  "This change was already applied",
		Failed:   "This change was already tried and failed",
		Rejected: "This change was already declined",
	}[Status(r.Status)]
	if Status(r.Status) == Applied && r.FinishedAt == nil {
		said = "This change is already being applied"
	}
	if r.Outdated {
		said = "This proposal is out of date; ask for the change again"
	}
	e := problem.Conflict("%s (tool call %s)", said, r.ID).Because(ErrConsumed)
	e.Issues = []problem.Issue{{Path: "toolCallId", Message: r.ID}}
	return e
}

func (g *Gate) payload(r *row) (json.RawMessage, error) {
	if r.ProposedPayload == nil {
		return nil, fmt.Errorf("proposal %s has no payload", r.ID)
	}
	plain, err := g.box.Open(*r.ProposedPayload, payloadContext(r.ID))
	if err != nil {
		return nil, fmt.Errorf("payload of proposal %s: %w", r.ID, err)
	}
	return json.RawMessage(plain.Reveal()), nil
}

// recheck validates the stored payload and repeats the dry run. A refusal that
// only means "somebody else just applied this" is told as that.
func (g *Gate) recheck(ctx context.Context, p authz.Principal, t tool.Tool, r *row, payload json.RawMessage) error {
	err := t.Validate(payload)
	if err == nil {
		var dry tool.Dry
		dry, err = guard(ctx, func(ctx context.Context) (tool.Dry, error) { return t.Preview(ctx, payload) })
		if err == nil && dry.Blocked != "" {
			err = problem.Conflict("%s", dry.Blocked)
		}
	}
	if err == nil {
		return nil
	}
	if now, lerr := g.load(ctx, r.ID); lerr == nil && Status(now.Status) != Proposed {
		return g.open(now)
	}
	if refusal := g.outdated(ctx, t, r, payload, err); refusal != nil {
		return g.giveUp(ctx, p, t, r, refusal, err)
	}
	return err
}

// consume takes the token: one statement, so that one caller wins.
func (g *Gate) consume(ctx context.Context, p authz.Principal, r *row) error {
	now := db.Time(g.now())
	res, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, applied_at = ?, applied_by_kind = ?, applied_by_id = ?
		WHERE id = ? AND status = ? AND proposal_expires_at > ?`,
		Applied, now, p.Kind, p.ID, r.ID, Proposed, now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("consume proposal %s: %w", r.ID, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("consume proposal %s: %w", r.ID, err)
	}
	if n == 1 {
		return nil
	}
	latest, err := g.load(ctx, r.ID)
	if err != nil {
		return err
	}
	if err := g.open(latest); err != nil {
		return err
	}
	return problem.Conflict("This proposal changed while it was being applied; try again")
}

// carryOut runs the consumed change and records how it ended.
func (g *Gate) carryOut(ctx context.Context, p authz.Principal, t tool.Tool, r *row, payload json.RawMessage) (any, error) {
	result, err := guard(ctx, func(ctx context.Context) (any, error) { return t.Run(ctx, payload) })
	status := Applied
	if err != nil {
		status = Failed
	}
	snap, serr := applySnapshot(r, result, err)
	if serr == nil {
		serr = g.finishChange(ctx, r.ID, status, snap, err)
	}
	if serr != nil {
		// The change itself has happened or failed; that is what the caller hears.
		g.log.ErrorContext(ctx, "applied change could not be recorded", "call_id", r.ID, "tool", t.Name(), "error", serr)
	}
	g.emit(ctx, Who{authz.Kind(r.PrincipalKind), r.PrincipalID}, Transport(r.Transport), t, status)
	if pr, ok := problem.As(err); ok {
		return nil, problem.Invalid("The change failed: "+pr.Message, pr.Issues...).Because(errors.Join(ErrFailed, err))
	}
	if err != nil {
		return nil, fmt.Errorf("apply %s: %w", t.Name(), errors.Join(ErrFailed, err))
	}
	return result, nil
}

func applySnapshot(r *row, result any, runErr error) (*snapshot, error) {
	var snap snapshot
	if err := json.Unmarshal(r.ResultSnapshot, &snap); err != nil {
		return nil, fmt.Errorf("read proposal: %w", err)
	}
	if runErr == nil {
		clean, err := scrub.Any(result)
		if err != nil {
			return nil, err
		}
		if snap.Result, err = json.Marshal(clean); err != nil {
			return nil, err
		}
	}
	return &snap, nil
}

// Decline ends a proposal without a change. Declining twice is fine; a change
// that was carried out cannot be declined any more.
func (g *Gate) Decline(ctx context.Context, tok string) error {
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return err
	}
	r, err := g.find(ctx, tok)
	if err != nil {
		return err
	}
	return g.decline(ctx, p, r)
}

func (g *Gate) decline(ctx context.Context, p authz.Principal, r *row) error {
	now := db.Time(g.now())
	res, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, finished_at = ?, applied_by_kind = ?, applied_by_id = ?
		WHERE id = ? AND status = ?`, Rejected, now, p.Kind, p.ID, r.ID, Proposed).Exec(ctx)
	if err != nil {
		return fmt.Errorf("decline proposal %s: %w", r.ID, err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return fmt.Errorf("decline proposal %s: %w", r.ID, err)
	}
	if n == 1 {
		if t, ok := g.tools.Get(r.ToolName); ok {
			g.emit(ctx, Who{authz.Kind(r.PrincipalKind), r.PrincipalID}, Transport(r.Transport), t, Rejected)
		}
		return nil
	}
	latest, err := g.load(ctx, r.ID)
	if err != nil {
		return err
	}
	switch Status(latest.Status) {
	case Rejected, Expired:
		return nil
	}
	return consumed(latest)
}

// DeclineConversation declines, as the principal in ctx and within tx, all that
// waits in a conversation. announce tells of it; it is called after the commit.
func (g *Gate) DeclineConversation(ctx context.Context, tx bun.Tx, conversationID string) (announce func(), err error) {
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return nil, err
	}
	now := db.Time(g.now())
	var rows []row
	err = tx.NewRaw(`UPDATE ai_tool_calls SET status = ?, finished_at = ?, applied_by_kind = ?, applied_by_id = ?
		WHERE conversation_id = ? AND status = ? AND proposal_expires_at > ? RETURNING principal_kind, principal_id, transport, tool_name`,
		Rejected, now, p.Kind, p.ID, conversationID, Proposed, now).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("decline what waits in conversation %s: %w", conversationID, err)
	}
	return func() {
		for i := range rows {
			if t, ok := g.tools.Get(rows[i].ToolName); ok {
				g.emit(ctx, Who{authz.Kind(rows[i].PrincipalKind), rows[i].PrincipalID}, Transport(rows[i].Transport), t, Rejected)
			}
		}
	}, nil
}

// withdraw closes a proposal that nobody will be asked about.
func (g *Gate) withdraw(ctx context.Context, id string, cause error) error {
	_, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, finished_at = ?, error = ? WHERE id = ? AND status = ?`,
		Failed, db.Time(g.now()), errorText(cause), id, Proposed).Exec(context.WithoutCancel(ctx))
	return err
}
