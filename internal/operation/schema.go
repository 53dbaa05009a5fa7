package operation

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"reflect"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/checkstack/checkstack/internal/problem"
)

// Schema is the one JSON Schema of a Go type. It validates, fills defaults,
// decodes, and prints itself for OpenAPI, model providers and MCP alike.
type Schema struct {
	typ  reflect.Type
	root *huma.Schema
	reg  huma.Registry
}

func init() {
	// huma keeps these two switches in package variables; both decide what
	// "valid" means for us and must hold before the first schema is made.
	huma.ValidateStrictCasing = true
	huma.DefaultArrayNullable = false
}

// SchemaOf makes the schema of T from its huma struct tags.
func SchemaOf[T any]() *Schema { return newSchema(reflect.TypeFor[T]()) }

func newSchema(t reflect.Type) *Schema {
	reg := huma.NewMapRegistry("#/$defs/", schemaName)
	s := &Schema{typ: t, reg: reg, root: reg.Schema(t, false, t.Name())}
	s.root.PrecomputeMessages()
	return s
}

// schemaName qualifies a type with its package, so that two domains may both
// have a "ListOutput". Type arguments are folded into the name.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	name := t.Name()
	if name == "" {
		name = hint
	}
	if i := strings.IndexByte(name, '['); i >= 0 {
		args := name[i+1 : len(name)-1]
		name = name[:i]
		for arg := range strings.SplitSeq(args, ",") {
			name += title(path.Base(arg[strings.LastIndexByte(arg, '.')+1:]))
		}
	}
	if pkg := t.PkgPath(); pkg != "" && pkg != "main" {
		name = title(path.Base(pkg)) + title(name)
	}
	return name
}

func title(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// JSON prints the schema as one self-contained document: an object whose
// shared types stand under "$defs". Models pay for every byte of it, so a type
// that nothing refers to is left out.
func (s *Schema) JSON() (json.RawMessage, error) {
	root, err := json.Marshal(s.root)
	if err != nil {
		return nil, fmt.Errorf("schema of %s: %w", s.typ, err)
	}
	var doc map[string]any
	if err := json.Unmarshal(root, &doc); err != nil {
		return nil, fmt.Errorf("schema of %s: %w", s.typ, err)
	}
	if defs := s.referred(); len(defs) > 0 {
		doc["$defs"] = defs
	}
	if doc["type"] == "object" && doc["properties"] == nil {
		doc["properties"] = map[string]any{}
	}
	return json.Marshal(doc)
}

// referred gives the shared types that the schema leads to.
func (s *Schema) referred() map[string]*huma.Schema {
	out := map[string]*huma.Schema{}
	var walk func(sc *huma.Schema)
	walk = func(sc *huma.Schema) {
		if sc == nil {
			return
		}
		if sc.Ref != "" {
			name := path.Base(sc.Ref)
			if _, seen := out[name]; !seen {
				out[name] = s.reg.SchemaFromRef(sc.Ref)
				walk(out[name])
			}
		}
		for _, p := range sc.Properties {
			walk(p)
		}
		walk(sc.Items)
		walk(sc.Not)
		for _, group := range [][]*huma.Schema{sc.OneOf, sc.AnyOf, sc.AllOf} {
			for _, p := range group {
				walk(p)
			}
		}
		if p, ok := sc.AdditionalProperties.(*huma.Schema); ok {
			walk(p)
		}
	}
	walk(s.root)
	return out
}

// Decode checks raw against the schema and reads it into target, a pointer to
// the schema's type. Absent keys get their declared defaults. An empty input
// and null mean {}. Every fault is reported with its path; submitted values
// are never repeated in the message.
func (s *Schema) Decode(raw json.RawMessage, target any) error {
	value, err := parse(raw)
	if err != nil {
		return err
	}
	if value == nil && s.root.Type == huma.TypeObject {
		value, raw = map[string]any{}, json.RawMessage("{}")
	}
	return s.decode(value, raw, target)
}

// decode reads a parsed value. raw is its text, used when nothing had to be
// changed so that numbers keep their exact digits; nil re-encodes the value.
func (s *Schema) decode(value any, raw json.RawMessage, target any) error {
	pb := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	res := &huma.ValidateResult{}
	value, changed, issues := s.dates(s.root, value, "")
	huma.Validate(s.reg, s.root, pb, huma.ModeWriteToServer, value, res)
	issues = append(issues, issuesOf(res, issues)...)
	issues = append(issues, s.extraIssues(s.root, value, "")...)
	if len(issues) > 0 {
		sort.SliceStable(issues, func(i, j int) bool { return issues[i].Path < issues[j].Path })
		return problem.InputIssues(issues)
	}
	filled, ch := s.fill(s.root, value)
	if ch || changed || raw == nil {
		b, err := json.Marshal(filled)
		if err != nil {
			return fmt.Errorf("encode checked input: %w", err)
		}
		raw = b
	}
	if err := json.Unmarshal(raw, target); err != nil {
		var typeErr *json.UnmarshalTypeError
		if errors.As(err, &typeErr) {
			return problem.Field(typeErr.Field, "expected %s", typeErr.Type).Because(err)
		}
		return problem.Invalid("Invalid input", problem.Issue{Message: "cannot be read"}).Because(err)
	}
	return nil
}

// parse reads exactly one JSON value whose objects have each key once.
func parse(raw json.RawMessage) (any, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	var value any
	if err := dec.Decode(&value); err != nil {
		return nil, problem.Invalid("The request is not valid JSON",
			problem.Issue{Message: fmt.Sprintf("not valid JSON near byte %d", dec.InputOffset())}).Because(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, problem.Invalid("The request is not valid JSON",
			problem.Issue{Message: fmt.Sprintf("unexpected text after the JSON value, at byte %d", dec.InputOffset())})
	}
	if issues := repeatedKeys(raw); len(issues) > 0 {
		return nil, problem.InputIssues(issues)
	}
	return value, nil
}

// issuesOf turns huma's findings into ours: the path of a missing property is
// the property itself, and the submitted value is dropped. What it finds at a
// date that was refused already is left out.
func issuesOf(res *huma.ValidateResult, dates []problem.Issue) []problem.Issue {
	issues := make([]problem.Issue, 0, len(res.Errors))
	for _, err := range res.Errors {
		var d *huma.ErrorDetail
		if !errors.As(err, &d) {
			issues = append(issues, problem.Issue{Message: err.Error()})
			continue
		}
		if slices.ContainsFunc(dates, func(is problem.Issue) bool { return is.Path == d.Location }) {
			continue
		}
		is := problem.Issue{Path: d.Location, Message: d.Message}
		if rest, ok := strings.CutPrefix(d.Message, "expected required property "); ok {
			is.Path = join(d.Location, strings.TrimSuffix(rest, " to be present"))
			is.Message = "is required"
		} else if d.Message == "unexpected property" {
			is.Message = "unknown field"
		} else if i := strings.Index(d.Message, ": "); i > 0 && strings.HasPrefix(d.Message, "expected string to be RFC") {
			is.Message = d.Message[:i] // what follows repeats the value
		}
		issues = append(issues, is)
	}
	return issues
}

func join(base, key string) string {
	if base == "" {
		return key
	}
	return base + "." + key
}

func (s *Schema) resolve(sc *huma.Schema) *huma.Schema {
	for sc != nil && sc.Ref != "" {
		sc = s.reg.SchemaFromRef(sc.Ref)
	}
	return sc
}

// extraIssues finds what JSON Schema cannot say: text that no database of ours
// stores (NUL).
func (s *Schema) extraIssues(sc *huma.Schema, value any, at string) []problem.Issue {
	sc = s.resolve(sc)
	var issues []problem.Issue
	switch v := value.(type) {
	case string:
		if strings.ContainsRune(v, 0) {
			issues = append(issues, problem.Issue{Path: at, Message: "must not contain a NUL character"})
		}
	case []any:
		for i, item := range v {
			var sub *huma.Schema
			if sc != nil {
				sub = sc.Items
			}
			issues = append(issues, s.extraIssues(sub, item, at+"["+strconv.Itoa(i)+"]")...)
		}
	case map[string]any:
		for k, item := range v {
			if strings.ContainsRune(k, 0) {
				issues = append(issues, problem.Issue{Path: at, Message: "a key must not contain a NUL character"})
			}
			issues = append(issues, s.extraIssues(s.property(sc, k), item, join(at, k))...)
		}
	}
	return issues
}

func (s *Schema) property(sc *huma.Schema, key string) *huma.Schema {
	if sc == nil {
		return nil
	}
	if p, ok := sc.Properties[key]; ok {
		return p
	}
	if p, ok := sc.AdditionalProperties.(*huma.Schema); ok {
		return p
	}
	return nil
}

// fill puts declared defaults where a key is absent or null and turns integral floats
// (models write 30.0) into integers where the schema asks for one.
func (s *Schema) fill(sc *huma.Schema, value any) (any, bool) {
	sc = s.resolve(sc)
	if sc == nil {
		return value, false
	}
	changed := false
	switch v := value.(type) {
	case map[string]any:
		for name, p := range sc.Properties {
			p = s.resolve(p)
			item, present := v[name]
			if item == nil && p != nil && p.Default != nil && !p.Nullable {
				v[name] = p.Default
				changed = true
				continue
			}
			if present {
				next, ch := s.fill(p, item)
				if ch {
					v[name] = next
					changed = true
				}
			}
		}
		if p, ok := sc.AdditionalProperties.(*huma.Schema); ok {
			for k, item := range v {
				if _, declared := sc.Properties[k]; declared {
					continue
				}
				if next, ch := s.fill(p, item); ch {
					v[k] = next
					changed = true
				}
			}
		}
	case []any:
		for i, item := range v {
			if next, ch := s.fill(sc.Items, item); ch {
				v[i] = next
				changed = true
			}
		}
	case float64:
		if sc.Type == huma.TypeInteger && v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v), true
		}
	}
	return value, changed
}

// Check is Decode without a target: it says whether raw is an acceptable input.
func (s *Schema) Check(raw json.RawMessage) error {
	return s.Decode(raw, reflect.New(s.typ).Interface())
}
