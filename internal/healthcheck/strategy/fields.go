package strategy

import (
	"slices"
	"strings"
	"unicode"
)

// FieldKind decides which operators an assertion on a field may use.
type FieldKind string

// The kinds of spec/monitoring.md 4.11.
const (
	KindString   FieldKind = "string"
	KindNumber   FieldKind = "number"
	KindBoolean  FieldKind = "boolean"
	KindEnum     FieldKind = "enum"
	KindArray    FieldKind = "array"
	KindDuration FieldKind = "duration"
	KindJSONPath FieldKind = "jsonpath"
)

// AssertionField is a result field that assertions may use.
type AssertionField struct {
	Path       string    `json:"path"`
	Label      string    `json:"label"`
	Kind       FieldKind `json:"kind"`
	Operators  []string  `json:"operators"`
	Unit       string    `json:"unit,omitempty"`
	Options    []string  `json:"options,omitempty"`
	TrueLabel  string    `json:"trueLabel,omitempty"`
	FalseLabel string    `json:"falseLabel,omitempty"`

	ephemeral bool
	priority  int
}

// rawSuffix ends the field of a JSONPath assertion: "body.$".
const rawSuffix = ".$"

// assertionFields lists what assertions may use, in the order of the picker:
// chart priority, then declaration; JSONPath last.
func assertionFields(result *Schema) []AssertionField {
	out := discover(nil, result, "", false)
	slices.SortStableFunc(out, func(a, b AssertionField) int {
		if raw := compareBool(a.Kind == KindJSONPath, b.Kind == KindJSONPath); raw != 0 {
			return raw
		}
		return a.priority - b.priority
	})
	return out
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func discover(out []AssertionField, s *Schema, prefix string, many bool) []AssertionField {
	for i := range s.Properties {
		p := &s.Properties[i]
		path := join(prefix, p.Name)
		f := newField(path, &p.Schema, many)
		switch {
		case p.Type == "object":
			out = discover(out, &p.Schema, path, many)
			continue
		case p.Type == "array" && p.Items.Type == "object":
			out = append(out, f)
			out = discover(out, p.Items, path+"[*]", true)
			continue
		}
		out = append(out, f)
		if p.JSONPath {
			raw := f
			raw.Path, raw.Kind = path+rawSuffix, KindJSONPath
			raw.Label += " (JSONPath)"
			raw.Operators = operatorsOf(KindJSONPath)
			out = append(out, raw)
		}
	}
	return out
}

func newField(path string, s *Schema, many bool) AssertionField {
	f := AssertionField{Path: path, Label: s.Title, Kind: fieldKind(s), priority: 100, ephemeral: s.Ephemeral}
	if many {
		f.Kind = KindArray
	}
	if c := s.Chart; c != nil {
		f.Unit, f.TrueLabel, f.FalseLabel = c.Unit, c.TrueLabel, c.FalseLabel
		if c.Label != "" {
			f.Label = c.Label
		}
		if c.Priority != 0 {
			f.priority = c.Priority
		}
	}
	if f.Label == "" {
		f.Label = humanise(path)
	}
	f.Options = s.Enum
	f.Operators = operatorsOf(f.Kind)
	return f
}

func fieldKind(s *Schema) FieldKind {
	switch s.Type {
	case "number", "integer":
		if s.Chart != nil && s.Chart.Unit == "ms" {
			return KindDuration
		}
		return KindNumber
	case "boolean":
		return KindBoolean
	case "array":
		return KindArray
	}
	if len(s.Enum) > 0 {
		return KindEnum
	}
	return KindString
}

// humanise turns "retryCount" into "Retry Count".
func humanise(path string) string {
	name := path[strings.LastIndexByte(path, '.')+1:]
	var b strings.Builder
	for i, r := range name {
		switch {
		case i == 0:
			r = unicode.ToUpper(r)
		case unicode.IsUpper(r):
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// fieldValue reads a path such as "a.b" or "a[*].b" from a result.
func fieldValue(fields map[string]any, path string) (any, bool) {
	if v, ok := fields[path]; ok {
		return plainValue(v), true
	}
	var node any = fields
	return readPath(node, strings.Split(path, "."))
}

func readPath(node any, steps []string) (any, bool) {
	for i, step := range steps {
		name, each := strings.CutSuffix(step, "[*]")
		m, ok := node.(map[string]any)
		if !ok {
			return nil, false
		}
		if node, ok = m[name]; !ok {
			return nil, false
		}
		node = plainValue(node)
		if !each {
			continue
		}
		list, ok := node.([]any)
		if !ok {
			return nil, false
		}
		out := make([]any, 0, len(list))
		for _, item := range list {
			if v, ok := readPath(item, steps[i+1:]); ok {
				out = append(out, v)
			}
		}
		return out, true
	}
	return node, true
}

// plainValue gives v in the forms that encoding/json makes.
func plainValue(v any) any {
	switch t := v.(type) {
	case nil, bool, string, []any, map[string]any, float64, int, int64:
		return v
	case []string:
		out := make([]any, len(t))
		for i := range t {
			out[i] = t[i]
		}
		return out
	}
	return jsonValue(v)
}
