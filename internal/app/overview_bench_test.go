package app

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/config"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/operation"
)

// BenchmarkDashboard reads what the dashboard shows, of 200 systems with 50,000
// incidents and 20,000 maintenances, a few hundred of them present. It reports
// how long the slowest hundredth takes.
func BenchmarkDashboard(b *testing.B) {
	for name, url := range map[string]func(testing.TB) string{"sqlite": func(testing.TB) string { return "" }, "postgres": dbtest.PostgresURL} {
		b.Run(name, func(b *testing.B) {
			cfg := config.Config{DataDir: b.TempDir(), DatabaseURL: url(b), DatabasePoolMax: 8, CheckWorkers: 1, EncryptionMasterKey: strings.Repeat("c3", 32)}
			a, err := build(b.Context(), cfg, "test", slog.New(slog.DiscardHandler))
			if err != nil {
				b.Fatal(err)
			}
			defer func() { _ = a.stop(time.Second) }()
			fillDashboard(b, a)
			ctx := authz.With(b.Context(), authz.Principal{Kind: authz.User, ID: "u", Rules: []string{authz.Wildcard}})
			for _, op := range a.domains.operations.All() {
				if id := op.Declaration().ID; id == "system.getIssues" || id == "system.getRecentActivity" {
					b.Run(id, func(b *testing.B) { benchOperation(ctx, b, op) })
				}
			}
		})
	}
}

func benchOperation(ctx context.Context, b *testing.B, op operation.Operation) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		if _, err := op.CallJSON(ctx, json.RawMessage(`{}`)); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

func fillDashboard(b *testing.B, a *application) {
	b.Helper()
	const systems, incidents, maintenances, batch = 200, 50_000, 20_000, 500
	ids := make([]string, systems)
	for i := range ids {
		sys, err := a.domains.catalog.CreateSystem(b.Context(), catalog.Fields{Name: fmt.Sprintf("System %03d", i)})
		if err != nil {
			b.Fatal(err)
		}
		ids[i] = sys.ID
	}
	write := func(into string, rows []string) {
		b.Helper()
		if len(rows) == 0 {
			return
		}
		if _, err := a.db.Write.ExecContext(b.Context(), "INSERT INTO "+into+" VALUES "+strings.Join(rows, ",")); err != nil {
			b.Fatal(err)
		}
	}
	began := time.Now().UTC().Add(-incidents * time.Minute)
	at := func(i int) string {
		return began.Add(time.Duration(i) * time.Minute).Format("2006-01-02 15:04:05.000")
	}
	newID := func() string { return uuid.Must(uuid.NewV7()).String() }
	for from := 0; from < incidents; from += batch {
		var rows, of, updates, forced []string
		for i := from; i < from+batch; i++ {
			id, status, resolved, active := newID(), "resolved", "'"+at(i)+"'", "FALSE"
			if i%250 == 0 {
				status, resolved, active = "fixing", "NULL", "TRUE"
				forced = append(forced, fmt.Sprintf("('incident','%s','%s','Case','degraded',0)", id, ids[i/250%systems]))
			}
			rows = append(rows, fmt.Sprintf("('%s','Case %d','case %d','%s','major',FALSE,1,'%s','%s',%s)", id, i, i, status, at(i), at(i), resolved))
			of = append(of, fmt.Sprintf("('%s','%s',%s)", id, ids[i/250%systems], active))
			for range 2 {
				updates = append(updates, fmt.Sprintf("('%s','%s','Told.','public','a','%s')", newID(), id, at(i)))
			}
		}
		write("incidents (id, title, title_key, status, severity, suppress_notifications, version, created_at, updated_at, resolved_at)", rows)
		write("incident_systems (incident_id, system_id, active)", of)
		write("incident_updates (id, incident_id, message, audience, author_id, created_at)", updates)
		write("health_check_overrides (source, source_id, system_id, title, status, since_ms)", forced)
	}
	for from := 0; from < maintenances; from += batch {
		var rows, of, updates []string
		for i := from; i < from+batch; i++ {
			id, status := newID(), "completed"
			if i%100 == 0 {
				status = "in_progress"
			}
			rows = append(rows, fmt.Sprintf("('%s','Window %d','window %d','%s',FALSE,'%s','%s',FALSE,1,'%s','%s')", id, i, i, status, at(i), at(i+100_000), at(i), at(i)))
			of = append(of, fmt.Sprintf("('%s','%s')", id, ids[i/100%systems]))
			updates = append(updates, fmt.Sprintf("('%s','%s','Told.','completed','public','%s')", newID(), id, at(i)))
		}
		write("maintenances (id, title, title_key, status, suppress_notifications, start_at, end_at, detached, version, created_at, updated_at)", rows)
		write("maintenance_systems (maintenance_id, system_id)", of)
		write("maintenance_updates (id, maintenance_id, message, status_change, audience, created_at)", updates)
	}
	if _, err := a.db.Write.ExecContext(b.Context(), "INSERT INTO health_check_systems (system_id, status, since_ms) SELECT id, 'degraded', 0 FROM systems"); err != nil {
		b.Fatal(err)
	}
	if a.db.Postgres() { // what autovacuum does within a minute
		if _, err := a.db.Write.ExecContext(b.Context(), "VACUUM ANALYZE"); err != nil {
			b.Fatal(err)
		}
	}
}
