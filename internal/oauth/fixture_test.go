package oauth

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("database/sql.(*DB).connectionOpener"),
		goleak.IgnoreTopFunction("internal/poll.runtime_pollWait"), goleak.IgnoreTopFunction("net/http.(*persistConn).writeLoop"))
}

var catalog = []authz.Rule{{ID: "catalog.system.read", Description: "See systems"}, {ID: "catalog.system.manage", Description: "Change systems"},
	{ID: "incident.incident.read", Description: "See incidents"}, {ID: "incident.incident.manage", Description: "Change incidents"},
	{ID: "notification.send", Description: "Send notifications"}}

// fixture is a server with one person who is signed in, "ada", and one who is
// not, "bob".
type fixture struct {
	*Server
	d     *db.DB
	web   *httptest.Server
	mu    sync.Mutex
	at    time.Time
	rules map[string][]string // by user id; absent means gone
	who   string              // whose session the browser has
	ada   string
	bob   string
	docs  http.Handler // answers for every metadata document
}

func (f *fixture) PrincipalForUser(_ context.Context, id string) (authz.Principal, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	rules, ok := f.rules[id]
	if !ok {
		return authz.Principal{}, problem.NotFound("no such user")
	}
	return authz.Principal{Kind: authz.User, ID: id, Name: "Person", Rules: rules}, nil
}

// RoundTrip answers for the servers of metadata documents.
func (f *fixture) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	f.docs.ServeHTTP(w, r)
	return w.Result(), nil
}

func (f *fixture) add(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.at = f.at.Add(d)
}

func (f *fixture) user(t *testing.T, rules ...string) string {
	t.Helper()
	id := uuid.Must(uuid.NewV7()).String()
	if _, err := f.d.Write.NewRaw("INSERT INTO users (id, name, email, email_key, created_at, updated_at) VALUES (?, 'Person', ?, ?, ?, ?)",
		id, id+"@example.com", id+"@example.com", f.at, f.at).Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
	f.rules[id] = rules
	return id
}

func setup(t *testing.T, d *db.DB) *fixture {
	t.Helper()
	f := &fixture{d: d, at: time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC), rules: map[string][]string{}, docs: http.NotFoundHandler()}
	f.ada, f.bob = f.user(t, authz.Wildcard), f.user(t, "catalog.system.read")
	f.who = f.ada
	mux := http.NewServeMux()
	f.web = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p := authz.Principal{}
		f.mu.Lock()
		who := f.who
		f.mu.Unlock()
		if who != "" {
			p, _ = f.PrincipalForUser(r.Context(), who)
		}
		mux.ServeHTTP(w, r.WithContext(authz.With(r.Context(), p)))
	}))
	t.Cleanup(f.web.Close)
	f.Server = New(Deps{DB: d, People: f, Rules: func() []authz.Rule { return catalog }, HTTP: &http.Client{Transport: f, CheckRedirect: browser().CheckRedirect}, BaseURL: f.web.URL,
		ClientAddress: func(r *http.Request) string { return r.Header.Get("X-Test-Address") }, Log: slog.New(slog.DiscardHandler),
		Now: func() time.Time { f.mu.Lock(); defer f.mu.Unlock(); return f.at }})
	f.Mount(mux)
	f.MountBrowser(mux)
	if err := f.SetSettings(t.Context(), Settings{Enabled: true, AllowRegistration: true}); err != nil {
		t.Fatal(err)
	}
	return f
}

// browser is a person's browser: it keeps cookies and follows no redirect.
func browser() *http.Client {
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

const (
	verifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	callback  = "https://app.example.com/callback"
)

func (f *fixture) client(t *testing.T, method string, redirects ...string) (Client, string) {
	t.Helper()
	if len(redirects) == 0 {
		redirects = []string{callback}
	}
	c, secret, err := f.AddClient(t.Context(), Client{Name: "Test app", RedirectURIs: redirects, AuthMethod: method}, "")
	if err != nil {
		t.Fatal(err)
	}
	return c, secret
}

// query is a good request to authorize, changed by pairs; a value "-" removes.
func (f *fixture) query(c Client, pairs ...string) url.Values {
	q := url.Values{"client_id": {c.ID}, "redirect_uri": {c.RedirectURIs[0]}, "response_type": {"code"}, "code_challenge": {challenge},
		"code_challenge_method": {"S256"}, "state": {"s t&1"}, "scope": {ScopeRead}, "resource": {f.Resource()}}
	for i := 0; i < len(pairs); i += 2 {
		if q.Set(pairs[i], pairs[i+1]); pairs[i+1] == "-" {
			q.Del(pairs[i])
		}
	}
	return q
}

func (f *fixture) get(t *testing.T, b *http.Client, path string) *http.Response {
	t.Helper()
	resp, err := b.Get(f.web.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func (f *fixture) authorizeAs(t *testing.T, b *http.Client, q url.Values) *http.Response {
	t.Helper()
	return f.get(t, b, mount+"/authorize?"+q.Encode())
}

// request begins a request to authorize and gives the id of the consent page.
func (f *fixture) request(t *testing.T, b *http.Client, q url.Values) string {
	t.Helper()
	resp := f.authorizeAs(t, b, q)
	to, err := resp.Location()
	if err != nil || resp.StatusCode != http.StatusSeeOther || to.Path != "/auth/oauth-consent" {
		t.Fatalf("authorize: %d to %v: %s", resp.StatusCode, to, body(t, resp))
	}
	return to.Query().Get("request")
}

func body(t *testing.T, resp *http.Response) string {
	t.Helper()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func (f *fixture) decide(t *testing.T, b *http.Client, request string, allow bool) (int, url.Values, string) {
	t.Helper()
	in, _ := json.Marshal(map[string]any{"request": request, "allow": allow})
	resp, err := b.Post(f.web.URL+mount+"/consent", "application/json", strings.NewReader(string(in)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	text := body(t, resp)
	var out struct{ RedirectTo string }
	_ = json.Unmarshal([]byte(text), &out)
	u, _ := url.Parse(out.RedirectTo)
	return resp.StatusCode, u.Query(), text
}

// code goes the whole way of a person's permission and gives the code.
func (f *fixture) code(t *testing.T, q url.Values) string {
	t.Helper()
	b := browser()
	resp := f.authorizeAs(t, b, q)
	to, err := resp.Location()
	if err != nil {
		t.Fatalf("authorize: %d %s", resp.StatusCode, body(t, resp))
	}
	if code := to.Query().Get("code"); code != "" { // the consent is remembered
		return code
	}
	status, answer, text := f.decide(t, b, to.Query().Get("request"), true)
	if status != 200 || answer.Get("code") == "" {
		t.Fatalf("consent: %d %s", status, text)
	}
	return answer.Get("code")
}

type answer struct {
	status      int
	header      http.Header
	Access      string `json:"access_token"`
	Refresh     string `json:"refresh_token"`
	Scope       string `json:"scope"`
	Error       string `json:"error"`
	Description string `json:"error_description"`
	raw         string
}

// post sends a form to an endpoint; headers come in pairs after it.
func (f *fixture) post(t *testing.T, path string, form url.Values, headers ...string) answer {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, f.web.URL+mount+path, strings.NewReader(form.Encode()))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header, raw: body(t, resp)}
	_ = json.Unmarshal([]byte(a.raw), &a)
	return a
}

func redeemForm(c Client, code string) url.Values {
	return url.Values{"grant_type": {"authorization_code"}, "client_id": {c.ID}, "code": {code}, "code_verifier": {verifier}, "redirect_uri": {c.RedirectURIs[0]}}
}

func refreshForm(c Client, token string) url.Values {
	return url.Values{"grant_type": {"refresh_token"}, "client_id": {c.ID}, "refresh_token": {token}}
}

func with(v url.Values, pairs ...string) url.Values {
	out := maps.Clone(v)
	for i := 0; i < len(pairs); i += 2 {
		if out.Set(pairs[i], pairs[i+1]); pairs[i+1] == "-" {
			out.Del(pairs[i])
		}
	}
	return out
}

// tokens signs a public client in.
func (f *fixture) tokens(t *testing.T, c Client) answer {
	t.Helper()
	a := f.post(t, "/token", redeemForm(c, f.code(t, f.query(c))))
	if a.status != 200 {
		t.Fatalf("token: %d %s", a.status, a.raw)
	}
	return a
}

func (f *fixture) works(t *testing.T, token string) bool {
	t.Helper()
	_, err := f.Verify(t.Context(), token)
	if err != nil && err != ErrToken {
		t.Fatal(err)
	}
	return err == nil
}
