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
	goProof  = regexp.MustCompile("`(internal/[a-z/]+)` ((?:Test|Fuzz)[A-Za-z0-9_]+)")
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
	proofs := newProofs(root)
	for _, table := range []struct {
		text  string
		lines int
	}{{first, 89}, {second, 25}} {
		for at := 1; at <= table.lines; at++ {
			_, rest, ok := strings.Cut(table.text, fmt.Sprintf("\n| %d | ", at))
			line, _, _ := strings.Cut(rest, "\n")
			if !ok || len(line) < 20 {
				t.Errorf("line %d of %d has neither proof nor reason", at, table.lines)
				continue
			}
			n, missing := proofs.check(line)
			for _, m := range missing {
				t.Errorf("line %d: %s", at, m)
			}
			reason := strings.HasPrefix(line, "No test: ") || strings.HasPrefix(line, "Comes with ")
			if (n == 0) != reason {
				t.Errorf("line %d: %s", at, line)
			}
		}
	}
}

// proofs knows the tests of the repository.
type proofs struct {
	root    string
	sources map[string]string // by directory
}

func newProofs(root string) proofs { return proofs{root, map[string]string{}} }

// check gives how many tests a line of a note names, and which of them do not
// exist.
func (p proofs) check(line string) (n int, missing []string) {
	for _, m := range goProof.FindAllStringSubmatch(line, -1) {
		n++
		if !strings.Contains(p.source(m[1]), "func "+m[2]+"(") {
			missing = append(missing, m[1]+" has no "+m[2])
		}
	}
	for _, m := range webProof.FindAllStringSubmatch(line, -1) {
		n++
		if text, err := os.ReadFile(filepath.Join(p.root, m[1])); err != nil || !strings.Contains(string(text), m[2]) {
			missing = append(missing, m[1]+" has no "+m[2])
		}
	}
	return n, missing
}

func (p proofs) source(dir string) string {
	text, ok := p.sources[dir]
	if !ok {
		files, _ := filepath.Glob(filepath.Join(p.root, dir, "*_test.go"))
		for _, f := range files {
			raw, _ := os.ReadFile(f)
			text += string(raw)
		}
		p.sources[dir] = text
	}
	return text
}

// TestAttacksAreProven reads the note that maps attacks on the doors for outside
// agents to tests: every attack has one, and every test that is named exists.
func TestAttacksAreProven(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..")
	raw, err := os.ReadFile(filepath.Join(root, "docs", "decisions", "0014-outside-agents-attack-by-attack.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(raw), "## Attacks and their proof")
	table, _, ok2 := strings.Cut(table, "\n## ")
	if !ok || !ok2 {
		t.Fatal("the note has no table")
	}
	proofs, attacks := newProofs(root), 0
	for line := range strings.Lines(table) {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| Attack ") {
			continue
		}
		attacks++
		n, missing := proofs.check(line)
		if n == 0 || len(missing) > 0 || n != strings.Count(line, ";")+1 {
			t.Errorf("%d proofs, missing %v: %s", n, missing, line)
		}
	}
	for _, attack := range []string{"verifier", "plain challenge", "used twice", "another client", "path, port", "scheme", "user info", "fragment", "open redirect", "mixed-up issuer",
		"another resource", "expired", "revoked", "more scope", "javascript:", "huge metadata", "private address", "session fixation", "exactly one wins", "widens"} {
		if !strings.Contains(table, attack) {
			t.Errorf("no line about %q", attack)
		}
	}
	if attacks < 45 {
		t.Errorf("the table has %d lines", attacks)
	}
}
