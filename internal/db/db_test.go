package db_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestTimesAndTransactions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		at := db.Time(time.Date(2026, 7, 1, 22, 0, 0, 123456789, time.FixedZone("", 7200)))
		err := d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
			if err := d.LockKey(ctx, tx, "x"); err != nil {
				return err
			}
			_, err := tx.NewRaw("INSERT INTO secrets (scope, name, value, updated_at) VALUES (?, ?, ?, ?)", "a", "b", "c", at).Exec(ctx)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var got time.Time
		if err := d.Read.NewRaw("SELECT updated_at FROM secrets").Scan(ctx, &got); err != nil {
			t.Fatal(err)
		}
		if !got.Equal(at) {
			t.Errorf("got %v, want %v", got, at)
		}
		_, err = d.Write.NewRaw("INSERT INTO secrets (scope, name, value, updated_at) VALUES (?, ?, ?, ?)", "a", "b", "c", at).Exec(ctx)
		if !db.IsUnique(err) {
			t.Errorf("got %v, want a unique violation", err)
		}
	})
}

// TestAfterCommit: a hook runs when the transaction it was given in is real.
func TestAfterCommit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var ran []string
		end := errors.New("rollback")
		for _, want := range []error{nil, end} {
			err := d.Tx(t.Context(), func(ctx context.Context, _ bun.Tx) error {
				before := len(ran)
				db.AfterCommit(context.WithValue(ctx, ctxKey{}, 1), func() { ran = append(ran, fmt.Sprint("first ", want)) })
				db.AfterCommit(ctx, func() { ran = append(ran, fmt.Sprint("second ", want)) })
				if len(ran) != before {
					t.Error("a hook ran before the commit")
				}
				return want
			})
			if !errors.Is(err, want) {
				t.Fatal(err)
			}
		}
		db.AfterCommit(t.Context(), func() { ran = append(ran, "outside") })
		if d := cmp.Diff([]string{"first <nil>", "second <nil>", "outside"}, ran); d != "" {
			t.Errorf("hooks (-want +got)\n%s", d)
		}
	})
}

type ctxKey struct{}

func TestMigrateTwiceAndNewer(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		log := slog.New(slog.DiscardHandler)
		if err := d.Migrate(ctx, log); err != nil {
			t.Fatalf("second migration: %v", err)
		}
		if _, err := d.Write.ExecContext(ctx, "INSERT INTO goose_db_version (version_id, is_applied) VALUES (99999, true)"); err != nil {
			t.Fatal(err)
		}
		err := d.Migrate(ctx, log)
		if err == nil || !strings.Contains(err.Error(), "newer Checkstack") {
			t.Errorf("FC-033: a database of a newer version must be refused, got %v", err)
		}
	})
}

func TestSecondProcessOnTheSameFileIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	first, err := db.Open(t.Context(), db.Options{DataDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Open(t.Context(), db.Options{DataDir: dir}); err == nil || !strings.Contains(err.Error(), "another Checkstack is running") {
		t.Errorf("got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := db.Open(t.Context(), db.Options{DataDir: dir})
	if err != nil {
		t.Fatalf("after close: %v", err)
	}
	_ = again.Close()
}
