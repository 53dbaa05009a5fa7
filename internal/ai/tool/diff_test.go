package tool

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

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
		{"key order only, below", `{"a":[{"x":1,"y":{"p":1,"q":2}}]}`, `{"a":[{"y":{"q":2,"p":1},"x":1}]}`, nil},
		{"keys of one side", `{"a":1,"c":{"x":[1]}}`, `{"b":{"y":2}}`,
			[]Change{{"a", raw("1"), nil}, {"b", nil, raw(`{"y":2}`)}, {"c", raw(`{"x":[1]}`), nil}}},
		{"keys in the order of code units", `{"\uff5a":1,"\ud83d\ude00":1,"a":1,"Z":1}`, `{}`,
			[]Change{{"Z", raw("1"), nil}, {"a", raw("1"), nil}, {"\U0001f600", raw("1"), nil}, {"\uff5a", raw("1"), nil}}},
		{"element added, as a whole", `{"a":[1]}`, `{"a":[1,{"b":2}]}`, []Change{{"a[1]", nil, raw(`{"b":2}`)}}},
		{"elements by index, not by id", `{"a":[{"id":1},{"id":2}]}`, `{"a":[{"id":2}]}`,
			[]Change{{"a[0].id", raw("1"), raw("2")}, {"a[1]", raw(`{"id":2}`), nil}}},
		{"list in a list", `[[1,2]]`, `[[1,3]]`, []Change{{"[0][1]", raw("2"), raw("3")}}},
		{"list to scalar", `{"a":[1]}`, `{"a":1}`, []Change{{"a", raw("[1]"), raw("1")}}},
		{"scalar to object", `{"a":"x"}`, `{"a":{"b":1}}`, []Change{{"a", raw(`"x"`), raw(`{"b":1}`)}}},
		{"object to null", `{"a":{"b":1}}`, `{"a":null}`, []Change{{"a", raw(`{"b":1}`), raw("null")}}},
		{"null to absent", `{"a":null}`, `{}`, []Change{{"a", raw("null"), nil}}},
		{"null element to absent", `[null]`, `[]`, []Change{{"[0]", raw("null"), nil}}},
		{"root lists", `["a","b"]`, `["c","d"]`, []Change{{"[0]", raw(`"a"`), raw(`"c"`)}, {"[1]", raw(`"b"`), raw(`"d"`)}}},
		{"root kind change", `{"a":1}`, `[1]`, []Change{{"(root)", raw(`{"a":1}`), raw("[1]")}}},
		{"root null", `null`, `{"a":1}`, []Change{{"(root)", raw("null"), raw(`{"a":1}`)}}},
		{"root equal", `"x"`, `"x"`, nil},
		{"keys with dots stay", `{"a.b":{"c":1}}`, `{"a.b":{"c":2}}`, []Change{{"a.b.c", raw("1"), raw("2")}}},
		{"empty kinds differ", `{"a":{}}`, `{"a":[]}`, []Change{{"a", raw("{}"), raw("[]")}}},
		{"false is not null or zero", `{"a":false,"b":0,"c":""}`, `{"a":null,"b":false,"c":null}`,
			[]Change{{"a", raw("false"), raw("null")}, {"b", raw("0"), raw("false")}, {"c", raw(`""`), raw("null")}}},
		{"one number", `{"a":30,"b":100,"c":0.5}`, `{"a":30.0,"b":1e2,"c":5e-1}`, nil},
		{"neighbours among large numbers", `[9007199254740992]`, `[9007199254740993]`,
			[]Change{{"[0]", raw("9007199254740992"), raw("9007199254740993")}}},
		{"number and its text", `{"a":1}`, `{"a":"1"}`, []Change{{"a", raw("1"), raw(`"1"`)}}},
		{"one instant", `{"a":"2026-07-01T22:00:00+02:00"}`, `{"a":"2026-07-01T20:00:00.000Z"}`, nil},
		{"two instants", `{"a":"2026-07-01T22:00:00+02:00"}`, `{"a":"2026-07-01T22:00:00Z"}`,
			[]Change{{"a", raw(`"2026-07-01T22:00:00+02:00"`), raw(`"2026-07-01T22:00:00Z"`)}}},
		{"a millisecond", `"2026-07-01T20:00:00.000Z"`, `"2026-07-01T20:00:00.001Z"`,
			[]Change{{"(root)", raw(`"2026-07-01T20:00:00.000Z"`), raw(`"2026-07-01T20:00:00.001Z"`)}}},
		{"texts without an offset are texts", `"2026-07-01T20:00:00"`, `"2026-07-01T20:00:00.0"`,
			[]Change{{"(root)", raw(`"2026-07-01T20:00:00"`), raw(`"2026-07-01T20:00:00.0"`)}}},
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

// TestDiffOfTimes: what a draft holds and what was stored are one instant in
// two locations.
func TestDiffOfTimes(t *testing.T) {
	t.Parallel()
	type draft struct {
		At  time.Time  `json:"at"`
		End *time.Time `json:"end"`
	}
	utc := time.Date(2026, 7, 1, 20, 0, 0, 0, time.UTC)
	local := utc.In(time.FixedZone("CEST", 7200))
	if got, err := Diff(draft{utc, &utc}, draft{local, &local}); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
	later := utc.Add(time.Minute)
	got, err := Diff(draft{utc, nil}, draft{later, &later})
	if err != nil || len(got) != 2 || got[0].Path != "at" || got[1].Path != "end" || string(got[1].Before) != "null" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestAbsentSideIsLeftOut of the JSON, where null would say something else.
func TestAbsentSideIsLeftOut(t *testing.T) {
	t.Parallel()
	changes, err := Diff(map[string]any{"gone": nil}, map[string]any{"new": nil})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(changes)
	if want := `[{"path":"gone","before":null},{"path":"new","after":null}]`; err != nil || string(raw) != want {
		t.Errorf("%s, %v, want %s", raw, err, want)
	}
}

// FuzzDiff: a value has no difference to itself, and two values have the same
// rows either way.
func FuzzDiff(f *testing.F) {
	f.Add(`{"a":[1,{"b":null}]}`, `{"a":[1.0,{"c":"2026-07-01T22:00:00Z"}]}`)
	f.Add(`1`, `[]`)
	f.Fuzz(func(t *testing.T, a, b string) {
		if !json.Valid([]byte(a)) || !json.Valid([]byte(b)) {
			t.Skip()
		}
		x, y := json.RawMessage(a), json.RawMessage(b)
		if same, err := Diff(x, x); err != nil || len(same) > 0 {
			t.Fatalf("%s differs from itself: %v, %v", a, same, err)
		}
		there, err := Diff(x, y)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Diff(y, x)
		if err != nil || len(there) != len(back) {
			t.Fatalf("%v, %v, %v", there, back, err)
		}
		for i, c := range there {
			if back[i].Path != c.Path || !bytes.Equal(back[i].After, c.Before) || !bytes.Equal(back[i].Before, c.After) {
				t.Errorf("%+v and %+v", c, back[i])
			}
		}
	})
}
