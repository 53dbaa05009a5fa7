package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
)

// errSpent is the answer to an entry whose row the budget does not allow.
var errSpent = errors.New("tool budget is spent")

const (
	// ledgerTimeout bounds one transaction of the ledger.
	ledgerTimeout = 10 * time.Second
	// ledgerBatch bounds the entries of one transaction.
	ledgerBatch = 100
)

// ledger writes the rows of calls: the beginning before the work and the end
// after it, or both at once for a read, whose work can be thrown away. What comes
// in while a transaction runs goes into the next one together, so a busy server
// pays for few transactions and a quiet one waits for nothing. Everybody is
// answered after the commit.
type ledger struct {
	db  *db.DB
	now func() time.Time

	mu      sync.Mutex
	queue   []*entry
	writing bool
}

// entry is a new row, or the end of a call when end is set.
type entry struct {
	row *newRow
	end *ending
	// alone keeps an entry out of others' transactions. The row of a conversation
	// is locked by its deletion as well, in an order of its own; two transactions
	// that hold several such rows could wait for each other.
	alone bool
	gone  func() error // says that nobody waits any more
	done  chan error
}

// newRow is the JSON of a new row. Without an outcome the row says that its call
// failed until the call's end is written.
type newRow struct {
	ID           string      `json:"id"`
	Kind         authz.Kind  `json:"kind"`
	Principal    string      `json:"principal"`
	Transport    Transport   `json:"transport"`
	Conversation any         `json:"conversation"`
	Tool         string      `json:"tool"`
	Effect       tool.Effect `json:"effect"`
	Hash         string      `json:"hash"`
	Status       Status      `json:"status"`
	Error        any         `json:"error"`
	// At is when the call was made, Since where the window of its budget begins,
	// Finished when it had its outcome.
	At       string `json:"at"`
	Since    string `json:"since"`
	Finished any    `json:"finished"`
	// Nth counts the calls of this principal in the transaction, from 1.
	Nth int `json:"nth"`

	who Who
	at  time.Time
}

// ending is what a finished row says.
type ending struct {
	ID     string
	Status Status
	Error  any
}

// put hands an entry over and waits until it is stored or ctx ends.
func (l *ledger) put(ctx context.Context, e *entry) error {
	e.gone, e.done = ctx.Err, make(chan error, 1)
	if e.alone {
		l.settle(ctx, []*entry{e})
		return <-e.done
	}
	l.mu.Lock()
	l.queue = append(l.queue, e)
	start := !l.writing
	l.writing = true
	l.mu.Unlock()
	if start {
		go l.drain() // ends when nothing waits
	}
	select {
	case err := <-e.done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *ledger) drain() {
	for {
		runtime.Gosched() // those who are about to come can still come along
		l.mu.Lock()
		n := min(len(l.queue), ledgerBatch)
		batch := l.queue[:n:n]
		l.queue = l.queue[n:]
		if n == 0 {
			l.writing, l.queue = false, nil
			l.mu.Unlock()
			return
		}
		l.mu.Unlock()
		wanted := batch[:0]
		for _, e := range batch {
			if err := e.gone(); err != nil {
				e.done <- err
				continue
			}
			wanted = append(wanted, e)
		}
		l.settle(context.Background(), wanted)
	}
}

// settle stores entries and answers each. One that the database refuses does
// not take the others with it.
func (l *ledger) settle(ctx context.Context, batch []*entry) {
	if len(batch) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, ledgerTimeout)
	defer cancel()
	refused, err := l.write(ctx, batch)
	if db.IsRefused(err) && len(batch) > 1 {
		for _, e := range batch {
			l.settle(ctx, []*entry{e})
		}
		return
	}
	for _, e := range batch {
		switch {
		case err != nil:
			e.done <- err
		case refused[e]:
			e.done <- errSpent
		default:
			e.done <- nil
		}
	}
}

// write stores entries in one transaction and gives those whose rows the budget
// does not allow. Whoever counts the calls of a principal holds the principal's
// lock, so that the budget is exact on every replica; the count is a statement of
// its own, which sees what was committed before the lock was given (READ
// COMMITTED).
func (l *ledger) write(ctx context.Context, batch []*entry) (refused map[*entry]bool, err error) {
	now := db.Time(l.now())
	var rows []*newRow
	var ends []*ending
	var locks []string
	nth := map[Who]int{}
	for _, e := range batch {
		if e.end != nil {
			ends = append(ends, e.end)
			continue
		}
		r := e.row
		if nth[r.who]++; nth[r.who] == 1 {
			locks = append(locks, "ai.budget:"+string(r.who.Kind)+":"+r.who.ID)
		}
		r.Nth = nth[r.who]
		r.At, r.Since = l.db.TimeText(r.at), l.db.TimeText(r.at.Add(-BudgetWindow))
		if r.Finished != nil {
			r.Finished = l.db.TimeText(now)
		}
		rows = append(rows, r)
	}
	var steps []db.Step
	if len(locks) > 0 {
		steps = l.db.LockStep(locks...)
	}
	// A statement each: for a list of ids PostgreSQL plans to read a small table
	// whole.
	for _, e := range ends {
		steps = append(steps, db.Step{Query: endText, Args: []any{string(e.Status), e.Error, now, e.ID}})
	}
	if len(rows) == 0 {
		return nil, l.db.Together(ctx, nil, steps...)
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		return nil, fmt.Errorf("encode calls: %w", err)
	}
	var stored []string
	err = l.db.Together(ctx, &stored, append(steps, db.Step{Query: l.rowText(), Args: []any{string(raw), BudgetCalls}})...)
	if err != nil || len(stored) == len(rows) {
		return nil, err
	}
	in := make(map[string]bool, len(stored))
	for _, id := range stored {
		in[id] = true
	}
	refused = map[*entry]bool{}
	for _, e := range batch {
		refused[e] = e.row != nil && !in[e.row.ID]
	}
	return refused, nil
}

// freeAt gives when the budget of a principal allows the next call: when the
// oldest of those that fill it leaves the window.
func (l *ledger) freeAt(ctx context.Context, who Who) (time.Time, error) {
	var filling []struct{ CreatedAt time.Time }
	err := l.db.ScanPrepared(ctx, l.db.Read, &filling, `SELECT created_at FROM ai_tool_calls
		WHERE principal_kind = ? AND principal_id = ? ORDER BY created_at DESC LIMIT 1 OFFSET ?`, string(who.Kind), who.ID, BudgetCalls-1)
	if err != nil || len(filling) == 0 {
		return time.Time{}, err
	}
	return filling[0].CreatedAt.Add(BudgetWindow), nil
}

// The rows are one JSON document, so that the text, and with it the plan, is the
// same for every number of them.
const (
	rowSQLite = `SELECT value ->> 'id' AS id, value ->> 'kind' AS kind, value ->> 'principal' AS principal,
			value ->> 'transport' AS transport, value ->> 'conversation' AS conversation, value ->> 'tool' AS tool,
			value ->> 'effect' AS effect, value ->> 'hash' AS hash, value ->> 'status' AS status, value ->> 'error' AS error,
			value ->> 'at' AS at, value ->> 'since' AS since, value ->> 'finished' AS finished, value ->> 'nth' AS nth FROM json_each(?)`
	rowPostgres = `SELECT * FROM jsonb_to_recordset(CAST(? AS JSONB)) AS v (id TEXT, kind TEXT, principal TEXT, transport TEXT,
			conversation TEXT, tool TEXT, effect TEXT, hash TEXT, status TEXT, error TEXT,
			at TIMESTAMPTZ, since TIMESTAMPTZ, finished TIMESTAMPTZ, nth BIGINT)`
	rowRest = `)
		INSERT INTO ai_tool_calls (id, principal_kind, principal_id, transport, conversation_id, tool_name, effect, args_hash, status, error, created_at, finished_at)
		SELECT id, kind, principal, transport, conversation, tool, effect, hash, status, error, at, finished
		FROM r WHERE r.nth + (SELECT count(*) FROM ai_tool_calls c
			WHERE c.principal_kind = r.kind AND c.principal_id = r.principal AND c.created_at > r.since) <= ?
		RETURNING id`

	endText = `UPDATE ai_tool_calls SET status = ?, error = ?, finished_at = ? WHERE id = ?`
)

func (l *ledger) rowText() string {
	if l.db.Postgres() {
		return "WITH r AS (" + rowPostgres + rowRest
	}
	return "WITH r AS (" + rowSQLite + rowRest
}
