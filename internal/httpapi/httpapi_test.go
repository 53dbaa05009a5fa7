package httpapi_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/httpapi"
	"github.com/checkstack/checkstack/internal/logging"
	"github.com/checkstack/checkstack/internal/problem"
)

// callers knows one session and one key.
type callers struct{}

func (callers) PrincipalForSession(_ context.Context, token string) (authz.Principal, error) {
	if token == "good" {
		return authz.Principal{Kind: authz.User, ID: "ann"}, nil
	}
	return authz.Principal{}, problem.Unauthenticated("Your session has ended")
}

func (callers) PrincipalForKey(_ context.Context, key string) (authz.Principal, error) {
	if key == "ck_good" {
		return authz.Principal{Kind: authz.Application, ID: "robot"}, nil
	}
	return authz.Principal{}, problem.Unauthenticated("This key is not known")
}

func (callers) Guest(context.Context) (authz.Principal, error) { return authz.Principal{}, nil }

func server(t *testing.T, logs io.Writer) http.Handler {
	t.Helper()
	ready := errors.New("the secret reason")
	return httpapi.New(httpapi.Deps{
		Log: logging.New(logs, slog.LevelDebug, false), Auth: callers{}, SessionCookie: "checkstack_session", BaseURL: "https://check.example.com",
		Probes: []httpapi.Probe{{Name: "database", Check: func(context.Context) error { return ready }}},
		Mount: func(mux *http.ServeMux) {
			mux.HandleFunc("/api/who", func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.WriteString(w, "id:"+authz.From(r.Context()).ID)
			})
			mux.HandleFunc("POST /api/read", func(w http.ResponseWriter, r *http.Request) {
				if _, err := io.ReadAll(r.Body); err != nil {
					problem.Write(w, problem.TooLarge("too large"))
				}
			})
			mux.HandleFunc("GET /api/panic", func(http.ResponseWriter, *http.Request) { panic("canary-panic") })
		},
		Config: func(context.Context) (any, error) { return map[string]string{"baseUrl": "x"}, nil },
		UI: fstest.MapFS{
			"index.html":         {Data: []byte("<html>app</html>")},
			"theme.js":           {Data: []byte("1")},
			"assets/app-1.js":    {Data: []byte("code")},
			"assets/app-1.js.gz": {Data: []byte("zipped")},
		},
	}).Handler()
}

type request struct {
	method, path string
	header       map[string]string
	body         string
}

func do(h http.Handler, r request) *httptest.ResponseRecorder {
	req := httptest.NewRequest(r.method, r.path, strings.NewReader(r.body))
	for k, v := range r.header {
		req.Header.Set(k, v)
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, req)
	return rec
}

func TestRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	h := server(t, io.Discard)
	cookie := func(v string) map[string]string { return map[string]string{"Cookie": "checkstack_session=" + v} }
	for _, tc := range []struct {
		name   string
		req    request
		status int
		body   string
	}{
		{"guest", request{"GET", "/api/who", nil, ""}, 200, "id:"},
		{"session", request{"GET", "/api/who", cookie("good"), ""}, 200, "id:ann"},
		{"a stale session is a guest", request{"GET", "/api/who", cookie("old"), ""}, 200, "id:"},
		{"key", request{"GET", "/api/who", map[string]string{"Authorization": "Bearer ck_good"}, ""}, 200, "id:robot"},
		{"key before session", request{"GET", "/api/who", map[string]string{"Authorization": "bearer ck_good", "Cookie": "checkstack_session=good"}, ""}, 200, "id:robot"},
		{"a bad key never falls back to the session", request{"GET", "/api/who", map[string]string{"Authorization": "Bearer ck_bad", "Cookie": "checkstack_session=good"}, ""}, 401, "UNAUTHORIZED"},
		{"another scheme", request{"GET", "/api/who", map[string]string{"Authorization": "Basic eA=="}, ""}, 401, "UNAUTHORIZED"},
		{"cross-site post", request{"POST", "/api/who", map[string]string{"Cookie": "checkstack_session=good", "Sec-Fetch-Site": "cross-site"}, ""}, 403, "another site"},
		{"foreign origin", request{"POST", "/api/who", map[string]string{"Cookie": "checkstack_session=good", "Origin": "https://evil.example"}, ""}, 403, "another site"},
		{"own origin behind a proxy", request{"POST", "/api/who", map[string]string{"Cookie": "checkstack_session=good", "Origin": "https://check.example.com"}, ""}, 200, "id:ann"},
		{"a key is not bound to an origin", request{"POST", "/api/who", map[string]string{"Authorization": "Bearer ck_good", "Sec-Fetch-Site": "cross-site"}, ""}, 200, "id:robot"},
		{"unknown API path is JSON", request{"GET", "/rest/x/y", nil, ""}, 404, "NOT_FOUND"},
		{"unknown well-known path", request{"GET", "/.well-known/x", nil, ""}, 404, "NOT_FOUND"},
		{"wrong method", request{"GET", "/api/read", nil, ""}, 405, "This path takes POST"},
		{"body too large", request{"POST", "/api/read", nil, strings.Repeat("x", 1<<20+1)}, 413, "PAYLOAD_TOO_LARGE"},
		{"panic", request{"GET", "/api/panic", nil, ""}, 500, "INTERNAL_SERVER_ERROR"},
		{"page", request{"GET", "/catalog/system/1", nil, ""}, 200, "<html>app</html>"},
		{"page by post", request{"POST", "/catalog", nil, ""}, 405, ""},
		{"traversal", request{"GET", "/..%2f..%2fetc/passwd", nil, ""}, 200, "<html>app</html>"},
		{"asset", request{"GET", "/assets/app-1.js", nil, ""}, 200, "code"},
		{"zipped asset", request{"GET", "/assets/app-1.js", map[string]string{"Accept-Encoding": "gzip"}, ""}, 200, "zipped"},
		{"asset of an older build", request{"GET", "/assets/app-0.js", nil, ""}, 404, ""},
		{"alive", request{"GET", "/.checkstack/health", nil, ""}, 200, `"ok"`},
		{"simple health", request{"GET", "/api/health", nil, ""}, 200, `"ok"`},
		{"not ready", request{"GET", "/.checkstack/ready", nil, ""}, 503, `"ready":false`},
		{"config", request{"GET", "/api/config", nil, ""}, 200, `"baseUrl"`},
	} {
		rec := do(h, tc.req)
		if rec.Code != tc.status || !strings.Contains(rec.Body.String(), tc.body) {
			t.Errorf("%s: got %d %s, want %d with %q", tc.name, rec.Code, rec.Body, tc.status, tc.body)
		}
		if strings.Contains(rec.Body.String(), "canary-panic") || strings.Contains(rec.Body.String(), "secret reason") {
			t.Errorf("%s: the answer tells what only the log may", tc.name)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Correlation-Id", "Strict-Transport-Security"} {
			if rec.Header().Get(name) == "" {
				t.Errorf("%s: header %s is missing", tc.name, name)
			}
		}
		if csp := rec.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "frame-ancestors 'none'") || strings.Contains(csp, "script-src") {
			t.Errorf("%s: policy %s", tc.name, csp)
		}
	}
}

func TestCorrelationIDReachesEveryLogLine(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	h := server(t, &logs)
	rec := do(h, request{"GET", "/api/panic", map[string]string{"x-correlation-id": "abc-1"}, ""})
	if rec.Header().Get("x-correlation-id") != "abc-1" {
		t.Errorf("not echoed: %v", rec.Header())
	}
	for line := range strings.Lines(logs.String()) {
		if !strings.Contains(line, "correlation_id=abc-1") {
			t.Errorf("no id in %s", line)
		}
	}
	if !strings.Contains(logs.String(), "canary-panic") {
		t.Error("the panic is not in the log")
	}
	forged := do(h, request{"GET", "/api/who", map[string]string{"x-correlation-id": "a b\tc"}, ""})
	if got := forged.Header().Get("x-correlation-id"); got == "" || strings.ContainsAny(got, " \t") {
		t.Errorf("a forged id was taken over: %q", got)
	}
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	addr := httpapi.ClientAddress([]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")})
	for _, tc := range []struct{ remote, forwarded, want string }{
		{"192.0.2.1:5", "", "192.0.2.1"},
		{"192.0.2.1:5", "203.0.113.9", "192.0.2.1"}, // not from a trusted proxy
		{"127.0.0.1:5", "203.0.113.9", "203.0.113.9"},
		{"127.0.0.1:5", "198.51.100.1, 203.0.113.9", "203.0.113.9"}, // the first one is invented
		{"127.0.0.1:5", "203.0.113.9, 10.1.1.1", "203.0.113.9"},
		{"127.0.0.1:5", "garbage, 10.1.1.1", "10.1.1.1"},
		{"127.0.0.1:5", "", "127.0.0.1"},
		{"[::ffff:127.0.0.1]:5", "203.0.113.9", "203.0.113.9"},
	} {
		r := httptest.NewRequest("GET", "/", nil)
		r.RemoteAddr = tc.remote
		if tc.forwarded != "" {
			r.Header.Set("X-Forwarded-For", tc.forwarded)
		}
		if got := addr(r); got != tc.want {
			t.Errorf("%s via %q: got %s, want %s", tc.remote, tc.forwarded, got, tc.want)
		}
	}
}

// TestReadinessIsLoggedWhenItChanges: an orchestrator asks every second, and an
// outage must not fill the log.
func TestReadinessIsLoggedWhenItChanges(t *testing.T) {
	t.Parallel()
	var logs strings.Builder
	var down error
	h := httpapi.New(httpapi.Deps{Log: logging.New(&logs, slog.LevelInfo, false), Auth: callers{},
		Probes: []httpapi.Probe{{Name: "database", Check: func(context.Context) error { return down }}}}).Handler()
	for _, fault := range []error{nil, errors.New("gone"), errors.New("gone"), nil, nil, errors.New("gone")} {
		down = fault
		rec := do(h, request{"GET", "/.checkstack/ready", nil, ""})
		if want := map[bool]int{true: 200, false: 503}[fault == nil]; rec.Code != want {
			t.Errorf("with %v: got %d, want %d", fault, rec.Code, want)
		}
	}
	if bad, well := strings.Count(logs.String(), `msg="not ready"`), strings.Count(logs.String(), `msg="ready again"`); bad != 2 || well != 1 {
		t.Errorf("%d times not ready and %d times ready again, want 2 and 1:\n%s", bad, well, logs.String())
	}
}
