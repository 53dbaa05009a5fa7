package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/proposal"
)

// person is somebody with a browser, which follows no redirect.
type person struct {
	*http.Client
	base string
}

// signIn opens a browser of its own for an account.
func (p *product) signIn(t *testing.T, email, password string) person {
	t.Helper()
	jar, _ := cookiejar.New(nil)
	who := person{&http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, p.server.URL}
	if status, body := who.post(t, "/api/auth/login", `{"email":"`+email+`","password":"`+password+`"}`); status != 200 {
		t.Fatalf("sign in: %d %s", status, body)
	}
	return who
}

func (w person) post(t *testing.T, path, in string) (int, string) {
	t.Helper()
	resp, err := w.Post(w.base+path, "application/json", strings.NewReader(in))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(raw)
}

// visit asks for a page and gives its status, where it leads and its text.
func (w person) visit(t *testing.T, path string) (int, *url.URL, string) {
	t.Helper()
	resp, err := w.Get(w.base + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	to, err := resp.Location()
	if err != nil {
		to = &url.URL{}
	}
	return resp.StatusCode, to, string(raw)
}

func askFor(client, scope string) string {
	return "/api/auth/oauth2/authorize?" + url.Values{"client_id": {client}, "redirect_uri": {agentCallback}, "response_type": {"code"},
		"code_challenge": {pkceChallenge}, "code_challenge_method": {"S256"}, "scope": {scope}}.Encode()
}

// letIn lets a client in and gives its access token. token is the client's way
// to the token endpoint.
func (w person) letIn(t *testing.T, client, scope string) string {
	t.Helper()
	_, to, text := w.visit(t, askFor(client, scope))
	if request := to.Query().Get("request"); request != "" {
		status, out := w.post(t, "/api/auth/oauth2/consent", `{"request":"`+request+`","allow":true}`)
		var answer struct{ RedirectTo string }
		if err := json.Unmarshal([]byte(out), &answer); err != nil || status != 200 {
			t.Fatalf("consent: %d %s", status, out)
		}
		to, _ = url.Parse(answer.RedirectTo)
	}
	if to.Query().Get("code") == "" {
		t.Fatalf("no code: %s %s", to, text)
	}
	resp, err := w.PostForm(w.base+"/api/auth/oauth2/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {client},
		"code": {to.Query().Get("code")}, "code_verifier": {pkceVerifier}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var made struct {
		Access string `json:"access_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&made); err != nil || made.Access == "" {
		t.Fatalf("token: %d %v", resp.StatusCode, err)
	}
	return made.Access
}

func (p *product) addAgent(t *testing.T) string {
	t.Helper()
	return p.must(t, "/rest/auth/createOAuthClient", `{"name":"Agent","redirectUris":["`+agentCallback+`"]}`)["client"].(map[string]any)["id"].(string)
}

// sendMCP sends a message with a token to a base address; headers come in pairs.
func sendMCP(t *testing.T, c *http.Client, base, token, message string, headers ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/ai/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			req.Host = headers[i+1]
			continue
		}
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

func toolsOf(t *testing.T, p *product, token string) []string {
	t.Helper()
	resp, body := sendMCP(t, http.DefaultClient, p.server.URL, token, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var list struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte(body), &list); err != nil || resp.StatusCode != 200 {
		t.Fatalf("tools: %d %s", resp.StatusCode, body)
	}
	var names []string
	for _, tl := range list.Result.Tools {
		names = append(names, tl.Name)
	}
	return names
}

// TestRoleLoweredWhileTokenLives: what a person may no longer do, their agent
// may not either, from its next message on; and what they get back, it does.
func TestRoleLoweredWhileTokenLives(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowProposals":true}`)
		client := p.addAgent(t)
		role := p.must(t, "/rest/auth/createRole", `{"name":"Incident desk","accessRules":["incident.incident.manage","catalog.system.read"]}`)["id"].(string)
		id := p.must(t, "/rest/auth/createCredentialUser", `{"name":"Bob","email":"bob@example.com","password":"Passw0rd-1","roleIds":["`+role+`"]}`)["id"].(string)
		bob := p.signIn(t, "bob@example.com", "Passw0rd-1")
		token := bob.letIn(t, client, "checkstack:write")

		const create = "incident_create"
		call := mcpCall(create, `{"title":"Down","systemIds":[]}`)
		before := toolsOf(t, p, token)
		if !slices.Contains(before, create) || !slices.Contains(before, "catalog_listSystems") {
			t.Fatalf("before: %v", before)
		}
		if resp, body := sendMCP(t, http.DefaultClient, p.server.URL, token, call); resp.StatusCode != 200 || strings.Contains(body, `"code":-32003`) {
			t.Fatalf("before: %d %s", resp.StatusCode, body)
		}
		set := func(roles string) {
			if status, out := p.call(t, p.client, "PATCH", "/rest/auth/updateUserRoles", `{"userId":"`+id+`","roleIds":[`+roles+`]}`); status != 200 {
				t.Fatalf("roles %s: %d %s", roles, status, out)
			}
		}
		set("")
		if got := toolsOf(t, p, token); len(got) >= len(before) || slices.Contains(got, create) || slices.Contains(got, "catalog_listSystems") {
			t.Errorf("after losing the role: %v", got)
		}
		resp, body := sendMCP(t, http.DefaultClient, p.server.URL, token, call)
		if resp.StatusCode != 403 || !strings.Contains(body, "incident.incident.manage") || !strings.Contains(resp.Header.Get("WWW-Authenticate"), `error="insufficient_scope"`) {
			t.Errorf("call after losing the role: %d %s", resp.StatusCode, body)
		}
		// A role of everything does not make the token one of everything.
		set(`"admin"`)
		got := toolsOf(t, p, token)
		if !slices.Contains(got, create) {
			t.Errorf("after becoming administrator: %v", got)
		}
		narrow := bob.letIn(t, client, "catalog.system.read")
		if got := toolsOf(t, p, narrow); slices.Contains(got, create) || !slices.Contains(got, "catalog_listSystems") {
			t.Errorf("an administrator's token for one rule: %v", got)
		}
		set(`"users"`)
		if status, out := p.call(t, p.client, "DELETE", "/rest/auth/deleteUser", `{"userId":"`+id+`"}`); status != 200 {
			t.Fatalf("delete: %d %s", status, out)
		}
		if resp, _ := sendMCP(t, http.DefaultClient, p.server.URL, token, call); resp.StatusCode != 401 {
			t.Errorf("after the account was deleted: %d", resp.StatusCode)
		}
	})
}

// TestWhatAClientIsToldToAskFor: clients ask for exactly the scope of the
// challenge. So it has writing as soon as that is of use, and whoever lacks a
// right is told to ask for it beside what they have.
func TestWhatAClientIsToldToAskFor(t *testing.T) {
	t.Parallel()
	p := newProduct(t, "")
	p.signUp(t)
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	asked := func(path, token, message string) string {
		t.Helper()
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, p.server.URL+path, strings.NewReader(message))
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if token != "" {
			req.Header.Set("Authorization", "Bearer "+token)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		_, scope, _ := strings.Cut(resp.Header.Get("WWW-Authenticate"), `scope="`)
		return fmt.Sprint(resp.StatusCode, " ", strings.TrimSuffix(scope, `"`))
	}
	p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	for _, path := range []string{"/api/ai/mcp", "/api/ai/mcp/"} {
		if got := asked(path, "", ping); got != "401 checkstack:read" {
			t.Errorf("%s: %s", path, got)
		}
	}
	p.must(t, "/rest/auth/setMcpOAuthSettings", `{"allowProposals":true}`)
	for _, token := range []string{"", "ck_wrong", "cs_at_wrong"} {
		if got := asked("/api/ai/mcp", token, ping); got != "401 checkstack:read checkstack:write" {
			t.Errorf("with proposals, token %q: %s", token, got)
		}
	}
	client := p.addAgent(t)
	ann := p.signIn(t, "ann@example.com", adminPassword)
	token := ann.letIn(t, client, "checkstack:read")
	if got := asked("/api/ai/mcp", token, mcpCall("catalog_createSystem", `{"name":"Shop"}`)); got != "403 checkstack:read catalog.system.manage" {
		t.Errorf("step up: %s", got)
	}
	if got := asked("/api/ai/mcp/", token, ping); got != "200 " {
		t.Errorf("with a slash: %s", got)
	}
}

// TestAgentsBudget: the sixty-first call in a minute is refused where a client
// that reads only the head of an answer sees it, and listing goes on.
func TestAgentsBudget(t *testing.T) {
	t.Parallel()
	p := newProduct(t, "")
	p.signUp(t)
	p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	client := p.addAgent(t)
	ann := p.signIn(t, "ann@example.com", adminPassword)
	token := ann.letIn(t, client, "checkstack:read")
	call := mcpCall("catalog_listSystems", `{}`)
	for n := range proposal.BudgetCalls {
		if resp, body := sendMCP(t, http.DefaultClient, p.server.URL, token, call); resp.StatusCode != 200 {
			t.Fatalf("call %d: %d %s", n, resp.StatusCode, body)
		}
	}
	// Another token of the same person is no second budget.
	for name, token := range map[string]string{"the same": token, "another": ann.letIn(t, client, "checkstack:read")} {
		resp, body := sendMCP(t, http.DefaultClient, p.server.URL, token, call)
		var wait int
		if _, err := fmt.Sscan(resp.Header.Get("Retry-After"), &wait); err != nil || resp.StatusCode != 429 || wait < 1 || wait > 60 || !strings.Contains(body, `"code":-32010`) {
			t.Errorf("%s token: %d, Retry-After %q: %s", name, resp.StatusCode, resp.Header.Get("Retry-After"), body)
		}
	}
	toolsOf(t, p, token)
}

// TestMetadataDocumentOnAPrivateAddress: whoever asks for permission chooses
// what the server reads, so it reads nothing inside. The product's own client
// is at work here; that it checks the address it dials, and not the one it
// looked up, is netguard's to prove.
func TestMetadataDocumentOnAPrivateAddress(t *testing.T) {
	t.Parallel()
	p := newProduct(t, "")
	p.signUp(t)
	p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	var visits atomic.Int32
	inside := httptest.NewUnstartedServer(http.NotFoundHandler())
	inside.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			visits.Add(1)
		}
	}
	inside.StartTLS()
	t.Cleanup(inside.Close)
	port := inside.Listener.Addr().String()[strings.LastIndexByte(inside.Listener.Addr().String(), ':'):]
	ann := p.signIn(t, "ann@example.com", adminPassword)
	for _, host := range []string{"127.0.0.1" + port, "localhost" + port, "[::1]" + port, "[::ffff:127.0.0.1]" + port, "0.0.0.0" + port, "2130706433" + port, "127.1" + port,
		"10.0.0.1", "192.168.1.1", "169.254.169.254", "[fd00::1]", "metadata.google.internal"} {
		status, to, text := ann.visit(t, askFor("https://"+host+"/client.json", "checkstack:read"))
		if status != 400 || to.Host != "" || !strings.Contains(text, "cannot be identified") {
			t.Errorf("%s: %d to %s", host, status, to)
		}
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections were made to this machine", n)
	}
}
