package oauth

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestWholePath(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		b := browser()
		id := f.request(t, b, f.query(c))

		resp := f.get(t, b, mount+"/consent?request="+id)
		var v consentView
		if err := json.Unmarshal([]byte(body(t, resp)), &v); err != nil || resp.StatusCode != 200 {
			t.Fatalf("consent: %d %v", resp.StatusCode, err)
		}
		if v.Client != "Test app" || v.RedirectHost != "app.example.com" || len(v.Permissions) != 2 || v.Permissions[0].Description != "See systems" || v.Missing != 0 || v.Before {
			t.Errorf("consent page shows %+v", v)
		}
		status, got, _ := f.decide(t, b, id, true)
		if status != 200 || got.Get("iss") != f.web.URL || got.Get("state") != "s t&1" || len(got.Get("code")) < 40 {
			t.Fatalf("decision: %d %v", status, got)
		}
		if status, _, _ := f.decide(t, b, id, true); status != http.StatusNotFound {
			t.Errorf("second decision: %d", status)
		}
		a := f.post(t, "/token", redeemForm(c, got.Get("code")))
		if a.status != 200 || a.Scope != ScopeRead || a.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("token: %d %s", a.status, a.raw)
		}
		acc, err := f.Verify(t.Context(), a.Access)
		if err != nil || acc.Principal.ID != f.ada || !acc.Principal.Has("catalog.system.read") || acc.Principal.Has("catalog.system.manage") || acc.Principal.Has("*") {
			t.Errorf("principal %+v, %v", acc.Principal, err)
		}
		var stored int
		for _, secret := range []string{a.Access, a.Refresh, got.Get("code")} {
			if err := d.Read.NewRaw(`SELECT (SELECT count(*) FROM oauth_tokens WHERE hash LIKE ?) + (SELECT count(*) FROM oauth_grants WHERE code_hash LIKE ?)`,
				"%"+secret+"%", "%"+secret+"%").Scan(t.Context(), &stored); err != nil || stored != 0 {
				t.Errorf("a secret is stored in the clear (%d, %v)", stored, err)
			}
		}

		// The same client asks again: it is on the web, so the consent is remembered.
		resp = f.authorizeAs(t, browser(), f.query(c))
		if to, err := resp.Location(); err != nil || to.Host != "app.example.com" || to.Query().Get("code") == "" {
			t.Errorf("remembered consent went to %v, %v", to, err)
		}
		// More than before asks again.
		f.request(t, browser(), f.query(c, "scope", ScopeWrite))

		f.mu.Lock()
		f.rules[f.ada] = []string{"incident.incident.read"}
		f.mu.Unlock()
		if acc, err = f.Verify(t.Context(), a.Access); err != nil || len(acc.Principal.Rules) != 1 {
			t.Errorf("after losing rules: %+v, %v", acc.Principal, err)
		}
		if err := f.SetSettings(t.Context(), Settings{}); err != nil {
			t.Fatal(err)
		}
		if f.works(t, a.Access) {
			t.Error("a token works although the server is off")
		}
		if a := f.post(t, "/token", refreshForm(c, a.Refresh)); a.status != 404 {
			t.Errorf("refresh while off: %d", a.status)
		}
	})
}

func TestDeny(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none", "https://app.example.com/cb?keep=1")
	b := browser()
	_, got, text := f.decide(t, b, f.request(t, b, f.query(c)), false)
	if got.Get("error") != "access_denied" || got.Get("keep") != "1" || got.Get("state") == "" || got.Get("iss") == "" || got.Has("code") {
		t.Errorf("deny: %s", text)
	}
}

// TestAuthorizeFaults has one row for every rule of dependencies 2.5 about the
// authorization endpoint. page is what must be shown here instead of being sent
// to the client.
func TestAuthorizeFaults(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none", callback, "http://127.0.0.1:1111/callback", "http://localhost:1111/here")
	for name, row := range map[string]struct {
		change []string
		want   string // error code, or "page"
	}{
		"unknown client":            {[]string{"client_id", "0190b1c0-0000-7000-8000-000000000000"}, "page"},
		"no client":                 {[]string{"client_id", "-"}, "page"},
		"another path":              {[]string{"redirect_uri", callback + "/x"}, "page"},
		"another host":              {[]string{"redirect_uri", "https://app.example.com.evil.example/callback"}, "page"},
		"another port":              {[]string{"redirect_uri", "https://app.example.com:444/callback"}, "page"},
		"another scheme":            {[]string{"redirect_uri", "http://app.example.com/callback"}, "page"},
		"user info":                 {[]string{"redirect_uri", "https://app.example.com@evil.example/callback"}, "page"},
		"fragment":                  {[]string{"redirect_uri", callback + "#x"}, "page"},
		"added query":               {[]string{"redirect_uri", callback + "?next=https://evil.example"}, "page"},
		"no redirect of two":        {[]string{"redirect_uri", "-"}, "page"},
		"empty redirect":            {[]string{"redirect_uri", ""}, "page"},
		"localhost for 127.0.0.1":   {[]string{"redirect_uri", "http://localhost:1111/callback"}, "page"},
		"loopback, another path":    {[]string{"redirect_uri", "http://127.0.0.1:1111/other"}, "page"},
		"loopback look-alike":       {[]string{"redirect_uri", "http://127.0.0.1.example.com/callback"}, "page"},
		"plain challenge":           {[]string{"code_challenge_method", "plain"}, "invalid_request"},
		"no method":                 {[]string{"code_challenge_method", "-"}, "invalid_request"},
		"no challenge":              {[]string{"code_challenge", "-"}, "invalid_request"},
		"short challenge":           {[]string{"code_challenge", "abc"}, "invalid_request"},
		"response_type token":       {[]string{"response_type", "token"}, "unsupported_response_type"},
		"no response_type":          {[]string{"response_type", "-"}, "unsupported_response_type"},
		"response_mode fragment":    {[]string{"response_mode", "fragment"}, "invalid_request"},
		"foreign resource":          {[]string{"resource", "https://other.example/api/ai/mcp"}, "invalid_target"},
		"resource with more host":   {[]string{"resource", f.web.URL + ".evil.example/api/ai/mcp"}, "invalid_target"},
		"unknown scope":             {[]string{"scope", "catalog.system.read evil\"scope"}, "invalid_scope"},
		"wildcard scope":            {[]string{"scope", "*"}, "invalid_scope"},
		"good":                      {nil, ""},
		"no state":                  {[]string{"state", "-"}, ""},
		"no scope":                  {[]string{"scope", "-"}, ""},
		"no resource":               {[]string{"resource", "-"}, ""},
		"offline_access":            {[]string{"scope", "offline_access catalog.system.read"}, ""},
		"loopback, another port":    {[]string{"redirect_uri", "http://127.0.0.1:2222/callback"}, ""},
		"localhost, another port":   {[]string{"redirect_uri", "http://localhost:2222/here"}, ""},
		"localhost, no port":        {[]string{"redirect_uri", "http://localhost/here"}, ""},
		"localhost, another path":   {[]string{"redirect_uri", "http://localhost:2222/there"}, "page"},
		"localhost look-alike":      {[]string{"redirect_uri", "http://localhost.example.com:2222/here"}, "page"},
		"localhost with https":      {[]string{"redirect_uri", "https://localhost:2222/here"}, "page"},
		"localhost and a password":  {[]string{"redirect_uri", "http://localhost:2222@evil.example/here"}, "page"},
		"origin as resource":        {[]string{"resource", f.web.URL + "/"}, ""},
		"endless state":             {[]string{"state", strings.Repeat("s", 2001)}, "invalid_request"},
		"endless scope":             {[]string{"scope", strings.Repeat("catalog.system.read ", 1000)}, "invalid_scope"},
		"redirect to javascript":    {[]string{"redirect_uri", "javascript:alert(1)//"}, "page"},
		"redirect with a backslash": {[]string{"redirect_uri", `https://app.example.com\@evil.example/callback`}, "page"},
	} {
		t.Run(name, func(t *testing.T) {
			resp := f.authorizeAs(t, browser(), f.query(c, row.change...))
			to, _ := resp.Location()
			switch row.want {
			case "page":
				text := body(t, resp)
				if to != nil || resp.StatusCode != 400 || !strings.Contains(text, "cannot be let in") || strings.Contains(text, "evil") {
					t.Errorf("%d to %v: %s", resp.StatusCode, to, text)
				}
			case "":
				if to == nil || to.Path != "/auth/oauth-consent" {
					t.Errorf("%d to %v: %s", resp.StatusCode, to, body(t, resp))
				}
			default:
				if to == nil || to.Host != "app.example.com" || to.Query().Get("error") != row.want || to.Query().Get("iss") != f.web.URL || resp.StatusCode != http.StatusSeeOther {
					t.Errorf("%d to %v, want error %s", resp.StatusCode, to, row.want)
				}
			}
			if resp.Header.Get("Cache-Control") != "no-store" {
				t.Error("the answer may be stored")
			}
		})
	}
	for name, want := range map[string]string{"client_id": "page", "redirect_uri": "page", "state": "invalid_request", "scope": "invalid_request", "code_challenge": "invalid_request"} {
		q := f.query(c)
		q.Add(name, q.Get(name))
		resp := f.authorizeAs(t, browser(), q)
		to, _ := resp.Location()
		if (want == "page") != (to == nil) || (to != nil && to.Query().Get("error") != want) {
			t.Errorf("repeated %s: %d to %v", name, resp.StatusCode, to)
		}
	}
}

// A database keeps neither NUL nor broken UTF-8: what holds them is refused as
// any other nonsense, not answered with a failure of the server.
func TestTextsNoDatabaseKeeps(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none", callback)
		for _, bad := range []string{"\x00", "x\x00y", "\xff\xfe"} {
			resp := f.authorizeAs(t, browser(), f.query(c, "client_id", bad))
			if to, _ := resp.Location(); to != nil || resp.StatusCode != http.StatusBadRequest {
				t.Errorf("client_id %q: %d to %v", bad, resp.StatusCode, to)
			}
			resp = f.authorizeAs(t, browser(), f.query(c, "state", bad))
			to, _ := resp.Location()
			if to == nil || to.Query().Get("error") != "invalid_request" || to.Query().Has("state") {
				t.Errorf("state %q: %d to %v", bad, resp.StatusCode, to)
			}
			if a := f.post(t, "/token", with(refreshForm(c, "ckr_x"), "client_id", bad)); a.status != http.StatusUnauthorized {
				t.Errorf("token for client %q: %d", bad, a.status)
			}
			if status, _, text := f.decide(t, browser(), bad, true); status >= 500 {
				t.Errorf("decision on request %q: %d %s", bad, status, text)
			}
		}
	})
}

func TestConsentBelongsToBrowserAndPerson(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	attacker := browser()
	id := f.request(t, attacker, f.query(c))
	victim := browser()
	f.request(t, victim, f.query(c)) // has a cookie of its own
	for name, b := range map[string]*http.Client{"no cookie": browser(), "another browser": victim} {
		if status, _, text := f.decide(t, b, id, true); status != http.StatusNotFound {
			t.Errorf("%s decided: %d %s", name, status, text)
		}
		if resp := f.get(t, b, mount+"/consent?request="+id); resp.StatusCode != http.StatusNotFound {
			t.Errorf("%s sees the request: %d", name, resp.StatusCode)
		}
	}
	f.who = ""
	if status, _, _ := f.decide(t, attacker, id, true); status != http.StatusUnauthorized {
		t.Errorf("signed out: %d", status)
	}
	f.who = f.ada
	for _, ct := range []string{"application/x-www-form-urlencoded", "text/plain"} {
		resp, err := attacker.Post(f.web.URL+mount+"/consent", ct, strings.NewReader(`{"request":"`+id+`","allow":true}`))
		if err != nil || resp.StatusCode != http.StatusBadRequest {
			t.Errorf("a form of another site could send %s: %v", ct, err)
		}
		_ = resp.Body.Close()
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, f.web.URL+mount+"/consent", strings.NewReader(`{"request":"`+id+`","allow":true}`))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer ck_x")
	if resp, err := attacker.Do(req); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a bearer of a key decides: %v", err)
	} else {
		_ = resp.Body.Close()
	}
	f.add(requestLife)
	if status, _, _ := f.decide(t, attacker, id, true); status != http.StatusNotFound {
		t.Errorf("an old request: %d", status)
	}
}

func TestTokenFaults(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	c, _ := f.client(t, "none")
	other, _ := f.client(t, "none")
	conf, secret := f.client(t, "client_secret_post")
	basic, basicSecret := f.client(t, "client_secret_basic")
	for name, row := range map[string]struct {
		client Client
		change []string
		header []string
		status int
		want   string
	}{
		"good":                   {client: c, status: 200},
		"without redirect_uri":   {client: c, change: []string{"redirect_uri", "-"}, status: 200},
		"with the resource":      {client: c, change: []string{"resource", f.Resource()}, status: 200},
		"wrong verifier":         {client: c, change: []string{"code_verifier", strings.Repeat("a", 43)}, status: 400, want: "invalid_grant"},
		"no verifier":            {client: c, change: []string{"code_verifier", "-"}, status: 400, want: "invalid_request"},
		"short verifier":         {client: c, change: []string{"code_verifier", "abc"}, status: 400, want: "invalid_request"},
		"challenge as verifier":  {client: c, change: []string{"code_verifier", challenge}, status: 400, want: "invalid_grant"},
		"another client's code":  {client: c, change: []string{"client_id", other.ID}, status: 400, want: "invalid_grant"},
		"another redirect":       {client: c, change: []string{"redirect_uri", callback + "x"}, status: 400, want: "invalid_grant"},
		"foreign resource":       {client: c, change: []string{"resource", "https://other.example"}, status: 400, want: "invalid_target"},
		"unknown client":         {client: c, change: []string{"client_id", "nobody"}, status: 401, want: "invalid_client"},
		"no client":              {client: c, change: []string{"client_id", "-"}, status: 401, want: "invalid_client"},
		"unknown code":           {client: c, change: []string{"code", "nonsense"}, status: 400, want: "invalid_grant"},
		"password grant":         {client: c, change: []string{"grant_type", "password"}, status: 400, want: "unsupported_grant_type"},
		"client credentials":     {client: c, change: []string{"grant_type", "client_credentials"}, status: 400, want: "unsupported_grant_type"},
		"public client's secret": {client: c, change: []string{"client_secret", "x"}, status: 401, want: "invalid_client"},
		"secret in the body":     {client: conf, change: []string{"client_secret", secret}, status: 200},
		"no secret":              {client: conf, status: 401, want: "invalid_client"},
		"wrong secret":           {client: conf, change: []string{"client_secret", secret + "x"}, status: 401, want: "invalid_client"},
		"basic of a post client": {client: conf, header: []string{"Authorization", basicAuth(conf.ID, secret)}, status: 401, want: "invalid_client"},
		"basic":                  {client: basic, header: []string{"Authorization", basicAuth(basic.ID, basicSecret)}, status: 200},
		"basic and body":         {client: basic, change: []string{"client_secret", basicSecret}, header: []string{"Authorization", basicAuth(basic.ID, basicSecret)}, status: 400, want: "invalid_request"},
		"bearer as client":       {client: c, header: []string{"Authorization", "Bearer ck_x_y"}, status: 401, want: "invalid_client"},
		"JSON body":              {client: c, header: []string{"Content-Type", "application/json"}, status: 400, want: "invalid_request"},
		"a megabyte":             {client: c, change: []string{"x", strings.Repeat("x", 1<<20)}, status: 400, want: "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.post(t, "/token", with(redeemForm(row.client, f.code(t, f.query(row.client))), row.change...), row.header...)
			if a.status != row.status || a.Error != row.want {
				t.Errorf("%d %s, want %d %s", a.status, a.raw, row.status, row.want)
			}
			if a.header.Get("Cache-Control") != "no-store" {
				t.Error("the answer may be stored")
			}
		})
	}
	form := redeemForm(c, f.code(t, f.query(c)))
	form.Add("code", "second")
	if a := f.post(t, "/token", form); a.Error != "invalid_request" {
		t.Errorf("repeated code: %s", a.raw)
	}
}

func basicAuth(user, pass string) string {
	r := &http.Request{Header: http.Header{}}
	r.SetBasicAuth(url.QueryEscape(user), url.QueryEscape(pass))
	return r.Header.Get("Authorization")
}

func TestCodeLifeAndReplay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		late := f.code(t, f.query(c))
		f.add(codeLife)
		if a := f.post(t, "/token", redeemForm(c, late)); a.Error != "invalid_grant" {
			t.Errorf("an old code: %s", a.raw)
		}
		// A failed attempt spends the code.
		code := f.code(t, f.query(c))
		f.post(t, "/token", with(redeemForm(c, code), "code_verifier", strings.Repeat("a", 43)))
		if a := f.post(t, "/token", redeemForm(c, code)); a.Error != "invalid_grant" {
			t.Errorf("a code after a wrong verifier: %s", a.raw)
		}
		// A replay ends what the code gave.
		code = f.code(t, f.query(c))
		a := f.post(t, "/token", redeemForm(c, code))
		if !f.works(t, a.Access) {
			t.Fatal("the token does not work")
		}
		if again := f.post(t, "/token", redeemForm(c, code)); again.Error != "invalid_grant" {
			t.Errorf("replay: %s", again.raw)
		}
		if f.works(t, a.Access) || f.post(t, "/token", refreshForm(c, a.Refresh)).status == 200 {
			t.Error("tokens work after their code was replayed")
		}
	})
}

// TestConcurrentRedemption: of many who present one code, exactly one wins.
func TestConcurrentRedemption(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		code := f.code(t, f.query(c))
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for range 20 {
			wg.Go(func() {
				if a := f.post(t, "/token", redeemForm(c, code)); a.status == 200 {
					mu.Lock()
					won++
					mu.Unlock()
				} else if a.Error != "invalid_grant" {
					t.Errorf("a loser got %d %s", a.status, a.raw)
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("%d of 20 redeemed one code", won)
		}
	})
}

func TestFC048_Refresh(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		other, _ := f.client(t, "none")

		a := f.tokens(t, c)
		var wg sync.WaitGroup
		got := make([]answer, 2)
		for i := range got { // (a) two windows at once
			wg.Go(func() { got[i] = f.post(t, "/token", refreshForm(c, a.Refresh)) })
		}
		wg.Wait()
		for _, g := range got {
			if g.status != 200 || !f.works(t, g.Access) || g.Refresh == a.Refresh {
				t.Errorf("parallel refresh: %d %s", g.status, g.raw)
			}
		}
		if !f.works(t, a.Access) {
			t.Error("a refresh ended the access token before its time")
		}
		f.add(2 * time.Second) // (b) a lost answer
		if g := f.post(t, "/token", refreshForm(c, a.Refresh)); g.status != 200 {
			t.Errorf("refresh after a lost answer: %s", g.raw)
		}
		// (d) another client, (e) more scope: neither harms the grant.
		if g := f.post(t, "/token", refreshForm(other, got[0].Refresh)); g.status != 400 || g.Error != "invalid_grant" {
			t.Errorf("another client: %d %s", g.status, g.raw)
		}
		if g := f.post(t, "/token", with(refreshForm(c, got[0].Refresh), "scope", ScopeWrite)); g.status != 400 || g.Error != "invalid_scope" {
			t.Errorf("more scope: %d %s", g.status, g.raw)
		}
		less := f.post(t, "/token", with(refreshForm(c, got[0].Refresh), "scope", "catalog.system.read"))
		if acc, err := f.Verify(t.Context(), less.Access); err != nil || len(acc.Principal.Rules) != 1 {
			t.Errorf("less scope: %s, %+v, %v", less.raw, acc.Principal, err)
		}
		if g := f.post(t, "/token", refreshForm(c, less.Refresh)); g.Scope != ScopeRead {
			t.Errorf("the refresh token lost what was granted: %s", g.raw)
		}
		f.add(time.Minute) // (c) theft
		if g := f.post(t, "/token", refreshForm(c, a.Refresh)); g.status != 400 || g.Error != "invalid_grant" {
			t.Errorf("replay after a minute: %d %s", g.status, g.raw)
		}
		for _, g := range got {
			if f.works(t, g.Access) || f.post(t, "/token", refreshForm(c, g.Refresh)).status == 200 {
				t.Error("the family lives on after a replay")
			}
		}
	})
}

func TestLifetimesAndRevocation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		c, _ := f.client(t, "none")
		other, _ := f.client(t, "none")
		a := f.tokens(t, c)
		for _, bad := range []string{"", "x", a.Refresh, a.Access + "x", strings.TrimPrefix(a.Access, accessPrefix)} {
			if f.works(t, bad) {
				t.Errorf("%q works", bad)
			}
		}
		if g := f.post(t, "/token", refreshForm(c, a.Access)); g.Error != "invalid_grant" {
			t.Errorf("an access token refreshes: %s", g.raw)
		}
		f.add(accessLife)
		if f.works(t, a.Access) {
			t.Error("an old access token works")
		}
		a = f.post(t, "/token", refreshForm(c, a.Refresh))
		if g := f.post(t, "/revoke", url.Values{"client_id": {other.ID}, "token": {a.Access}}); g.status != 200 || !f.works(t, a.Access) {
			t.Error("another client revoked the token")
		}
		if g := f.post(t, "/revoke", url.Values{"client_id": {c.ID}, "token": {"unknown"}}); g.status != 200 {
			t.Errorf("an unknown token: %d", g.status)
		}
		if g := f.post(t, "/revoke", url.Values{"client_id": {c.ID}, "token": {a.Refresh}}); g.status != 200 || f.works(t, a.Access) {
			t.Error("revoking the refresh token leaves the access token")
		}

		a = f.tokens(t, c)
		ctx := authz.With(t.Context(), authz.Principal{Kind: authz.User, ID: f.ada})
		list, err := f.getConnected(ctx, nil)
		if err != nil || len(list.Clients) != 1 || list.Clients[0].LastUsedAt == nil || list.Clients[0].Name != "Test app" {
			t.Errorf("connected clients: %+v, %v", list, err)
		}
		if _, err := f.disconnect(ctx, &clientIDInput{c.ID}); err != nil || f.works(t, a.Access) {
			t.Errorf("disconnect: %v", err)
		}
		a = f.tokens(t, c)
		f.mu.Lock()
		delete(f.rules, f.ada) // the account is gone
		f.mu.Unlock()
		if f.works(t, a.Access) || f.post(t, "/token", refreshForm(c, a.Refresh)).Error != "invalid_grant" {
			t.Error("tokens of a person who is gone work")
		}
		f.mu.Lock()
		f.rules[f.ada] = []string{"*"}
		f.mu.Unlock()
		a = f.tokens(t, c)
		if _, err := f.deleteClient(t.Context(), &clientIDInput{c.ID}); err != nil || f.works(t, a.Access) {
			t.Errorf("delete client: %v", err)
		}
		f.add(2 * refreshLife)
		if err := f.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		var left int
		if err := d.Read.NewRaw("SELECT (SELECT count(*) FROM oauth_tokens) + (SELECT count(*) FROM oauth_grants) + (SELECT count(*) FROM oauth_requests)").Scan(t.Context(), &left); err != nil || left != 0 {
			t.Errorf("%d rows are left, %v", left, err)
		}
	})
}
