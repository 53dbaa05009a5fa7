package incident_test

import (
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
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
)

const (
	benchIncidents = 50_000
	benchSystems   = 200
	benchActive    = 500
)

// populate writes fifty thousand incidents on 200 systems, of which 500 are
// active, with two updates each, and gives the ids of systems and of some
// incidents.
func populate(b *testing.B, d *db.DB, cat *catalog.Service) (systemIDs, incidentIDs []string) {
	b.Helper()
	for i := range benchSystems {
		sys, err := cat.CreateSystem(b.Context(), catalog.Fields{Name: fmt.Sprintf("System %03d", i)})
		if err != nil {
			b.Fatal(err)
		}
		systemIDs = append(systemIDs, sys.ID)
	}
	write := func(head string, rows []string) {
		b.Helper()
		if _, err := d.Write.ExecContext(b.Context(), head+" VALUES "+strings.Join(rows, ",")); err != nil {
			b.Fatal(err)
		}
	}
	statuses := []string{"investigating", "identified", "fixing", "monitoring"}
	severities := []string{"minor", "minor", "minor", "major", "major", "critical"}
	words := []string{"Payments", "Checkout", "Search", "Login", "Mail", "Export", "Import", "Billing"}
	const batch = 500
	for from := 0; from < benchIncidents; from += batch {
		var incidents, systems, updates []string
		for i := from; i < from+batch; i++ {
			id := uuid.Must(uuid.NewV7()).String()
			if i%(benchIncidents/100) == 0 {
				incidentIDs = append(incidentIDs, id)
			}
			status, resolvedAt, active := "resolved", "'2026-01-02 00:00:00.000'", "FALSE"
			if i%(benchIncidents/benchActive) == 0 {
				status, resolvedAt, active = statuses[i/100%4], "NULL", "TRUE"
			}
			title := fmt.Sprintf("%s slow for customers, case %d", words[i%len(words)], i)
			incidents = append(incidents, fmt.Sprintf("('%s','%s','%s','%s','%s','%s',FALSE,1,'2026-01-01 00:00:00.000','2026-01-02 00:00:00.000',%s)",
				id, title, strings.ToLower(title), strings.Repeat("What happened, in some words. ", 10), status, severities[i%len(severities)], resolvedAt))
			for k := range 1 + i%3 {
				systems = append(systems, fmt.Sprintf("('%s','%s',%s)", id, systemIDs[(i*7+k)%benchSystems], active))
			}
			for range 2 {
				updates = append(updates, fmt.Sprintf("('%s','%s','We know more now.','public','a','2026-01-01 00:00:00.000')", uuid.Must(uuid.NewV7()), id))
			}
		}
		write("INSERT INTO incidents (id, title, title_key, description, status, severity, suppress_notifications, version, created_at, updated_at, resolved_at)", incidents)
		write("INSERT INTO incident_systems (incident_id, system_id, active)", systems)
		write("INSERT INTO incident_updates (id, incident_id, message, audience, author_id, created_at)", updates)
	}
	if d.Postgres() { // what autovacuum does within a minute
		if _, err := d.Write.ExecContext(b.Context(), "VACUUM ANALYZE incidents, incident_systems, incident_updates"); err != nil {
			b.Fatal(err)
		}
	}
	return systemIDs, incidentIDs
}

// measure runs fn again and again and reports the 99th percentile besides.
func measure(b *testing.B, name string, fn func(i int) error) {
	b.Run(name, func(b *testing.B) {
		var times []time.Duration
		for i := 0; b.Loop(); i++ {
			start := time.Now()
			if err := fn(i); err != nil {
				b.Fatal(err)
			}
			times = append(times, time.Since(start))
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
	})
}

// BenchmarkReads50000 measures what pages and the dashboard ask, with fifty
// thousand incidents, through the whole chain of an operation.
func BenchmarkReads50000(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		bus := event.NewBus(jobs.New(d, log), log)
		cat := catalog.New(d, event.New(d, log), bus, log)
		svc := incident.New(incident.Deps{DB: d, Bus: bus, Signals: &signalBook{}, Systems: cat, Health: &healthBook{}, Authors: people{}, Log: log})
		ops := map[string]operation.Operation{}
		for _, op := range svc.Operations() {
			ops[op.Declaration().ID] = op
		}
		systemIDs, incidentIDs := populate(b, d, cat)
		ctx := authz.With(b.Context(), reader)
		operationOf := func(name, id string, input func(i int) string) {
			measure(b, name, func(i int) error {
				out, err := ops["incident."+id].CallJSON(ctx, json.RawMessage(input(i)))
				if err == nil {
					_, err = json.Marshal(out)
				}
				return err
			})
		}
		same := func(input string) func(int) string { return func(int) string { return input } }
		all := `"` + strings.Join(systemIDs, `","`) + `"`
		operationOf("list-active", "listIncidents", same(`{}`))
		operationOf("list-resolved", "listIncidents", same(`{"status":"resolved"}`))
		operationOf("list-all", "listIncidents", same(`{"includeResolved":true,"limit":100}`))
		operationOf("list-status", "listIncidents", same(`{"status":"fixing"}`))
		operationOf("list-severity", "listIncidents", same(`{"includeResolved":true,"severity":"critical"}`))
		operationOf("list-severity-active", "listIncidents", same(`{"severity":"critical"}`))
		operationOf("list-system", "listIncidents", func(i int) string { return `{"includeResolved":true,"systemId":"` + systemIDs[i%benchSystems] + `"}` })
		operationOf("list-deep", "listIncidents", func(i int) string {
			return `{"includeResolved":true,"cursor":"` + incidentIDs[i%len(incidentIDs)] + `"}`
		})
		operationOf("list-text-common", "listIncidents", same(`{"includeResolved":true,"query":"checkout"}`))
		operationOf("list-text-rare", "listIncidents", same(`{"includeResolved":true,"query":"case 31415"}`))
		operationOf("list-text-none", "listIncidents", same(`{"status":"resolved","query":"nothing like it"}`))
		operationOf("list-text-none-of-system", "listIncidents", same(`{"includeResolved":true,"query":"nothing like it","systemId":"`+systemIDs[0]+`"}`))
		operationOf("get", "getIncident", func(i int) string { return `{"id":"` + incidentIDs[i%len(incidentIDs)] + `"}` })
		operationOf("for-system", "getIncidentsForSystem", func(i int) string { return `{"systemId":"` + systemIDs[i%benchSystems] + `"}` })
		operationOf("for-200-systems", "getBulkIncidentsForSystems", same(`{"systemIds":[`+all+`]}`))
		operationOf("updates-of-100", "getBulkIncidentUpdates", same(`{"incidentIds":["`+strings.Join(incidentIDs, `","`)+`"]}`))
		operationOf("mention-common", "searchIncidentRefs", same(`{"query":"slow"}`))
		operationOf("mention-none", "searchIncidentRefs", same(`{"query":"nothing like it"}`))
		measure(b, "active", func(int) error {
			_, err := svc.Active(ctx)
			return err
		})
		measure(b, "activity", func(int) error {
			_, err := svc.RecentActivity(ctx, 8)
			return err
		})
		measure(b, "suppresses", func(i int) error {
			_, err := svc.Suppresses(ctx, systemIDs[i%benchSystems])
			return err
		})
	})
}
