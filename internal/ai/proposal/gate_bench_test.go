package proposal

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// BenchmarkReadsAtOnce is BenchmarkReadThroughGate for many callers, who share
// the ledger's transactions.
func BenchmarkReadsAtOnce(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		g := setup(b, d).g
		var calls atomic.Int64
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				ctx := as(fmt.Sprintf("person-%d-%d", b.N, calls.Add(1)/BudgetCalls), ruleRead.ID)
				c, err := g.Prepare(ctx, "test.get", nil, Approve)
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := g.Execute(ctx, c, Origin{Transport: MCP}); err != nil {
					b.Error(err)
					return
				}
			}
		})
	})
}
