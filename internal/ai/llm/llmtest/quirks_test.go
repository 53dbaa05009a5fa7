package llmtest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
)

// TestQuirksIsComplete counts the constants in the source.
func TestQuirksIsComplete(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "server.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	declared := 0
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if id, ok := v.Type.(*ast.Ident); ok && id.Name == "Quirk" {
				declared += len(v.Names)
			}
		}
		return true
	})
	seen := map[llmtest.Quirk]bool{}
	for _, q := range llmtest.Quirks() {
		seen[q] = true
	}
	if len(seen) != declared || declared == 0 {
		t.Errorf("Quirks gives %d of %d", len(seen), declared)
	}
}
