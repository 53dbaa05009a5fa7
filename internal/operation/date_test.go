package operation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

type window struct {
	At  time.Time  `json:"at"`
	End *time.Time `json:"end,omitempty"`
}

// dated has a date at every kind of position there is, and texts beside them.
type dated struct {
	Plain   *time.Time                 `json:"plain,omitempty"`
	Patch   operation.Patch[time.Time] `json:"patch,omitzero" required:"false"`
	List    []time.Time                `json:"list,omitempty"`
	Map     map[string]time.Time       `json:"map,omitempty"`
	Windows []window                   `json:"windows,omitempty"`
	Text    string                     `json:"text,omitempty"`
	Free    map[string]any             `json:"free,omitempty"`
}

type datedRequired struct {
	At time.Time `json:"at"`
}

const (
	offsetRule = "explicit timezone offset"
	impossible = "is not a valid calendar date-time"
)

// dateMatrix is spec/ai-platform.md 8.3, with what it leaves open. want is the
// instant, or the middle of the message.
var dateMatrix = []struct {
	in   string // JSON
	ok   bool
	want string
}{
	{`"2026-07-01T22:00:00.000Z"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01T22:00:00Z"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01T22:00Z"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01T22:00:00.123Z"`, true, "2026-07-01T22:00:00.123Z"},
	{`"2026-07-01T22:00:00.1Z"`, true, "2026-07-01T22:00:00.1Z"},
	{`"2026-07-01T22:00:00.123999999Z"`, true, "2026-07-01T22:00:00.123Z"},
	{`"2026-07-01T22:00:00.12345678901234567890Z"`, true, "2026-07-01T22:00:00.123Z"},
	{`"2026-07-01T22:00:00+00:00"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01T22:00:00-00:00"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01T22:00:00+02:00"`, true, "2026-07-01T20:00:00Z"},
	{`"2026-07-01T22:00:00-05:00"`, true, "2026-07-02T03:00:00Z"},
	{`"2026-07-01T22:00:00+0200"`, true, "2026-07-01T20:00:00Z"},
	{`"2026-07-01T22:00+0545"`, true, "2026-07-01T16:15:00Z"},
	{`"2026-07-01t22:00:00z"`, true, "2026-07-01T22:00:00Z"},
	{`"2026-07-01t22:00:00+14:00"`, true, "2026-07-01T08:00:00Z"},
	{`"2024-02-29T00:00:00-14:00"`, true, "2024-02-29T14:00:00Z"},
	{`"1970-01-01T00:00:00Z"`, true, "1970-01-01T00:00:00Z"},
	{`"1969-12-31T23:00:00-01:00"`, true, "1970-01-01T00:00:00Z"},
	{`"9998-12-31T23:59:59.999Z"`, true, "9998-12-31T23:59:59.999Z"},
	{`"2026-07-01T22:00:00"`, false, offsetRule},
	{`"2026-07-01 22:00:00"`, false, offsetRule},
	{`"2026-07-01 22:00:00Z"`, false, offsetRule},
	{`"2026-07-01"`, false, offsetRule},
	{`"2026/07/01"`, false, offsetRule},
	{`"July 1, 2026"`, false, offsetRule},
	{`"Wed, 01 Jul 2026 22:00:00 GMT"`, false, offsetRule},
	{`"not a date"`, false, offsetRule},
	{`""`, false, offsetRule},
	{`"tomorrow"`, false, offsetRule},
	{`" 2026-07-01T22:00:00Z"`, false, offsetRule},
	{`"2026-07-01T22:00:00Z\n"`, false, offsetRule},
	{`"2026-07-01T22:00:00ZZ"`, false, offsetRule},
	{`"2026-07-01T22:00:00+2"`, false, offsetRule},
	{`"2026-07-01T22:00:00+02"`, false, offsetRule},
	{`"2026-07-01T22Z"`, false, offsetRule},
	{`"2026-7-1T22:00:00Z"`, false, offsetRule},
	{`"12026-07-01T22:00:00Z"`, false, offsetRule},
	{`"-2026-07-01T22:00:00Z"`, false, offsetRule},
	{`"2026-07-01T22:00:00,5Z"`, false, offsetRule},
	{`"2026-07-01T22:00.5Z"`, false, offsetRule},
	{`"２０２６-07-01T22:00:00Z"`, false, offsetRule},
	{`"1782000000000"`, false, offsetRule},
	{`1782000000000`, false, "received a number"},
	{`true`, false, "received a boolean"},
	{`{"at":"2026-07-01T22:00:00Z"}`, false, "received an object"},
	{`["2026-07-01T22:00:00Z"]`, false, "received a list"},
	{`"2026-13-01T00:00:00Z"`, false, impossible},
	{`"2026-00-01T00:00:00Z"`, false, impossible},
	{`"2026-02-30T00:00:00Z"`, false, impossible},
	{`"2026-02-29T00:00:00Z"`, false, impossible},
	{`"2026-07-01T24:00:00Z"`, false, impossible},
	{`"2026-07-01T22:60:00Z"`, false, impossible},
	{`"2026-12-31T23:59:60Z"`, false, impossible},
	{`"2026-07-01T22:00:00+14:01"`, false, impossible},
	{`"2026-07-01T22:00:00-15:00"`, false, impossible},
	{`"2026-07-01T22:00:00+02:60"`, false, impossible},
	{`"0001-01-01T00:00:00Z"`, false, "must not be before 1970"},
	{`"1970-01-01T00:00:00+00:01"`, false, "must not be before 1970"},
	{`"9999-01-01T00:00:00Z"`, false, "must not be after 9998"},
	{`"9998-12-31T23:59:59-00:01"`, false, "must not be after 9998"},
}

// datePositions are the places of an input that hold a date: how to put it
// there, its path, and how to read it back.
var datePositions = []struct {
	name, json, path string
	read             func(*dated) time.Time
}{
	{"pointer", `{"plain":%s}`, "plain", func(d *dated) time.Time { return *d.Plain }},
	{"patch", `{"patch":%s}`, "patch", func(d *dated) time.Time { return *d.Patch.Value }},
	{"list", `{"list":["2026-01-01T00:00:00Z",%s]}`, "list[1]", func(d *dated) time.Time { return d.List[1] }},
	{"map", `{"map":{"k":%s}}`, "map.k", func(d *dated) time.Time { return d.Map["k"] }},
	{"nested", `{"windows":[{"at":%s}]}`, "windows[0].at", func(d *dated) time.Time { return d.Windows[0].At }},
	{"nested pointer", `{"windows":[{"at":"2026-01-01T00:00:00Z","end":%s}]}`, "windows[0].end", func(d *dated) time.Time { return *d.Windows[0].End }},
}

// entry brings an input to a handler on one of the ways there are.
type entry func(t *testing.T, input string) (*dated, []problem.Issue)

func entries(t *testing.T) map[string]entry {
	t.Helper()
	var got *dated
	handler := func(_ context.Context, in *dated) (*dated, error) { got = in; return in, nil }
	rule := authz.Rule{ID: "x.thing.read"}
	post := operation.New(operation.Declaration{ID: "x.createThing", Kind: operation.Mutation, Caller: operation.Anonymous, Summary: "Post"}, handler)
	get := operation.New(operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: operation.Anonymous, Summary: "Get"}, handler)
	asked := operation.New(operation.Declaration{ID: "x.listThings", Kind: operation.Query, Caller: operation.Authenticated, Access: []authz.Rule{rule}, Summary: "Ask"}, handler)
	asTool := tool.FromOperation(asked, tool.Spec{Name: "x.list", Description: "Lists things", Effect: tool.Read}, nil)
	mux := http.NewServeMux()
	operation.NewSet([]operation.Operation{post, get}).Mount(mux, slog.New(slog.DiscardHandler))
	serve := func(t *testing.T, method, target string, body io.Reader) (*dated, []problem.Issue) {
		t.Helper()
		got = nil
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, target, body))
		if rec.Code == http.StatusOK {
			return got, nil
		}
		var failure problem.Body
		if err := json.Unmarshal(rec.Body.Bytes(), &failure); err != nil || rec.Code != http.StatusBadRequest {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return nil, failure.Issues
	}
	issues := func(t *testing.T, err error) []problem.Issue {
		t.Helper()
		if err == nil {
			return nil
		}
		e, ok := problem.As(err)
		if !ok {
			t.Fatal(err)
		}
		return e.Issues
	}
	return map[string]entry{
		"schema": func(t *testing.T, input string) (*dated, []problem.Issue) {
			t.Helper()
			in := new(dated)
			return in, issues(t, operation.SchemaOf[dated]().Decode(json.RawMessage(input), in))
		},
		"rest body": func(t *testing.T, input string) (*dated, []problem.Issue) {
			t.Helper()
			return serve(t, "POST", "/rest/x/createThing", strings.NewReader(input))
		},
		"rest query": func(t *testing.T, input string) (*dated, []problem.Issue) {
			t.Helper()
			var value map[string]any
			if err := json.Unmarshal([]byte(input), &value); err != nil {
				t.Fatal(err)
			}
			q := url.Values{}
			for k, v := range value {
				query(q, k, v)
			}
			return serve(t, "GET", "/rest/x/getThing?"+q.Encode(), nil)
		},
		"tool": func(t *testing.T, input string) (*dated, []problem.Issue) {
			t.Helper()
			got = nil
			ctx := authz.With(t.Context(), authz.Principal{Kind: authz.User, Rules: []string{rule.ID}})
			_, err := asTool.Run(ctx, json.RawMessage(input))
			return got, issues(t, err)
		},
	}
}

// query writes a value in the bracket notation of an address.
func query(q url.Values, key string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for k, item := range v {
			query(q, key+"["+k+"]", item)
		}
	case []any:
		for i, item := range v {
			query(q, fmt.Sprintf("%s[%d]", key, i), item)
		}
	default:
		q.Add(key, fmt.Sprint(v))
	}
}

// TestDateMatrix is the whole matrix at every position through every entry: one
// verdict everywhere.
func TestDateMatrix(t *testing.T) {
	t.Parallel()
	for name := range entries(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			enter := entries(t)[name]
			for _, pos := range datePositions {
				for _, tc := range dateMatrix {
					if name == "rest query" && tc.in[0] != '"' {
						continue // everything in an address is text
					}
					if name == "rest query" && strings.HasPrefix(pos.name, "list") && strings.HasPrefix(tc.in, "[") {
						continue
					}
					in, issues := enter(t, fmt.Sprintf(pos.json, tc.in))
					if !tc.ok {
						if len(issues) != 1 || issues[0].Path != pos.path || !strings.Contains(issues[0].Message, tc.want) {
							t.Errorf("%s %s: %+v, want %q at %s", pos.name, tc.in, issues, tc.want, pos.path)
						}
						continue
					}
					if len(issues) > 0 {
						t.Errorf("%s %s: %+v", pos.name, tc.in, issues)
						continue
					}
					if at := pos.read(in); at.Format(time.RFC3339Nano) != tc.want || at.Location() != time.UTC {
						t.Errorf("%s %s: %v, want %s in UTC", pos.name, tc.in, at, tc.want)
					}
				}
			}
		})
	}
}

func TestDateMatrixWithoutAValue(t *testing.T) {
	t.Parallel()
	for _, in := range []string{`{}`, `{"plain":null}`, `{"list":null,"map":null,"windows":null}`, `{"list":[],"map":{},"windows":[]}`,
		`{"windows":[{"at":"2026-07-01T22:00:00Z","end":null}]}`} {
		var d dated
		if err := operation.SchemaOf[dated]().Decode(json.RawMessage(in), &d); err != nil {
			t.Errorf("%s: %v", in, err)
		}
		if d.Plain != nil || d.Patch.Set || (len(d.Windows) > 0 && d.Windows[0].End != nil) {
			t.Errorf("%s: %+v", in, d)
		}
	}
	var d dated
	if err := operation.SchemaOf[dated]().Decode(json.RawMessage(`{"patch":null}`), &d); err != nil || !d.Patch.Set || d.Patch.Value != nil {
		t.Errorf("a cleared date: %+v, %v", d.Patch, err)
	}
	for in, want := range map[string]string{`{}`: "at: is required", `{"at":null}`: "at: expected string"} {
		var r datedRequired
		if err := operation.SchemaOf[datedRequired]().Decode(json.RawMessage(in), &r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	for _, in := range []string{`{"list":[null]}`, `{"map":{"k":null}}`, `{"windows":[{"at":null}]}`, `{"windows":[{}]}`} {
		var d dated
		if err := operation.SchemaOf[dated]().Decode(json.RawMessage(in), &d); err == nil {
			t.Errorf("%s was read as %+v", in, d)
		}
	}
}

// TestEveryWrongDateIsReported at once, with other faults, each where it is.
func TestEveryWrongDateIsReported(t *testing.T) {
	t.Parallel()
	var d dated
	err := operation.SchemaOf[dated]().Decode(json.RawMessage(`{"plain":"tomorrow","patch":5,"list":["2026-07-01T22:00:00Z","2026-07-01"],
		"map":{"a":"2026-02-30T00:00:00Z"},"windows":[{"at":"x"},{"end":true}],"text":7,"more":1}`), &d)
	e, ok := problem.As(err)
	if !ok {
		t.Fatal(err)
	}
	var got []string
	for _, is := range e.Issues {
		got = append(got, is.Path)
	}
	want := "list[1] map.a more patch plain text windows[0].at windows[1].at windows[1].end"
	if strings.Join(got, " ") != want {
		t.Errorf("paths %v, want %s", got, want)
	}
}

// TestTextsThatLookLikeDatesStayTexts: only a position that asks for a date is
// read as one.
func TestTextsThatLookLikeDatesStayTexts(t *testing.T) {
	t.Parallel()
	var d dated
	in := `{"plain":"2026-07-01T22:00+02:00","text":"2026-07-01T22:00:00+02:00","free":{"at":"2026-07-01","n":[{"at":"2026-07-01T22:00+0200"}]}}`
	if err := operation.SchemaOf[dated]().Decode(json.RawMessage(in), &d); err != nil {
		t.Fatal(err)
	}
	if d.Text != "2026-07-01T22:00:00+02:00" || fmt.Sprint(d.Free) != "map[at:2026-07-01 n:[map[at:2026-07-01T22:00+0200]]]" {
		t.Errorf("%+v", d)
	}
}

// TestDateMessages: what was received is repeated when it is a date of another
// form, and never when it may be a secret in the wrong field.
func TestDateMessages(t *testing.T) {
	t.Parallel()
	const rule = "must be an RFC 3339 date-time with an explicit timezone offset, such as 2026-07-01T22:00:00Z or 2026-07-01T22:00:00+02:00; received "
	for in, want := range map[string]string{
		`"2026-07-01T22:00:00"`:             rule + `"2026-07-01T22:00:00"`,
		`"July 1, 2026"`:                    rule + `"July 1, 2026"`,
		`"Wed, 01 Jul 2026 22:00:00 GMT"`:   rule + `"Wed, 01 Jul 2026 22:00:00 GMT"`,
		`"tomorrow at 10pm"`:                rule + `"tomorrow at 10pm"`,
		`"not a date"`:                      rule + `"not a date"`,
		`"1st of May"`:                      rule + `"1st of May"`,
		`""`:                                rule + `""`,
		`"2026-02-30T00:00:00Z"`:            `is not a valid calendar date-time; received "2026-02-30T00:00:00Z"`,
		`"2026-07-01T22:00:00 02:00"`:       rule + `"2026-07-01T22:00:00 02:00" (in an address, write + as %2B)`,
		`"hunter2"`:                         rule + "another text",
		`"canary-4711-secret"`:              rule + "another text",
		`"ck_018f_AbCd"`:                    rule + "another text",
		`"mayday"`:                          rule + "another text",
		`"\u001b[2J"`:                       rule + "another text",
		`"1\u202e2"`:                        rule + "another text",
		`"` + strings.Repeat("1", 41) + `"`: rule + "another text",
		`12`:                                rule + "a number",
	} {
		err := operation.SchemaOf[datedRequired]().Decode(json.RawMessage(`{"at":`+in+`}`), new(datedRequired))
		e, ok := problem.As(err)
		if !ok || len(e.Issues) != 1 || e.Issues[0].Message != want {
			t.Errorf("%s: %v, want %s", in, err, want)
		}
	}
	if err := operation.SchemaOf[time.Time]().Check(json.RawMessage(`"today"`)); err == nil || !strings.Contains(err.Error(), "the date value must be") {
		t.Errorf("at the root: %v", err)
	}
}

// TestCallInProcess gives a handler the same as every other way in.
func TestCallInProcess(t *testing.T) {
	t.Parallel()
	op := operation.New(operation.Declaration{ID: "x.createThing", Kind: operation.Mutation, Caller: operation.Anonymous, Summary: "Post"},
		func(_ context.Context, in *datedRequired) (*datedRequired, error) { return in, nil })
	in := time.Date(2026, 7, 1, 22, 0, 0, 123_999_999, time.FixedZone("", 7200))
	out, err := op.Call(t.Context(), datedRequired{At: in})
	if err != nil || out.At != time.Date(2026, 7, 1, 20, 0, 0, 123_000_000, time.UTC) {
		t.Errorf("%v, %v", out, err)
	}
	if _, err := op.Call(t.Context(), datedRequired{}); err == nil {
		t.Error("the zero time was accepted")
	}
}

// TestToolOutputsCarryOffsets: what a tool answers satisfies its own output
// schema, whatever location the handler's times had.
func TestToolOutputsCarryOffsets(t *testing.T) {
	t.Parallel()
	rule := authz.Rule{ID: "x.thing.read"}
	at := time.Date(2026, 7, 1, 22, 0, 0, 0, time.FixedZone("", -16200))
	tl := tool.FromOperation(operation.New(operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: operation.Authenticated, Access: []authz.Rule{rule}, Summary: "Ask"},
		func(context.Context, *operation.Empty) (*dated, error) {
			return &dated{Plain: &at, List: []time.Time{at}, Map: map[string]time.Time{"k": at}, Windows: []window{{At: at, End: &at}}}, nil
		}), tool.Spec{Name: "x.get", Description: "Gets a thing", Effect: tool.Read}, nil)
	out, err := tl.Run(authz.With(t.Context(), authz.Principal{Kind: authz.User, Rules: []string{rule.ID}}), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := tl.Output().Check(raw); err != nil {
		t.Errorf("%s: %v", raw, err)
	}
}

// TestDatesOfBothDatabases: the extremes and the odd ones of what is accepted
// are the same instant after either database.
func TestDatesOfBothDatabases(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		makeTable(t, d)
		for _, tc := range dateMatrix {
			if tc.ok {
				roundTrip(t, d, tc.in)
			}
		}
	})
}

func makeTable(t testing.TB, d *db.DB) {
	t.Helper()
	if _, err := d.Write.NewRaw("CREATE TABLE date_trip (at TIMESTAMPTZ NOT NULL)").Exec(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// FuzzDate: whatever is accepted is the same instant after JSON and after each
// database, and whatever is refused is refused in words.
func FuzzDate(f *testing.F) {
	for _, tc := range dateMatrix {
		f.Add(strings.Trim(tc.in, `"`))
	}
	dbs := []*db.DB{dbtest.SQLite(f)}
	if os.Getenv(dbtest.URLVariable) != "" {
		dbs = append(dbs, dbtest.Postgres(f))
	}
	for _, d := range dbs {
		makeTable(f, d)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in, err := json.Marshal(text)
		if err != nil {
			t.Skip()
		}
		if err := operation.SchemaOf[datedRequired]().Check(json.RawMessage(`{"at":` + string(in) + `}`)); err != nil {
			if e, ok := problem.As(err); !ok || len(e.Issues) == 0 || len(err.Error()) > 400 {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		for _, d := range dbs {
			roundTrip(t, d, string(in))
		}
	})
}

// roundTrip reads an accepted text and sends it through JSON and a database.
func roundTrip(t *testing.T, d *db.DB, in string) {
	t.Helper()
	var r, again datedRequired
	if err := operation.SchemaOf[datedRequired]().Decode(json.RawMessage(`{"at":`+in+`}`), &r); err != nil {
		return
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatalf("%s was accepted and cannot be answered: %v", in, err)
	}
	if err := operation.SchemaOf[datedRequired]().Decode(raw, &again); err != nil || !again.At.Equal(r.At) {
		t.Errorf("%s: JSON makes %v of %v, %v", in, again.At, r.At, err)
	}
	if _, err := json.Marshal(r.At.AddDate(1, 0, 0)); err != nil {
		t.Errorf("%s: a year later cannot be answered: %v", in, err)
	}
	ctx := t.Context()
	if _, err := d.Write.NewRaw("INSERT INTO date_trip (at) VALUES (?)", r.At).Exec(ctx); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	row := struct{ At time.Time }{}
	if err := d.Write.NewRaw("SELECT at FROM date_trip").Scan(ctx, &row.At); err != nil {
		t.Fatalf("%s: %v", in, err)
	}
	if !row.At.Equal(r.At) {
		t.Errorf("%s: the database makes %v of %v", in, row.At, r.At)
	}
	if _, err := d.Write.NewRaw("DELETE FROM date_trip").Exec(ctx); err != nil {
		t.Fatal(err)
	}
}
