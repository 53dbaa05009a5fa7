package app

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// documentID is the address of a metadata document that tests publish.
const documentID = "https://agent.example.com/client.json"

// publishedDocuments stands for the web: it holds one metadata document.
type publishedDocuments struct{ redirect string }

func (d publishedDocuments) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	if r.URL.String() != documentID {
		w.WriteHeader(http.StatusNotFound)
		return w.Result(), nil
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"client_id": documentID, "client_name": "Published client", "redirect_uris": []string{d.redirect}})
	return w.Result(), nil
}

type clientStep struct {
	Step, To, Client, Scope, Text string
	Tools                         []string
	IsError, Rotated, Served      bool
}

// typescriptClient runs web/e2e/mcp-client.mjs.
type typescriptClient struct {
	in  io.Writer
	out *bufio.Scanner
}

func newTypescriptClient(t *testing.T, args ...string) *typescriptClient {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"e2e/mcp-client.mjs"}, args...)...)
	cmd.Dir = "../../web"
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = in.Close(); _ = cmd.Wait() })
	return &typescriptClient{in, bufio.NewScanner(out)}
}

func (c *typescriptClient) expect(t *testing.T, step string) clientStep {
	t.Helper()
	if !c.out.Scan() {
		t.Fatalf("the client ended before %s: %v", step, c.out.Err())
	}
	var s clientStep
	if err := json.Unmarshal(c.out.Bytes(), &s); err != nil || s.Step != step {
		t.Fatalf("want %s, got %s", step, c.out.Text())
	}
	return s
}

func (c *typescriptClient) tell(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(c.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

// TestTypeScriptClient goes the whole path of an official client: 401, metadata,
// registration of both kinds, authorization, token, list, call, refresh,
// revoked. The person's part in a real browser is in web/e2e.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"registration", "document"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			eachProduct(t, func(t *testing.T, p *product) {
				const redirect = "http://127.0.0.1:7777/callback"
				p.domains.oauth.ReadDocumentsWith(&http.Client{Transport: publishedDocuments{redirect}})
				p.signUp(t)
				p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowDynamicClientRegistration":true}`)
				args := []string{p.server.URL + "/api/ai/mcp", redirect}
				if kind == "document" {
					args = append(args, documentID)
				}
				c := newTypescriptClient(t, args...)
				c.tell(t, p.allow(t, c.expect(t, "authorize").To))
				connected := c.expect(t, "connected")
				if (connected.Client == documentID) != (kind == "document") || connected.Scope != "checkstack:read" {
					t.Errorf("connected as %q with %q", connected.Client, connected.Scope)
				}
				if tools := c.expect(t, "listed").Tools; !slices.Contains(tools, "incident_list") || slices.Contains(tools, "incident_create") {
					t.Errorf("tools %v", tools)
				}
				if called := c.expect(t, "called"); called.IsError || !strings.Contains(called.Text, "checkedSources") {
					t.Errorf("call: %+v", called)
				}
				if !c.expect(t, "refreshed").Rotated {
					t.Error("the refresh token was not rotated")
				}
				p.must(t, "/rest/auth/disconnectClient", `{"id":"`+connected.Client+`"}`)
				c.tell(t, "go on")
				if s := c.expect(t, "revoked"); s.Served || !strings.Contains(s.Text, "InvalidGrantError") { // from its try to refresh
					t.Errorf("after revocation: %+v", s)
				}
			})
		})
	}
}

// allow plays the person and the browser: it follows the address, allows, and
// gives the code.
func (p *product) allow(t *testing.T, address string) string {
	t.Helper()
	client := *p.client
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	to, err := resp.Location()
	if err != nil {
		t.Fatalf("authorize: %d", resp.StatusCode)
	}
	answer, err := url.Parse(p.must(t, "/api/auth/oauth2/consent", `{"request":"`+to.Query().Get("request")+`","allow":true}`)["redirectTo"].(string))
	if err != nil {
		t.Fatal(err)
	}
	return answer.Query().Get("code")
}
