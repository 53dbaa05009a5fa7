package app

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"
)

const module = "github.com/checkstack/checkstack/"

// platform are the packages that every domain and the AI may import.
var platform = []string{"internal/config", "internal/problem", "internal/secret", "internal/netguard", "internal/authz",
	"internal/logging", "internal/operation", "internal/db", "internal/jobs", "internal/event", "internal/zone", "internal/text"}

// allowed says for each package (or tree, with a trailing /...) what inside the
// module it may import. A package that is not listed is a domain.
var allowed = map[string][]string{
	"cmd/checkstack":     {"internal/app", "internal/config"},
	"internal/config":    {},
	"internal/problem":   {},
	"internal/secret":    {},
	"internal/netguard":  {},
	"internal/zone":      {},
	"internal/text":      {"internal/problem"},
	"internal/authz":     {"internal/problem"},
	"internal/logging":   {"internal/authz"},
	"internal/operation": {"internal/problem", "internal/authz"},
	"internal/db":        {"internal/config", "internal/problem"},
	"internal/db/dbtest": {"internal/db"},
	"internal/jobs":      {"internal/db", "internal/problem", "internal/logging"},
	"internal/event":     {"internal/db", "internal/problem", "internal/authz", "internal/logging", "internal/jobs"},
	"internal/oauth":     platform,
	"internal/httpapi":   {"internal/config", "internal/problem", "internal/authz", "internal/logging", "internal/operation"},

	"internal/ai/tool":      {"internal/problem", "internal/authz", "internal/operation"},
	"internal/ai/scrub":     {},
	"internal/ai/llm/...":   {"internal/config", "internal/problem", "internal/secret", "internal/netguard", "internal/zone", "internal/ai/llm/..."},
	"internal/ai/proposal":  append([]string{"internal/ai/tool", "internal/ai/scrub"}, platform...),
	"internal/ai/knowledge": append([]string{"internal/ai/tool", "internal/ai/scrub"}, platform...),
	"internal/ai/mcp":       append([]string{"internal/oauth", "internal/ai/tool", "internal/ai/scrub", "internal/ai/proposal"}, platform...),
	"internal/ai/agent":     append([]string{"internal/ai/tool", "internal/ai/scrub", "internal/ai/llm/...", "internal/ai/proposal"}, platform...),

	"internal/healthcheck/strategy/...": {"internal/problem", "internal/secret", "internal/netguard", "internal/zone", "internal/text", "internal/healthcheck/strategy/..."},
	"docs":                              {},
	"web":                               {},
}

// domainMay is what a domain may import besides its own subpackages.
var domainMay = append([]string{"internal/ai/tool", "internal/catalog"}, platform...)

// home names the only packages that may import an outside library.
var home = map[string][]string{
	"modernc.org/sqlite":                                 {"internal/db"},
	"github.com/jackc/pgx/v5":                            {"internal/db", "internal/jobs", "internal/event"},
	"github.com/riverqueue/river/riverdriver/riverpgxv5": {},
	"github.com/riverqueue/river/rivermigrate":           {"internal/jobs"},
	"github.com/danielgtaylor/huma/v2":                   {"internal/operation", "internal/httpapi", "internal/healthcheck", "internal/catalog"},
	"github.com/modelcontextprotocol/go-sdk":             {"internal/ai/mcp"},
	"github.com/alecthomas/kong":                         {"cmd/checkstack"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Imports", module+"...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var list []pkg
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return list
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
}

func matches(pattern, name string) bool {
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return name == tree || strings.HasPrefix(name, tree+"/")
	}
	return pattern == name
}

func anyMatches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}

// rule gives what name may import.
func rule(name string) []string {
	for pattern, may := range allowed {
		if matches(pattern, name) {
			return may
		}
	}
	domain := name
	for path.Dir(domain) != "internal" && path.Dir(domain) != "." {
		domain = path.Dir(domain)
	}
	return append([]string{domain + "/..."}, domainMay...)
}

// TestImports holds who may import whom: a domain knows the platform and the
// catalog, never another domain.
func TestImports(t *testing.T) {
	t.Parallel()
	for _, p := range packages(t) {
		name := strings.TrimPrefix(p.ImportPath, module)
		for _, imp := range p.Imports {
			if inside, ok := strings.CutPrefix(imp, module); ok {
				if name == "internal/app" {
					continue
				}
				if !anyMatches(rule(name), inside) {
					t.Errorf("%s must not import %s", name, inside)
				}
				continue
			}
			for lib, homes := range home {
				if matches(lib+"/...", imp) && !anyMatches(homes, name) {
					t.Errorf("%s must not import %s, which belongs to %v", name, imp, homes)
				}
			}
		}
	}
}
