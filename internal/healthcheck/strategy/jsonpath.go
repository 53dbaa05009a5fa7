package strategy

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/theory/jsonpath"
	"github.com/theory/jsonpath/spec"
)

const (
	maxPathLength = 500
	// maxPathNodes bounds the work of one evaluation: a path such as
	// $..*..*..* on a nested body would otherwise visit billions of nodes.
	maxPathNodes = 500_000
)

var errPathTooBroad = errors.New("the JSONPath selects too much of the body")

// jsonPath is a plain RFC 9535 path without filters. Its last step may be
// .length, which also counts a list or the characters of a text.
type jsonPath struct {
	segments []*spec.Segment
	singular bool
}

// parseJSONPath reads a path; the errors are for the person who wrote it.
func parseJSONPath(text string) (*jsonPath, error) {
	switch {
	case text == "":
		return nil, errors.New("is required, such as $.status")
	case len(text) > maxPathLength:
		return nil, fmt.Errorf("must have at most %d characters", maxPathLength)
	case !strings.HasPrefix(text, "$"):
		return nil, errors.New("must start with $, such as $.status")
	}
	parsed, err := jsonpath.Parse(text)
	if err != nil {
		return nil, errors.New("is not a valid JSONPath, such as $.items[0].status or $.items.length")
	}
	p := &jsonPath{segments: parsed.Query().Segments(), singular: true}
	for _, segment := range p.segments {
		if segment.IsDescendant() || len(segment.Selectors()) != 1 {
			p.singular = false
		}
		for _, sel := range segment.Selectors() {
			switch sel.(type) {
			case spec.Name, spec.Index:
			case spec.WildcardSelector, spec.SliceSelector:
				p.singular = false
			default:
				return nil, errors.New("must be a plain path: filter expressions ?(...) are not accepted")
			}
		}
	}
	return p, nil
}

// eval gives the selected value and whether there is one. A path that can
// select several values gives their list when it selects more than one.
func (p *jsonPath) eval(root any) (value any, found bool, err error) {
	e := &pathEval{budget: maxPathNodes}
	nodes := []any{root}
	for i, segment := range p.segments {
		e.last = i == len(p.segments)-1
		var next []any
		for _, node := range nodes {
			next = e.segment(segment, node, next)
		}
		if e.budget < 0 {
			return nil, false, errPathTooBroad
		}
		nodes = next
	}
	switch {
	case len(nodes) == 0:
		return nil, false, nil
	case len(nodes) == 1:
		return nodes[0], true, nil
	}
	return nodes, true, nil
}

type pathEval struct {
	budget int
	last   bool
}

func (e *pathEval) segment(s *spec.Segment, node any, out []any) []any {
	if e.budget--; e.budget < 0 {
		return out
	}
	for _, sel := range s.Selectors() {
		out = e.selector(sel, node, out)
	}
	if s.IsDescendant() {
		for _, child := range children(node) {
			out = e.segment(s, child, out)
		}
	}
	return out
}

func (e *pathEval) selector(sel spec.Selector, node any, out []any) []any {
	before := len(out)
	list, isList := node.([]any)
	switch t := sel.(type) {
	case spec.Name:
		if m, ok := node.(map[string]any); ok {
			if v, ok := m[string(t)]; ok {
				out = append(out, v)
			}
		} else if e.last && t == "length" {
			if n, ok := length(node); ok {
				out = append(out, n)
			}
		}
	case spec.Index:
		i := int(t)
		if i < 0 {
			i += len(list)
		}
		if isList && i >= 0 && i < len(list) {
			out = append(out, list[i])
		}
	case spec.WildcardSelector:
		out = append(out, children(node)...)
	case spec.SliceSelector:
		if isList {
			out = append(out, t.Select(list, nil)...)
		}
	}
	e.budget -= len(out) - before
	return out
}

func length(node any) (int, bool) {
	switch t := node.(type) {
	case []any:
		return len(t), true
	case string:
		return utf8.RuneCountInString(t), true
	}
	return 0, false
}

// children gives the members of a list or object; objects in key order, so
// that a result does not change between runs.
func children(node any) []any {
	switch t := node.(type) {
	case []any:
		return t
	case map[string]any:
		keys := make([]string, 0, len(t))
		for k := range t {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		out := make([]any, len(keys))
		for i, k := range keys {
			out[i] = t[k]
		}
		return out
	}
	return nil
}
