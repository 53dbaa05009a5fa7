package agent

import (
	"encoding/json"
	"math"
	"unicode/utf8"
)

// The size of a read result in the model's context, in characters;
// spec/ai-platform.md 17.1.
const (
	clampDefault  = 12_000
	clampFloor    = 4_000
	clampCeiling  = 60_000
	clampHeadroom = 256
)

const clampHint = "Narrow the query with tighter filters, page through it, or use a tool that aggregates."

func clampBudget(contextTokens int64) int {
	if contextTokens <= 0 {
		return clampDefault
	}
	if contextTokens > clampCeiling*4 {
		return clampCeiling
	}
	return int(min(max(contextTokens*4/16, clampFloor), clampCeiling))
}

// clamp cuts a decoded JSON value to the budget: the largest lists lose their
// tails first; what has no lists becomes a preview of its text.
func clamp(v any, budget int) any {
	n := size(v)
	if n <= budget {
		return v
	}
	switch v := v.(type) {
	case []any:
		if out, ok := clampLists(map[string]any{"items": v}, budget); ok {
			return out
		}
	case map[string]any:
		if out, ok := clampLists(v, budget); ok {
			return out
		}
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return v
	}
	text := []rune(string(raw))
	return map[string]any{
		"_truncated": map[string]any{"hint": clampHint, "note": "The result is too large; preview is its beginning.", "omittedChars": len(text) - budget},
		"preview":    string(text[:budget]),
	}
}

func clampLists(in map[string]any, budget int) (map[string]any, bool) {
	out := make(map[string]any, len(in))
	lists := map[string][]any{}
	sizes := map[string]int{}
	for k, v := range in {
		out[k] = v
		if l, ok := v.([]any); ok && len(l) > 0 {
			lists[k] = l
			sizes[k] = size(l)
		}
	}
	total := size(in)
	cut := false
	for total > budget-clampHeadroom && len(lists) > 0 {
		largest := ""
		for k := range lists {
			if largest == "" || sizes[k] > sizes[largest] || (sizes[k] == sizes[largest] && k < largest) {
				largest = k
			}
		}
		l := lists[largest]
		keep := len(l) - max(1, int(math.Round(float64(len(l))*0.1)))
		l = l[:keep]
		total -= sizes[largest]
		out[largest] = l
		cut = true
		sizes[largest] = size(l)
		total += sizes[largest]
		if lists[largest] = l; len(l) == 0 {
			delete(lists, largest)
		}
	}
	if !cut || total > budget-clampHeadroom {
		return nil, false
	}
	fields := []any{}
	for k, v := range in {
		l, _ := v.([]any)
		kept, _ := out[k].([]any)
		if len(kept) < len(l) {
			fields = append(fields, map[string]any{"field": k, "kept": len(kept), "omitted": len(l) - len(kept)})
		}
	}
	out["_truncated"] = map[string]any{"fields": fields, "hint": clampHint}
	return out, true
}

func size(v any) int {
	raw, err := json.Marshal(v)
	if err != nil {
		return 0
	}
	return utf8.RuneCount(raw)
}
