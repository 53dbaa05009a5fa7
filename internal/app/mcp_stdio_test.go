package app

import (
	"encoding/json"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestLocalProgram is a client that starts `checkstack mcp` as a program, as
// local clients do: it works with a key, says what is wrong, outlives a restart
// of the server and ends with its client.
func TestLocalProgram(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, "")
	env := i.behindOneAddress(t)
	server := launch(t, i.dir, env)
	server.signUp(t)
	server.post(t, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
	var made struct{ Key string }
	if err := json.Unmarshal(server.post(t, "/rest/auth/createApplication", `{"name":"Local agent","roleIds":["users"]}`), &made); err != nil || made.Key == "" {
		t.Fatalf("no key: %v", err)
	}
	bin, err := buildOnce()
	if err != nil {
		t.Fatal(err)
	}
	start := func(key string) (*mcp.ClientSession, *exec.Cmd, error) {
		cmd := exec.Command(bin, "mcp")
		cmd.Env = append(os.Environ(), "CHECKSTACK_URL="+server.url, "CHECKSTACK_KEY="+key)
		s, err := mcp.NewClient(&mcp.Implementation{Name: "local", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
		return s, cmd, err
	}
	if _, _, err := start("ck_" + strings.Repeat("x", 40)); err == nil || !strings.Contains(err.Error(), "does not accept the key") {
		t.Errorf("a wrong key: %v", err)
	}
	s, cmd, err := start(made.Key)
	if err != nil {
		t.Fatal(err)
	}
	list, err := s.ListTools(t.Context(), nil)
	if err != nil || !slices.ContainsFunc(list.Tools, func(tl *mcp.Tool) bool { return tl.Name == "system_issues" }) {
		t.Fatalf("tools: %v", err)
	}
	call := func() (*mcp.CallToolResult, error) {
		return s.CallTool(t.Context(), &mcp.CallToolParams{Name: "system_issues"})
	}
	if res, err := call(); err != nil || res.IsError {
		t.Fatalf("call: %v", err)
	}
	server.kill()
	if _, err := call(); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("while the server is away: %v", err)
	}
	server = launch(t, i.dir, env)
	if res, err := call(); err != nil || res.IsError {
		t.Errorf("after the server came back: %v", err)
	}
	if err := s.Close(); err != nil { // closes standard input and waits
		t.Errorf("end: %v", err)
	}
	if !cmd.ProcessState.Success() {
		t.Errorf("it ended with %s", cmd.ProcessState)
	}
}
