package knowledge_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/docs"
	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func skill(name string, more ...any) map[string]any {
	m := map[string]any{"name": name, "description": "what it is for", "targets": []string{"chat"}, "systemPrompt": "Work like this."}
	for i := 0; i+1 < len(more); i += 2 {
		if more[i+1] == nil {
			delete(m, more[i].(string))
			continue
		}
		m[more[i].(string)] = more[i+1]
	}
	return m
}

func TestSkillAccess(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		id := b.must(ann, "createSkill", skill("Ann's way"))["id"]
		edit := func(more ...any) map[string]any {
			m := map[string]any{"id": id}
			for i := 0; i+1 < len(more); i += 2 {
				m[more[i].(string)] = more[i+1]
			}
			return m
		}
		field := func(v ...map[string]any) []map[string]any { return v }
		reader := person(ben.ID, "ai.skill.read")
		for _, row := range []struct {
			name string
			as   authz.Principal
			op   string
			in   any
			kind problem.Kind
			path string
		}{
			{"list: guest", guest, "listSkills", `{}`, problem.KindUnauthenticated, ""},
			{"list: without the rule", nobody, "listSkills", `{}`, problem.KindForbidden, ""},
			{"list: right role", reader, "listSkills", `{}`, 0, ""},
			{"list: application", robot, "listSkills", `{"target":"ai_analyze"}`, 0, ""},
			{"list: target", reader, "listSkills", `{"target":"mail"}`, problem.KindInvalid, "target"},
			{"get", reader, "getSkill", edit(), 0, ""},
			{"get: built-in", reader, "getSkill", `{"id":"ai.incident-commander"}`, 0, ""},
			{"get: unknown", reader, "getSkill", `{"id":"ai.nothing"}`, problem.KindNotFound, ""},
			{"create: guest", guest, "createSkill", skill("x"), problem.KindUnauthenticated, ""},
			{"create: application", robot, "createSkill", skill("x"), problem.KindForbidden, ""},
			{"create: without the right to publish", reader, "createSkill", skill("x"), problem.KindForbidden, ""},
			{"create: blank name", ann, "createSkill", skill("  "), problem.KindInvalid, "name"},
			{"create: two lines", ann, "createSkill", skill("a\nb"), problem.KindInvalid, "name"},
			{"create: direction override", ann, "createSkill", skill("a\u202eb"), problem.KindInvalid, "name"},
			{"create: no description", ann, "createSkill", skill("x", "description", nil), problem.KindInvalid, "description"},
			{"create: no target", ann, "createSkill", skill("x", "targets", []string{}), problem.KindInvalid, "targets"},
			{"create: unknown target", ann, "createSkill", skill("x", "targets", []string{"mail"}), problem.KindInvalid, "targets[0]"},
			{"create: nothing in it", ann, "createSkill", skill("x", "systemPrompt", nil), problem.KindInvalid, "systemPrompt"},
			{"create: only a text to begin with", ann, "createSkill", skill("x", "systemPrompt", nil, "promptTemplate", "Hello"), 0, ""},
			{"create: hidden characters", ann, "createSkill", skill("x", "systemPrompt", "a\U000E0041"), problem.KindInvalid, "systemPrompt"},
			{"create: long", ann, "createSkill", skill("x", "systemPrompt", strings.Repeat("a", 8001)), problem.KindInvalid, "systemPrompt"},
			{"create: credential", ann, "createSkill", skill("x", "systemPrompt", "Use Bearer canary-canary-canary"), problem.KindInvalid, "systemPrompt"},
			{"create: credential in the template", ann, "createSkill", skill("x", "promptTemplate", "\"sk-canary1234567890abcdef\""), problem.KindInvalid, "promptTemplate"},
			{"create: field key", ann, "createSkill", skill("x", "suggestedOutputFields", field(map[string]any{"key": "A b", "type": "string", "description": ""})), problem.KindInvalid, "suggestedOutputFields[0].key"},
			{"create: field twice", ann, "createSkill", skill("x", "suggestedOutputFields", field(map[string]any{"key": "a", "type": "string", "description": ""}, map[string]any{"key": "a", "type": "number", "description": ""})), problem.KindInvalid, "suggestedOutputFields[1].key"},
			{"create: enum without values", ann, "createSkill", skill("x", "suggestedOutputFields", field(map[string]any{"key": "a", "type": "enum", "description": ""})), problem.KindInvalid, "suggestedOutputFields[0].options"},
			{"create: values without enum", ann, "createSkill", skill("x", "suggestedOutputFields", field(map[string]any{"key": "a", "type": "number", "description": "", "options": []string{"1"}})), problem.KindInvalid, "suggestedOutputFields[0].options"},
			{"update: somebody else's", ben, "updateSkill", edit("name", "Mine now"), problem.KindNotFound, ""},
			{"update: without the rule", reader, "updateSkill", edit("name", "x"), problem.KindForbidden, ""},
			{"update: built-in", admin, "updateSkill", `{"id":"ai.incident-commander","name":"x"}`, problem.KindConflict, ""},
			{"update: unknown", ann, "updateSkill", map[string]any{"id": unknown, "name": "x"}, problem.KindNotFound, ""},
			{"update: moved", ann, "updateSkill", edit("name", "x", "version", 7), problem.KindConflict, ""},
			{"update: cleared to nothing", ann, "updateSkill", edit("systemPrompt", nil), problem.KindInvalid, "systemPrompt"},
			{"update: author", ann, "updateSkill", edit("name", "Better", "version", 1), 0, ""},
			{"update: administrator", admin, "updateSkill", edit("tags", []string{"moderated"}), 0, ""},
			{"delete: somebody else's", ben, "deleteSkill", edit(), problem.KindNotFound, ""},
			{"delete: built-in", admin, "deleteSkill", `{"id":"ai.incident-commander"}`, problem.KindConflict, ""},
			{"delete: application", robot, "deleteSkill", edit(), problem.KindForbidden, ""},
			{"delete: author", ann, "deleteSkill", edit(), 0, ""},
			{"delete: again", ann, "deleteSkill", edit(), problem.KindNotFound, ""},
		} {
			_, err := b.call(row.as, row.op, row.in)
			if row.kind == 0 {
				if err != nil {
					t.Errorf("%s: %v", row.name, err)
				}
				continue
			}
			if msg := wantProblem(err, row.kind, row.path); msg != "" {
				t.Errorf("%s: %s", row.name, msg)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("%s: the refusal repeats the credential", row.name)
			}
		}
	})
}

func TestSkillsAreListed(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		first := b.must(ann, "createSkill", skill("First", "targets", []string{"ai_analyze", "chat"}, "tags", []string{"a", "a"},
			"suggestedOutputFields", []map[string]any{{"key": "level", "type": "enum", "description": "how bad", "options": []string{"low", "high"}}}))
		b.must(ben, "createSkill", skill("Second"))
		b.must(ann, "updateSkill", map[string]any{"id": first["id"], "description": "newer"})
		all := list(b.must(ben, "listSkills", `{}`), "skills")
		n := len(knowledge.Builtins())
		if len(all) != n+2 || all[n]["name"] != "First" || all[n+1]["name"] != "Second" || all[n]["description"] != "newer" {
			t.Fatalf("listed %v", all)
		}
		own := all[n]
		if own["source"] != "user" || own["ownerId"] != ann.ID || own["ownerName"] != "Ann" || own["canEdit"] != false || own["version"] != 2.0 ||
			fmt.Sprint(own["targets"], own["tags"]) != "[chat ai_analyze] [a]" || own["createdAt"] == nil {
			t.Errorf("got %v", own)
		}
		// What a skill does not have is absent, not null.
		for i, k := range all {
			for key, v := range k {
				if v == nil {
					t.Errorf("%v: %s is null", k["id"], key)
				}
			}
			if i < n && (k["source"] != "builtin" || k["pluginId"] != "ai" || k["canEdit"] != false || k["createdAt"] != nil || k["ownerId"] != nil) {
				t.Errorf("built-in: %v", k)
			}
		}
		for target, want := range map[string]int{"chat": 4 + 2, "ai_analyze": 3 + 1} {
			if got := list(b.must(ben, "listSkills", map[string]any{"target": target}), "skills"); len(got) != want {
				t.Errorf("%s: %d, want %d", target, len(got), want)
			}
		}
		// null clears, absent stays.
		got := b.must(ann, "updateSkill", map[string]any{"id": first["id"], "promptTemplate": "Go", "systemPrompt": nil, "tags": nil, "suggestedOutputFields": nil})
		for _, gone := range []string{"systemPrompt", "tags", "suggestedOutputFields"} {
			if _, there := got[gone]; there {
				t.Errorf("%s is still there: %v", gone, got)
			}
		}
		if got["promptTemplate"] != "Go" || got["name"] != "First" || got["version"] != 3.0 {
			t.Errorf("got %v", got)
		}
	})
}

func TestSkillPrompt(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		own := b.must(ann, "createSkill", skill("Ann's way"))["id"].(string)
		template := b.must(ann, "createSkill", skill("Text only", "systemPrompt", nil, "promptTemplate", "Hi"))["id"].(string)
		for _, row := range []struct {
			as   authz.Principal
			id   string
			want string
		}{
			{ben, own, "Skill \"Ann's way\"\nWork like this."},
			{ben, template, ""},
			{ben, "", ""},
			{ben, unknown, ""},
			{ben, "ai.failure-root-cause", ""}, // not for the chat
			{nobody, own, ""},
			{guest, "ai.incident-commander", ""},
		} {
			got, err := b.svc.SkillPrompt(authz.With(t.Context(), row.as), row.id)
			if err != nil || got != row.want {
				t.Errorf("%s as %s: %q, %v, want %q", row.id, row.as.ID, got, err, row.want)
			}
		}
		got, err := b.svc.SkillPrompt(authz.With(t.Context(), ben), "ai.incident-commander")
		if err != nil || has(got, `Skill "Incident commander"`, "One incident.") != nil {
			t.Errorf("built-in: %q, %v", got, err)
		}
	})
}

var toolName = regexp.MustCompile(`[a-z]+[._][a-z]+[A-Z]?`)

// Built-in skills are held to the rules of those that people write; a mistake in
// one stops the start.
func TestBuiltinSkills(t *testing.T) {
	t.Parallel()
	for _, k := range knowledge.Builtins() {
		if name := toolName.FindString(k.SystemPrompt + k.PromptTemplate); name != "" {
			t.Errorf("%s names a tool (%q): it may not be there", k.ID, name)
		}
	}
	good := knowledge.Skill{ID: "shop.x", Name: "X", Description: "d", Targets: []knowledge.Target{knowledge.TargetChat}, SystemPrompt: "p"}
	for want, change := range map[string]func(*knowledge.Skill){
		"":                      func(*knowledge.Skill) {},
		"<plugin>.<name>":       func(k *knowledge.Skill) { k.ID = "x" },
		"declared twice":        func(k *knowledge.Skill) { k.ID = "ai.incident-commander" },
		"name: must not be":     func(k *knowledge.Skill) { k.Name = " " },
		"targets: must":         func(k *knowledge.Skill) { k.Targets = nil },
		"systemPrompt: a skill": func(k *knowledge.Skill) { k.SystemPrompt = "" },
	} {
		k := good
		change(&k)
		_, err := knowledge.New(deps(nil, func(d *knowledge.Deps) { d.Skills = []knowledge.Skill{k} }))
		if (want == "") != (err == nil) || (err != nil && !strings.Contains(err.Error(), want)) {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestAskOperator(t *testing.T) {
	t.Parallel()
	b := setup(t, nil)
	out := b.mustUse(ann, "askOperator", `{"question":" Which one? ","options":[{"label":"Shop"},{"label":"Billing","value":"the billing system"}]}`)
	if out["__question"] != true || out["question"] != "Which one?" || out["allowFreeText"] != true || out["note"] == "" {
		t.Errorf("got %v", out)
	}
	options := list(out, "options")
	if len(options) != 2 || options[0]["value"] != "Shop" || options[1]["value"] != "the billing system" {
		t.Errorf("options %v", options)
	}
	if out := b.mustUse(ann, "askOperator", `{"question":"x","options":[{"label":"a"}],"allowFreeText":false}`); out["allowFreeText"] != false {
		t.Errorf("got %v", out)
	}
	for in, path := range map[string]string{
		`{"question":"x"}`:                                                                      "options",
		`{"question":"x","options":[]}`:                                                         "options",
		`{"question":" ","options":[{"label":"a"}]}`:                                            "question",
		`{"question":"x","options":[{"label":" "}]}`:                                            "options[0].label",
		`{"question":"x","options":[{"label":"a\nb"}]}`:                                         "options[0].label",
		`{"question":"x","options":[{"label":"a\u202eb"}]}`:                                     "options[0].label",
		`{"question":"x","options":[{"label":"a"},{"label":"a "}]}`:                             "options[1].label",
		`{"question":"x","options":[` + strings.Repeat(`{"label":"a"},`, 6) + `{"label":"b"}]}`: "options",
	} {
		_, err := b.use(ann, "askOperator", in)
		if msg := wantProblem(err, problem.KindInvalid, path); msg != "" {
			t.Errorf("%s: %s", in, msg)
		}
	}
}

func kinds(n int) []knowledge.Capability {
	out := make([]knowledge.Capability, n)
	for i := range out {
		out[i] = knowledge.Capability{ID: fmt.Sprintf("x.k%02d", i), DisplayName: "K", Role: "strategy", Config: json.RawMessage(`{"type":"object","required":["b"],
			"properties":{"z":{"type":"string"},"b":{"type":"integer"},"e":{"type":"string","enum":["x"]},"u":{"anyOf":[{}]},"n":{"type":["string","null"]},"o":{"x":1},"p":true}}`)}
	}
	return out
}

// TestCapabilitySizeGate: 12 kinds come with their settings, 13 without.
func TestCapabilitySizeGate(t *testing.T) {
	t.Parallel()
	n := 0
	b := setup(t, nil, func(d *knowledge.Deps) {
		d.Capabilities = []knowledge.CapabilityContext{
			{Name: "x", About: "things", List: func(ctx context.Context) ([]knowledge.Capability, error) {
				if authz.From(ctx).ID == ben.ID {
					return nil, problem.Forbidden("x.thing.read is missing")
				}
				return kinds(n), nil
			}},
			{Name: "empty", List: func(context.Context) ([]knowledge.Capability, error) { return nil, nil }},
		}
	})
	for n = range 15 {
		out := b.mustUse(ann, "listCapabilities", `{"context":"x"}`)
		entries := list(out, "entries")
		if len(entries) != n || out["truncated"] != (n > 12) || out["context"] != "x" {
			t.Errorf("%d kinds: %d entries, truncated %v", n, len(entries), out["truncated"])
		}
		for i, e := range entries {
			if e["id"] != fmt.Sprintf("x.k%02d", i) {
				t.Errorf("%d kinds: entry %d is %v", n, i, e["id"])
			}
			if _, there := e["configSummary"]; there == (n > 12) {
				t.Errorf("%d kinds: settings there: %v", n, there)
			}
		}
	}
	n = 1
	got := fmt.Sprint(list(b.mustUse(ann, "listCapabilities", `{"context":"x"}`), "entries")[0]["configSummary"])
	want := "[map[name:z required:false type:string] map[name:b required:true type:number] map[name:e required:false type:enum] map[name:u required:false type:union] " +
		"map[name:n required:false type:string|null] map[name:o required:false type:unknown] map[name:p required:false type:unknown]]"
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	schema := b.mustUse(ann, "getCapabilitySchema", `{"context":"x","kind":"x.k00"}`)
	if schema["id"] != "x.k00" || schema["configSchema"].(map[string]any)["type"] != "object" {
		t.Errorf("got %v", schema)
	}
	if out := b.mustUse(ann, "listCapabilities", `{"context":"empty"}`); out["truncated"] != false || len(list(out, "entries")) != 0 || out["entries"] == nil {
		t.Errorf("empty: %v", out)
	}
	for in, want := range map[string]string{`{"context":"x","kind":"x.nope"}`: "x.k00", `{"context":"y","kind":"z"}`: "x, empty"} {
		if _, err := b.use(ann, "getCapabilitySchema", in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", in, err)
		}
	}
	if _, err := b.use(ben, "listCapabilities", `{"context":"x"}`); !problem.Is(err, problem.KindForbidden) {
		t.Errorf("without the domain's right: %v", err)
	}
	if _, err := knowledge.New(knowledge.Deps{Docs: docs.Pages, Capabilities: []knowledge.CapabilityContext{{Name: "x"}, {Name: "x"}}}); err == nil {
		t.Error("two contexts of one name")
	}
	if tl := toolNamed(t, b.svc, "ai.listCapabilities"); has(tl.Description(), `"x" (things)`) != nil {
		t.Errorf("description: %s", tl.Description())
	}
}
