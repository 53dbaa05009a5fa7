package httpcheck

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

// BenchmarkRun makes whole runs against a server in the same process, with a
// new connection each, several at a time as the scheduler does.
func BenchmarkRun(b *testing.B) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"status":"ok","items":[1,2,3]}`))
	}))
	defer srv.Close()
	r := registry(b, newCheck(nil, nil))
	for name, c := range map[string]strategy.Check{
		"plain": check(b, obj{}, obj{"url": srv.URL}, assertion("statusCode", "equals", "200")),
		"jsonpath": check(b, obj{}, obj{"url": srv.URL}, strategy.Assertion{
			Field: "body.$", JSONPath: "$.status", Operator: "equals", Value: []byte(`"ok"`),
		}),
		"templated": check(b, obj{}, obj{"url": srv.URL + "/{{ check.id }}"}),
		"token":     check(b, obj{"authScheme": "token", "token": "abcdefgh"}, obj{"url": srv.URL}, assertion("body", "contains", `"ok"`)),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(16)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if res := r.Run(b.Context(), c); res.Status != strategy.Healthy {
						b.Error(res.Message)
						return
					}
				}
			})
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "checks/s")
		})
	}
}
