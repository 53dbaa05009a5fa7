package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkMCP calls a cheap read tool over 16 connections: on a bare server of
// the same SDK, stateless, without any check, and on the product with
// authentication, audit row and budget. The calls are spread over applications,
// each within its budget. Compare the rates of one run.
func BenchmarkMCP(b *testing.B) {
	b.Run("bare", func(b *testing.B) {
		server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
		server.AddTool(&mcp.Tool{Name: "catalog_listGroups", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `[]`}}}, nil
			})
		web := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
			&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true}))
		defer web.Close()
		p := &process{url: web.URL}
		load(b, 16, loadTime, func(int) error { return mcpOnce(b, p, "") })
	})
	eachDatabase(b, func(b *testing.B, env []string) {
		p := launch(b, b.TempDir(), env)
		p.signUp(b)
		p.post(b, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
		keys := make([]string, 500)
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for n := w; n < len(keys); n += 8 {
					var made struct{ Key string }
					if err := json.Unmarshal(p.post(b, "/rest/auth/createApplication", fmt.Sprintf(`{"name":"Agent %d","roleIds":["users"]}`, n)), &made); err != nil {
						b.Error(err)
					}
					keys[n] = made.Key
				}
			})
		}
		wg.Wait()
		var next atomic.Int64
		load(b, 16, loadTime, func(int) error { return mcpOnce(b, p, keys[int(next.Add(1))%len(keys)]) })
	})
}

func mcpOnce(b *testing.B, p *process, key string) error {
	status, body := p.mcp(b, key, mcpCall("catalog_listGroups", `{}`))
	if status != 200 {
		return fmt.Errorf("status %d: %s", status, body)
	}
	return nil
}
