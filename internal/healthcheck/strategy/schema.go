package strategy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
)

// Schema describes a config or a result. It marshals to JSON Schema
// (2020-12) with this product's annotations; properties keep their order, which
// is the order of the form.
type Schema struct {
	// Type is object, array, string, number, integer or boolean.
	Type        string
	Title       string
	Description string
	// Properties are for objects. An object accepts no other keys, except when
	// it is Open, as results are.
	Properties []Property
	Open       bool
	Items      *Schema
	Enum       []string
	Default    any
	Format     string
	Minimum    *float64
	Maximum    *float64
	MinLength  int
	MaxLength  int
	MaxItems   int

	// SecretID marks a secret ("x-secret") and is its stable id within the
	// config, under which the value is kept: renaming the field keeps it.
	SecretID string
	// Templatable fields are rendered before each run.
	Templatable bool
	// EditorTypes offers editors for a text, such as "json" or "raw".
	EditorTypes []string
	// VisibleWhen lists the values of a sibling for which the form shows this field.
	VisibleWhen *Condition
	// Ephemeral results are seen by assertions and never stored.
	Ephemeral bool
	// JSONPath marks a raw text that assertions may read as JSON.
	JSONPath bool
	// Chart says how a result is drawn; nil is not drawn.
	Chart *Chart
}

// Property is a named member of an object.
type Property struct {
	Name     string
	Required bool
	Schema
}

// Condition is one of the given values in a sibling field.
type Condition struct {
	Field  string   `json:"field"`
	Values []string `json:"values"`
}

// Chart is how a result field is drawn, spec/monitoring.md 5.1.
type Chart struct {
	// Type is line, bar, pie, counter, gauge, boolean, text or status.
	Type  string
	Label string
	Unit  string
	// Priority orders fields, lower first; zero means the default, 100.
	Priority int
	// GoodDirection is up, down or empty.
	GoodDirection string
	TrueLabel     string
	FalseLabel    string
}

// Limit gives a bound for Minimum and Maximum.
func Limit(v float64) *float64 { return &v }

// property finds a member by name.
func (s *Schema) property(name string) *Property {
	for i := range s.Properties {
		if s.Properties[i].Name == name {
			return &s.Properties[i]
		}
	}
	return nil
}

// MarshalJSON writes JSON Schema.
func (s *Schema) MarshalJSON() ([]byte, error) {
	w := &schemaWriter{}
	w.schema(s)
	if w.err != nil {
		return nil, fmt.Errorf("marshal schema: %w", w.err)
	}
	return w.buf.Bytes(), nil
}

type schemaWriter struct {
	buf bytes.Buffer
	err error
}

func (w *schemaWriter) schema(s *Schema) {
	w.buf.WriteByte('{')
	w.member("type", s.Type, true)
	w.member("title", s.Title, s.Title != "")
	w.member("description", s.Description, s.Description != "")
	if s.Type == "object" {
		w.object(s)
	}
	if s.Items != nil {
		w.key("items")
		w.schema(s.Items)
	}
	w.member("enum", s.Enum, len(s.Enum) > 0)
	w.member("default", s.Default, s.Default != nil)
	w.member("format", s.Format, s.Format != "")
	w.member("minimum", s.Minimum, s.Minimum != nil)
	w.member("maximum", s.Maximum, s.Maximum != nil)
	w.member("minLength", s.MinLength, s.MinLength > 0)
	w.member("maxLength", s.MaxLength, s.MaxLength > 0)
	w.member("maxItems", s.MaxItems, s.MaxItems > 0)
	w.member("x-secret", true, s.SecretID != "")
	w.member("x-templatable", true, s.Templatable)
	w.member("x-editor-types", s.EditorTypes, len(s.EditorTypes) > 0)
	w.member("x-visible-when", s.VisibleWhen, s.VisibleWhen != nil)
	w.member("x-ephemeral", true, s.Ephemeral)
	w.member("x-jsonpath", true, s.JSONPath)
	if c := s.Chart; c != nil {
		w.member("x-chart-type", c.Type, true)
		w.member("x-chart-label", c.Label, c.Label != "")
		w.member("x-chart-unit", c.Unit, c.Unit != "")
		w.member("x-chart-priority", c.Priority, c.Priority != 0)
		w.member("x-chart-good-direction", c.GoodDirection, c.GoodDirection != "")
		w.member("x-chart-true-label", c.TrueLabel, c.TrueLabel != "")
		w.member("x-chart-false-label", c.FalseLabel, c.FalseLabel != "")
	}
	w.buf.WriteByte('}')
}

func (w *schemaWriter) object(s *Schema) {
	w.key("properties")
	w.buf.WriteByte('{')
	required := []string{}
	for i := range s.Properties {
		p := &s.Properties[i]
		w.key(p.Name)
		w.schema(&p.Schema)
		if p.Required {
			required = append(required, p.Name)
		}
	}
	w.buf.WriteByte('}')
	w.member("required", required, len(required) > 0)
	w.member("additionalProperties", false, !s.Open)
}

func (w *schemaWriter) key(name string) {
	if b := w.buf.Bytes(); b[len(b)-1] != '{' {
		w.buf.WriteByte(',')
	}
	w.value(name)
	w.buf.WriteByte(':')
}

func (w *schemaWriter) member(name string, value any, present bool) {
	if !present {
		return
	}
	w.key(name)
	w.value(value)
}

func (w *schemaWriter) value(v any) {
	raw, err := json.Marshal(v)
	if err != nil && w.err == nil {
		w.err = err
	}
	w.buf.Write(raw)
}

var schemaTypes = []string{"object", "array", "string", "number", "integer", "boolean"}

// problems lists what is wrong with the schema itself, for the registry.
func (s *Schema) problems(path string, inArray bool, secretIDs map[string]bool) []string {
	var out []string
	bad := func(format string, args ...any) { out = append(out, path+": "+fmt.Sprintf(format, args...)) }
	if !slices.Contains(schemaTypes, s.Type) {
		bad("unknown type %q", s.Type)
	}
	if s.Type == "array" && s.Items == nil {
		bad("array without items")
	}
	if len(s.Enum) > 0 && s.Type != "string" {
		bad("enum on a %s", s.Type)
	}
	if s.Templatable && s.Type != "string" {
		bad("templatable %s", s.Type)
	}
	if s.SecretID != "" {
		switch {
		case s.Type != "string":
			bad("secret %s", s.Type)
		case s.Templatable:
			bad("a field cannot be both secret and templatable")
		case inArray:
			bad("a secret inside an array has no stable id")
		case secretIDs[s.SecretID]:
			bad("secret id %q is used twice", s.SecretID)
		case s.Default != nil:
			bad("a secret cannot have a default")
		}
		secretIDs[s.SecretID] = true
	}
	if s.Default != nil {
		for _, is := range s.validate("default", jsonValue(s.Default)) {
			bad("bad default: %s", is.Message)
		}
	}
	seen := map[string]bool{}
	for i := range s.Properties {
		p := &s.Properties[i]
		if p.Name == "" || seen[p.Name] {
			bad("property %q is empty or declared twice", p.Name)
		}
		seen[p.Name] = true
		if c := p.VisibleWhen; c != nil && s.property(c.Field) == nil {
			bad("property %q depends on an unknown field", p.Name)
		}
		out = append(out, p.problems(path+"."+p.Name, inArray, secretIDs)...)
	}
	if s.Items != nil {
		out = append(out, s.Items.problems(path+"[]", true, secretIDs)...)
	}
	return out
}
