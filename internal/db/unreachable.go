package db

import (
	"context"
	"database/sql/driver"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// connector tells a server that cannot be reached from other faults.
type connector struct{ driver.Connector }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, &unreachable{err}
	}
	return conn, nil
}

// unreachable is a failed attempt to connect: the server is away, starting, or
// has no connection left. Logs get the cause; whoever asked gets
// problem.Unavailable, because trying again is all that helps.
type unreachable struct{ cause error }

func (e *unreachable) Error() string { return "connect to PostgreSQL: " + plainConnectError(e.cause) }

func (e *unreachable) Unwrap() error { return e.cause }

// As makes it a problem for adapters, which know no other errors.
func (e *unreachable) As(target any) bool {
	p, ok := target.(**problem.Error)
	if ok {
		*p = problem.Unavailable("The database cannot be reached at the moment. Try again shortly").After(retryAfter).Because(e.cause)
	}
	return ok
}

// retryAfter is how soon a caller may look whether the database is back.
const retryAfter = 2 * time.Second
