package healthcheck

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// setting reads a number from the environment, for longer measurements than a
// regular `make bench` has time for.
func setting(name string, def int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return def
}

// benchHistory is how many runs are stored before a measurement
// (CHECKSTACK_BENCH_HISTORY), benchSeconds how long one lasts.
func benchHistory() int { return setting("CHECKSTACK_BENCH_HISTORY", 100_000) }
func benchSeconds() time.Duration {
	return time.Duration(setting("CHECKSTACK_BENCH_SECONDS", 3)) * time.Second
}

// populate makes n slices, each a check of its own for one of the systems, and
// history runs spread over them and the last six days.
func populate(b *bundle, n, systems, intervalSeconds, history int) (systemIDs, configurationIDs []string) {
	b.t.Helper()
	ctx := context.Background()
	now := b.svc.now()
	sys, conf, slices, roll := newValues(), newValues(), newValues(), newValues()
	for i := range systems {
		id := newID()
		systemIDs = append(systemIDs, id)
		sys.add(id, fmt.Sprintf("System %d", i), "{}", 1, now, now)
		roll.add(id, Unknown, 0)
	}
	var keys []sliceRow
	for i := range n {
		c := configurationRow{ID: newID(), Name: fmt.Sprintf("Check %d", i), StrategyID: kindID, Config: `{"target":"x","timeout":30000}`,
			Collectors: "[]", IntervalSeconds: intervalSeconds, Version: 1, CreatedAt: now, UpdatedAt: now}
		conf.add(c.ID, c.Name, c.StrategyID, c.Config, c.Collectors, c.IntervalSeconds, false, 1, now, now)
		d, _ := c.draft()
		r := newSlice(c, systemIDs[i%systems], true, nil, d, now)
		r.NextDueMs = nextSlot(r.PhaseMs, r.IntervalMs, now.UnixMilli())
		slices.add(r.SliceID, r.SystemID, r.ConfigurationID, r.Enabled, r.Thresholds, r.Active, r.ConfigurationVersion, r.IntervalMs,
			r.PhaseMs, r.LeaseMs, r.NextDueMs, r.DueMs, r.ClaimedBy, r.ClaimedUntilMs, "h", Healthy, now.UnixMilli(), now.UnixMilli(), r.Reason)
		keys = append(keys, r)
		configurationIDs = append(configurationIDs, c.ID)
	}
	insert := func(table string, v *values) {
		const rows = 500
		for from := 0; from < v.rows; from += rows {
			part := newValues()
			part.width, part.rows = v.width, min(rows, v.rows-from)
			part.args = v.args[from*v.width : (from+part.rows)*v.width]
			if _, err := b.db.Write.NewRaw("INSERT INTO "+table+" VALUES "+part.text(), part.args...).Exec(ctx); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	insert("systems (id, name, metadata, version, created_at, updated_at)", sys)
	insert("health_check_configurations ("+configurationColumns+")", conf)
	insert("health_check_assignments ("+sliceColumns+")", slices)
	insert("health_check_systems (system_id, status, since_ms)", roll)
	fillHistory(b, keys, history)
	return systemIDs, configurationIDs
}

// fillHistory stores n runs of the slices over the last six days, with a payload
// of the size that an HTTP check leaves. The database makes the rows itself:
// millions would take too long otherwise.
func fillHistory(b *bundle, keys []sliceRow, n int) {
	b.t.Helper()
	if n == 0 {
		return
	}
	ctx := context.Background()
	const result = `{"connected": true, "connectionTimeMs": 12, "timings": {"dnsMs": 1, "connectMs": 3, "tlsMs": 7, "waitMs": 20, "transferMs": 1}, "collectors": {"0197c8f0-0000-7000-8000-000000000000": {"_collectorId": "healthcheck-http.request", "statusCode": 200, "statusText": "OK", "responseTimeMs": 31, "bodyLength": 512, "success": true}}}`
	const span = int64(6 * 24 * 3600 * 1000)
	start := b.svc.now().UnixMilli() - span
	// The id of run i at millisecond ms, and its time.
	id := "printf('%08x-%04x-7000-8000-%012x', ms >> 16, ms & 65535, i)"
	at := "strftime('%Y-%m-%d %H:%M:%f', ms / 1000.0, 'unixepoch') || '+00:00'"
	if b.db.Postgres() {
		id = "lpad(to_hex(ms >> 16), 8, '0') || '-' || lpad(to_hex(ms & 65535), 4, '0') || '-7000-8000-' || lpad(to_hex(i), 12, '0')"
		at = "to_timestamp(ms / 1000.0)"
	}
	began := time.Now()
	const rows = 100_000
	for from := 0; from < n; from += rows {
		if _, err := b.db.Write.NewRaw(`WITH RECURSIVE g (i) AS (SELECT CAST(? AS BIGINT) UNION ALL SELECT i + 1 FROM g WHERE i + 1 < ?),
			s AS MATERIALIZED (SELECT slice_id, configuration_id, system_id, ROW_NUMBER() OVER (ORDER BY slice_id) - 1 AS n FROM health_check_assignments WHERE slice_id IN (?)),
			r AS (SELECT g.i, g.i * ? / ? + ? AS ms, s.* FROM g JOIN s ON s.n = g.i % ?)
			INSERT INTO health_check_runs (id, slice_id, configuration_id, system_id, status, timestamp, latency_ms, message, result)
			SELECT `+id+`, slice_id, configuration_id, system_id, CASE WHEN i % 997 = 0 THEN 'unhealthy' ELSE 'healthy' END, `+at+`,
				20 + i % 50, 'Completed in 31ms', ? FROM r WHERE TRUE ORDER BY i`,
			from, min(from+rows, n), bun.List(idsOf(keys)), span, n, start, len(keys), result).Exec(ctx); err != nil {
			b.t.Fatal(err)
		}
	}
	b.t.Logf("%d runs of history stored in %v", n, time.Since(began).Round(time.Second))
	for _, q := range []string{"VACUUM ANALYZE health_check_runs", "VACUUM ANALYZE health_check_assignments"} {
		if !b.db.Postgres() {
			break
		}
		if _, err := b.db.Write.ExecContext(ctx, q); err != nil {
			b.t.Fatal(err)
		}
	}
}

func idsOf(keys []sliceRow) []int64 {
	out := make([]int64, len(keys))
	for i, k := range keys {
		out[i] = k.SliceID
	}
	return out
}

func benchSetup(b *testing.B, d *db.DB) *bundle {
	b.Helper()
	bu := setup(b, d)
	bu.svc.clock = time.Now
	bu.cat = catalog.New(d, bu.signals, bu.bus, bu.svc.log)
	return bu
}

// BenchmarkScheduler keeps a rate of checks whose probe costs nothing: claims,
// results, states and rollup. It reports the rate that was stored and how late
// probes began. The offered rates are what must be kept (2,000/s) and more than
// can be.
func BenchmarkScheduler(b *testing.B) {
	for _, rate := range []int{2000, 20000} {
		for _, history := range []int{0, benchHistory()} {
			b.Run(fmt.Sprintf("offered=%d/history=%d", rate, history), func(b *testing.B) {
				dbtest.EachB(b, func(b *testing.B, d *db.DB) { benchScheduler(b, d, rate, history) })
			})
		}
	}
}

func benchScheduler(b *testing.B, d *db.DB, rate, history int) {
	bu := benchSetup(b, d)
	// 20,000 slices in either case: more of them, or a shorter interval.
	interval := 20_000 / rate
	populate(bu, rate*interval, 200, interval, history)
	if err := bu.svc.spread(b.Context(), bu.svc.now()); err != nil {
		b.Fatal(err)
	}
	if err := bu.svc.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	defer stop(b, bu.svc)
	warm := time.NewTimer(2 * time.Second)
	<-warm.C
	b.ResetTimer()
	var stored int64
	var spent time.Duration
	var last Stats
	for b.Loop() {
		bu.svc.ResetStats()
		began := time.Now()
		<-time.After(benchSeconds())
		last = bu.svc.Stats()
		spent += time.Since(began)
		stored += last.Stored
	}
	b.ReportMetric(float64(stored)/spent.Seconds(), "runs/s")
	b.ReportMetric(float64(last.Lateness.P50.Milliseconds()), "late-p50-ms")
	b.ReportMetric(float64(last.Lateness.P99.Milliseconds()), "late-p99-ms")
	b.ReportMetric(float64(last.Lateness.Max.Milliseconds()), "late-max-ms")
}

// BenchmarkRetain deletes five sixths of the stored history while 2,000 checks a
// second go on. It reports how fast, and how late probes began meanwhile (FC-035).
func BenchmarkRetain(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		for b.Loop() {
			b.StopTimer()
			bu := benchSetup(b, d)
			for _, table := range []string{"health_check_runs", "systems", "health_check_configurations"} {
				if _, err := d.Write.NewRaw("DELETE FROM ?", bun.Ident(table)).Exec(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			bu.svc.opts.RawRetention = 24 * time.Hour
			populate(bu, 20_000, 200, 10, benchHistory())
			if err := bu.svc.spread(b.Context(), bu.svc.now()); err != nil {
				b.Fatal(err)
			}
			if err := bu.svc.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			<-time.After(2 * time.Second)
			bu.svc.ResetStats()
			before := bu.count("health_check_runs")
			began := time.Now()
			b.StartTimer()
			if err := bu.svc.Retain(b.Context()); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			st := bu.svc.Stats()
			deleted := float64(before-bu.count("health_check_runs")) + float64(st.Stored)
			b.ReportMetric(deleted/time.Since(began).Seconds(), "deleted/s")
			b.ReportMetric(float64(st.Lateness.P99.Milliseconds()), "late-p99-ms")
			b.ReportMetric(float64(st.Lateness.Max.Milliseconds()), "late-max-ms")
			stop(b, bu.svc)
			b.StartTimer()
		}
	})
}
