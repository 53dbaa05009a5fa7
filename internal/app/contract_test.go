package app

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	goProof  = regexp.MustCompile("`(internal/[a-z/]+)` (Test[A-Za-z0-9_]+)")
	webProof = regexp.MustCompile("`(web/[a-zA-Z0-9/_.-]+)` \"([^\"]+)\"")
)

// TestContractIsProven reads the note that maps the contract's known mistakes
// to tests: every line has a proof that exists or a stated reason.
func TestContractIsProven(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	raw, err := os.ReadFile(filepath.Join(root, "docs", "decisions", "0011-the-assistants-contract.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, tables, ok := strings.Cut(string(raw), "## Mistakes that were fixed once")
	first, second, ok2 := strings.Cut(tables, "## Mistakes that the later sources still make")
	if !ok || !ok2 {
		t.Fatal("the note has no tables")
	}
	sources := map[string]string{}
	source := func(dir string) string {
		if text, ok := sources[dir]; ok {
			return text
		}
		var b strings.Builder
		files, _ := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
		for _, f := range files {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			b.Write(text)
		}
		sources[dir] = b.String()
		return b.String()
	}
	for _, table := range []struct {
		text  string
		lines int
	}{{first, 89}, {second, 25}} {
		for n := 1; n <= table.lines; n++ {
			_, rest, ok := strings.Cut(table.text, fmt.Sprintf("\n| %d | ", n))
			line, _, _ := strings.Cut(rest, "\n")
			if !ok || len(line) < 20 {
				t.Errorf("line %d of %d has neither proof nor reason", n, table.lines)
				continue
			}
			proofs := goProof.FindAllStringSubmatch(line, -1)
			for _, p := range proofs {
				if !strings.Contains(source(p[1]), "func "+p[2]+"(t *testing.T)") {
					t.Errorf("line %d: %s has no test %s", n, p[1], p[2])
				}
			}
			web := webProof.FindAllStringSubmatch(line, -1)
			for _, p := range web {
				if text, err := os.ReadFile(filepath.Join(root, p[1])); err != nil || !strings.Contains(string(text), p[2]) {
					t.Errorf("line %d: %s has no test %q", n, p[1], p[2])
				}
			}
			reason := strings.HasPrefix(line, "No test: ") || strings.HasPrefix(line, "Comes with ")
			if (len(proofs)+len(web) == 0) != reason {
				t.Errorf("line %d: %s", n, line)
			}
		}
	}
}
