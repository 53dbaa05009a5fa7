package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/checkstack/checkstack/docs"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/ai/mcp"
	"github.com/checkstack/checkstack/internal/httpapi"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/oauth"
)

// documentTimeout bounds the reading of a client's metadata document.
const documentTimeout = 5 * time.Second

// newOAuth lets MCP clients ask people for permission.
func newOAuth(a *application, d *domains) *oauth.Server {
	proxies, _ := a.cfg.Proxies() // checked with the other settings
	return oauth.New(oauth.Deps{DB: a.db, People: d.identity, Rules: d.rules, HTTP: netguard.NewClient(netguard.Probe, documentTimeout),
		BaseURL: a.cfg.BaseURL, ClientAddress: httpapi.ClientAddress(proxies), Log: a.log})
}

// newMCP offers the assistant's tools, the manual and the built-in skills to
// outside agents.
func newMCP(a *application, d *domains) (*mcp.Server, error) {
	index, err := knowledge.NewIndex(docs.Pages)
	if err != nil {
		return nil, fmt.Errorf("documentation: %w", err)
	}
	deps := mcp.Deps{Tools: d.tools, Gate: d.gate, OAuth: d.oauth, Keys: d.identity, BaseURL: a.cfg.BaseURL, Version: a.version, Log: a.log}
	for _, p := range index.Pages() {
		deps.Docs = append(deps.Docs, mcp.Document{Slug: p.Slug, Title: p.Title, Text: p.Content})
	}
	for _, k := range knowledge.Builtins() {
		deps.Prompts = append(deps.Prompts, mcp.Prompt{Name: k.ID, Description: k.Description, Text: promptText(k)})
	}
	return mcp.New(deps)
}

// promptText is a skill as one message: how to work, and what to begin with.
func promptText(k knowledge.Skill) string {
	if k.SystemPrompt != "" && k.PromptTemplate != "" {
		return k.SystemPrompt + "\n\n" + k.PromptTemplate
	}
	return k.SystemPrompt + k.PromptTemplate
}

// mountOpen serves what authenticates its callers itself.
func (d *domains) mountOpen(mux *http.ServeMux) {
	d.oauth.Mount(mux)
	mux.Handle(oauth.MCPPath, d.mcp.Handler())
	mux.Handle(oauth.MCPPath+"/{$}", d.mcp.Handler()) // as people type it
}

// ServeMCP connects a local client on in and out to the installation at url.
func ServeMCP(ctx context.Context, url, key string, in io.Reader, out io.Writer) error {
	b := mcp.Bridge{URL: url, Key: key}
	return b.Run(ctx, in, out)
}
