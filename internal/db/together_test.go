package db_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestTogether: steps are one transaction, a count behind a lock is exact, and
// neither a refused step nor a caller that leaves spoils what comes after.
func TestTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		if _, err := d.Write.NewRaw("CREATE TABLE seats (id TEXT PRIMARY KEY, room TEXT NOT NULL)").Exec(ctx); err != nil {
			t.Fatal(err)
		}
		sit := func(id, room string) db.Step {
			return db.Step{Query: "INSERT INTO seats (id, room) SELECT CAST(? AS TEXT), CAST(? AS TEXT) WHERE (SELECT count(*) FROM seats WHERE room = ?) < ? RETURNING id",
				Args: []any{id, room, room, 10}}
		}
		remain := func(room string) int64 {
			n, err := d.Write.NewSelect().Table("seats").Where("room = ?", room).Count(ctx)
			if err != nil {
				t.Fatal(err)
			}
			return n
		}

		var taken atomic.Int64
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				var got []string
				if err := d.Together(ctx, &got, append(d.LockStep("other", "blue"), sit(fmt.Sprint("blue-", i), "blue"))...); err != nil {
					t.Error(err)
				}
				taken.Add(int64(len(got)))
			})
		}
		wg.Wait()
		if n := remain("blue"); n != 10 || taken.Load() != 10 {
			t.Errorf("%d seats taken, %d told; want exactly 10", n, taken.Load())
		}

		var got []string
		err := d.Together(ctx, &got, sit("red-1", "red"), sit("blue-0", "red"), sit("red-1", "red"))
		if !db.IsUnique(err) || remain("red") != 0 {
			t.Errorf("a refused step gave %v and left %d rows; want none", err, remain("red"))
		}
		gone, leave := context.WithCancel(ctx)
		leave()
		if err := d.Together(gone, nil, sit("red-2", "red")); !errors.Is(err, context.Canceled) {
			t.Errorf("a caller that left got %v", err)
		}
		for i := range 30 {
			if err := d.Together(ctx, &got, sit(fmt.Sprint("green-", i), fmt.Sprint("green-", i))); err != nil || !slices.Equal(got, []string{fmt.Sprint("green-", i)}) {
				t.Fatalf("afterwards: %v, %v", got, err)
			}
			got = nil
		}
		if err := d.Together(ctx, nil, sit("red-3", "red"), sit("red-4", "red")); err != nil || remain("red") != 2 {
			t.Errorf("without rows: %v, %d", err, remain("red"))
		}
	})
}
