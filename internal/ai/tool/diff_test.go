package tool

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDiff(t *testing.T) {
	t.Parallel()
	raw := func(s string) json.RawMessage { return json.RawMessage(s) }
	for _, tc := range []struct {
		name          string
		before, after string
		want          []Change
	}{
		{"objects recurse in key order", `{"b":{"x":1},"a":1}`, `{"a":2,"b":{"x":2}}`,
			[]Change{{"a", raw("1"), raw("2")}, {"b.x", raw("1"), raw("2")}}},
		{"lists by position", `{"a":[{"b":1},{"b":2}]}`, `{"a":[{"b":1},{"b":3}]}`,
			[]Change{{"a[1].b", raw("2"), raw("3")}}},
		{"list grows and shrinks", `[1,2]`, `[1]`, []Change{{"[1]", raw("2"), nil}}},
		{"equal", `{"a":[1,{"b":null}]}`, `{"a":[1,{"b":null}]}`, nil},
		{"scalar differs", `1`, `"1"`, []Change{{"(root)", raw("1"), raw(`"1"`)}}},
		{"kind changes as a whole", `{"a":[1]}`, `{"a":{"x":1}}`, []Change{{"a", raw("[1]"), raw(`{"x":1}`)}}},
		{"added and removed", `{"a":1}`, `{"b":1}`, []Change{{"a", raw("1"), nil}, {"b", nil, raw("1")}}},
		{"absent is not null", `{}`, `{"a":null}`, []Change{{"a", nil, raw("null")}}},
		{"key order only", `{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := Diff(raw(tc.before), raw(tc.after))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, got); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}
