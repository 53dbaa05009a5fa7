package oauth

import (
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	user := func(rules ...string) authz.Principal {
		return authz.Principal{Kind: authz.User, ID: "u", Roles: []string{"admin"}, Rules: rules}
	}
	for name, row := range map[string]struct {
		p      authz.Principal
		scopes []string
		want   string
	}{
		"the example of 31.6":       {user("incident.incident.read"), []string{ScopeWrite}, "incident.incident.read"},
		"read for an administrator": {user("*"), []string{ScopeRead}, "catalog.system.read incident.incident.read"},
		"write for one":             {user("*"), []string{ScopeWrite}, "catalog.system.read catalog.system.manage incident.incident.read incident.incident.manage"},
		"manage implies read":       {user("catalog.system.manage"), []string{ScopeRead}, "catalog.system.read"},
		"a manage scope":            {user("catalog.system.read"), []string{"catalog.system.manage"}, "catalog.system.read"},
		"a lost rule":               {user(), []string{ScopeWrite}, ""},
		"unknown scopes":            {user("*"), []string{"*", "nothing", ""}, ""},
		"a rule of another kind":    {user("*"), []string{"notification.send"}, "notification.send"},
	} {
		if got := narrow(row.p, row.scopes, catalog); strings.Join(got.Rules, " ") != row.want || got.Roles != nil {
			t.Errorf("%s: %v, want %s", name, got.Rules, row.want)
		}
	}
}

// narrowed checks the property that everything rests on.
func narrowed(t *testing.T, p authz.Principal, scopes []string) {
	t.Helper()
	out := narrow(p, scopes, catalog)
	granted := authz.Principal{Kind: authz.User, Rules: expand(scopes, catalog)}
	for _, r := range catalog {
		if out.Has(r.ID) && (!p.Has(r.ID) || !granted.Has(r.ID)) {
			t.Fatalf("rules %v with scopes %v gave %s", p.Rules, scopes, r.ID)
		}
	}
	if slices.Contains(out.Rules, authz.Wildcard) || out.Has("anything.else.manage") {
		t.Fatalf("rules %v with scopes %v gave everything: %v", p.Rules, scopes, out.Rules)
	}
}

func TestNarrowNeverWidens(t *testing.T) {
	t.Parallel()
	all := []string{ScopeRead, ScopeWrite, "*", "made.up.read"}
	for _, r := range catalog {
		all = append(all, r.ID)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	pick := func() (out []string) {
		for _, s := range all {
			if rng.IntN(3) == 0 {
				out = append(out, s)
			}
		}
		return out
	}
	for range 20_000 {
		narrowed(t, authz.Principal{Kind: authz.User, Rules: pick()}, pick())
	}
}

func FuzzScopes(f *testing.F) {
	f.Add("checkstack:read", "catalog.system.read")
	f.Add("* catalog.system.manage", "*")
	f.Fuzz(func(t *testing.T, scope, held string) {
		scopes, unknown := parseScopes(scope, catalog)
		if unknown == "" && !within(scopes, scopes, catalog) {
			t.Fatalf("%v is not within itself", scopes)
		}
		p := authz.Principal{Kind: authz.User, Rules: strings.Fields(held)}
		narrowed(t, p, scopes)
		narrowed(t, p, strings.Fields(scope))
	})
}

func FuzzRedirect(f *testing.F) {
	for _, s := range []string{"https://a/b", "http://127.0.0.1:1/c", "javascript:alert(1)", "https://a@b/", "http://[::1]/", "//x", "https://a\\b"} {
		f.Add(s, callback)
	}
	f.Fuzz(func(t *testing.T, registered, presented string) {
		if checkRedirect(registered) == "" {
			u, err := url.Parse(registered)
			if err != nil || (u.Scheme != "https" && !(u.Scheme == "http" && loopback(u.Hostname()))) || u.User != nil || u.Fragment != "" {
				t.Fatalf("accepted %q", registered)
			}
			if !redirectMatches(registered, presented) {
				return
			}
			p, err := url.Parse(presented)
			if err != nil || p.Scheme != u.Scheme || p.Hostname() != u.Hostname() || p.EscapedPath() != u.EscapedPath() || p.RawQuery != u.RawQuery || p.User != nil {
				t.Fatalf("%q matches %q", presented, registered)
			}
		}
	})
}

func FuzzRegistration(f *testing.F) {
	f.Add([]byte(`{"redirect_uris":["https://a/"]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if c, fault := readRegistration(raw); fault == nil && len(c.check()) > 0 {
			t.Fatalf("accepted %+v", c)
		}
		if c, why := readDocument("https://a/b", raw); why == "" && (c.ID != "https://a/b" || !c.public() || len(c.check()) > 0) {
			t.Fatalf("accepted %+v", c)
		}
	})
}

func FuzzAuthorize(f *testing.F) {
	s, c := setupFuzz(f)
	f.Add("client_id=x&redirect_uri=https://a/")
	f.Add("client_id=https%3A%2F%2F0%2F0&redirect_uri=" + url.QueryEscape(callback))
	f.Add(url.Values{"client_id": {c.ID}, "redirect_uri": {callback}, "response_type": {"code"}, "code_challenge": {challenge}, "code_challenge_method": {"S256"}}.Encode())
	f.Fuzz(func(t *testing.T, query string) {
		a, late, early := s.readAsk(t.Context(), query)
		if early == nil && late == nil && (!a.client.allows(a.redirect) || !challengePattern.MatchString(a.challenge) || len(a.scopes) == 0 || !s.ours(a.resource)) {
			t.Fatalf("accepted %q as %+v", query, a)
		}
		if early == nil && !a.client.allows(a.redirect) {
			t.Fatalf("%q would be redirected", query)
		}
	})
}

// FuzzToken: nothing that is posted without a code or token that was given out
// gets any, and nothing is a fault of the server.
func FuzzToken(f *testing.F) {
	s, _ := setupFuzz(f)
	s.log, s.address = slog.New(slog.DiscardHandler), func(*http.Request) string { return "" }
	if err := s.SetSettings(f.Context(), Settings{Enabled: true, AllowRegistration: true}); err != nil {
		f.Fatal(err)
	}
	mux := http.NewServeMux()
	s.Mount(mux)
	c, secret, err := s.AddClient(f.Context(), Client{Name: "x", RedirectURIs: []string{callback}, AuthMethod: "client_secret_basic"}, "")
	if err != nil {
		f.Fatal(err)
	}
	f.Add("grant_type=authorization_code&code=x&code_verifier="+verifier, basicAuth(c.ID, secret), true)
	f.Add("grant_type=refresh_token&refresh_token=ckr_x", basicAuth(c.ID, secret), true)
	f.Add("token=cko_x&client_id="+c.ID+"&client_secret="+secret, "", false)
	f.Add("grant_type=%zz&code=\x00&client_id=\xff", "Basic \xff", true)
	f.Fuzz(func(t *testing.T, form, authorization string, token bool) {
		path := "/revoke"
		if token {
			path = "/token"
		}
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, mount+path, strings.NewReader(form))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header["Authorization"] = []string{authorization}
		w := httptest.NewRecorder()
		mux.ServeHTTP(w, r)
		if w.Code >= 500 || strings.Contains(w.Body.String(), "access_token") || (token && w.Code < 400) {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if token && !json.Valid(w.Body.Bytes()) {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	})
}

func setupFuzz(f *testing.F) (*Server, Client) {
	d := dbtest.SQLite(f)
	s := New(Deps{DB: d, Rules: func() []authz.Rule { return catalog }, BaseURL: "https://checkstack.example",
		HTTP: &http.Client{Transport: documents{}}})
	c, _, err := s.AddClient(f.Context(), Client{Name: "x", RedirectURIs: []string{callback}, AuthMethod: "none"}, "")
	if err != nil {
		f.Fatal(err)
	}
	return s, c
}

// documents publishes a metadata document at every address.
type documents struct{}

func (documents) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"client_id": r.URL.String(), "client_name": "x", "redirect_uris": []string{callback}})
	return w.Result(), nil
}
