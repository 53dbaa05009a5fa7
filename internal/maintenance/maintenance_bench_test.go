package maintenance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
)

const (
	benchMaintenances = 20_000
	benchSystems      = 200
)

// populate writes twenty thousand maintenances of two hours, one every two hours
// and nearly two years past and future, each on one to three of 200 systems and
// with two updates. It gives the ids of the systems.
func populate(b *testing.B, s *Service, cat *catalog.Service, now time.Time) []string {
	b.Helper()
	systems := make([]string, benchSystems)
	for i := range systems {
		sys, err := cat.CreateSystem(b.Context(), catalog.Fields{Name: fmt.Sprintf("System %03d", i)})
		if err != nil {
			b.Fatal(err)
		}
		systems[i] = sys.ID
	}
	words := []string{"Payments", "Checkout", "Search", "Login", "Mail", "Export", "Import", "Billing"}
	const batch = 500
	for from := 0; from < benchMaintenances; from += batch {
		err := s.db.Tx(b.Context(), func(ctx context.Context, tx bun.Tx) error {
			var rows []row
			var on []systemRow
			var updates []updateRow
			for i := from; i < from+batch; i++ {
				start := db.Time(now.Add(time.Duration(i-benchMaintenances/2) * 2 * time.Hour))
				m := row{ID: newID(), Status: Scheduled, Version: 1, CreatedAt: now, UpdatedAt: now}
				m.set(Fields{Title: fmt.Sprintf("%s upgrade, window %d", words[i%len(words)], i), StartAt: start, EndAt: start.Add(2 * time.Hour), SuppressNotifications: i%2 == 0})
				if !m.StartAt.After(now) {
					m.enter(InProgress, m.StartAt)
				}
				if !m.EndAt.After(now) {
					m.enter(Completed, m.EndAt)
				}
				m.plan()
				rows = append(rows, m)
				for k := range 1 + i%3 {
					on = append(on, systemRow{MaintenanceID: m.ID, SystemID: systems[(i*7+k)%benchSystems]})
				}
				for range 2 {
					updates = append(updates, updateRow{ID: newID(), MaintenanceID: m.ID, Message: "All is going well.", Audience: Everyone, CreatedAt: now})
				}
			}
			for _, model := range []any{&rows, &on, &updates} {
				if _, err := tx.NewInsert().Model(model).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if s.db.Postgres() { // what autovacuum does within a minute
		if _, err := s.db.Write.ExecContext(b.Context(), "VACUUM ANALYZE maintenances, maintenance_systems, maintenance_updates"); err != nil {
			b.Fatal(err)
		}
	}
	return systems
}

// report runs do b.N times and gives the median and the 99th percentile.
func report(b *testing.B, do func()) {
	b.Helper()
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		do()
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}

// BenchmarkMaintenance answers what pages and the dashboard ask, and moves what
// is due, with twenty thousand maintenances.
func BenchmarkMaintenance(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		bus := event.NewBus(jobs.New(d, log), log)
		cat := catalog.New(d, event.New(d, log), bus, log)
		s := New(Deps{DB: d, Bus: bus, Signals: event.New(d, log), Systems: cat, Authors: people{}, Log: log})
		now := db.Time(time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC))
		s.now = func() time.Time { return now }
		systems := populate(b, s, cat, now)
		ops := map[string]operation.Operation{}
		for _, op := range s.Operations() {
			ops[op.Declaration().ID] = op
		}
		ctx := authz.With(b.Context(), manager)
		var many []string
		for _, id := range systems[:100] {
			many = append(many, fmt.Sprintf("%q", id))
		}
		for _, q := range []struct{ name, op, input string }{
			{"list", "listMaintenances", `{}`},
			{"list/open", "listMaintenances", `{"open":true,"sortOrder":"asc"}`},
			{"list/system", "listMaintenances", `{"systemId":"` + systems[7] + `"}`},
			{"list/month", "listMaintenances", `{"from":"2026-03-01T00:00:00Z","to":"2026-04-01T00:00:00Z","sortOrder":"asc","limit":100}`},
			{"list/longAgo", "listMaintenances", `{"from":"2024-03-01T00:00:00Z","to":"2024-04-01T00:00:00Z","limit":100}`},
			{"list/search", "listMaintenances", `{"query":"billing"}`},
			{"list/searchNothing", "listMaintenances", `{"query":"no such title"}`},
			{"mention", "searchMaintenanceRefs", `{"query":"pay"}`},
			{"system", "getMaintenancesForSystem", `{"systemId":"` + systems[7] + `"}`},
			{"systems", "getBulkMaintenancesForSystems", `{"systemIds":[` + strings.Join(many, ",") + `]}`},
		} {
			b.Run(q.name, func(b *testing.B) {
				report(b, func() {
					out, err := ops["maintenance."+q.op].CallJSON(ctx, json.RawMessage(q.input))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := json.Marshal(out); err != nil {
						b.Fatal(err)
					}
				})
			})
		}
		b.Run("upcoming", func(b *testing.B) {
			report(b, func() {
				if list, err := s.Upcoming(ctx, 5); err != nil || len(list) != 5 {
					b.Fatal(len(list), err)
				}
			})
		})
		b.Run("activity", func(b *testing.B) {
			report(b, func() {
				if list, err := s.RecentActivity(ctx, 8); err != nil || len(list) != 8 {
					b.Fatal(len(list), err)
				}
			})
		})
		b.Run("suppresses", func(b *testing.B) {
			report(b, func() {
				if _, err := s.Suppresses(ctx, systems[7]); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run("tick/nothingDue", func(b *testing.B) {
			report(b, func() {
				if err := s.Tick(ctx); err != nil {
					b.Fatal(err)
				}
			})
		})
		b.Run("tick/oneStartsOneEnds", func(b *testing.B) {
			report(b, func() {
				now = now.Add(2 * time.Hour)
				if err := s.Tick(ctx); err != nil {
					b.Fatal(err)
				}
			})
		})
	})
}

// BenchmarkPreview makes the next ten windows of the costliest kinds of rule.
func BenchmarkPreview(b *testing.B) {
	s := New(Deps{})
	start := time.Now().Add(time.Hour)
	for _, rule := range []string{"FREQ=DAILY", "FREQ=YEARLY;BYDAY=20MO", "FREQ=YEARLY;BYWEEKNO=20;BYDAY=MO;BYSETPOS=-1"} {
		b.Run(rule, func(b *testing.B) {
			for b.Loop() {
				if _, _, _, err := s.Preview(start, start.Add(time.Hour), Recurrence{rule, "Europe/Berlin"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
