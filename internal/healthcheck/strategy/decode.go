package strategy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/problem"
)

// parseObject reads a config. Nothing and null are the empty object.
func parseObject(raw json.RawMessage) (map[string]any, error) {
	if trimmed := bytes.TrimSpace(raw); len(trimmed) == 0 || string(trimmed) == "null" {
		return map[string]any{}, nil
	}
	v, err := parseJSON(raw)
	if err != nil {
		return nil, err
	}
	m, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("must be an object")
	}
	return m, nil
}

// parseJSON reads exactly one JSON value and keeps numbers as written.
func parseJSON(raw []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("is not valid JSON")
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, fmt.Errorf("is not valid JSON: text after the value")
	}
	return v, nil
}

// jsonValue gives v as parseJSON would have read it.
func jsonValue(v any) any {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	out, err := parseJSON(raw)
	if err != nil {
		return nil
	}
	return out
}

// prune removes nulls, which mean absent for optional fields, and, when
// dropUnknown is set, keys that the schema does not know. It also writes
// integral numbers as integers, because models send 1.0 for 1.
func (s *Schema) prune(v any, dropUnknown bool) any {
	switch t := v.(type) {
	case map[string]any:
		for key, val := range t {
			p := s.property(key)
			switch {
			case val == nil:
				if p != nil && !p.Required {
					delete(t, key)
				}
			case p != nil:
				t[key] = p.prune(val, dropUnknown)
			case dropUnknown && s.Type == "object" && !s.Open:
				delete(t, key)
			}
		}
	case []any:
		if s.Items != nil {
			for i := range t {
				t[i] = s.Items.prune(t[i], dropUnknown)
			}
		}
	case json.Number:
		if s.Type == "integer" {
			return integral(t)
		}
	}
	return v
}

// integral gives "1" for "1.0" and "1e2" as "100", and n itself otherwise.
func integral(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") || len(n) > 30 {
		return n
	}
	f, err := n.Float64()
	if err != nil || f > 1e15 || f < -1e15 || f != float64(int64(f)) {
		return n
	}
	return json.Number(strconv.FormatInt(int64(f), 10))
}

// fill puts defaults where a key is absent.
func (s *Schema) fill(v any) {
	switch t := v.(type) {
	case map[string]any:
		for i := range s.Properties {
			p := &s.Properties[i]
			val, ok := t[p.Name]
			if !ok && p.Default != nil {
				val, ok = jsonValue(p.Default), true
				t[p.Name] = val
			}
			if ok {
				p.fill(val)
			}
		}
	case []any:
		if s.Items != nil {
			for _, item := range t {
				s.Items.fill(item)
			}
		}
	}
}

// maxIssues ends a validation whose list would only grow.
const maxIssues = 100

// validate lists every fault of v, which parseJSON made, at path.
func (s *Schema) validate(path string, v any) []problem.Issue {
	c := &checker{}
	c.check(s, path, v)
	return c.issues
}

type checker struct{ issues []problem.Issue }

func (c *checker) add(path, format string, args ...any) {
	if len(c.issues) < maxIssues {
		c.issues = append(c.issues, problem.Issue{Path: path, Message: fmt.Sprintf(format, args...)})
	}
}

var typeNames = map[string]string{
	"object": "an object", "array": "a list", "string": "a text", "number": "a number",
	"integer": "a whole number", "boolean": "true or false",
}

func (c *checker) check(s *Schema, path string, v any) {
	ok := false
	switch s.Type {
	case "object":
		var m map[string]any
		if m, ok = v.(map[string]any); ok {
			c.object(s, path, m)
		}
	case "array":
		var list []any
		if list, ok = v.([]any); ok {
			c.array(s, path, list)
		}
	case "string":
		var text string
		if text, ok = v.(string); ok {
			c.text(s, path, text)
		}
	case "number", "integer":
		var n json.Number
		if n, ok = v.(json.Number); ok && (s.Type == "number" || isInteger(n)) {
			c.number(s, path, n)
		} else {
			ok = false
		}
	case "boolean":
		_, ok = v.(bool)
	}
	if !ok {
		c.add(path, "must be %s", typeNames[s.Type])
	}
}

func (c *checker) object(s *Schema, path string, m map[string]any) {
	for i := range s.Properties {
		p := &s.Properties[i]
		val, ok := m[p.Name]
		switch {
		case ok:
			c.check(&p.Schema, join(path, p.Name), val)
		case p.Required:
			c.add(join(path, p.Name), "is required")
		}
	}
	if s.Open {
		return
	}
	var unknown []string
	for key := range m {
		if s.property(key) == nil {
			unknown = append(unknown, key)
		}
	}
	slices.Sort(unknown)
	for _, key := range unknown {
		c.add(join(path, clip(key, 64)), "is not a known field; the fields are %s", s.names())
	}
}

func (c *checker) array(s *Schema, path string, list []any) {
	if s.MaxItems > 0 && len(list) > s.MaxItems {
		c.add(path, "must have at most %d entries", s.MaxItems)
		return
	}
	for i, item := range list {
		c.check(s.Items, fmt.Sprintf("%s[%d]", path, i), item)
	}
}

func (c *checker) text(s *Schema, path, text string) {
	n := utf8.RuneCountInString(text)
	switch {
	case len(s.Enum) > 0 && !slices.Contains(s.Enum, text):
		c.add(path, "must be one of %s", strings.Join(s.Enum, ", "))
	case strings.ContainsRune(text, 0):
		c.add(path, "must not contain the NUL character")
	case n == 0 && s.MinLength > 0:
		c.add(path, "must not be empty")
	case n < s.MinLength:
		c.add(path, "must have at least %d characters", s.MinLength)
	case s.MaxLength > 0 && n > s.MaxLength:
		c.add(path, "must have at most %d characters", s.MaxLength)
	case s.SecretID == "" && secretReference.MatchString(text):
		c.add(path, "secret references are accepted in secret fields only")
	}
}

func (c *checker) number(s *Schema, path string, n json.Number) {
	f, err := n.Float64()
	switch {
	case err != nil:
		c.add(path, "is too large a number")
	case s.Minimum != nil && f < *s.Minimum:
		c.add(path, "must be at least %s", plain(*s.Minimum))
	case s.Maximum != nil && f > *s.Maximum:
		c.add(path, "must be at most %s", plain(*s.Maximum))
	}
}

func isInteger(n json.Number) bool {
	_, ok := new(big.Int).SetString(string(n), 10)
	return ok
}

func (s *Schema) names() string {
	names := make([]string, len(s.Properties))
	for i, p := range s.Properties {
		names[i] = p.Name
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func plain(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// clip cuts text to at most n characters.
func clip(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
