package app

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// maxDescription is what a description may cost in every request, in characters.
const maxDescription = 1200

// TestEveryToolKeepsTheContract walks the tools of the running product.
func TestEveryToolKeepsTheContract(t *testing.T) {
	t.Parallel()
	p := newProduct(t, "")
	known := map[string]bool{}
	for _, r := range p.domains.rules() {
		known[r.ID] = true
	}
	all := p.domains.tools.All()
	if len(all) < 30 {
		t.Errorf("%d tools", len(all))
	}
	modes := regexp.MustCompile(`(?i)\b(approve mode|auto mode|permission mode|applied automatically)\b`)
	for _, tl := range all {
		if !slices.Contains([]tool.Effect{tool.Read, tool.Mutate, tool.Destructive}, tl.Effect()) {
			t.Errorf("%s: effect %q", tl.Name(), tl.Effect())
		}
		if n := utf8.RuneCountInString(tl.Description()); n > maxDescription || n < 10 {
			t.Errorf("%s: the description has %d characters", tl.Name(), n)
		}
		if modes.MatchString(tl.Description()) {
			t.Errorf("%s: the description talks about modes, which the prompt states", tl.Name())
		}
		// A name that promises to look must not change, and what removes is destructive.
		verb := tl.Name()[strings.LastIndex(tl.Name(), ".")+1:]
		if regexp.MustCompile(`^(list|get|search|show)[A-Z]?`).MatchString(verb) && tl.Effect() != tool.Read {
			t.Errorf("%s has effect %s", tl.Name(), tl.Effect())
		}
		if regexp.MustCompile(`^(delete|clear|purge)`).MatchString(verb) && tl.Effect() != tool.Destructive {
			t.Errorf("%s has effect %s", tl.Name(), tl.Effect())
		}
		checkToolSchema(t, tl)
		if len(tl.Access()) == 0 {
			t.Errorf("%s: no rule", tl.Name())
		}
		for _, missing := range tl.Access() {
			if !known[missing.ID] {
				t.Errorf("%s needs %s, which nobody can be granted", tl.Name(), missing.ID)
			}
			who := authz.Principal{Kind: authz.User, ID: "x"}
			for _, r := range p.domains.rules() {
				if r.ID != missing.ID && !satisfies(r.ID, missing.ID) {
					who.Rules = append(who.Rules, r.ID)
				}
			}
			if slices.ContainsFunc(p.domains.tools.For(who), func(o tool.Tool) bool { return o.Name() == tl.Name() }) {
				t.Errorf("%s is offered without %s", tl.Name(), missing.ID)
			}
			_, err := p.domains.gate.Prepare(authz.With(t.Context(), who), tl.Name(), json.RawMessage(`{}`), proposal.Auto)
			if !problem.Is(err, problem.KindForbidden) || !strings.Contains(err.Error(), missing.ID) {
				t.Errorf("%s without %s: %v", tl.Name(), missing.ID, err)
			}
		}
	}
}

// satisfies says whether holding a rule is holding the other: manage includes
// read.
func satisfies(held, wanted string) bool {
	base, ok := strings.CutSuffix(wanted, ".read")
	return ok && held == base+".manage"
}

func checkToolSchema(t *testing.T, tl tool.Tool) {
	t.Helper()
	raw, err := tl.Input().JSON()
	if err != nil {
		t.Errorf("%s: %v", tl.Name(), err)
		return
	}
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil || doc["type"] != "object" || doc["properties"] == nil {
		t.Errorf("%s: providers take object schemas only: %.200s", tl.Name(), raw)
		return
	}
	defs, _ := doc["$defs"].(map[string]any)
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			if ref, ok := v["$ref"].(string); ok && defs[strings.TrimPrefix(ref, "#/$defs/")] == nil {
				t.Errorf("%s: %s leads nowhere", tl.Name(), ref)
			}
			if secret, ok := v["x-secret"].(bool); ok && secret && (v["default"] != nil || v["example"] != nil || v["examples"] != nil) {
				t.Errorf("%s: a secret field has a value", tl.Name())
			}
			for _, item := range v {
				walk(item)
			}
		}
	}
	walk(doc)
}

// TestTheModelIsToldWhatMetadataIs reads what a model is offered: a field of
// free-form custom data says in the schema itself that it is no place for tags.
func TestTheModelIsToldWhatMetadataIs(t *testing.T) {
	t.Parallel()
	p := newProduct(t, "")
	p.signUp(t)
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Hello."})
	connection := p.must(t, "/rest/ai/createConnection", `{"name":"Fake","defaultModel":"m","disableTopicalClassifier":true,"baseUrl":"`+gateway.BaseURL()+`"}`)["id"].(string)
	conversation := p.must(t, "/rest/ai/createConversation", `{"title":"t"}`)["id"].(string)
	if status, out := p.call(t, p.client, http.MethodPost, "/api/ai/chat", chatBody(conversation, connection, "hi")); status != http.StatusOK {
		t.Fatalf("%d %s", status, out)
	}
	var offered struct {
		Tools []struct {
			Function struct {
				Name       string
				Parameters struct {
					Properties map[string]struct{ Description string }
				}
			}
		}
	}
	if err := json.Unmarshal(gateway.Requests()[0].Body, &offered); err != nil {
		t.Fatal(err)
	}
	var told []string
	for _, tl := range offered.Tools {
		field, ok := tl.Function.Parameters.Properties["metadata"]
		if !ok {
			continue
		}
		told = append(told, tl.Function.Name)
		for _, want := range []string{"check templates", "not tags", "the operator"} {
			if !strings.Contains(field.Description, want) {
				t.Errorf("%s: metadata is described as %q, which lacks %q", tl.Function.Name, field.Description, want)
			}
		}
	}
	for _, name := range []string{"catalog_createSystem", "catalog_updateSystem", "catalog_createGroup"} {
		if !slices.Contains(told, name) {
			t.Errorf("%s takes no metadata; only %v do", name, told)
		}
	}
}
