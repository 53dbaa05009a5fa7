package proposal

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/ai/tool"
)

// shape is a tool's input schema, read for two questions: which text is an
// instant, and which value is a secret.
type shape struct {
	root map[string]any
	defs map[string]any
	// hidden are the keys that the tool itself names as credentials.
	hidden []string
}

func shapeOf(t tool.Tool) (shape, error) {
	raw, err := t.Input().JSON()
	if err != nil {
		return shape{}, err
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		return shape{}, fmt.Errorf("read schema: %w", err)
	}
	defs, _ := root["$defs"].(map[string]any)
	return shape{root: root, defs: defs, hidden: t.Hidden()}, nil
}

func (s shape) node(v any) map[string]any {
	n, _ := v.(map[string]any)
	for range 8 { // a schema does not refer through more levels than this
		ref, ok := n["$ref"].(string)
		if !ok {
			break
		}
		n, _ = s.defs[ref[strings.LastIndexByte(ref, '/')+1:]].(map[string]any)
	}
	return n
}

func (s shape) property(n map[string]any, key string) map[string]any {
	if props, ok := n["properties"].(map[string]any); ok {
		if p, ok := props[key]; ok {
			return s.node(p)
		}
	}
	return s.node(n["additionalProperties"])
}

// hash gives the SHA-256 of the arguments in canonical JSON, as 64 hex digits:
// keys sorted, numbers and instants in one form.
func (s shape) hash(args json.RawMessage) (string, error) {
	if len(strings.TrimSpace(string(args))) == 0 {
		args = json.RawMessage("{}")
	}
	v, err := scrub.Decode(args)
	if err != nil {
		return "", err
	}
	if v == nil {
		v = map[string]any{}
	}
	raw, err := json.Marshal(s.canonical(s.node(s.root), v)) // map keys come sorted
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), nil
}

func (s shape) canonical(n map[string]any, v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			out[k] = s.canonical(s.property(n, k), item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.canonical(s.node(n["items"]), item)
		}
		return out
	case string:
		if n["format"] == "date-time" {
			if t, err := time.Parse(time.RFC3339, v); err == nil {
				return t.UTC().Format(time.RFC3339Nano)
			}
		}
	case json.Number:
		return canonicalNumber(v)
	}
	return v
}

// canonicalNumber writes 30, 30.0 and 3e1 alike.
func canonicalNumber(n json.Number) json.Number {
	if !strings.ContainsAny(string(n), ".eE") {
		return n
	}
	f, err := n.Float64()
	if err != nil {
		return n
	}
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return json.Number(strconv.FormatInt(int64(f), 10))
	}
	return json.Number(strconv.FormatFloat(f, 'g', -1, 64))
}

// redact gives arguments in the form in which they may be shown.
func (s shape) redact(raw json.RawMessage) (json.RawMessage, error) {
	v, err := scrub.Decode(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(scrub.Value(s.hide(s.node(s.root), v)))
}

// hide covers the values that the schema or the tool marks as secret.
func (s shape) hide(n map[string]any, v any) any {
	if secret, _ := n["x-secret"].(bool); secret {
		return scrub.Hide(v)
	}
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if slices.Contains(s.hidden, k) {
				out[k] = scrub.Hide(item)
				continue
			}
			out[k] = s.hide(s.property(n, k), item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = s.hide(s.node(n["items"]), item)
		}
		return out
	}
	return v
}

// redactDiff gives a diff in the form in which it may be shown. A changed
// secret stays visible as a changed row, with both sides covered.
func (s shape) redactDiff(diff []tool.Change) ([]tool.Change, error) {
	out := make([]tool.Change, len(diff))
	for i, c := range diff {
		covered := s.secretPath(c.Path)
		before, err := redactSide(c.Before, covered)
		if err != nil {
			return nil, err
		}
		after, err := redactSide(c.After, covered)
		if err != nil {
			return nil, err
		}
		out[i] = tool.Change{Path: c.Path, Before: before, After: after}
	}
	return out, nil
}

func redactSide(raw json.RawMessage, covered bool) (json.RawMessage, error) {
	if raw == nil {
		return nil, nil
	}
	v, err := scrub.Decode(raw)
	if err != nil {
		return nil, err
	}
	if covered {
		return json.Marshal(scrub.Hide(v))
	}
	return json.Marshal(scrub.Value(v))
}

// secretPath says whether a diff path leads through a secret, by name or, when
// the diff has the shape of the input, by the schema's mark.
func (s shape) secretPath(path string) bool {
	n := s.node(s.root)
	for part := range strings.SplitSeq(path, ".") {
		key, list, _ := strings.Cut(part, "[")
		if scrub.SecretKey(key) || slices.Contains(s.hidden, key) {
			return true
		}
		n = s.property(n, key)
		for range strings.Count(list, "]") {
			n = s.node(n["items"])
		}
		if secret, _ := n["x-secret"].(bool); secret {
			return true
		}
	}
	return false
}

// Redact gives the arguments of a call as they may be shown and stored.
// Arguments of an unknown tool are treated by their keys alone.
func (g *Gate) Redact(toolName string, args json.RawMessage) (json.RawMessage, error) {
	if t, ok := g.tools.Get(toolName); ok {
		return g.shapes[t.Name()].redact(args)
	}
	return scrub.JSON(args)
}
