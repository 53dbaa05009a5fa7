package operation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

type target struct {
	Host string `json:"host" minLength:"1"`
	Port int    `json:"port" minimum:"1" maximum:"65535" default:"443"`
}

type input struct {
	Name    string                          `json:"name" minLength:"1" maxLength:"10"`
	Every   int                             `json:"every,omitempty" minimum:"1" default:"30"`
	Mode    string                          `json:"mode,omitempty" enum:"a,b" default:"a"`
	At      *time.Time                      `json:"at,omitempty"`
	Tags    []string                        `json:"tags,omitempty" maxItems:"3"`
	Targets []target                        `json:"targets,omitempty"`
	Note    operation.Patch[string]         `json:"note,omitzero" required:"false"`
	Free    operation.Patch[map[string]any] `json:"free,omitzero" required:"false"`
	On      bool                            `json:"on,omitempty"`
}

var manage = authz.Rule{ID: "x.thing.manage"}

func echo(d operation.Declaration) *operation.Op[input, input] {
	d.Summary = "Echo"
	return operation.New(d, func(_ context.Context, in *input) (*input, error) { return in, nil })
}

func TestDecodeReportsEveryIssueWithItsPath(t *testing.T) {
	t.Parallel()
	s := operation.SchemaOf[input]()
	for _, tc := range []struct {
		name, in string
		want     []string // path: message must contain
	}{
		{"fine", `{"name":"x"}`, nil},
		{"integral float", `{"name":"x","every":30.0,"targets":[{"host":"h","port":80.0}]}`, nil},
		{"null for an optional field is absent", `{"name":"x","every":null,"tags":null}`, nil},
		{"everything at once", `{"every":0,"tags":["a","b","c","d"],"targets":[{"host":"","port":70000},{}],"extra":1}`,
			[]string{"every", "extra:unknown field", "name:is required", "tags", "targets[0].host", "targets[0].port", "targets[1].host:is required", "targets[1].port:is required"}},
		{"wrong types", `{"name":5,"every":"30","on":"yes"}`, []string{"every:integer", "name:string", "on:boolean"}},
		{"fraction", `{"name":"x","every":1.5}`, []string{"every"}},
		{"letter case counts", `{"Name":"x"}`, []string{"Name:unknown field", "name:is required"}},
		{"enum", `{"name":"x","mode":"c"}`, []string{"mode"}},
		{"zone-less time", `{"name":"x","at":"2026-07-01T22:00:00"}`, []string{"at:explicit timezone offset"}},
		{"date only", `{"name":"x","at":"2026-07-01"}`, []string{"at:explicit timezone offset"}},
		{"the zero time", `{"name":"x","at":"0001-01-01T00:00:00Z"}`, []string{"at:1970"}},
		{"NUL", `{"name":"a\u0000"}`, []string{"name:NUL"}},
		{"not an object", `[1]`, []string{":object"}},
		{"truncated", `{"name":`, []string{":not valid JSON"}},
		{"two values", `{"name":"x"} {}`, []string{":unexpected text"}},
		{"nothing", ``, []string{"name:is required"}},
		{"null", `null`, []string{"name:is required"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var in input
			err := s.Decode(json.RawMessage(tc.in), &in)
			if tc.want == nil {
				if err != nil {
					t.Fatal(err)
				}
				if in.Mode != "a" || in.Every != 30 {
					t.Errorf("defaults were not filled: %+v", in)
				}
				return
			}
			e, ok := problem.As(err)
			if !ok || e.Kind != problem.KindInvalid {
				t.Fatalf("got %v", err)
			}
			if len(e.Issues) != len(tc.want) {
				t.Fatalf("issues %v, want %v", e.Issues, tc.want)
			}
			for i, w := range tc.want {
				path, text, _ := strings.Cut(w, ":")
				if e.Issues[i].Path != path || !strings.Contains(e.Issues[i].Message, text) {
					t.Errorf("issue %d is %+v, want %s", i, e.Issues[i], w)
				}
			}
		})
	}
}

func TestIssuesNeverRepeatTheValue(t *testing.T) {
	t.Parallel()
	const canary = "canary-4711-secret"
	s := operation.SchemaOf[input]()
	for _, in := range []string{
		`{"name":"` + canary + `"}`, `{"name":"x","mode":"` + canary + `"}`, `{"name":"x","at":"` + canary + `"}`,
		`{"name":"x","every":"` + canary + `"}`, `{"name":"x" ` + canary,
	} {
		var target input
		if err := s.Decode(json.RawMessage(in), &target); err == nil || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: got %v", in, err)
		}
	}
}

// TestRepeatedKeysAreRefused: the schema would see the last one only, while
// decoding merges maps and structs, so that the first came in unchecked.
func TestRepeatedKeysAreRefused(t *testing.T) {
	t.Parallel()
	s := operation.SchemaOf[input]()
	for in, want := range map[string]string{
		`{"name":"x","free":{"a":"\u0000"},"free":{"b":1}}`:                  "free",
		`{"name":"x","free":{"a":1,"\u0061":2}}`:                             "free.a",
		`{"name":"\u0000","name":"x"}`:                                       "name",
		`{"name":"x","targets":[{"host":"h"},{"host":"h","host":"i"}]}`:      "targets[1].host",
		`{"name":"x","free":{"` + "\xff" + `":1,"` + "\xfe" + `":2}}`:        "free.\ufffd",
		`{"name":"x","tags":["name","name"],"free":{"name":{"name":"a:{"}}}`: "",
		`{"name":"x","free":{` + keys(40) + `,"k39":1}}`:                     "free.k39",
		`{"name":"x","free":{` + keys(40) + `}}`:                             "",
	} {
		var out input
		err := s.Decode(json.RawMessage(in), &out)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", in, err)
			}
			continue
		}
		e, ok := problem.As(err)
		if !ok || len(e.Issues) != 1 || e.Issues[0] != (problem.Issue{Path: want, Message: "is given more than once"}) {
			t.Errorf("%s: got %v, want %s refused", in, err, want)
		}
	}
}

func keys(n int) string {
	out := make([]string, n)
	for i := range out {
		out[i] = fmt.Sprintf(`"k%d":%d`, i, i)
	}
	return strings.Join(out, ",")
}

func TestPatchTellsAbsentNullAndValueApart(t *testing.T) {
	t.Parallel()
	s := operation.SchemaOf[input]()
	for in, want := range map[string]operation.Patch[string]{
		`{"name":"x"}`:             {},
		`{"name":"x","note":null}`: {Set: true},
		`{"name":"x","note":"n"}`:  operation.SetTo("n"),
	} {
		var got input
		if err := s.Decode(json.RawMessage(in), &got); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		if d := cmp.Diff(want, got.Note); d != "" {
			t.Errorf("%s (-want +got)\n%s", in, d)
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		var second input
		if err := s.Decode(again, &second); err != nil || cmp.Diff(got.Note, second.Note) != "" {
			t.Errorf("%s does not survive a round trip: %s", in, again)
		}
	}
	var in input
	if err := s.Decode(json.RawMessage(`{"name":"x","note":5}`), &in); err == nil {
		t.Error("a patch must check its value's type")
	}
}

func TestChainDecidesForEveryCaller(t *testing.T) {
	t.Parallel()
	guest := authz.Principal{}
	user := authz.Principal{Kind: authz.User, ID: "u"}
	holder := authz.Principal{Kind: authz.User, ID: "h", Rules: []string{manage.ID}}
	admin := authz.Principal{Kind: authz.User, ID: "a", Rules: []string{authz.Wildcard}}
	app := authz.Principal{Kind: authz.Application, ID: "k", Rules: []string{manage.ID}}
	publicGuest := authz.Principal{Rules: []string{manage.ID}}
	ruled := func(c operation.Caller) operation.Declaration {
		return operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: c, Access: []authz.Rule{manage}}
	}
	for _, tc := range []struct {
		name string
		decl operation.Declaration
		p    authz.Principal
		want string // empty: passes
	}{
		{"anonymous, guest", operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: operation.Anonymous}, guest, ""},
		{"public, guest without", ruled(operation.Public), guest, "Anonymous access not permitted for this resource"},
		{"public, guest with", ruled(operation.Public), publicGuest, ""},
		{"public, user without", ruled(operation.Public), user, "Missing access: x.thing.manage"},
		{"authenticated, guest", ruled(operation.Authenticated), guest, "Authentication required"},
		{"authenticated, guest with the rule", ruled(operation.Authenticated), publicGuest, "Authentication required"},
		{"authenticated, user without", ruled(operation.Authenticated), user, "Missing access: x.thing.manage"},
		{"authenticated, holder", ruled(operation.Authenticated), holder, ""},
		{"authenticated, admin", ruled(operation.Authenticated), admin, ""},
		{"authenticated, application", ruled(operation.Authenticated), app, ""},
		{"people only, application", ruled(operation.UserOnly), app, "This endpoint is for users only"},
	} {
		ctx := authz.With(t.Context(), tc.p)
		_, err := echo(tc.decl).CallJSON(ctx, json.RawMessage(`{"name":"x"}`))
		if got := message(err); got != tc.want {
			t.Errorf("%s: got %q, want %q", tc.name, got, tc.want)
		}
		// Access is decided before the input is looked at.
		if _, err := echo(tc.decl).CallJSON(ctx, json.RawMessage(`{`)); tc.want != "" && message(err) != tc.want {
			t.Errorf("%s with a bad input: got %q", tc.name, message(err))
		}
	}
}

func message(err error) string {
	if e, ok := problem.As(err); ok {
		return e.Message
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func TestIncompleteDeclarationsStopTheStart(t *testing.T) {
	t.Parallel()
	for name, d := range map[string]operation.Declaration{
		"no caller":             {ID: "x.getThing", Kind: operation.Query, Access: []authz.Rule{manage}},
		"no access":             {ID: "x.getThing", Kind: operation.Query, Caller: operation.Authenticated},
		"no kind":               {ID: "x.getThing", Caller: operation.Anonymous},
		"bad id":                {ID: "getThing", Kind: operation.Query, Caller: operation.Anonymous},
		"rules for anonymous":   {ID: "x.getThing", Kind: operation.Query, Caller: operation.Anonymous, Access: []authz.Rule{manage}},
		"NoRule and rules both": {ID: "x.getThing", Kind: operation.Query, Caller: operation.UserOnly, NoRule: true, Access: []authz.Rule{manage}},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: accepted", name)
				}
			}()
			echo(d)
		}()
	}
}

func TestMethodsFollowTheNamingRule(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"x.getThing": "GET", "x.listThings": "GET", "x.getBulkThings": "POST",
		"x.createThing": "POST", "x.addThing": "POST", "x.pauseThing": "POST",
		"x.updateThing": "PATCH", "x.deleteThing": "DELETE", "x.removeThing": "DELETE",
	} {
		kind := operation.Mutation
		if strings.HasPrefix(id, "x.get") || strings.HasPrefix(id, "x.list") {
			kind = operation.Query
		}
		d := echo(operation.Declaration{ID: id, Kind: kind, Caller: operation.Anonymous}).Declaration()
		if d.Method != want {
			t.Errorf("%s: %s, want %s", id, d.Method, want)
		}
	}
}

func TestRESTReadsTypedQueries(t *testing.T) {
	t.Parallel()
	op := echo(operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: operation.Anonymous})
	mux := http.NewServeMux()
	operation.NewSet([]operation.Operation{op}).Mount(mux, slog.New(slog.DiscardHandler))
	for query, want := range map[string]string{
		"name=x&every=5&on=true&tags=a&tags=b":          `"every":5,"mode":"a","tags":["a","b"],"on":true`,
		"name=x&tags[]=a":                               `"tags":["a"]`,
		"name=x&tags[0]=a&tags[1]=b":                    `"tags":["a","b"]`,
		"name=x&targets[0][host]=h&targets[0][port]=80": `"targets":[{"host":"h","port":80}]`,
		"name=5":                                `"name":"5"`,
		"name=x&on=false":                       `"name":"x"`,
		"name=x&at=2026-07-01T22:00:00%2B02:00": `"at":"2026-07-01T20:00:00Z"`,
		"name=x&every=abc":                      `"path":"every"`,
		"name=x&every=0x10":                     `"path":"every"`,
		"name=x&name=y":                         `"path":"name"`,
		"name=x&bogus=1":                        `"path":"bogus","message":"unknown field"`,
		"name=x&a[[b]=1":                        `is not a valid parameter name`,
		"name=x&a[1][2][3][4][5][6][7]=1":       `is not a valid parameter name`,
		"name=x&free[k]=v":                      `"free":{"k":"v"}`,
		"name=x&tags[0]=a&tags[2]=b":            `"path":"tags"`,
		"name=x&targets[0][host]=h&targets[0][port]=99999": `"path":"targets[0].port"`,
	} {
		rec := httptest.NewRecorder()
		mux.ServeHTTP(rec, httptest.NewRequest("GET", "/rest/x/getThing?"+query, nil))
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("%s: got %d %s, want %s", query, rec.Code, rec.Body, want)
		}
	}
}

func TestRESTHidesFaults(t *testing.T) {
	t.Parallel()
	op := operation.New(operation.Declaration{ID: "x.createThing", Kind: operation.Mutation, Caller: operation.Anonymous, Summary: "Fail"},
		func(context.Context, *operation.Empty) (*operation.Empty, error) {
			return nil, io.ErrUnexpectedEOF
		})
	mux := http.NewServeMux()
	var logged strings.Builder
	operation.NewSet([]operation.Operation{op}).Mount(mux, slog.New(slog.NewTextHandler(&logged, nil)))
	rec := httptest.NewRecorder()
	mux.ServeHTTP(rec, httptest.NewRequest("POST", "/rest/x/createThing", strings.NewReader("{}")))
	if rec.Code != 500 || strings.Contains(rec.Body.String(), "EOF") || !strings.Contains(rec.Body.String(), "INTERNAL_SERVER_ERROR") {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if !strings.Contains(logged.String(), "unexpected EOF") {
		t.Errorf("the cause is not in the log: %s", logged.String())
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range []string{`{}`, `{"name":"x","targets":[{"host":"h"}]}`, `[[[`, `{"name":1e999}`, `{"at":"2026-13-01T00:00:00Z"}`, "\x00", `{"note":null}`, `{"name":"x","name":"y","free":{"a":[{"b":"}"}]}}`} {
		f.Add(s)
	}
	s := operation.SchemaOf[input]()
	f.Fuzz(func(t *testing.T, raw string) {
		var in input
		err := s.Decode(json.RawMessage(raw), &in)
		if err != nil {
			if _, ok := problem.As(err); !ok {
				t.Fatalf("%q: a bad input must be a problem, got %v", raw, err)
			}
			return
		}
		// What was accepted is accepted again after a round trip.
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%q: %v", raw, err)
		}
		var second input
		if err := s.Decode(again, &second); err != nil {
			t.Fatalf("%q became %s: %v", raw, again, err)
		}
	})
}

func BenchmarkCall(b *testing.B) {
	op := echo(operation.Declaration{ID: "x.getThing", Kind: operation.Query, Caller: operation.Anonymous})
	ctx := b.Context()
	raw := json.RawMessage(`{"name":"x","every":5,"targets":[{"host":"h","port":80}]}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := op.CallJSON(ctx, raw); err != nil {
			b.Fatal(err)
		}
	}
}
