package oauth

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func (f *fixture) registerJSON(t *testing.T, address, text string) answer {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, f.web.URL+mount+"/register", strings.NewReader(text))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("X-Test-Address", address)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	a := answer{status: resp.StatusCode, header: resp.Header, raw: body(t, resp)}
	_ = json.Unmarshal([]byte(a.raw), &a)
	return a
}

func TestFC049_RegistrationAndLoopbackPorts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		a := f.registerJSON(t, "192.0.2.1", `{"client_name":"Desk","redirect_uris":["http://127.0.0.1:1111/callback","http://[::1]:1111/callback","https://app.example.com/cb"],"token_endpoint_auth_method":"none"}`)
		var made struct {
			ID     string  `json:"client_id"`
			Secret *string `json:"client_secret"`
		}
		if err := json.Unmarshal([]byte(a.raw), &made); err != nil || a.status != 201 || made.ID == "" || made.Secret != nil {
			t.Fatalf("register: %d %s", a.status, a.raw)
		}
		c, err := f.Server.client(t.Context(), made.ID)
		if err != nil {
			t.Fatal(err)
		}
		for uri, want := range map[string]bool{
			"http://127.0.0.1:1111/callback": true, "http://127.0.0.1:2222/callback": true, "http://[::1]:2222/callback": true, "http://127.0.0.1/callback": true,
			"http://localhost:1111/callback": false, "http://127.0.0.1:2222/other": false, "http://127.0.0.1.example.com/callback": false,
			"http://127.0.0.1:2222/callback?x=1": false, "http://127.0.0.2:1111/callback": false, "https://127.0.0.1:1111/callback": false,
			"http://user@127.0.0.1:1111/callback": false, "http://127.0.0.1:1111/callback#f": false, "http://127.0.0.1:1111/call%62ack": false,
			"https://app.example.com/cb": true, "https://app.example.com:444/cb": false, "https://APP.example.com/cb": false, "com.example.app:/cb": false,
		} {
			if c.allows(uri) != want {
				t.Errorf("%s: allowed %t, want %t", uri, !want, want)
			}
		}
		a = f.registerJSON(t, "192.0.2.1", `{"redirect_uris":["https://app.example.com/cb"]}`)
		if err := json.Unmarshal([]byte(a.raw), &made); err != nil || made.Secret == nil || len(*made.Secret) < 40 {
			t.Errorf("a confidential client: %s", a.raw)
		}
		for range 3 {
			if a := f.registerJSON(t, "192.0.2.1", `{"redirect_uris":["https://app.example.com/cb"]}`); a.status != 201 {
				t.Errorf("within the limit: %d %s", a.status, a.raw)
			}
		}
		if a := f.registerJSON(t, "192.0.2.1", `{"redirect_uris":["https://app.example.com/cb"]}`); a.status != 429 || a.header.Get("Retry-After") != "3601" {
			t.Errorf("the sixth: %d, Retry-After %s", a.status, a.header.Get("Retry-After"))
		}
		if a := f.registerJSON(t, "192.0.2.2", `{"redirect_uris":["https://app.example.com/cb"]}`); a.status != 201 {
			t.Errorf("from elsewhere: %d", a.status)
		}
		f.add(registerWindow)
		if a := f.registerJSON(t, "192.0.2.1", `{"redirect_uris":["https://app.example.com/cb"]}`); a.status != 201 {
			t.Errorf("an hour later: %d", a.status)
		}
		if err := f.SetSettings(t.Context(), Settings{Enabled: true}); err != nil {
			t.Fatal(err)
		}
		if a := f.registerJSON(t, "192.0.2.3", `{"redirect_uris":["https://app.example.com/cb"]}`); a.status != 403 {
			t.Errorf("registration is off: %d", a.status)
		}
	})
}

// TestRegistrationFaultsHaveTheirOwnLimit: what is refused takes nothing from
// those who register properly at the same address, and ends some time too.
func TestRegistrationFaultsHaveTheirOwnLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		const good, bad = `{"redirect_uris":["https://app.example.com/cb"]}`, `{"redirect_uris":["javascript:alert(1)"]}`
		for n := range faultLimit {
			if a := f.registerJSON(t, "192.0.2.1", bad); a.status != 400 {
				t.Fatalf("fault %d: %d %s", n, a.status, a.raw)
			}
		}
		for range 3 {
			if a := f.registerJSON(t, "192.0.2.1", bad); a.status != 429 || a.header.Get("Retry-After") == "" {
				t.Errorf("a fault too many: %d %s", a.status, a.raw)
			}
		}
		if a := f.registerJSON(t, "192.0.2.1", `{"pad":"`+strings.Repeat("x", maxRegister)+`"}`); a.status != 429 {
			t.Errorf("a huge one too many: %d %s", a.status, a.raw)
		}
		for range registerLimit {
			if a := f.registerJSON(t, "192.0.2.1", good); a.status != 201 {
				t.Errorf("a good one after all that: %d %s", a.status, a.raw)
			}
		}
		if a := f.registerJSON(t, "192.0.2.1", good); a.status != 429 {
			t.Errorf("a good one too many: %d", a.status)
		}
		// A household with IPv6 has more addresses than anybody can count.
		for n := range registerLimit + 1 {
			want := 201
			if n == registerLimit {
				want = 429
			}
			if a := f.registerJSON(t, fmt.Sprintf("2001:db8:1:2:%x::1", n), good); a.status != want {
				t.Errorf("address %d of a network: %d, want %d", n, a.status, want)
			}
		}
		if a := f.registerJSON(t, "2001:db8:1:3::1", good); a.status != 201 {
			t.Errorf("the neighbour: %d", a.status)
		}
	})
}

func TestRegistrationFaults(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	n := 0
	for text, want := range map[string]string{
		`[]`:   "invalid_client_metadata",
		`{"x"`: "invalid_client_metadata",
		`{}`:   "invalid_redirect_uri",
		`{"redirect_uris":["javascript:alert(1)"]}`:                                                      "invalid_redirect_uri",
		`{"redirect_uris":["data:text/html,x"]}`:                                                         "invalid_redirect_uri",
		`{"redirect_uris":["http://app.example.com/"]}`:                                                  "invalid_redirect_uri",
		`{"redirect_uris":["https://u:p@app.example.com/"]}`:                                             "invalid_redirect_uri",
		`{"redirect_uris":["https://app.example.com/#"]}`:                                                "invalid_redirect_uri",
		`{"redirect_uris":["com.example.app:/cb"]}`:                                                      "invalid_redirect_uri",
		`{"redirect_uris":["https://a/","javascript://a/%0aalert(1)"]}`:                                  "invalid_redirect_uri",
		`{"redirect_uris":["https://a/","JavaScript:/alert(1)"]}`:                                        "invalid_redirect_uri",
		`{"redirect_uris":["https://a/","com.example.app:cb"]}`:                                          "invalid_redirect_uri",
		`{"redirect_uris":["com.example.app:/cb","cursor://x/y"]}`:                                       "invalid_redirect_uri",
		`{"redirect_uris":["/callback"]}`:                                                                "invalid_redirect_uri",
		`{"redirect_uris":["https://*.example.com/"]}`:                                                   "invalid_redirect_uri",
		`{"redirect_uris":["https://a/","` + strings.Repeat("x", 3000) + `"]}`:                           "invalid_redirect_uri",
		`{"redirect_uris":[` + strings.Repeat(`"https://a/",`, 10) + `"https://a/"]}`:                    "invalid_redirect_uri",
		`{"redirect_uris":["https://a/"],"client_name":"a\u202eb"}`:                                      "invalid_client_metadata",
		`{"redirect_uris":["https://a/"],"client_name":"` + strings.Repeat("n", 201) + `"}`:              "invalid_client_metadata",
		`{"redirect_uris":["https://a/"],"token_endpoint_auth_method":"private_key_jwt"}`:                "invalid_client_metadata",
		`{"redirect_uris":["https://a/"],"grant_types":["implicit"]}`:                                    "invalid_client_metadata",
		`{"redirect_uris":["https://a/"],"response_types":["token"]}`:                                    "invalid_client_metadata",
		`{"redirect_uris":["https://a/"],"client_name":"x","pad":"` + strings.Repeat("x", 20<<10) + `"}`: "invalid_client_metadata",
	} {
		n++
		if a := f.registerJSON(t, fmt.Sprint(n), text); a.status != 400 || a.Error != want {
			t.Errorf("%.80s: %d %.200s, want %s", text, a.status, a.raw, want)
		}
	}
}

// TestCommonClients gives the server what the common clients of 2026 send, and
// where they want to be answered.
func TestCommonClients(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for name, c := range map[string]struct{ document, body, redirect string }{
		// Three addresses at once, one of a private scheme.
		"Cursor": {body: `{"client_name":"Cursor","redirect_uris":["cursor://anysphere.cursor-mcp/oauth/callback","https://www.cursor.com/agents/mcp/oauth/callback","http://localhost:8787/callback"],
			"token_endpoint_auth_method":"none","grant_types":["authorization_code","refresh_token"],"response_types":["code"],"application_type":"web"}`, redirect: "http://localhost:8787/callback"},
		"VS Code": {body: `{"client_name":"Visual Studio Code","client_uri":"https://code.visualstudio.com","grant_types":["authorization_code","refresh_token","urn:ietf:params:oauth:grant-type:device_code"],"response_types":["code"],
			"redirect_uris":["https://insiders.vscode.dev/redirect","https://vscode.dev/redirect","http://127.0.0.1/","http://localhost/","http://127.0.0.1:33418/","http://localhost:33418/"],"token_endpoint_auth_method":"none","application_type":"native"}`,
			redirect: "http://127.0.0.1:54321/"},
		"Codex": {body: `{"client_name":"Codex","redirect_uris":["http://127.0.0.1:54321/callback"],"grant_types":["authorization_code","refresh_token"],"token_endpoint_auth_method":"none","response_types":["code"]}`,
			redirect: "http://127.0.0.1:54321/callback"},
		// Publishes no port and takes any.
		"Claude Code": {document: "https://claude.ai/oauth/claude-code-client-metadata", body: `{"client_id":"https://claude.ai/oauth/claude-code-client-metadata","client_name":"Claude Code",
			"redirect_uris":["http://localhost/callback","http://127.0.0.1/callback"],"grant_types":["authorization_code","refresh_token"],"response_types":["code"],"token_endpoint_auth_method":"none"}`,
			redirect: "http://localhost:58135/callback"},
		"Claude": {document: "https://claude.ai/oauth/mcp-oauth-client-metadata", body: `{"client_id":"https://claude.ai/oauth/mcp-oauth-client-metadata","client_name":"Claude",
			"redirect_uris":["https://claude.ai/api/mcp/auth_callback"],"token_endpoint_auth_method":"none"}`, redirect: "https://claude.ai/api/mcp/auth_callback"},
	} {
		id := c.document
		if id == "" {
			a := f.registerJSON(t, name, c.body)
			var made struct {
				ID        string   `json:"client_id"`
				Redirects []string `json:"redirect_uris"`
				Grants    []string `json:"grant_types"`
			}
			if err := json.Unmarshal([]byte(a.raw), &made); err != nil || a.status != 201 {
				t.Errorf("%s: %d %s", name, a.status, a.raw)
				continue
			}
			if text := fmt.Sprint(made.Redirects, made.Grants); strings.Contains(text, "cursor:") || strings.Contains(text, "device_code") {
				t.Errorf("%s is told it got %s", name, text)
			}
			id = made.ID
		}
		f.docs = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(c.body))
		})
		client := Client{ID: id, RedirectURIs: []string{c.redirect}}
		// Claude Code sends the resource with a slash behind it.
		if a := f.post(t, "/token", redeemForm(client, f.code(t, f.query(client, "resource", f.Resource()+"/")))); a.status != 200 {
			t.Errorf("%s: %d %s", name, a.status, a.raw)
		}
		if resp := f.authorizeAs(t, browser(), f.query(client, "redirect_uri", "cursor://anysphere.cursor-mcp/oauth/callback")); resp.StatusCode != 400 {
			t.Errorf("%s is answered at a private scheme: %d", name, resp.StatusCode)
		}
	}
}

func TestMetadataDocument(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		const id = "https://client.example.com/oauth.json"
		doc := `{"client_id":"` + id + `","client_name":"Doc client","redirect_uris":["https://client.example.com/cb","http://127.0.0.1:1/cb"]}`
		reads := 0
		f.docs = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reads++
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "public, max-age=600")
			_, _ = w.Write([]byte(doc))
		})
		c := Client{ID: id, RedirectURIs: []string{"https://client.example.com/cb"}}
		a := f.post(t, "/token", redeemForm(c, f.code(t, f.query(c))))
		if a.status != 200 || !f.works(t, a.Access) || reads != 1 {
			t.Fatalf("%d %s, %d reads", a.status, a.raw, reads)
		}
		f.add(9 * time.Minute)
		f.authorizeAs(t, browser(), f.query(c))
		if reads != 1 {
			t.Error("the document was read again within its age")
		}
		f.add(2 * time.Minute)
		doc = strings.Replace(doc, "https://client.example.com/cb", "https://client.example.com/moved", 1)
		if resp := f.authorizeAs(t, browser(), f.query(c)); resp.StatusCode != 400 || reads != 2 {
			t.Errorf("the old redirect after the document changed: %d, %d reads", resp.StatusCode, reads)
		}
	})
}

func TestMetadataDocumentFaults(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	good := func(id string) string {
		return `{"client_id":"` + id + `","client_name":"x","redirect_uris":["` + callback + `"]}`
	}
	n := 0
	for name, h := range map[string]func(id string, w http.ResponseWriter){
		"another id": func(id string, w http.ResponseWriter) { _, _ = w.Write([]byte(good(id + "x"))) },
		"not JSON":   func(id string, w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) },
		"a list":     func(id string, w http.ResponseWriter) { _, _ = w.Write([]byte("[" + good(id) + "]")) },
		"HTML type": func(id string, w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = w.Write([]byte(good(id)))
		},
		"huge": func(id string, w http.ResponseWriter) {
			_, _ = w.Write([]byte(good(id) + strings.Repeat(" ", maxDocument)))
		},
		"missing": func(id string, w http.ResponseWriter) { w.WriteHeader(404) },
		"moved": func(id string, w http.ResponseWriter) {
			w.Header().Set("Location", "http://169.254.169.254/")
			w.WriteHeader(302)
		},
		"no redirects": func(id string, w http.ResponseWriter) {
			_, _ = w.Write([]byte(`{"client_id":"` + id + `","client_name":"x"}`))
		},
		"javascript": func(id string, w http.ResponseWriter) {
			_, _ = w.Write([]byte(strings.Replace(good(id), callback, "javascript:alert(1)", 1)))
		},
		"wants a secret": func(id string, w http.ResponseWriter) {
			_, _ = w.Write([]byte(strings.Replace(good(id), "{", `{"token_endpoint_auth_method":"client_secret_post",`, 1)))
		},
	} {
		n++
		id := fmt.Sprintf("https://client.example.com/%d.json", n)
		f.docs = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			h(id, w)
		})
		resp := f.authorizeAs(t, browser(), f.query(Client{ID: id, RedirectURIs: []string{callback}}))
		if text := body(t, resp); resp.StatusCode != 400 || !strings.Contains(text, "cannot be identified") {
			t.Errorf("%s: %d %s", name, resp.StatusCode, text)
		}
	}
	f.docs = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("an address that is no document was read") })
	for _, id := range []string{"http://client.example.com/x", "https://client.example.com", "https://client.example.com/", "https://u@client.example.com/x",
		"https://client.example.com/x#f", "https://client.example.com/../x", "https:///x", "file:///etc/passwd", "https://client.example.com/" + strings.Repeat("x", 2000)} {
		if resp := f.authorizeAs(t, browser(), f.query(Client{ID: id, RedirectURIs: []string{callback}})); resp.StatusCode != 400 {
			t.Errorf("%s: %d", id, resp.StatusCode)
		}
	}
}

// TestChangesOfSettingsAllStay: administrators who change different settings at
// the same moment, on whichever replica, do not undo each other.
func TestChangesOfSettingsAllStay(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		yes, no := true, false
		for range 20 {
			if err := f.SetSettings(t.Context(), Settings{Enabled: true}); err != nil {
				t.Fatal(err)
			}
			var wg sync.WaitGroup
			for _, c := range []SettingsChange{{Enabled: &no}, {AllowProposals: &yes}, {NoDocuments: &yes}, {AllowRegistration: &yes}} {
				wg.Go(func() {
					if _, err := f.ChangeSettings(t.Context(), c); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
			if set, err := f.Settings(t.Context()); err != nil || set != (Settings{AllowProposals: true, NoDocuments: true, AllowRegistration: true}) {
				t.Fatalf("%+v, %v", set, err)
			}
		}
	})
}

// TestDocumentsCanBeOff: an installation that cannot reach the documents says so
// in its metadata, and a client that comes with one is told what to do instead.
func TestDocumentsCanBeOff(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		reads := 0
		f.docs = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reads++
			w.Header().Set("Content-Type", "application/json")
			_, _ = fmt.Fprintf(w, `{"client_id":"https://%s%s","client_name":"App","redirect_uris":[%q]}`, r.URL.Host, r.URL.Path, callback)
		})
		ask := func(path string) (int, string) {
			resp := f.authorizeAs(t, browser(), f.query(Client{ID: "https://client.example.com" + path, RedirectURIs: []string{callback}}))
			return resp.StatusCode, body(t, resp)
		}
		offers := func() bool {
			var doc map[string]any
			if err := json.Unmarshal([]byte(body(t, f.get(t, browser(), "/.well-known/oauth-authorization-server"))), &doc); err != nil {
				t.Fatal(err)
			}
			return doc["client_id_metadata_document_supported"] == true
		}
		if status, text := ask("/known.json"); status == 400 || !offers() || reads != 1 {
			t.Fatalf("with documents: %d %s, %d reads", status, text, reads)
		}
		if err := f.SetSettings(t.Context(), Settings{Enabled: true, NoDocuments: true}); err != nil {
			t.Fatal(err)
		}
		for _, path := range []string{"/known.json", "/new.json"} {
			if status, text := ask(path); status != 400 || !strings.Contains(text, "does not read metadata documents") {
				t.Errorf("%s without documents: %d %s", path, status, text)
			}
		}
		if offers() || reads != 1 {
			t.Errorf("without documents: offered %v, %d reads", offers(), reads)
		}
	})
}

func TestFC047_Metadata(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	read := func(path string) (int, map[string]any, http.Header) {
		resp := f.get(t, browser(), path)
		var doc map[string]any
		_ = json.Unmarshal([]byte(body(t, resp)), &doc)
		return resp.StatusCode, doc, resp.Header
	}
	for _, path := range []string{"/.well-known/oauth-authorization-server", "/api/auth/.well-known/oauth-authorization-server", mount + "/.well-known/oauth-authorization-server"} {
		status, doc, h := read(path)
		if status != 200 || doc["issuer"] != f.web.URL || doc["token_endpoint"] != f.web.URL+mount+"/token" || h.Get("Access-Control-Allow-Origin") != "*" ||
			fmt.Sprint(doc["code_challenge_methods_supported"]) != "[S256]" || doc["registration_endpoint"] != f.web.URL+mount+"/register" {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource/api/ai/mcp", "/.well-known/oauth-protected-resource/api/ai/mcp/"} {
		status, doc, _ := read(path)
		if status != 200 || doc["resource"] != f.web.URL+"/api/ai/mcp" || fmt.Sprint(doc["authorization_servers"]) != "["+f.web.URL+"]" || fmt.Sprint(doc["scopes_supported"]) != "[checkstack:read]" {
			t.Errorf("%s: %d %v", path, status, doc)
		}
	}
	ch := f.Challenge("invalid_token", "expired", Settings{}.Scope())
	if !strings.HasPrefix(ch, "Bearer ") || !strings.Contains(ch, `resource_metadata="`+f.web.URL+`/.well-known/oauth-protected-resource/api/ai/mcp"`) || !strings.Contains(ch, `scope="checkstack:read"`) {
		t.Errorf("challenge %s", ch)
	}
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodOptions, f.web.URL+mount+"/token", nil)
	req.Header.Set("Origin", "https://inspector.example")
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != 204 || resp.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("preflight: %v", err)
	}
	_ = resp.Body.Close()
	if err := f.SetSettings(t.Context(), Settings{}); err != nil {
		t.Fatal(err)
	}
	if status, _, _ := read("/.well-known/oauth-authorization-server"); status != 404 {
		t.Errorf("metadata while off: %d", status)
	}
}
