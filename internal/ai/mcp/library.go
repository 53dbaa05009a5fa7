package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

const docScheme = "checkstack://docs/"

// addDocs offers the manual's pages as resources.
func (s *Server) addDocs(server *sdk.Server, docs []Document) {
	for _, d := range docs {
		uri := docScheme + d.Slug
		server.AddResource(&sdk.Resource{URI: uri, Name: d.Slug, Title: d.Title, MIMEType: "text/markdown", Size: int64(len(d.Text))},
			func(context.Context, *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
				return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: "text/markdown", Text: d.Text}}}, nil
			})
	}
}

// addPrompts offers the built-in skills as prompts.
func (s *Server) addPrompts(server *sdk.Server, prompts []Prompt) {
	for _, p := range prompts {
		server.AddPrompt(&sdk.Prompt{Name: p.Name, Description: p.Description},
			func(context.Context, *sdk.GetPromptRequest) (*sdk.GetPromptResult, error) {
				return &sdk.GetPromptResult{Description: p.Description,
					Messages: []*sdk.PromptMessage{{Role: "user", Content: &sdk.TextContent{Text: p.Text}}}}, nil
			})
	}
}
