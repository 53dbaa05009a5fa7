package db_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestPrepared runs the same statements often enough that they are prepared, in
// and out of transactions and side by side, and compares them with ordinary
// ones: an argument must mean the same in both.
func TestPrepared(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		if _, err := d.Write.NewRaw("CREATE TABLE p (id TEXT PRIMARY KEY, n BIGINT, at TIMESTAMPTZ, ok BOOLEAN, body JSONB, note TEXT)").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		type named string
		type row struct {
			ID   string
			N    int64
			At   *time.Time
			OK   bool
			Body string
			Note *string
		}
		at := time.Date(2026, 7, 1, 22, 0, 0, 120_000_000, time.FixedZone("x", 7200))
		const insert = "INSERT INTO p (id, n, at, ok, body, note) VALUES (?, ?, ?, ?, ?, ?)"
		var none *string
		var nowhen *time.Time
		if _, err := d.Write.NewRaw(insert, "raw", 7, at, true, `{"a":1}`, "x").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				id := named("p" + string(rune('A'+i)))
				err := d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
					_, err := d.ExecPrepared(ctx, tx, insert, id, 7, at, true, `{"a":1}`, none)
					if err == nil && i%4 == 3 {
						return errors.New("back")
					}
					return err
				})
				if (err != nil) != (i%4 == 3) {
					t.Error(err)
				}
				if _, err := d.ExecPrepared(ctx, d.Write, "UPDATE p SET n = n + ?, at = coalesce(?, at) WHERE id = ?", 1, nowhen, id); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		for range 3 {
			var got []row
			// Both spellings of the instant are found by the same comparison.
			if err := d.ScanPrepared(ctx, d.Read, &got, "SELECT id, n, at, ok, body, note FROM p WHERE at = ? AND ok = ? ORDER BY id", at.UTC(), true); err != nil {
				t.Fatal(err)
			}
			if len(got) != 31 {
				t.Fatalf("%d rows, want 30 and the ordinary one", len(got))
			}
			for _, r := range got {
				if want := int64(8); (r.ID == "raw") == (r.N == want) || !r.At.Equal(at) || !r.OK || (r.ID != "raw") != (r.Note == nil) {
					t.Errorf("%+v", r)
				}
			}
			var empty []row
			if err := d.ScanPrepared(ctx, d.Read, &empty, "SELECT id, n, at, ok, body, note FROM p WHERE id = ?", "nobody"); err != nil || len(empty) != 0 {
				t.Errorf("%v, %v", empty, err)
			}
		}
		for range 3 {
			if _, err := d.ExecPrepared(ctx, d.Write, insert, "raw", 1, at, true, "{}", none); !db.IsUnique(err) {
				t.Errorf("a repeated key: %v", err)
			}
			if _, err := d.ExecPrepared(ctx, d.Write, "UPDATE nowhere SET x = ?", 1); err == nil {
				t.Error("a table that is not there")
			}
		}
	})
}
