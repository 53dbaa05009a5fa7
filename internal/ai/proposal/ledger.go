package proposal

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

const (
	// ledgerTimeout bounds one transaction of the ledger.
	ledgerTimeout = 10 * time.Second
	// ledgerBatch bounds the entries of one transaction.
	ledgerBatch = 100
)

// ledger writes the beginnings and ends of calls. What comes in while a
// transaction runs goes into the next one together, so a busy server pays for
// few transactions and a quiet one waits for nothing. Everybody is answered
// after the commit.
type ledger struct {
	db  *db.DB
	now func() time.Time

	mu      sync.Mutex
	queue   []*entry
	writing bool
}

// entry is the beginning of a call, or its end when end is set.
type entry struct {
	begin *beginning
	end   *ending
	// alone keeps an entry out of others' transactions. The row of a conversation
	// is locked by its deletion as well, in an order of its own; two transactions
	// that hold several such rows could wait for each other.
	alone bool
	gone  func() error // says that nobody waits any more
	done  chan error
}

// beginning is the JSON of a new row.
type beginning struct {
	ID           string      `json:"id"`
	Kind         authz.Kind  `json:"kind"`
	Principal    string      `json:"principal"`
	Transport    Transport   `json:"transport"`
	Conversation any         `json:"conversation"`
	Tool         string      `json:"tool"`
	Effect       tool.Effect `json:"effect"`
	Hash         string      `json:"hash"`
	// Nth counts the calls of this principal in the transaction, from 1.
	Nth int `json:"nth"`
}

// ending is the JSON of what a finished row says.
type ending struct {
	ID     string `json:"id"`
	Status Status `json:"status"`
	Error  any    `json:"error"`
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
			e.done <- problem.TooMany("Tool budget reached: %d of %d calls in the last minute are used; wait a moment before calling more tools",
				BudgetCalls, BudgetCalls).After(BudgetWindow)
		default:
			e.done <- nil
		}
	}
}

// write stores entries in one transaction and gives the beginnings for which
// there is no budget. Whoever counts the calls of a principal holds the
// principal's lock, so that the budget is exact on every replica; the count is
// a statement of its own, which sees what was committed before the lock was
// given (READ COMMITTED).
func (l *ledger) write(ctx context.Context, batch []*entry) (refused map[*entry]bool, err error) {
	now := db.Time(l.now())
	var begins []*beginning
	var ends []*ending
	var locks []string
	nth := map[string]int{}
	for _, e := range batch {
		if e.end != nil {
			ends = append(ends, e.end)
			continue
		}
		key := "ai.budget:" + string(e.begin.Kind) + ":" + e.begin.Principal
		if nth[key]++; nth[key] == 1 {
			locks = append(locks, key)
		}
		e.begin.Nth = nth[key]
		begins = append(begins, e.begin)
	}
	var steps []db.Step
	if len(locks) > 0 {
		steps = l.db.LockStep(locks...)
	}
	if len(ends) > 0 {
		rows, err := json.Marshal(ends)
		if err != nil {
			return nil, fmt.Errorf("encode outcomes: %w", err)
		}
		steps = append(steps, db.Step{Query: l.endText(), Args: []any{now, string(rows)}})
	}
	if len(begins) == 0 {
		return nil, l.db.Together(ctx, nil, steps...)
	}
	rows, err := json.Marshal(begins)
	if err != nil {
		return nil, fmt.Errorf("encode calls: %w", err)
	}
	var stored []string
	err = l.db.Together(ctx, &stored, append(steps,
		db.Step{Query: l.beginText(), Args: []any{now, string(rows), now.Add(-BudgetWindow), BudgetCalls}})...)
	if err != nil || len(stored) == len(begins) {
		return nil, err
	}
	in := make(map[string]bool, len(stored))
	for _, id := range stored {
		in[id] = true
	}
	refused = map[*entry]bool{}
	for _, e := range batch {
		refused[e] = e.begin != nil && !in[e.begin.ID]
	}
	return refused, nil
}

// The rows of a statement are one JSON document, so that its text, and with it
// its plan, is the same for every number of them.
const (
	beginSQLite = `SELECT ? AS now, value ->> 'id' AS id, value ->> 'kind' AS kind, value ->> 'principal' AS principal,
			value ->> 'transport' AS transport, value ->> 'conversation' AS conversation, value ->> 'tool' AS tool,
			value ->> 'effect' AS effect, value ->> 'hash' AS hash, value ->> 'nth' AS nth FROM json_each(?)`
	beginPostgres = `SELECT CAST(? AS TIMESTAMPTZ) AS now, * FROM jsonb_to_recordset(CAST(? AS JSONB))
			AS v (id TEXT, kind TEXT, principal TEXT, transport TEXT, conversation TEXT, tool TEXT, effect TEXT, hash TEXT, nth BIGINT)`
	// A row says that its call failed until the call's end is written.
	beginRest = `)
		INSERT INTO ai_tool_calls (id, principal_kind, principal_id, transport, conversation_id, tool_name, effect, args_hash, status, error, created_at)
		SELECT id, kind, principal, transport, conversation, tool, effect, hash, '` + string(Failed) + `', '` + interrupted + `', now
		FROM r WHERE r.nth + (SELECT count(*) FROM ai_tool_calls c
			WHERE c.principal_kind = r.kind AND c.principal_id = r.principal AND c.created_at > ?) <= ?
		RETURNING id`

	endFirst  = `UPDATE ai_tool_calls SET status = r.status, error = r.error, finished_at = ? FROM `
	endSQLite = `(SELECT value ->> 'id' AS id, value ->> 'status' AS status, value ->> 'error' AS error FROM json_each(?)) AS r
		WHERE ai_tool_calls.id = r.id`
	endPostgres = `jsonb_to_recordset(CAST(? AS JSONB)) AS r (id TEXT, status TEXT, error TEXT)
		WHERE ai_tool_calls.id = r.id`
)

func (l *ledger) beginText() string {
	if l.db.Postgres() {
		return "WITH r AS (" + beginPostgres + beginRest
	}
	return "WITH r AS (" + beginSQLite + beginRest
}

func (l *ledger) endText() string {
	if l.db.Postgres() {
		return endFirst + endPostgres
	}
	return endFirst + endSQLite
}
