package strategy

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestOperators is the semantics table of spec/monitoring.md 4.11: the value
// found (as JSON, empty for missing), the expected one, and the verdict.
func TestOperators(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		op, found, want string
		pass            bool
	}{
		{"exists", `0`, ``, true}, {"exists", `""`, ``, true}, {"exists", `null`, ``, false}, {"exists", ``, ``, false},
		{"notExists", ``, ``, true}, {"notExists", `null`, ``, true}, {"notExists", `false`, ``, false},
		{"isTrue", `true`, ``, true}, {"isTrue", `"true"`, ``, false}, {"isTrue", `1`, ``, false}, {"isTrue", `[]`, ``, false},
		{"isFalse", `false`, ``, true}, {"isFalse", `0`, ``, false}, {"isFalse", ``, ``, false},
		{"equals", `200`, `200`, true}, {"equals", `200.0`, `200`, true}, {"equals", `"200"`, `200`, true}, {"equals", `200`, `"2e2"`, true},
		{"equals", `"a"`, `"a"`, true}, {"equals", `"a"`, `"A"`, false}, {"equals", ``, `"null"`, false}, {"equals", `null`, `"null"`, false},
		{"equals", `true`, `"true"`, true}, {"equals", `true`, `1`, false}, {"equals", `""`, `0`, false}, {"equals", `"0x10"`, `16`, false},
		{"equals", `"inf"`, `"Infinity"`, false}, {"equals", `9007199254740993`, `9007199254740992`, false}, {"equals", `"007"`, `7`, true},
		{"equals", `1e400`, `1e401`, false}, {"equals", `["a"]`, `"[\"a\"]"`, true},
		{"notEquals", `"a"`, `"b"`, true}, {"notEquals", `"a"`, `"a"`, false}, {"notEquals", ``, `"a"`, true}, {"notEquals", `1`, `"1"`, false},
		{"contains", `"hello"`, `"ell"`, true}, {"contains", `1234`, `"23"`, true}, {"contains", ``, `"a"`, false},
		{"startsWith", `"hello"`, `"he"`, true}, {"startsWith", `"hello"`, `"lo"`, false}, {"endsWith", `"hello"`, `"lo"`, true}, {"endsWith", `"hello"`, `"he"`, false},
		{"matches", `"version 12.3"`, `"\\d+\\.\\d"`, true}, {"matches", `"abc"`, `"^b"`, false}, {"matches", ``, `".*"`, false},
		{"lessThan", `1`, `2`, true}, {"lessThan", `2`, `2`, false}, {"lessThan", `"1"`, `2`, true}, {"lessThan", `"x"`, `2`, false}, {"lessThan", `""`, `2`, false}, {"lessThan", `null`, `2`, false},
		{"lessThanOrEqual", `2`, `2`, true}, {"lessThanOrEqual", `3`, `2`, false}, {"greaterThan", `3`, `2`, true}, {"greaterThan", `2`, `2`, false},
		{"greaterThanOrEqual", `2`, `2`, true}, {"greaterThanOrEqual", `1`, `2`, false}, {"greaterThan", `true`, `0`, false},
		{"includes", `["a",1]`, `1`, true}, {"includes", `["a",1]`, `"1"`, true}, {"includes", `["a"]`, `"b"`, false}, {"includes", `"abc"`, `"a"`, false},
		{"notIncludes", `["a"]`, `"b"`, true}, {"notIncludes", `["a"]`, `"a"`, false}, {"notIncludes", `"abc"`, `"x"`, false}, {"notIncludes", ``, `"x"`, false},
		{"lengthEquals", `[1,2]`, `2`, true}, {"lengthEquals", `"ab"`, `2`, false}, {"lengthGreaterThan", `[1,2]`, `1`, true}, {"lengthGreaterThan", `[1]`, `1`, false},
		{"lengthLessThan", `[]`, `1`, true}, {"lengthLessThan", `[1]`, `1`, false},
		{"isEmpty", `[]`, ``, true}, {"isEmpty", `{}`, ``, true}, {"isEmpty", `"  "`, ``, true}, {"isEmpty", ``, ``, true}, {"isEmpty", `null`, ``, true},
		{"isEmpty", `0`, ``, false}, {"isEmpty", `false`, ``, false}, {"isEmpty", `[0]`, ``, false},
		{"isNotEmpty", `"a"`, ``, true}, {"isNotEmpty", `[]`, ``, false}, {"isNotEmpty", ``, ``, false},
	} {
		op, ok := operators[row.op]
		if !ok {
			t.Fatalf("no operator %q", row.op)
		}
		var s subject
		if row.found != "" {
			v, err := parseJSON([]byte(row.found))
			if err != nil {
				t.Fatal(err)
			}
			s = subject{v, true}
		}
		var want any
		if row.want != "" {
			want, _ = parseJSON([]byte(row.want))
		}
		re, _ := compilePattern(toText(want))
		if got := op.test(s, want, re); got != row.pass {
			t.Errorf("%s: found %s, expected %s: %v, want %v", row.op, row.found, row.want, got, row.pass)
		}
	}
	for kind, ops := range kindOperators {
		for _, op := range ops {
			if _, ok := operators[op]; !ok {
				t.Errorf("%s offers unknown operator %q", kind, op)
			}
		}
	}
}

var bodyResult = &Schema{Type: "object", Open: true, Properties: []Property{
	{Name: "code", Schema: Schema{Type: "integer", Chart: &Chart{Type: "counter", Label: "Code", Priority: 2}}},
	{Name: "tookMs", Schema: Schema{Type: "number", Chart: &Chart{Type: "line", Unit: "ms", Priority: 1}}},
	{Name: "ok", Schema: Schema{Type: "boolean"}},
	{Name: "mode", Schema: Schema{Type: "string", Enum: []string{"on", "off"}}},
	{Name: "body", Schema: Schema{Type: "string", Ephemeral: true, JSONPath: true}},
	{Name: "tags", Schema: Schema{Type: "array", Items: &Schema{Type: "string"}}},
	{Name: "disk", Schema: Schema{Type: "object", Open: true, Properties: []Property{{Name: "freeBytes", Schema: Schema{Type: "integer"}}}}},
	{Name: "nodes", Schema: Schema{Type: "array", Items: &Schema{Type: "object", Properties: []Property{{Name: "name", Schema: Schema{Type: "string"}}}}}},
}}

func TestAssertionFields(t *testing.T) {
	t.Parallel()
	var got []string
	for _, f := range assertionFields(bodyResult) {
		got = append(got, f.Path+":"+string(f.Kind)+":"+f.Label)
		if len(f.Operators) == 0 {
			t.Errorf("%s has no operators", f.Path)
		}
	}
	want := "tookMs:duration:Took Ms code:number:Code ok:boolean:Ok mode:enum:Mode body:string:Body tags:array:Tags " +
		"disk.freeBytes:number:Free Bytes nodes:array:Nodes nodes[*].name:array:Name body.$:jsonpath:Body (JSONPath)"
	if strings.Join(got, " ") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, " "), want)
	}
}

func judge(t testing.TB, a Assertion, fields map[string]any) Outcome {
	t.Helper()
	return prepareAssertion(a, assertionFields(bodyResult)).judge(Measurement{Fields: fields}, newScrubber(nil))
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	fields := map[string]any{
		"code": 404, "tookMs": int64(12), "ok": true, "body": `{"items":[{"n":1},{"n":2}],"empty":[]}`, "tags": []string{"a"},
		"disk": map[string]any{"freeBytes": 5}, "nodes": []any{map[string]any{"name": "x"}, map[string]any{"name": "y"}},
	}
	for _, row := range []struct {
		field, path, op, value string
		actual, message        string
	}{
		{"code", "", "equals", "200", "404", "code: expected to equal 200, got 404"},
		{"tookMs", "", "lessThanOrEqual", "10", "12", "tookMs: expected to be at most 10, got 12"},
		{"ok", "", "isFalse", "", "true", "ok: expected to be false, got true"},
		{"tags", "", "includes", `"b"`, `["a"]`, `tags: expected to include "b", got ["a"]`},
		{"tags", "", "includes", `"a"`, `["a"]`, ""},
		{"disk.freeBytes", "", "greaterThan", "4", "5", ""},
		{"nodes[*].name", "", "includes", `"y"`, `["x","y"]`, ""},
		{"mode", "", "equals", `"on"`, "", `mode: expected to equal "on", got nothing`},
		{"body.$", "$.items.length", "equals", "2", "2", ""},
		{"body.$", "$.items[1].n", "equals", "3", "2", "body $.items[1].n: expected to equal 3, got 2"},
		{"body.$", "$.items[*].n", "equals", `"[1,2]"`, "[1,2]", ""},
		{"body.$", "$.nothing", "exists", "", "", "body $.nothing: expected to exist, got nothing"},
		{"body.$", "$.empty", "isEmpty", "", "[]", ""},
		{"body", "$.items[0].n", "equals", "1", "1", ""},
		{"gone", "", "equals", "1", "", "gone: is not a result of this collector; available: tookMs"},
		{"code", "", "equals", "", "", "code: is required for this operator"},
	} {
		o := judge(t, Assertion{Field: row.field, JSONPath: row.path, Operator: row.op, Value: json.RawMessage(row.value)}, fields)
		if o.Passed != (row.message == "") || o.Actual != row.actual || !strings.HasPrefix(o.Message, row.message) {
			t.Errorf("%s %s %s: passed %v, actual %q, message %q; want %q, %q", row.field, row.path, row.op, o.Passed, o.Actual, o.Message, row.actual, row.message)
		}
	}
	o := judge(t, Assertion{Field: "body.$", JSONPath: "$.a", Operator: "exists"}, map[string]any{"body": "<html>"})
	if o.Passed || o.Message != "body $.a: the body is not valid JSON" {
		t.Errorf("not JSON: %+v", o)
	}
	long := judge(t, Assertion{Field: "body", Operator: "equals", Value: json.RawMessage(`"x"`)}, map[string]any{"body": strings.Repeat("é", 5000)})
	if n := utf8.RuneCountInString(long.Actual); n != maxActual {
		t.Errorf("actual has %d characters", n)
	}
}

func TestAssertionKeyIsCanonical(t *testing.T) {
	t.Parallel()
	a := assertionKey(Assertion{Field: "f", Operator: "equals", Value: json.RawMessage(` 1.50 `)})
	b := assertionKey(Assertion{Field: "f", Operator: "equals", Value: json.RawMessage(`1.5`)})
	if a != b || a != `["f",null,"equals",1.5]` {
		t.Errorf("%s, %s", a, b)
	}
	c := assertionKey(Assertion{Field: "f", JSONPath: "$.a", Operator: "exists"})
	if c != `["f","$.a","exists",null]` {
		t.Error(c)
	}
}

func TestJSONPath(t *testing.T) {
	t.Parallel()
	const doc = `{"a":{"b":[1,2,3],"length":7},"s":"héy","x y":1,"list":[{"id":1},{"id":2}],"n":null}`
	root, _ := parseJSON([]byte(doc))
	for path, want := range map[string]string{
		"$": toJSON(root), "$.a.b[0]": "1", "$.a.b[-1]": "3", "$.a.b.length": "3", "$.a.length": "7", "$.s.length": "3",
		"$['x y']": "1", "$.list[*].id": "[1,2]", "$..id": "[1,2]", "$.a.b[0:2]": "[1,2]", "$.a.b[::-1]": "[3,2,1]",
		"$.n": "null", "$.zzz": "-", "$.a.b[9]": "-", "$.zzz.length": "-", "$.a.b.x": "-", "$.list.length.x": "-", "$.a.b[0,0]": "[1,1]",
		"$.list[*].id.length": "-", "$.a.b[5:]": "-",
	} {
		p, err := parseJSONPath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		v, found, err := p.eval(root)
		got := "-"
		if found {
			got = toJSON(v)
		}
		if err != nil || got != want {
			t.Errorf("%s: %s (%v), want %s", path, got, err, want)
		}
	}
	for _, path := range []string{"", "a.b", "$.", "$..", "$[?(@.a)]", "$[?@.a == 1]", "$.a[", "$.a b", "$" + strings.Repeat(".a", 300)} {
		if _, err := parseJSONPath(path); err == nil {
			t.Errorf("%q was accepted", path)
		}
	}
	nested, _ := parseJSON([]byte(strings.Repeat("[", 3000) + strings.Repeat("]", 3000)))
	p, err := parseJSONPath("$..*..*..*")
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := p.eval(nested); err != errPathTooBroad {
		t.Errorf("a path that explodes: %v", err)
	}
}

func FuzzJSONPath(f *testing.F) {
	for _, path := range []string{"$.a.length", "$..*", "$[0:1:2]", "$['a\\'b']", "$[?(@)]", "$..*..*", "$[-1]", "$[9223372036854775807]", "$[::-9]", "$.a[*]['b','c']"} {
		f.Add(path, `{"a":[1,{"b":null}],"c":"x"}`)
	}
	f.Fuzz(func(t *testing.T, path, doc string) {
		p, err := parseJSONPath(path)
		if err != nil {
			return
		}
		root, err := parseJSON([]byte(doc))
		if err != nil {
			return
		}
		v, found, err := p.eval(root)
		if err == nil && !found && v != nil {
			t.Error("a value that was not found")
		}
		if p.singular && found {
			// A singular path gives one value of the document itself.
			if again, _, _ := p.eval(root); toJSON(again) != toJSON(v) {
				t.Error("two evaluations differ")
			}
		}
	})
}

func FuzzAssertion(f *testing.F) {
	f.Add("body", "$.a", "equals", `1`, `{"a":1}`)
	f.Add("body.$", "$..a", "matches", `"(a+)+$"`, `{"a":"aaaa"}`)
	f.Add("code", "", "lessThan", `1e999`, "x\x00\xff")
	f.Add("tags", "", "includes", `{"a":[1]}`, "")
	f.Fuzz(func(t *testing.T, field, path, op, value, body string) {
		a := Assertion{Field: field, JSONPath: path, Operator: op, Value: json.RawMessage(value)}
		issues := checkAssertion("a", a, assertionFields(bodyResult), nil)
		o := prepareAssertion(a, assertionFields(bodyResult)).judge(Measurement{Fields: map[string]any{
			"body": body, "code": 1, "tags": []string{body},
		}}, newScrubber(nil))
		switch {
		case len(issues) > 0 && o.Passed:
			t.Errorf("an assertion with faults passed: %v", issues)
		case o.Passed == (o.Message != ""):
			t.Errorf("passed %v with message %q", o.Passed, o.Message)
		case utf8.RuneCountInString(o.Actual) > maxActual:
			t.Error("actual is too long")
		case !utf8.ValidString(o.Actual) || strings.ContainsRune(o.Actual, 0):
			t.Errorf("actual cannot be stored: %q", o.Actual)
		}
	})
}
