package db

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/uptrace/bun"
)

// ExecPrepared runs a statement that is the same text every time, with "?" for
// its arguments, in the pool or the transaction idb. PostgreSQL keeps its plan
// per connection, which costs a fraction of planning it again; it is for the
// few statements that busy paths repeat. Arguments are plain values, no lists.
func (d *DB) ExecPrepared(ctx context.Context, idb bun.IDB, query string, args ...any) (sql.Result, error) {
	if !d.Postgres() {
		return idb.NewRaw(query, args...).Exec(ctx)
	}
	raw, err := rawOf(idb)
	if err != nil {
		return nil, err
	}
	return raw.ExecContext(ctx, numbered(query), cached(args)...)
}

// ScanPrepared is ExecPrepared for a query, whose rows are read into dest, a
// pointer to a slice.
func (d *DB) ScanPrepared(ctx context.Context, idb bun.IDB, dest any, query string, args ...any) error {
	if !d.Postgres() {
		return idb.NewRaw(query, args...).Scan(ctx, dest)
	}
	raw, err := rawOf(idb)
	if err != nil {
		return err
	}
	rows, err := raw.QueryContext(ctx, numbered(query), cached(args)...)
	if err != nil {
		return err
	}
	return d.Read.ScanRows(ctx, rows, dest)
}

type rawDB interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// rawOf gives the connection beneath bun, which would write the arguments into
// the text.
func rawOf(idb bun.IDB) (rawDB, error) {
	switch x := idb.(type) {
	case bun.Tx:
		return x.Tx, nil
	case *bun.DB:
		return x.DB, nil
	}
	return nil, fmt.Errorf("prepared statement on a %T", idb)
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
