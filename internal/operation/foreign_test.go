package operation_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/operation"
)

func TestReadSchema(t *testing.T) {
	t.Parallel()
	s, err := operation.ReadSchema(json.RawMessage(`{"type":"object","additionalProperties":false,"required":["severity","at"],"properties":{
		"severity":{"type":"string","enum":["high","low"]},"at":{"type":"string","format":"date-time"},"count":{"type":"integer","minimum":1},
		"tags":{"type":"array","items":{"type":"string"}},"fatal":{"type":"boolean"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	var got any
	if err := s.Decode(json.RawMessage(`{"severity":"high","at":"2026-07-01T22:00:00+02:00","count":2,"tags":["a"]}`), &got); err != nil {
		t.Fatal(err)
	}
	if at := got.(map[string]any)["at"]; at != "2026-07-01T20:00:00.000Z" {
		t.Errorf("at = %v, want the instant in UTC", at)
	}
	for in, want := range map[string]string{
		`{"at":"2026-07-01T22:00:00Z"}`:                                "severity",
		`{"severity":"huge","at":"2026-07-01T22:00:00Z"}`:              "severity",
		`{"severity":"low","at":"2026-07-01T22:00:00"}`:                "explicit timezone offset",
		`{"severity":"low","at":"2026-07-01T22:00:00Z","count":0}`:     "count",
		`{"severity":"low","at":"2026-07-01T22:00:00Z","more":1}`:      "more",
		`{"severity":"low","at":"2026-07-01T22:00:00Z","tags":[1]}`:    "tags",
		`{"severity":"low","at":"2026-07-01T22:00:00Z","fatal":"yes"}`: "fatal",
		`[]`: "",
		`{"severity":"low","severity":"high","at":"2026-07-01T22:00:00Z"}`:      "severity",
		`{"severity":"low","at":"2026-07-01T22:00:00Z"} and more of the answer`: "",
		"```json\n{\"severity\":\"low\",\"at\":\"2026-07-01T22:00:00Z\"}\n```":  "",
	} {
		if err := s.Check(json.RawMessage(in)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Check(%s) = %v, want %q", in, err, want)
		}
	}
	for _, bad := range []string{`[]`, `{"type":"string"}`, `{"type":["object","null"]}`, `{"type":"object","properties":{"a":{"$ref":"#/x"}}}`,
		`{"type":"object","properties":{"a":{}}}`, `{"type":"object","properties":{"a":{"type":"array"}}}`, `{"type":"object","properties":{"a":null}}`, `{`} {
		if _, err := operation.ReadSchema(json.RawMessage(bad)); err == nil {
			t.Errorf("ReadSchema(%s) has no error", bad)
		}
	}
}
