package catalog_test

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/jobs"
	"github.com/checkstack/checkstack/internal/operation"
)

// BenchmarkList200 lists 200 systems over the REST handler, as a page does.
func BenchmarkList200(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		svc := catalog.New(d, event.New(d, log), event.NewBus(jobs.New(d, log), log), log)
		ctx := authz.With(b.Context(), manager)
		for i := range 200 {
			text := fmt.Sprintf("The system with the number %d", i)
			if _, err := svc.CreateSystem(ctx, catalog.Fields{Name: fmt.Sprintf("System %03d", i), Description: &text, Metadata: map[string]any{"tier": i % 3}}); err != nil {
				b.Fatal(err)
			}
		}
		mux := http.NewServeMux()
		operation.NewSet(svc.Operations()).Mount(mux, log)
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				rec := httptest.NewRecorder()
				mux.ServeHTTP(rec, httptest.NewRequestWithContext(ctx, "GET", "/rest/catalog/getSystems", nil))
				if rec.Code != 200 {
					b.Fatal(rec.Body)
				}
			}
		})
	})
}

// BenchmarkCreateSystem writes one system at a time from several callers.
func BenchmarkCreateSystem(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		log := slog.New(slog.DiscardHandler)
		svc := catalog.New(d, event.New(d, log), event.NewBus(jobs.New(d, log), log), log)
		ctx := authz.With(b.Context(), manager)
		b.SetParallelism(4)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := svc.CreateSystem(ctx, catalog.Fields{Name: "System"}); err != nil {
					b.Fatal(err)
				}
			}
		})
	})
}
