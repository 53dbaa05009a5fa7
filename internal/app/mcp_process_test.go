package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// agentClient is an MCP client with a person's permission.
type agentClient struct {
	id, access, refresh string
}

const (
	pkceVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	pkceChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" // RFC 7636 appendix B
	agentCallback = "https://agent.example.com/callback"
)

// authorize lets a client in: the request begins on one process and the person
// decides on another.
func (p *process) authorize(t *testing.T, decideOn *process, scope string) agentClient {
	t.Helper()
	var made struct{ Client struct{ ID string } }
	if err := json.Unmarshal(p.post(t, "/rest/auth/createOAuthClient", `{"name":"Agent","redirectUris":["`+agentCallback+`"]}`), &made); err != nil {
		t.Fatal(err)
	}
	return p.authorizeClient(t, decideOn, made.Client.ID, scope)
}

func (p *process) authorizeClient(t *testing.T, decideOn *process, id, scope string) agentClient {
	t.Helper()
	q := url.Values{"client_id": {id}, "redirect_uri": {agentCallback}, "response_type": {"code"}, "code_challenge": {pkceChallenge},
		"code_challenge_method": {"S256"}, "scope": {scope}}
	client := *p.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(p.url + "/api/auth/oauth2/authorize?" + q.Encode())
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		t.Fatalf("authorize: %d", resp.StatusCode)
	}
	if to.Path == "/auth/oauth-consent" {
		decideOn.copyCookies(t, p, "/api/auth/oauth2/")
		var out struct{ RedirectTo string }
		if err := json.Unmarshal(decideOn.post(t, "/api/auth/oauth2/consent", `{"request":"`+to.Query().Get("request")+`","allow":true}`), &out); err != nil {
			t.Fatal(err)
		}
		if to, err = url.Parse(out.RedirectTo); err != nil {
			t.Fatal(err)
		}
	}
	code := to.Query().Get("code")
	if code == "" {
		t.Fatalf("no code: %s", to)
	}
	c := agentClient{id: id}
	if status := p.token(t, &c, url.Values{"grant_type": {"authorization_code"}, "code": {code}, "code_verifier": {pkceVerifier}}); status != 200 {
		t.Fatalf("token: %d", status)
	}
	return c
}

// copyCookies takes over the cookies that another process's client would send
// to a path.
func (p *process) copyCookies(t *testing.T, other *process, path string) {
	t.Helper()
	from, err := url.Parse(other.url + path)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	p.client.Jar.SetCookies(to, other.client.Jar.Cookies(from))
}

// token asks the token endpoint and keeps what it gives.
func (p *process) token(t *testing.T, c *agentClient, form url.Values) int {
	t.Helper()
	form.Set("client_id", c.id)
	resp, err := http.PostForm(p.url+"/api/auth/oauth2/token", form)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	var out struct {
		Access  string `json:"access_token"`
		Refresh string `json:"refresh_token"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&out); err == nil && out.Access != "" {
		c.access, c.refresh = out.Access, out.Refresh
	}
	return resp.StatusCode
}

// mcp sends a message with a token and gives status and body.
func (p *process) mcp(t testing.TB, token, message string) (int, string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodPost, p.url+"/api/ai/mcp", strings.NewReader(message))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+token)
	resp, err := http.DefaultClient.Do(req)
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

func mcpCall(tool, args string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"` + tool + `","arguments":` + args + `}}`
}

// behindOneAddress are the settings of a replica behind a balancer that has the
// public address.
func (i *installation) behindOneAddress(t *testing.T) []string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return append(slices.Clone(i.env), "BASE_URL=http://checkstack.example.com", "LISTEN_ADDR="+l.Addr().String())
}

// TestAgentsOnTwoReplicas: whatever one replica gave out works on the other,
// and what one takes back is refused by the other at once.
func TestAgentsOnTwoReplicas(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, dbtest.PostgresURL(t))
	a := launch(t, t.TempDir(), i.behindOneAddress(t))
	a.signUp(t)
	b := launch(t, t.TempDir(), i.behindOneAddress(t))
	b.as(t, a)
	a.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowProposals":true}`)
	c := a.authorize(t, b, "checkstack:write")

	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	if status, body := b.mcp(t, c.access, list); status != 200 || !strings.Contains(body, "incident_create") {
		t.Fatalf("tools on the other replica: %d %s", status, body)
	}
	// A token is for MCP alone.
	req, _ := http.NewRequest(http.MethodGet, a.url+"/rest/catalog/getSystems", nil)
	req.Header.Set("Authorization", "Bearer "+c.access)
	if resp, err := http.DefaultClient.Do(req); err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("the REST API takes an MCP token: %v", err)
	} else {
		_ = resp.Body.Close()
	}

	status, body := a.mcp(t, c.access, mcpCall("catalog_createSystem", `{"name":"From outside"}`))
	if status != 200 || !strings.Contains(body, "Proposed, not done") || strings.Contains(a.get(t, "/rest/catalog/getSystems"), "From outside") {
		t.Fatalf("proposal: %d %s", status, body)
	}
	var inbox struct {
		Approvals []struct{ ToolCallID, Transport string }
	}
	if err := json.Unmarshal([]byte(b.get(t, "/rest/ai/listApprovals")), &inbox); err != nil || len(inbox.Approvals) != 1 || inbox.Approvals[0].Transport != "mcp" {
		t.Fatalf("inbox: %+v, %v", inbox, err)
	}
	b.post(t, "/rest/ai/approveCall", `{"toolCallId":"`+inbox.Approvals[0].ToolCallID+`"}`)
	if !strings.Contains(a.get(t, "/rest/catalog/getSystems"), "From outside") {
		t.Error("the approved change is not there")
	}

	old := c
	if status := b.token(t, &c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.refresh}}); status != 200 {
		t.Fatalf("refresh on the other replica: %d", status)
	}
	for _, token := range []string{old.access, c.access} {
		if status, _ := a.mcp(t, token, list); status != 200 {
			t.Errorf("after the refresh: %d", status)
		}
	}

	// Sixty calls a minute, wherever they arrive.
	var wg sync.WaitGroup
	var mu sync.Mutex
	served := map[int]int{}
	for n := range 80 {
		wg.Go(func() {
			p := a
			if n%2 == 0 {
				p = b
			}
			status, _ := p.mcp(t, c.access, mcpCall("catalog_listSystems", `{}`))
			mu.Lock()
			served[status]++
			mu.Unlock()
		})
	}
	wg.Wait()
	if served[200] != 59 || served[429] != 21 {
		t.Errorf("a budget of 60, of which one is used, served %v", served)
	}

	a.kill()
	a2 := launch(t, t.TempDir(), i.behindOneAddress(t))
	if status, _ := a2.mcp(t, c.access, list); status != 200 {
		t.Errorf("after a restart: %d", status)
	}
	b.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":false}`)
	if status, _ := a2.mcp(t, c.access, list); status != 404 {
		t.Errorf("switched off on the other replica: %d", status)
	}
	b.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	b.post(t, "/rest/auth/disconnectClient", `{"id":"`+c.id+`"}`)
	if status, _ := a2.mcp(t, c.access, list); status != 401 {
		t.Errorf("disconnected on the other replica: %d", status)
	}
}

// TestConcurrentCodeOnTwoReplicas: one code, two replicas, one winner at most.
func TestConcurrentCodeOnTwoReplicas(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, dbtest.PostgresURL(t))
	a := launch(t, t.TempDir(), i.behindOneAddress(t))
	a.signUp(t)
	b := launch(t, t.TempDir(), i.behindOneAddress(t))
	a.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	c := a.authorize(t, a, "checkstack:read")
	for round := range 5 {
		// The consent is remembered, so the code comes at once.
		q := url.Values{"client_id": {c.id}, "redirect_uri": {agentCallback}, "response_type": {"code"}, "code_challenge": {pkceChallenge}, "code_challenge_method": {"S256"}}
		client := *a.client
		client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
		resp, err := client.Get(a.url + "/api/auth/oauth2/authorize?" + q.Encode())
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		to, err := resp.Location()
		if err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var mu sync.Mutex
		won := 0
		for n := range 10 {
			wg.Go(func() {
				p := a
				if n%2 == 0 {
					p = b
				}
				mine := agentClient{id: c.id}
				if p.token(t, &mine, url.Values{"grant_type": {"authorization_code"}, "code": {to.Query().Get("code")}, "code_verifier": {pkceVerifier}}) == 200 {
					mu.Lock()
					won++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		if won != 1 {
			t.Errorf("round %d: %d redeemed one code", round, won)
		}
	}
}

// TestWhatAgentsSee holds every tool to what clients and providers accept, and
// the list itself to a golden file.
func TestWhatAgentsSee(t *testing.T) {
	t.Parallel()
	p := launch(t, t.TempDir(), newInstallation(t, "").env)
	p.signUp(t)
	p.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowProposals":true}`)
	c := p.authorize(t, p, "checkstack:write")
	_, body := p.mcp(t, c.access, `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	var got struct {
		Result struct {
			Tools []struct {
				Name, Title, Description string
				InputSchema              map[string]any
				OutputSchema             map[string]any
				Annotations              struct{ ReadOnlyHint, DestructiveHint bool }
			}
		}
	}
	if err := json.Unmarshal([]byte(body), &got); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, tl := range got.Result.Tools {
		if tl.InputSchema["type"] != "object" || tl.InputSchema["properties"] == nil || (tl.OutputSchema != nil && tl.OutputSchema["type"] != "object") {
			t.Errorf("%s: no plain object", tl.Name)
		}
		if len(tl.Description) > 1024 || len(tl.Name) > 64 {
			t.Errorf("%s: %d bytes of description", tl.Name, len(tl.Description))
		}
		effect := "mutate"
		switch {
		case tl.Annotations.ReadOnlyHint:
			effect = "read"
		case tl.Annotations.DestructiveHint:
			effect = "destructive"
		}
		_, _ = fmt.Fprintf(&lines, "%s %s\n", tl.Title, effect)
	}
	golden(t, "tools.golden.txt", lines.String())
}
