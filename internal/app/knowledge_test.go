package app

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestKnowledgeOfTheRunningProduct uses what the assistant can look up and keep
// with the real domains behind it.
func TestKnowledgeOfTheRunningProduct(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		use := func(who authz.Principal, name, input string) (map[string]any, error) {
			t.Helper()
			tl, ok := p.domains.tools.Get(name)
			if !ok || tl.Effect() != tool.Read {
				t.Fatalf("no read tool %s", name)
			}
			out, err := tl.Run(authz.With(t.Context(), who), json.RawMessage(input))
			if err != nil {
				return nil, err
			}
			raw, err := json.Marshal(tl.Lean(out))
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			return m, nil
		}
		admin := authz.Principal{Kind: authz.User, ID: "018f0000-0000-7000-8000-000000000001", Rules: []string{"*"}}
		chatter := authz.Principal{Kind: authz.User, ID: "018f0000-0000-7000-8000-000000000002", Rules: []string{"ai.chat.read"}}

		// The kinds of checks are for those who may see check definitions.
		if _, err := use(chatter, "ai.listCapabilities", `{"context":"healthcheck"}`); !problem.Is(err, problem.KindForbidden) {
			t.Errorf("without the right: %v", err)
		}
		list, err := use(admin, "ai.listCapabilities", `{"context":"healthcheck"}`)
		if err != nil {
			t.Fatal(err)
		}
		entries := list["entries"].([]any)
		roles := map[any]int{}
		for _, e := range entries {
			entry := e.(map[string]any)
			roles[entry["role"]]++
			schema, err := use(admin, "ai.getCapabilitySchema", fmt.Sprintf(`{"context":"healthcheck","kind":%q}`, entry["id"]))
			if err != nil || schema["role"] != entry["role"] || schema["configSchema"].(map[string]any)["type"] != "object" {
				t.Errorf("%v: %v, %v", entry["id"], schema, err)
				continue
			}
			operators, _ := schema["assertionOperators"].(map[string]any)
			for _, f := range asList(schema["assertionFields"]) {
				if kind := f["kind"].(string); operators[kind] == nil {
					t.Errorf("%v: no operators for the field %v of kind %s", entry["id"], f["field"], kind)
				}
			}
			if (entry["role"] == "collector") != (schema["resultSchema"] != nil) {
				t.Errorf("%v: role %v, result schema %v", entry["id"], entry["role"], schema["resultSchema"])
			}
		}
		if roles["strategy"] == 0 || roles["collector"] == 0 || list["truncated"] != (len(entries) > 12) {
			t.Errorf("%d entries, %v, truncated %v", len(entries), roles, list["truncated"])
		}
		schema, err := use(admin, "ai.getCapabilitySchema", `{"context":"healthcheck","kind":"healthcheck-http.request"}`)
		if err != nil {
			t.Fatal(err)
		}
		if raw, _ := json.Marshal(schema); !strings.Contains(string(raw), `{"field":"statusCode","kind":"number"}`) {
			t.Errorf("the HTTP request: %s", raw)
		}

		// The documentation is inside the binary.
		if found, err := use(chatter, "ai.searchDocs", `{"query":"recurring maintenance"}`); err != nil || len(asList(found["hits"])) == 0 {
			t.Errorf("found %v, %v", found, err)
		}

		// A memory about a system is kept over REST, and goes with the system.
		sys := p.must(t, "/rest/catalog/createSystem", `{"name":"Payments API"}`)["id"].(string)
		saved := p.must(t, "/rest/ai/saveMemory", `{"scope":"system","systemId":"`+sys+`","recallHint":"restart order","content":"database first","alwaysInject":true}`)
		p.must(t, "/rest/ai/setMemoryAlwaysInject", `{"id":"`+saved["id"].(string)+`","alwaysInject":false}`)
		status, out := p.call(t, p.client, "GET", "/rest/ai/listMemories?systemId="+sys, "")
		if status != 200 || !strings.Contains(out, `"systemName":"Payments API"`) || !strings.Contains(out, `"alwaysInject":false`) {
			t.Errorf("%d %s", status, out)
		}
		card := p.must(t, "/rest/ai/proposeTool", `{"toolName":"catalog.deleteSystem","input":{"id":"`+sys+`"}}`)
		if s := card["summary"].(string); !strings.Contains(s, "1 memory about it") {
			t.Errorf("summary %q", s)
		}
		p.must(t, "/rest/ai/applyTool", `{"token":"`+card["token"].(string)+`"}`)
		if _, out := p.call(t, p.client, "GET", "/rest/ai/listMemories", ""); !strings.Contains(out, `"total":0`) {
			t.Errorf("after the system is gone: %s", out)
		}

		// A skill lives its life over REST.
		made := p.must(t, "/rest/ai/createSkill", `{"name":"Shift report","description":"Sums up a shift","targets":["chat"],"systemPrompt":"Five lines."}`)
		status, out = p.call(t, p.client, "PATCH", "/rest/ai/updateSkill", `{"id":"`+made["id"].(string)+`","version":1,"promptTemplate":"Sum up my shift"}`)
		if status != 200 || !strings.Contains(out, `"ownerName":"Ann"`) || !strings.Contains(out, `"systemPrompt":"Five lines."`) {
			t.Errorf("%d %s", status, out)
		}
		if status, out := p.call(t, p.client, "GET", "/rest/ai/listSkills?target=chat", ""); status != 200 || !strings.Contains(out, "Sum up my shift") || !strings.Contains(out, "ai.incident-commander") {
			t.Errorf("%d %s", status, out)
		}
		if status, out := p.call(t, p.client, "DELETE", "/rest/ai/deleteSkill?id="+made["id"].(string), ""); status != 200 {
			t.Errorf("%d %s", status, out)
		}
	})
}

func asList(v any) []map[string]any {
	items, _ := v.([]any)
	out := make([]map[string]any, len(items))
	for i, it := range items {
		out[i], _ = it.(map[string]any)
	}
	return out
}
