package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// Change is one row of a field diff. A side that is absent (a field that was
// added or removed) is nil, which differs from the JSON null.
type Change struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Diff compares two values field by field, spec/ai-platform.md 36: objects by
// key in code-unit order, lists by position, everything else as a whole.
func Diff(before, after any) ([]Change, error) {
	b, err := decode(before)
	if err != nil {
		return nil, fmt.Errorf("before: %w", err)
	}
	a, err := decode(after)
	if err != nil {
		return nil, fmt.Errorf("after: %w", err)
	}
	var out []Change
	diff("", b, a, &out)
	return out, nil
}

// absent stands for a key or element that one side does not have.
type absent struct{}

func decode(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var out any
	err = dec.Decode(&out)
	return out, err
}

func diff(path string, before, after any, out *[]Change) {
	bm, bObj := before.(map[string]any)
	am, aObj := after.(map[string]any)
	if bObj && aObj {
		keys := map[string]struct{}{}
		for k := range bm {
			keys[k] = struct{}{}
		}
		for k := range am {
			keys[k] = struct{}{}
		}
		for _, k := range slices.Sorted(maps.Keys(keys)) {
			at := k
			if path != "" {
				at = path + "." + k
			}
			diff(at, side(bm, k), side(am, k), out)
		}
		return
	}
	bl, bList := before.([]any)
	al, aList := after.([]any)
	if bList && aList {
		for i := range max(len(bl), len(al)) {
			diff(path+"["+strconv.Itoa(i)+"]", element(bl, i), element(al, i), out)
		}
		return
	}
	b, a := encode(before), encode(after)
	if bytes.Equal(b, a) {
		return
	}
	if path == "" {
		path = "(root)"
	}
	*out = append(*out, Change{Path: path, Before: b, After: a})
}

func side(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return absent{}
}

func element(l []any, i int) any {
	if i < len(l) {
		return l[i]
	}
	return absent{}
}

// encode gives the canonical JSON of a decoded value: map keys come sorted.
func encode(v any) json.RawMessage {
	if _, ok := v.(absent); ok {
		return nil
	}
	raw, _ := json.Marshal(v) // a decoded JSON value always encodes
	return raw
}
