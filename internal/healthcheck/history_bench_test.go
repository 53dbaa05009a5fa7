package healthcheck

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// BenchmarkReads measures the reads of pages over stored history
// (CHECKSTACK_BENCH_HISTORY runs of 200 checks, six days).
func BenchmarkReads(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		bu := benchSetup(b, d)
		const systems = 200
		systemIDs, configurationIDs := populate(bu, systems, systems, 30, benchHistory())
		ctx := context.Background()
		end := bu.svc.now()
		each := func(name string, fn func(i int) error) {
			b.Run(name, func(b *testing.B) {
				i := 0
				for b.Loop() {
					if err := fn(i % systems); err != nil {
						b.Fatal(err)
					}
					i++
				}
			})
		}
		each("getHistory", func(i int) error {
			_, _, err := bu.svc.History(ctx, HistoryQuery{SystemID: systemIDs[i], ConfigurationID: configurationIDs[i], Limit: 10})
			return err
		})
		each("getHistory-all-checks", func(int) error {
			_, _, err := bu.svc.History(ctx, HistoryQuery{Limit: 10})
			return err
		})
		each("getHistory-failing", func(int) error {
			_, _, err := bu.svc.History(ctx, HistoryQuery{Status: Unhealthy, Limit: 10})
			return err
		})
		each("getAggregatedHistory-7-days", func(i int) error {
			_, err := bu.svc.Aggregated(ctx, systemIDs[i], configurationIDs[i], end.Add(-7*24*time.Hour), end, 500)
			return err
		})
		each("getSystemHealthOverview", func(i int) error {
			_, err := bu.svc.Overview(ctx, systemIDs[i])
			return err
		})
		each("getBulkSystemHealthStatus-200", func(int) error {
			_, err := bu.svc.SystemStatuses(ctx, systemIDs)
			return err
		})
		each("dashboard-200", func(int) error {
			_, err := bu.svc.Issues(ctx)
			return err
		})
	})
}

// BenchmarkRollup rolls up 200 systems of ten checks each, in one transaction, as
// when all of them change at once.
func BenchmarkRollup(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		bu := benchSetup(b, d)
		systemIDs, configurationIDs := populate(bu, 2000, 200, 30, 0)
		touched := map[string]string{}
		for i, id := range systemIDs {
			touched[id] = configurationIDs[i]
		}
		flip := []Status{Unhealthy, Healthy}
		i := 0
		for b.Loop() {
			to := flip[i%2]
			i++
			err := d.Tx(b.Context(), func(ctx context.Context, tx bun.Tx) error {
				if _, err := tx.NewRaw("UPDATE health_check_assignments SET status = ? WHERE configuration_id IN (?)", to, bun.List(configurationIDs[:200])).Exec(ctx); err != nil {
					return err
				}
				changes, err := bu.svc.rollUp(ctx, tx, touched, bu.svc.now())
				if err == nil && len(changes) != len(systemIDs) {
					err = fmt.Errorf("%d systems changed", len(changes))
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
		}
	})
}
