package strategy

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// secretReference is a reference to a named secret. It is resolved by the
// caller of Run, in secret fields only.
var secretReference = regexp.MustCompile(`\$\{\{\s*secrets\.[^}]*\}\}`)

// HasTemplate says whether a text of a templatable field changes with the
// system or environment it runs for, so that concrete rules must wait.
func HasTemplate(text string) bool {
	open := strings.Index(text, "{{")
	return open >= 0 && strings.Contains(text[open:], "}}")
}

// render replaces every {{ path }} by its value, or by nothing when there is
// none. Values are not rendered again.
func (c *TemplateContext) render(text string) string {
	if !HasTemplate(text) {
		return text
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(text, "{{")
		path, after, closed := strings.Cut(rest, "}}")
		if !found || !closed {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(before)
		b.WriteString(c.lookup(strings.TrimSpace(path)))
		text = after
	}
}

// lookup gives the text of one reference, spec/monitoring.md 4.6.
func (c *TemplateContext) lookup(path string) string {
	switch path {
	case "check.id":
		return c.CheckID
	case "check.name":
		return c.CheckName
	case "check.intervalSeconds":
		return strconv.Itoa(c.IntervalSeconds)
	case "system.id":
		return c.SystemID
	case "system.name":
		return c.SystemName
	}
	if key, ok := strings.CutPrefix(path, "system.metadata."); ok {
		return templateText(descend(c.SystemMetadata, key))
	}
	if key, ok := strings.CutPrefix(path, "environment."); ok {
		return templateText(descend(c.Environment, key))
	}
	return ""
}

// descend finds a key as written, which may itself contain dots, before it
// takes the dots for nesting.
func descend(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	for i := range len(key) {
		if key[i] != '.' {
			continue
		}
		if inner, ok := m[key[:i]].(map[string]any); ok {
			if v := descend(inner, key[i+1:]); v != nil {
				return v
			}
		}
	}
	return nil
}

func templateText(v any) string {
	switch t := v.(type) {
	case nil:
		return ""
	case string:
		return t
	case float64:
		return plain(t)
	case map[string]any, []any:
		raw, err := json.Marshal(t)
		if err != nil {
			return ""
		}
		return string(raw)
	}
	return fmt.Sprint(v)
}

// hasTemplates says whether any templatable field of v has a template.
func (s *Schema) hasTemplates(v any) bool {
	found := false
	s.walkTemplates(v, func(text string) string {
		found = found || HasTemplate(text)
		return text
	})
	return found
}

// walkTemplates gives a copy of v in which fn has replaced the texts of
// templatable fields.
func (s *Schema) walkTemplates(v any, fn func(string) string) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, val := range t {
			if p := s.property(key); p != nil {
				val = p.walkTemplates(val, fn)
			}
			out[key] = val
		}
		return out
	case []any:
		if s.Items == nil {
			return t
		}
		out := make([]any, len(t))
		for i := range t {
			out[i] = s.Items.walkTemplates(t[i], fn)
		}
		return out
	case string:
		if s.Templatable {
			return fn(t)
		}
	}
	return v
}
