package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// Spend, spec/ai-platform.md 28. Without a cap a turn writes its row when it
// ends. With one it holds a row from the beginning, which counts what its
// running round will probably use: rounds are let in one after another per
// person and connection, on every replica, and each sees the reservations of
// all others. So the cap can be exceeded only by what the rounds that run at
// that moment use beyond their reservation: the answer above replyReserve and
// the error of the estimate.

// replyReserve is the answer that a reservation counts on, in tokens.
const replyReserve = 4096

// ledger is what a turn has to write down.
type ledger struct {
	mu   sync.Mutex
	row  string      // the reserved row; empty without a cap
	more []llm.Usage // of the guard and of summaries, each a row of its own
}

// side notes a model call beside the rounds.
func (l *ledger) side(u llm.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.more = append(l.more, u)
}

func (l *ledger) take() (row string, more []llm.Usage) {
	l.mu.Lock()
	defer l.mu.Unlock()
	row, more = l.row, l.more
	l.more = nil
	return row, more
}

// capped says whether the turn's tokens are bounded.
func (t *turn) capped() bool { return t.conn.Cap != nil && !t.conn.builtin() }

// reserve lets a round in if the person has budget left on the connection.
// Without a cap nothing is asked.
func (t *turn) reserve(ctx context.Context, req llm.Request) error {
	if !t.capped() {
		return nil
	}
	t.ledger.mu.Lock()
	row := t.reservation(t.ledger.row, req)
	t.ledger.mu.Unlock()
	err := t.s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error { return t.admitRound(ctx, tx, row) })
	if err == nil {
		t.ledger.mu.Lock()
		t.ledger.row = row.id
		t.ledger.mu.Unlock()
	}
	return err
}

// reservation is the row of a turn that has used what it has, and is about to
// ask for more.
func (t *turn) reservation(id string, req llm.Request) spendRow {
	t.mu.Lock()
	used := t.usage
	t.mu.Unlock()
	in := llm.EstimateRequest(req)
	row := t.spendRow(id, used.Add(llm.Usage{InputTokens: in, OutputTokens: replyReserve, TotalTokens: in + replyReserve, Estimated: true}))
	row.sofar, row.reserved = int64(used.TotalTokens), int64(in+replyReserve)
	return row
}

// roomy is how many reservations must fit under the cap for a round to be let
// in without waiting for others: no person begins more rounds at one moment.
const roomy = 64

// admitRound writes a reservation, unless the cap is reached. Far below the cap
// it looks and writes in one statement; near it, one round after another.
func (t *turn) admitRound(ctx context.Context, tx bun.Tx, row spendRow) error {
	c, s := t.conn, t.s
	if room := t.room(row); room > 0 {
		// What the turn itself has reserved before counts twice here, on the safe side.
		args := append(s.spendArgs(row), s.roomyArgs(t, room)...)
		done, err := affected(s.db.ExecPrepared(ctx, tx, roomyStatement, args...))
		if err != nil {
			return fmt.Errorf("reserve spend: %w", err)
		}
		if done {
			return nil
		}
	}
	if err := s.db.LockKey(ctx, tx, "ai.spend:"+c.ID+":"+string(t.who.Kind)+":"+t.who.ID); err != nil {
		return err
	}
	spent, err := s.spent(ctx, tx, t.who, c, row.id)
	if err != nil {
		return err
	}
	spent.Total += row.sofar
	if err := c.Cap.check(spent); err != nil {
		return err
	}
	return s.writeSpend(ctx, tx, row)
}

// room is how much must be unused for a round to be let in without waiting;
// zero or less when the cap is too near for that.
func (t *turn) room(row spendRow) int64 {
	return t.conn.Cap.TokenBudget - row.sofar - roomy*int64(row.usage.TotalTokens)
}

// spentTokens are the tokens of a cap's window.
type spentTokens struct {
	Total    int64 // used or reserved
	Reserved int64 // of it, for rounds that run
}

// check refuses when what was spent has reached the cap.
func (c *SpendCap) check(spent spentTokens) error {
	if spent.Total < c.TokenBudget {
		return nil
	}
	text := fmt.Sprintf("LLM spend/budget exceeded: %d of %d tokens used in the last %d minutes on this connection",
		spent.Total-spent.Reserved, c.TokenBudget, c.WindowMinutes)
	if spent.Reserved > 0 {
		text += fmt.Sprintf(", and %d reserved for answers that are being written now. What they do not use comes back when they end", spent.Reserved)
	}
	return problem.TooMany("%s", text)
}

// spent sums what a principal used or reserved within the window of the
// connection's cap, except for one row.
func (s *Service) spent(ctx context.Context, idb bun.IDB, p authz.Principal, c *Connection, except string) (spentTokens, error) {
	var sums []spentTokens
	err := s.db.ScanPrepared(ctx, idb, &sums, "SELECT CAST(coalesce(sum(total_tokens), 0) AS BIGINT) AS total, CAST(coalesce(sum(reserved), 0) AS BIGINT) AS reserved"+
		spentWhere+" AND id <> ?", c.ID, p.Kind, p.ID, s.windowStart(c), except)
	if err != nil {
		return spentTokens{}, fmt.Errorf("read spend: %w", err)
	}
	return sums[0], nil
}

const spentWhere = ` FROM ai_spend WHERE integration_id = ? AND principal_kind = ? AND principal_id = ? AND created_at >= ?`

// windowStart is the beginning of the window that a connection's cap counts in.
func (s *Service) windowStart(c *Connection) time.Time {
	return db.Time(s.now().Add(-time.Duration(c.Cap.WindowMinutes) * time.Minute))
}

// enforceCap refuses when the cap is reached, without reserving anything.
func (s *Service) enforceCap(ctx context.Context, p authz.Principal, c *Connection) error {
	if c.Cap == nil {
		return nil
	}
	spent, err := s.spent(ctx, s.db.Read, p, c, "")
	if err != nil {
		return err
	}
	return c.Cap.check(spent)
}

// spendRow is one row of the ledger.
type spendRow struct {
	id, connectionID, conversationID, model string
	who                                     authz.Principal
	usage                                   llm.Usage
	sofar                                   int64 // of it, what was really used
	reserved                                int64 // the rest, for the round that runs
}

func (t *turn) spendRow(id string, u llm.Usage) spendRow {
	if id == "" {
		id = uuid.Must(uuid.NewV7()).String()
	}
	return spendRow{id: id, connectionID: t.conn.ID, conversationID: t.conv.ID, model: t.modelID, who: t.who, usage: u}
}

// spendSteps writes down what a turn used, at its end, and takes back a
// reservation that nothing was used of.
func (t *turn) spendSteps(u llm.Usage) (steps []db.Step) {
	if t.conn.builtin() {
		return nil
	}
	row, more := t.ledger.take()
	settle := func(id string, u llm.Usage) {
		steps = append(steps, db.Step{Query: settleStatement, Args: t.s.spendArgs(t.spendRow(id, u))})
	}
	switch {
	case counts(u):
		settle(row, u)
	case row != "":
		steps = append(steps, db.Step{Query: "DELETE FROM ai_spend WHERE id = ?", Args: []any{row}})
	}
	for _, m := range more {
		if counts(m) {
			settle("", m)
		}
	}
	return steps
}

func counts(u llm.Usage) bool { return u.TotalTokens > 0 || u.InputTokens > 0 || u.OutputTokens > 0 }

const (
	spendColumns = `INSERT INTO ai_spend (id, integration_id, principal_kind, principal_id, conversation_id, model,
		input_tokens, output_tokens, total_tokens, reserved, estimated, created_at) `
	spendValues = "?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?"
	spendLatest = ` ON CONFLICT (id) DO UPDATE SET input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens,
		total_tokens = excluded.total_tokens, reserved = excluded.reserved, estimated = excluded.estimated`
	belowRoom       = "(SELECT coalesce(sum(total_tokens), 0)" + spentWhere + ") < ?"
	roomyWhere      = " AND " + belowRoom
	roomyStatement  = spendColumns + "SELECT " + spendValues + " WHERE " + belowRoom + spendLatest
	settleStatement = spendColumns + "VALUES (" + spendValues + ")" + spendLatest
)

func (s *Service) roomyArgs(t *turn, room int64) []any {
	return []any{t.conn.ID, string(t.who.Kind), t.who.ID, s.windowStart(t.conn), room}
}

func (s *Service) spendArgs(r spendRow) []any {
	in, out := max(r.usage.InputTokens, 0), max(r.usage.OutputTokens, 0)
	return []any{r.id, r.connectionID, string(r.who.Kind), r.who.ID, nullable(r.conversationID), r.model, in, out,
		max(r.usage.TotalTokens, in+out), r.reserved, r.usage.Estimated, db.Time(s.now())}
}

// writeSpend writes a row, or the latest figures of one that is there.
func (s *Service) writeSpend(ctx context.Context, idb bun.IDB, r spendRow) error {
	if _, err := s.db.ExecPrepared(ctx, idb, settleStatement, s.spendArgs(r)...); err != nil {
		return fmt.Errorf("record spend: %w", err)
	}
	return nil
}

// keepReserved counts as used what a turn has reserved whose process died: it
// may have been.
func (s *Service) keepReserved(ctx context.Context, idb bun.IDB, conversationID string) error {
	if _, err := idb.NewRaw("UPDATE ai_spend SET reserved = 0 WHERE conversation_id = ? AND reserved > 0", conversationID).Exec(ctx); err != nil {
		return fmt.Errorf("keep reserved spend: %w", err)
	}
	return nil
}

// recordSpend writes a call that belongs to no turn's end. It must not fail
// anything.
func (s *Service) recordSpend(ctx context.Context, who authz.Principal, c *Connection, conversationID, model string, u llm.Usage) {
	if c.builtin() || !counts(u) {
		return
	}
	err := s.writeSpend(ctx, s.db.Write, spendRow{id: uuid.Must(uuid.NewV7()).String(), connectionID: c.ID, conversationID: conversationID,
		model: model, who: who, usage: u})
	if err != nil && !errors.Is(err, context.Canceled) {
		s.log.ErrorContext(ctx, "spend could not be recorded", "conversation_id", conversationID, "connection_id", c.ID, "error", err)
	}
}
