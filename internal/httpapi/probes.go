package httpapi

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

type probeResult struct {
	Name       string `json:"name"`
	Critical   bool   `json:"critical"`
	OK         bool   `json:"ok"`
	DurationMs int64  `json:"durationMs"`
	Error      string `json:"error,omitempty"`
}

// probes serves liveness and readiness, which ask for no credentials;
// spec/platform.md 23.3. The log tells when a probe begins to fail and when it
// is well again, not every time somebody asks meanwhile.
func probes(mux *http.ServeMux, d Deps) {
	failing := make([]atomic.Bool, len(d.Probes))
	alive := func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, http.StatusOK, map[string]string{"status": "ok"})
	}
	mux.HandleFunc("GET /.checkstack/health", alive)
	mux.HandleFunc("GET /api/health", alive)
	mux.HandleFunc("GET /.checkstack/ready", func(w http.ResponseWriter, r *http.Request) {
		results := make([]probeResult, len(d.Probes))
		var wg sync.WaitGroup
		for i, p := range d.Probes {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(r.Context(), time.Second)
				defer cancel()
				start := time.Now()
				err := p.Check(ctx)
				results[i] = probeResult{Name: p.Name, Critical: true, OK: err == nil, DurationMs: time.Since(start).Milliseconds()}
				switch was := failing[i].Swap(err != nil); {
				case err != nil && r.Context().Err() != nil:
					failing[i].Store(was) // whoever asked went away
				case err != nil && !was:
					d.Log.WarnContext(r.Context(), "not ready", "probe", p.Name, "error", err)
				case err == nil && was:
					d.Log.InfoContext(r.Context(), "ready again", "probe", p.Name)
				}
				if err != nil {
					results[i].Error = "not available"
				}
			})
		}
		wg.Wait()
		status, ready := http.StatusOK, true
		for _, res := range results {
			if !res.OK {
				status, ready = http.StatusServiceUnavailable, false
				w.Header().Set("Retry-After", "1")
			}
		}
		writeJSON(w, status, map[string]any{"ready": ready, "checks": results})
	})
}
