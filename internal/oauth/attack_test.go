package oauth

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestConsentIsOnePersons: what one person allowed a client lets nobody else's
// be asked less, and a code is for the person who pressed Allow, whoever began
// the request.
func TestConsentIsOnePersons(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		f.tokens(t, c) // ada allows
		shared := browser()
		f.who = f.bob
		id := f.request(t, shared, f.query(c)) // asked, not let through
		if resp := f.get(t, shared, mount+"/consent?request="+id); !strings.Contains(body(t, resp), `"before":false`) {
			t.Error("bob is told that he allowed as much before")
		}
		// ada's request, decided by bob, who signed in at the same browser.
		f.who = f.ada
		id = f.request(t, shared, f.query(c, "scope", ScopeWrite))
		f.who = f.bob
		_, got, text := f.decide(t, shared, id, true)
		a := f.post(t, "/token", redeemForm(c, got.Get("code")))
		acc, err := f.Verify(t.Context(), a.Access)
		if err != nil || acc.Principal.ID != f.bob || strings.Join(acc.Principal.Rules, " ") != "catalog.system.read" {
			t.Errorf("%s: %+v, %v", text, acc.Principal, err)
		}
	})
}

// TestConsentFixation: over https a cookie that another host could have planted
// counts for nothing; only one that the browser promises is from this host does.
func TestConsentFixation(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	q := f.query(c).Encode()
	f.base = "https://checkstack.example"
	planted := strings.Repeat("A", 43)
	send := func(method, path, in string, cookies ...*http.Cookie) *http.Response {
		req, _ := http.NewRequestWithContext(t.Context(), method, f.web.URL+mount+path, strings.NewReader(in))
		req.Header.Set("Content-Type", "application/json")
		for _, c := range cookies {
			req.AddCookie(c)
		}
		resp, err := browser().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = resp.Body.Close() })
		return resp
	}
	resp := send("GET", "/authorize?"+strings.ReplaceAll(q, url.QueryEscape(f.web.URL), url.QueryEscape(f.base)), "", &http.Cookie{Name: "checkstack_oauth", Value: planted})
	to, err := resp.Location()
	if err != nil || len(resp.Cookies()) != 1 {
		t.Fatalf("authorize: %d %v", resp.StatusCode, err)
	}
	own := resp.Cookies()[0]
	if !strings.HasPrefix(own.Name, "__Host-") || own.Value == planted || !own.Secure || own.Path != "/" || own.Domain != "" || !own.HttpOnly || own.SameSite != http.SameSiteLaxMode {
		t.Errorf("the cookie is %v", own)
	}
	in := `{"request":"` + to.Query().Get("request") + `","allow":true}`
	if resp := send("POST", "/consent", in, &http.Cookie{Name: "checkstack_oauth", Value: own.Value}); resp.StatusCode != http.StatusNotFound {
		t.Errorf("with a planted cookie: %d", resp.StatusCode)
	}
	if resp := send("POST", "/consent", in, &http.Cookie{Name: own.Name, Value: own.Value}); resp.StatusCode != http.StatusOK {
		t.Errorf("with its own cookie: %d", resp.StatusCode)
	}
}

// TestTokenIsForOneResource: a token of an installation that had another address
// is for that address.
func TestTokenIsForOneResource(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	a := f.tokens(t, c)
	if !f.works(t, a.Access) {
		t.Fatal("the token does not work")
	}
	f.base = "https://elsewhere.example"
	if f.works(t, a.Access) {
		t.Error("a token for another resource works")
	}
}

// TestMixedUpIssuer: every answer that goes back to a client names this server,
// so a client that asked another one notices; and what another server gave is
// worth nothing here.
func TestMixedUpIssuer(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	for name, change := range map[string][]string{"an error": {"scope", "nothing.such"}, "another resource": {"resource", "https://other.example/mcp"}} {
		resp := f.authorizeAs(t, browser(), f.query(c, change...))
		if to, err := resp.Location(); err != nil || strings.Join(to.Query()["iss"], " ") != f.web.URL {
			t.Errorf("%s: %v, %v", name, to, err)
		}
	}
	for _, allow := range []bool{false, true} {
		b := browser()
		if _, got, _ := f.decide(t, b, f.request(t, b, f.query(c)), allow); strings.Join(got["iss"], " ") != f.web.URL {
			t.Errorf("allowed %t: %v", allow, got)
		}
	}
	// A client cannot have another issuer named.
	b := browser()
	another, _ := f.client(t, "none")
	if _, got, _ := f.decide(t, b, f.request(t, b, f.query(another, "iss", "https://evil.example")), true); strings.Join(got["iss"], " ") != f.web.URL {
		t.Errorf("with an issuer of the client's: %v", got)
	}
	other := setup(t, dbtest.SQLite(t))
	oc, _ := other.client(t, "none")
	foreign := other.tokens(t, oc)
	if a := f.post(t, "/token", with(redeemForm(c, other.code(t, other.query(oc))))); a.Error != "invalid_grant" {
		t.Errorf("a code of another server: %s", a.raw)
	}
	if a := f.post(t, "/token", refreshForm(c, foreign.Refresh)); a.Error != "invalid_grant" || f.works(t, foreign.Access) {
		t.Errorf("tokens of another server: %s", a.raw)
	}
}

// TestAskingWithoutEnd: who is not signed in begins only so many requests, and
// has only so many documents read; people are not held up.
func TestAskingWithoutEnd(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		reads := 0
		f.docs = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { reads++; w.WriteHeader(http.StatusNotFound) })
		f.who = ""
		for range askLimit {
			f.request(t, browser(), f.query(c))
		}
		for range 3 {
			resp := f.authorizeAs(t, browser(), f.query(Client{ID: "https://victim.example/x", RedirectURIs: []string{callback}}))
			if resp.StatusCode != http.StatusTooManyRequests || resp.Header.Get("Retry-After") == "" || resp.Header.Get("Location") != "" {
				t.Errorf("one too many: %d", resp.StatusCode)
			}
		}
		var rows int
		if err := d.Read.NewRaw("SELECT count(*) FROM oauth_requests").Scan(t.Context(), &rows); err != nil || rows != askLimit || reads != 0 {
			t.Errorf("%d rows, %d reads, %v", rows, reads, err)
		}
		f.who = f.ada
		f.request(t, browser(), f.query(c))
		f.who = ""
		f.add(askWindow)
		f.request(t, browser(), f.query(c))
	})
}

// TestNothingIsRedirectedUnverified is the open-redirect table: whatever comes
// as redirect_uri and is not the client's, no answer sends a browser there.
func TestNothingIsRedirectedUnverified(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	for _, bad := range []string{"https://evil.example/", "//evil.example/", "https:evil.example", "https:///evil.example", `\\evil.example`, "https://app.example.com/callback/../evil",
		"https://app.example.com/callback?x=https://evil.example", "https://app.example.com/Callback", "HTTPS://app.example.com/callback", "https://APP.example.com/callback",
		"https://app.example.com./callback", "https://app.example.com:443/callback", " https://app.example.com/callback", "https://app.example.com/callback%0d%0aX: y", "data:text/html,x", "about:blank"} {
		for _, change := range [][]string{nil, {"response_type", "token"}, {"scope", "nothing.such"}} {
			resp := f.authorizeAs(t, browser(), f.query(c, append([]string{"redirect_uri", bad}, change...)...))
			if to := resp.Header.Get("Location"); to != "" || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%q %v: %d to %s", bad, change, resp.StatusCode, to)
			}
		}
	}
}
