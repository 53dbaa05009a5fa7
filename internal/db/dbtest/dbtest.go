// Package dbtest gives tests both databases, freshly migrated and their own.
package dbtest

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/url"
	"os"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
)

// URLVariable names the environment variable with the address of a PostgreSQL
// server in which tests may create schemas. `make test` sets it.
const URLVariable = "CHECKSTACK_TEST_DATABASE_URL"

// Each runs fn on SQLite and on PostgreSQL, as subtests named after them. In
// CI a missing PostgreSQL fails; elsewhere it is skipped.
func Each(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, SQLite(t))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, Postgres(t))
	})
}

// EachB is Each for benchmarks.
func EachB(b *testing.B, fn func(b *testing.B, d *db.DB)) {
	b.Helper()
	b.Run("sqlite", func(b *testing.B) { fn(b, SQLite(b)) })
	b.Run("postgres", func(b *testing.B) { fn(b, Postgres(b)) })
}

// SQLite gives a migrated database in a file of its own.
func SQLite(t testing.TB) *db.DB {
	t.Helper()
	return open(t, db.Options{DataDir: t.TempDir()})
}

// Postgres gives a migrated database in a schema of its own.
func Postgres(t testing.TB) *db.DB {
	t.Helper()
	return open(t, db.Options{URL: PostgresURL(t), MaxOpenConns: 8})
}

// PostgresURL creates an empty schema, dropped when the test ends, and gives
// the address that uses it. Two databases opened on it are two replicas.
func PostgresURL(t testing.TB) string {
	t.Helper()
	base := os.Getenv(URLVariable)
	if base == "" {
		if os.Getenv("CI") != "" {
			t.Fatalf("%s is not set; `make test` starts a server and sets it", URLVariable)
		}
		t.Skipf("%s is not set; `make test` starts a server and sets it", URLVariable)
	}
	var b [8]byte
	_, _ = rand.Read(b[:])
	schema := "t_" + hex.EncodeToString(b[:])
	ctx := context.Background()
	admin, err := db.Open(ctx, db.Options{URL: base, MaxOpenConns: 1})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Write.ExecContext(ctx, "CREATE SCHEMA "+schema); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Write.ExecContext(ctx, "DROP SCHEMA "+schema+" CASCADE"); err != nil {
			t.Errorf("drop schema: %v", err)
		}
		_ = admin.Close()
	})
	u, err := url.Parse(base)
	if err != nil {
		t.Fatal(err)
	}
	q := u.Query()
	q.Set("search_path", schema)
	u.RawQuery = q.Encode()
	return u.String()
}

func open(t testing.TB, o db.Options) *db.DB {
	t.Helper()
	ctx := context.Background()
	d, err := db.Open(ctx, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	if err := d.Migrate(ctx, slog.New(slog.DiscardHandler)); err != nil {
		t.Fatal(err)
	}
	return d
}
