package proposal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// Status is the state of a call.
type Status string

// The states. Applying is never stored: it is an applied change whose work has
// not ended.
const (
	Proposed Status = "proposed"
	Applying Status = "applying"
	Applied  Status = "applied"
	Executed Status = "executed"
	Failed   Status = "failed"
	Expired  Status = "expired"
	Rejected Status = "rejected"
)

// Proposal is a change that waits, as the proposer gets it. Payload and diff
// are redacted.
type Proposal struct {
	ID       string
	Token    string
	ToolName string
	Effect   tool.Effect
	Summary  string
	Payload  json.RawMessage
	Diff     []tool.Change
	// Blocked says what had to happen first when this was proposed.
	Blocked   string
	ExpiresAt time.Time
}

// Record is a stored change as it may be shown.
type Record struct {
	Proposal
	Status         Status
	Transport      Transport
	ConversationID string
	// Result is the scrubbed result of an applied change.
	Result json.RawMessage
	// Error says why a change failed.
	Error string
	// Outdated says that it failed because its target had changed.
	Outdated bool
	// Private says that only its proposer sees and decides it.
	Private    bool
	ProposedBy Who
	// AppliedBy is who applied or declined; empty while nobody did.
	AppliedBy  Who
	ProposedAt time.Time
	AppliedAt  *time.Time
	// CreatedAt is when the call was made, FinishedAt when it had its outcome.
	CreatedAt  time.Time
	FinishedAt *time.Time
	// ArgsHash identifies the arguments without telling them.
	ArgsHash string
}

// Who is a principal in a record.
type Who struct {
	Kind authz.Kind `json:"kind"`
	ID   string     `json:"id"`
}

// snapshot is the JSON of result_snapshot, redacted throughout.
type snapshot struct {
	Summary string          `json:"summary"`
	Diff    []tool.Change   `json:"diff,omitempty"`
	Blocked string          `json:"blocked,omitempty"`
	Payload json.RawMessage `json:"payload,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
}

type row struct {
	ID                string
	PrincipalKind     string
	PrincipalID       string
	Transport         string
	ConversationID    *string
	ToolName          string
	Effect            string
	Status            string
	ProposalNonce     *string
	ProposalExpiresAt *time.Time
	AppliedByKind     *string
	AppliedByID       *string
	ResultSnapshot    json.RawMessage
	ProposedPayload   *string
	Error             *string
	ProposedAt        *time.Time
	AppliedAt         *time.Time
	FinishedAt        *time.Time
	CreatedAt         time.Time
	ArgsHash          string
	Outdated          bool
	Private           bool
}

const rowColumns = `id, principal_kind, principal_id, transport, conversation_id, tool_name, effect, status,
	proposal_nonce, proposal_expires_at, applied_by_kind, applied_by_id, result_snapshot, proposed_payload,
	error, proposed_at, applied_at, finished_at, created_at, args_hash, outdated, private`

// interrupted is the error of a row whose work never reported back.
const interrupted = "The call was interrupted before it finished"

// reserve writes the call's row before any work, if the budget allows. Until
// the work reports back, the row says that it failed.
func (g *Gate) reserve(ctx context.Context, who Who, id string, at time.Time, c *Call, o Origin) error {
	return g.insert(ctx, o, c, &newRow{ID: id, Status: Failed, Error: interrupted, who: who, at: at})
}

// conclude writes the row of a read that is over, if the budget allows. It works
// for a caller that has gone away.
func (g *Gate) conclude(ctx context.Context, who Who, id string, at time.Time, c *Call, o Origin, s Status, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	return g.insert(ctx, o, c, &newRow{ID: id, Status: s, Error: null(errorText(cause)), Finished: true, who: who, at: at})
}

func (g *Gate) insert(ctx context.Context, o Origin, c *Call, r *newRow) error {
	r.Kind, r.Principal, r.Transport, r.Conversation = r.who.Kind, r.who.ID, o.Transport, null(o.ConversationID)
	r.Tool, r.Effect, r.Hash = c.tool.Name(), c.tool.Effect(), c.hash
	err := g.ledger.put(ctx, &entry{alone: o.ConversationID != "", row: r})
	if err != nil {
		g.budgets.leave(r.who, r.at)
	}
	if errors.Is(err, errSpent) {
		return g.spent(ctx, r.who)
	}
	if err != nil {
		return fmt.Errorf("record call of %s: %w", c.tool.Name(), err)
	}
	return nil
}

// finish writes how a call ended whose row stands. It works for a caller that
// has gone away.
func (g *Gate) finish(ctx context.Context, id string, o Origin, s Status, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	return g.ledger.put(ctx, &entry{alone: o.ConversationID != "", end: &ending{ID: id, Status: s, Error: null(errorText(cause))}})
}

// finishChange is finish for a change that was carried out, or tried.
func (g *Gate) finishChange(ctx context.Context, id string, s Status, snap *snapshot, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ledgerTimeout)
	defer cancel()
	raw, err := json.Marshal(snap)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	_, err = g.db.Write.NewRaw("UPDATE ai_tool_calls SET status = ?, finished_at = ?, error = ?, result_snapshot = ? WHERE id = ?",
		s, db.Time(g.now()), null(errorText(cause)), string(raw), id).Exec(ctx)
	return err
}

// store turns the reserved row into a proposal.
func (g *Gate) store(ctx context.Context, id string, t tool.Tool, dry tool.Dry, wait time.Duration) (*Proposal, error) {
	sh := g.shapes[t.Name()]
	payload, err := sh.redact(dry.Payload)
	if err != nil {
		return nil, fmt.Errorf("redact payload of %s: %w", t.Name(), err)
	}
	diff, err := sh.redactDiff(dry.Diff)
	if err != nil {
		return nil, fmt.Errorf("redact diff of %s: %w", t.Name(), err)
	}
	snap, err := json.Marshal(snapshot{Summary: scrub.Text(dry.Summary), Diff: diff, Blocked: scrub.Text(dry.Blocked), Payload: payload})
	if err != nil {
		return nil, fmt.Errorf("encode proposal of %s: %w", t.Name(), err)
	}
	sealed, err := g.box.Seal(secret.New(string(dry.Payload)), payloadContext(id))
	if err != nil {
		return nil, fmt.Errorf("encrypt payload of %s: %w", t.Name(), err)
	}
	var b [32]byte
	if _, err := rand.Read(b[:]); err != nil {
		return nil, fmt.Errorf("random nonce: %w", err)
	}
	nonce := hex.EncodeToString(b[:])
	now := db.Time(g.now())
	expires := now.Add(wait)
	res, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, error = NULL, proposal_nonce = ?, proposal_expires_at = ?,
		proposed_payload = ?, result_snapshot = ?, proposed_at = ?, private = ? WHERE id = ?`,
		Proposed, nonce, expires, sealed, string(snap), now, dry.Private, id).Exec(ctx)
	if err := db.MustAffect(res, err, problem.NotFound("The call's record is gone")); err != nil {
		return nil, fmt.Errorf("store proposal of %s: %w", t.Name(), err)
	}
	return &Proposal{ID: id, Token: token(id, nonce), ToolName: t.Name(), Effect: t.Effect(),
		Summary: scrub.Text(dry.Summary), Payload: payload, Diff: diff, Blocked: scrub.Text(dry.Blocked), ExpiresAt: expires}, nil
}

func payloadContext(id string) string { return "ai_tool_calls\x00" + id }

// ofCaller says whether the principal in ctx made the call.
func (r *row) ofCaller(ctx context.Context) bool {
	p := authz.From(ctx)
	return r.PrincipalKind == string(p.Kind) && r.PrincipalID == p.ID
}

func (g *Gate) load(ctx context.Context, id string) (*row, error) {
	r := new(row)
	err := g.db.Read.NewRaw("SELECT "+rowColumns+" FROM ai_tool_calls WHERE id = ?", id).Scan(ctx, r)
	if err != nil {
		return nil, db.Found(err, problem.NotFound("This proposal does not exist"))
	}
	return r, nil
}

func (g *Gate) loadRecord(ctx context.Context, id string) (*Record, error) {
	r, err := g.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return g.record(r)
}

// record reads a row as it may be shown, without its token.
func (g *Gate) record(r *row) (*Record, error) {
	var snap snapshot
	if len(r.ResultSnapshot) > 0 {
		if err := json.Unmarshal(r.ResultSnapshot, &snap); err != nil {
			return nil, fmt.Errorf("read call %s: %w", r.ID, err)
		}
	}
	rec := &Record{
		Proposal: Proposal{ID: r.ID, ToolName: r.ToolName, Effect: tool.Effect(r.Effect), Summary: snap.Summary,
			Payload: snap.Payload, Diff: snap.Diff, Blocked: snap.Blocked},
		Status:         Status(r.Status),
		Transport:      Transport(r.Transport),
		CreatedAt:      r.CreatedAt.UTC(),
		ArgsHash:       r.ArgsHash,
		ConversationID: text(r.ConversationID),
		Result:         snap.Result,
		Error:          text(r.Error),
		Outdated:       r.Outdated,
		Private:        r.Private,
		ProposedBy:     Who{authz.Kind(r.PrincipalKind), r.PrincipalID},
		AppliedBy:      Who{authz.Kind(text(r.AppliedByKind)), text(r.AppliedByID)},
	}
	if r.ProposalExpiresAt != nil {
		rec.ExpiresAt = r.ProposalExpiresAt.UTC()
	}
	if r.ProposedAt != nil {
		rec.ProposedAt = r.ProposedAt.UTC()
	}
	if r.AppliedAt != nil {
		at := r.AppliedAt.UTC()
		rec.AppliedAt = &at
	}
	if r.FinishedAt != nil {
		at := r.FinishedAt.UTC()
		rec.FinishedAt = &at
	}
	switch {
	case rec.Status == Proposed && !rec.ExpiresAt.After(g.now()):
		rec.Status = Expired
	case rec.Status == Applied && r.FinishedAt == nil:
		rec.Status = Applying
	}
	return rec, nil
}

// Records gives the proposals with these ids that the principal in ctx made,
// by id. One that still waits carries its token.
func (g *Gate) Records(ctx context.Context, ids ...string) (map[string]*Record, error) {
	out := map[string]*Record{}
	if len(ids) == 0 {
		return out, nil
	}
	p := authz.From(ctx)
	if err := acceptable(p); err != nil {
		return nil, err
	}
	var rows []row
	err := g.db.Read.NewRaw("SELECT "+rowColumns+` FROM ai_tool_calls
		WHERE id IN (?) AND principal_kind = ? AND principal_id = ? AND proposal_nonce IS NOT NULL`,
		bun.List(ids), p.Kind, p.ID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read proposals: %w", err)
	}
	for i := range rows {
		rec, err := g.record(&rows[i])
		if err != nil {
			return nil, err
		}
		if rec.Status == Proposed {
			rec.Token = token(rec.ID, text(rows[i].ProposalNonce))
		}
		out[rec.ID] = rec
	}
	return out, nil
}

// Record is Records for one id; a proposal of somebody else does not exist.
func (g *Gate) Record(ctx context.Context, id string) (*Record, error) {
	recs, err := g.Records(ctx, id)
	if err != nil {
		return nil, err
	}
	if rec, ok := recs[id]; ok {
		return rec, nil
	}
	return nil, problem.NotFound("This proposal does not exist")
}

// stuckAfter is when an applied change that never reported back is given up;
// it is well above workLimit.
const stuckAfter = 5 * time.Minute

// Sweep closes what time has closed: overdue proposals become expired, and
// changes whose process died become failed. Correctness never waits for it.
func (g *Gate) Sweep(ctx context.Context) error {
	now := db.Time(g.now())
	if _, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, finished_at = ? WHERE status = ? AND proposal_expires_at <= ?`,
		Expired, now, Proposed, now).Exec(ctx); err != nil {
		return fmt.Errorf("expire proposals: %w", err)
	}
	if _, err := g.db.Write.NewRaw(`UPDATE ai_tool_calls SET status = ?, finished_at = ?, error = ?
		WHERE status = ? AND finished_at IS NULL AND applied_at <= ?`,
		Failed, now, "Checkstack stopped while it carried out this change; it may or may not have taken effect, so look before you repeat it",
		Applied, now.Add(-stuckAfter)).Exec(ctx); err != nil {
		return fmt.Errorf("close interrupted changes: %w", err)
	}
	return nil
}

// errorText is what a row says about a failure: a problem in its own words,
// anything else in fixed ones, since its text may hold anything.
func errorText(err error) string {
	if err == nil {
		return ""
	}
	if p, ok := problem.As(err); ok {
		return scrub.Text(short(p.Error(), 2000))
	}
	switch {
	case errors.Is(err, context.Canceled):
		return "Stopped before it finished"
	case errors.Is(err, context.DeadlineExceeded):
		return "Took too long and was stopped"
	}
	return "Failed inside Checkstack; the log of the server says why"
}

func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
