package operation

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/checkstack/checkstack/internal/problem"
)

// frame is an object or a list that a scan is inside of.
type frame struct {
	object bool
	key    string   // of the member being read, in an object
	index  int      // of the item being read, in a list
	few    []string // the first keys of an object
	many   map[string]struct{}
}

// fewKeys is how many keys are compared one by one before a map is made.
const fewKeys = 16

func (f *frame) add(key string) (repeated bool) {
	f.key = key
	if f.many == nil {
		if slices.Contains(f.few, key) {
			return true
		}
		if len(f.few) < fewKeys {
			f.few = append(f.few, key)
			return false
		}
		f.many = make(map[string]struct{}, 4*fewKeys)
		for _, k := range f.few {
			f.many[k] = struct{}{}
		}
	}
	_, repeated = f.many[key]
	f.many[key] = struct{}{}
	return repeated
}

// repeatedKeys finds keys that stand twice in one object of raw, which must be
// valid JSON. RFC 8259 leaves open which one counts and readers differ: the
// schema sees the last, while decoding into a map or a struct merges both, so
// that the first would come in unchecked. RFC 7493 section 2.3 forbids them.
func repeatedKeys(raw []byte) []problem.Issue {
	var issues []problem.Issue
	var stack []frame
	wantKey := false
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '{':
			stack = append(stack, frame{object: true})
			wantKey = true
		case '[':
			stack = append(stack, frame{})
			wantKey = false
		case '}', ']':
			stack = stack[:len(stack)-1]
			wantKey = false
		case ',':
			top := &stack[len(stack)-1]
			top.index++
			wantKey = top.object
		case '"':
			end, plain := textEnd(raw, i+1)
			if wantKey {
				wantKey = false
				if stack[len(stack)-1].add(keyText(raw[i:end+1], plain)) {
					issues = append(issues, problem.Issue{Path: pathOf(stack), Message: "is given more than once"})
				}
			}
			i = end
		}
	}
	return issues
}

// textEnd finds the closing quote of a text that begins at i. plain says that
// the text stands for itself.
func textEnd(raw []byte, i int) (end int, plain bool) {
	plain = true
	for ; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			plain = false
			i++
		} else if raw[i] >= 0x80 {
			plain = false // may be no UTF-8, which decoding replaces
		}
	}
	return i, plain
}

func keyText(quoted []byte, plain bool) string {
	if plain {
		return string(quoted[1 : len(quoted)-1])
	}
	var key string
	_ = json.Unmarshal(quoted, &key) // part of a valid document
	return key
}

func pathOf(stack []frame) string {
	path := ""
	for _, f := range stack {
		if f.object {
			path = join(path, f.key)
		} else {
			path += "[" + strconv.Itoa(f.index) + "]"
		}
	}
	return path
}
