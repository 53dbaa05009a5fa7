package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
	"unicode/utf16"
)

// Change is one row of a field diff. A side that is absent (a field that was
// added or removed) is nil, which differs from the JSON null.
type Change struct {
	Path   string          `json:"path"`
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Diff compares two values field by field, spec/ai-platform.md 36: objects by
// key in the order of UTF-16 code units, lists by position, everything else as
// a whole. Two ways to write one number, or one instant, are no difference.
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
		for _, k := range slices.SortedFunc(maps.Keys(keys), byCodeUnit) {
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
	if bytes.Equal(b, a) || sameNumber(before, after) || sameInstant(before, after) {
		return
	}
	if path == "" {
		path = "(root)"
	}
	*out = append(*out, Change{Path: path, Before: b, After: a})
}

func byCodeUnit(a, b string) int {
	return slices.Compare(utf16.Encode([]rune(a)), utf16.Encode([]rune(b)))
}

// sameNumber says whether 30, 30.0 and 3e1 meet.
func sameNumber(before, after any) bool {
	b, isNumber := before.(json.Number)
	a, both := after.(json.Number)
	if !isNumber || !both {
		return false
	}
	bi, errB := b.Int64()
	ai, errA := a.Int64()
	if errB == nil && errA == nil {
		return bi == ai // floats would make neighbours above 2^53 equal
	}
	bf, errB := b.Float64()
	af, errA := a.Float64()
	return errB == nil && errA == nil && bf == af && math.Abs(bf) < 1<<53
}

// sameInstant says whether two texts are date-times with an offset that denote
// one instant, such as 22:00+02:00 and 20:00Z of one day.
func sameInstant(before, after any) bool {
	b, isText := before.(string)
	a, both := after.(string)
	if !isText || !both {
		return false
	}
	bt, errB := time.Parse(time.RFC3339Nano, b)
	at, errA := time.Parse(time.RFC3339Nano, a)
	return errB == nil && errA == nil && bt.Equal(at)
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
