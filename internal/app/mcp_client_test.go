package app

import (
	"bufio"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/web"
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
	Step, Answer, Path, Error, Iss, Client, Scope, Version, Text string
	Tools, Complaints                                            []string
	SignedOut, HasCode, IsError, Rotated, Served                 bool
}

// typescriptClient runs web/e2e/mcp-client.mjs.
type typescriptClient struct {
	in  io.Writer
	out *bufio.Scanner
}

func newTypescriptClient(t *testing.T, args ...string) *typescriptClient {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", append([]string{"e2e/mcp-client.mjs"}, args...)...)
	cmd.Dir, cmd.Stderr = "../../web", os.Stderr
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

// asked holds a visit to the consent page to what it must show and lead to.
func (c *typescriptClient) asked(t *testing.T, p *product, answer string, signedOut bool, says ...string) {
	t.Helper()
	s := c.expect(t, "asked")
	if s.Answer != answer || s.SignedOut != signedOut || s.Path != "/auth/oauth-consent" || s.Iss != p.server.URL {
		t.Errorf("%s: %+v", answer, s)
	}
	if (answer == "Allow") != s.HasCode || (answer == "Deny") != (s.Error == "access_denied") {
		t.Errorf("%s led to code %t, error %q", answer, s.HasCode, s.Error)
	}
	for _, text := range append(says, "It wants to act for you, Ann (ann@example.com)", "a program on this computer (127.0.0.1:", "What it may do", "It can only read.") {
		if !strings.Contains(s.Text, text) {
			t.Errorf("the consent page does not say %q:\n%s", text, s.Text)
		}
	}
}

// TestTypeScriptClient goes the whole path of an official client with a person
// in Chromium: 401, metadata, registration of both kinds, signing in, consent,
// token, list, call, refresh, revoked.
func TestTypeScriptClient(t *testing.T) {
	t.Parallel()
	if _, ok := web.Files(); !ok {
		t.Fatal("the web interface is not built: make build")
	}
	sqlite := func(testing.TB) string { return "" }
	for name, run := range map[string]struct {
		generation, version, document string
		database                      func(testing.TB) string
	}{
		"registration":                    {"1", "2025-11-25", "", sqlite},
		"document":                        {"1", "2025-11-25", documentID, dbtest.PostgresURL},
		"document, second generation":     {"2", "2026-07-28", documentID, sqlite},
		"registration, second generation": {"2", "2026-07-28", "", dbtest.PostgresURL},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProduct(t, run.database(t))
			// The client finds another port free than the one it published.
			p.domains.oauth.ReadDocumentsWith(&http.Client{Transport: publishedDocuments{"http://127.0.0.1:7777/callback"}})
			p.signUp(t)
			p.must(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true,"allowDynamicClientRegistration":true}`)
			args := []string{run.generation, p.server.URL + "/api/ai/mcp", `{"email":"ann@example.com","password":"` + adminPassword + `"}`}
			var c *typescriptClient
			if run.document != "" {
				c = newTypescriptClient(t, append(args, "Deny,Allow", run.document)...)
				c.asked(t, p, "Deny", true, "Let Published client in?", "described by agent.example.com")
				c.asked(t, p, "Allow", false, "Let Published client in?")
			} else {
				c = newTypescriptClient(t, append(args, "Allow")...)
				c.asked(t, p, "Allow", true, "Let Test client in?", "Nobody has verified its name")
			}
			connected := c.expect(t, "connected")
			if (connected.Client == documentID) != (run.document != "") || connected.Scope != "checkstack:read" || connected.Version != run.version {
				t.Errorf("connected as %q with %q over %s", connected.Client, connected.Scope, connected.Version)
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
			if _, err := io.WriteString(c.in, "go on\n"); err != nil {
				t.Fatal(err)
			}
			if s := c.expect(t, "revoked"); s.Served || !strings.Contains(s.Text, "the code or refresh token is not valid") { // from its try to refresh
				t.Errorf("after revocation: %+v", s)
			}
			if s := c.expect(t, "ended"); len(s.Complaints) > 0 {
				t.Errorf("the browser complained: %v", s.Complaints)
			}
		})
	}
}
