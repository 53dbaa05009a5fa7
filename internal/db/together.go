package db

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
)

// Step is a statement of Together: the same text every time, with "?" for its
// arguments.
type Step struct {
	Query string
	Args  []any
}

// LockStep is LockKeys as the first step of Together; nil on SQLite.
func (d *DB) LockStep(keys ...string) []Step {
	if !d.Postgres() {
		return nil
	}
	return []Step{{lockQuery, []any{locksOf(keys)}}}
}

// Together runs steps in one transaction and reads the rows of the last one, one
// text each, into dest, if it is not nil. On PostgreSQL the steps go out
// together, so that the transaction costs one round trip. Each still sees what
// was committed before it began, which is what a count behind a lock needs.
func (d *DB) Together(ctx context.Context, dest *[]string, steps ...Step) error {
	if !d.Postgres() {
		return d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
			last := len(steps) - 1
			for i, s := range steps {
				if i == last && dest != nil {
					return d.ScanPrepared(ctx, tx, dest, s.Query, s.Args...)
				}
				if _, err := d.ExecPrepared(ctx, tx, s.Query, s.Args...); err != nil {
					return err
				}
			}
			return nil
		})
	}
	conn, err := d.Write.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return conn.Raw(func(raw any) error {
		c, ok := raw.(*stdlib.Conn)
		if !ok {
			return fmt.Errorf("steps on a %T", raw)
		}
		err := pipeline(ctx, c.Conn(), dest, steps)
		if c.Conn().IsClosed() {
			return errors.Join(driver.ErrBadConn, err) // the pool must not keep it
		}
		return err
	})
}

// pipeline sends steps without a BEGIN: what is sent up to one Sync message is
// a transaction (PostgreSQL, "Pipelining" in the protocol's message flow).
func pipeline(ctx context.Context, c *pgx.Conn, dest *[]string, steps []Step) error {
	batch := &pgx.Batch{}
	for _, s := range steps {
		text := numbered(s.Query)
		if _, err := c.Prepare(ctx, text, text); err != nil { // does nothing when the connection knows it
			return err
		}
		batch.Queue(text, s.Args...)
	}
	results := c.SendBatch(ctx, batch)
	last := len(steps) - 1
	for i := range steps {
		if i == last && dest != nil {
			rows, err := results.Query()
			if err == nil {
				*dest, err = pgx.CollectRows(rows, pgx.RowTo[string])
			}
			if err != nil {
				return errors.Join(err, results.Close())
			}
			break
		}
		if _, err := results.Exec(); err != nil {
			return errors.Join(err, results.Close())
		}
	}
	return results.Close()
}
