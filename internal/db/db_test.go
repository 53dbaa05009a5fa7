package db_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

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
