package db

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// ExecPrepared runs a statement that is the same text every time, with "?" for
// its arguments, in the pool or the transaction idb. The plan is kept
// per connection, which costs a fraction of planning it again; it is for the
// few statements that busy paths repeat. Arguments are plain values, no lists.
func (d *DB) ExecPrepared(ctx context.Context, idb bun.IDB, query string, args ...any) (sql.Result, error) {
	raw, pool, err := rawOf(idb)
	if err != nil {
		return nil, err
	}
	if d.Postgres() {
		return raw.ExecContext(ctx, numbered(query), cached(args)...)
	}
	if pool == nil {
		pool = d.Write.DB
	}
	stmt := d.plans.get(pool, query) //nolint:sqlclosecheck // the plan stays for the next caller
	switch tx, inTx := idb.(bun.Tx); {
	case stmt == nil:
		return idb.NewRaw(query, args...).Exec(ctx)
	case inTx:
		return tx.StmtContext(ctx, stmt).ExecContext(ctx, d.plain(args)...) //nolint:sqlclosecheck // ends with the transaction
	}
	return stmt.ExecContext(ctx, d.plain(args)...)
}

// ScanPrepared is ExecPrepared for a query, whose rows are read into dest, a
// pointer to a slice.
func (d *DB) ScanPrepared(ctx context.Context, idb bun.IDB, dest any, query string, args ...any) error {
	raw, pool, err := rawOf(idb)
	if err != nil {
		return err
	}
	var rows *sql.Rows
	if d.Postgres() {
		rows, err = raw.QueryContext(ctx, numbered(query), cached(args)...)
	} else {
		if pool == nil {
			pool = d.Write.DB
		}
		stmt := d.plans.get(pool, query) //nolint:sqlclosecheck // the plan stays for the next caller
		if stmt == nil {
			return idb.NewRaw(query, args...).Scan(ctx, dest)
		}
		if tx, inTx := idb.(bun.Tx); inTx {
			stmt = tx.StmtContext(ctx, stmt) //nolint:sqlclosecheck // ends with the transaction
		}
		rows, err = stmt.QueryContext(ctx, d.plain(args)...)
	}
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	if err := d.Read.ScanRows(ctx, rows, dest); err != nil {
		return err
	}
	return rows.Err()
}

// plans keeps SQLite's prepared statements. Preparing needs a connection, and
// within a transaction there may be no other, so a statement runs unprepared
// until it was prepared beside.
type plans struct {
	mu    sync.Mutex
	stmts map[planKey]*sql.Stmt // nil while being prepared
	busy  sync.WaitGroup
}

type planKey struct {
	pool  *sql.DB
	query string
}

func (p *plans) get(pool *sql.DB, query string) *sql.Stmt {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := planKey{pool, query}
	if stmt, known := p.stmts[key]; known {
		return stmt
	}
	if p.stmts == nil {
		p.stmts = map[planKey]*sql.Stmt{}
	}
	p.stmts[key] = nil
	p.busy.Go(func() {
		stmt, err := pool.PrepareContext(context.Background(), query) //nolint:sqlclosecheck // the pool closes it
		if err != nil {
			return // it goes on unprepared, and says what is wrong there
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stmts[key] = stmt
	})
	return nil
}

// close waits for what is being prepared; the pools close the statements.
func (p *plans) close() { p.busy.Wait() }

// plain gives arguments as bun would write them.
func (d *DB) plain(args []any) []any {
	out := make([]any, len(args))
	for i, a := range args {
		switch t := a.(type) {
		case time.Time:
			a = d.TimeText(t)
		case *time.Time:
			if a = any(nil); t != nil {
				a = d.TimeText(*t)
			}
		}
		out[i] = a
	}
	return out
}

// TimeText writes t as the database keeps it, for times within a JSON argument.
func (d *DB) TimeText(t time.Time) string {
	quoted := d.Write.Dialect().AppendTime(nil, t)
	return string(quoted[1 : len(quoted)-1])
}

type rawDB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rawOf gives the connection beneath bun, which would write the arguments into
// the text, and its pool, nil for a transaction.
func rawOf(idb bun.IDB) (raw rawDB, pool *sql.DB, err error) {
	switch x := idb.(type) {
	case bun.Tx:
		return x.Tx, nil, nil
	case *bun.DB:
		return x.DB, x.DB, nil
	}
	return nil, nil, fmt.Errorf("prepared statement on a %T", idb)
}

func cached(args []any) []any {
	return append(append(make([]any, 0, len(args)+1), pgx.QueryExecModeCacheStatement), args...)
}

var numberedTexts sync.Map

// numbered writes "?" as $1, $2 …
func numbered(query string) string {
	if text, ok := numberedTexts.Load(query); ok {
		return text.(string)
	}
	var b strings.Builder
	n := 0
	for _, r := range query {
		if r == '?' {
			n++
			b.WriteString("$" + strconv.Itoa(n))
			continue
		}
		b.WriteRune(r)
	}
	numberedTexts.Store(query, b.String())
	return b.String()
}
