package scrub

import (
	"encoding/json"
	"testing"
)

func TestJSON(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, in, want string }{
		{"telling key", `{"apiKey":"sk-x"}`, `{"apiKey":"[REDACTED]"}`},
		{"nested and in lists", `{"a":[{"Client Secret":{"x":1}}]}`, `{"a":[{"Client Secret":"[REDACTED]"}]}`},
		{"auth_token", `{"auth_token":"x"}`, `{"auth_token":"[REDACTED]"}`},
		{"number under a telling key", `{"password":1234}`, `{"password":"[REDACTED]"}`},
		{"boolean and null stay", `{"hasPassword":true,"secret":null}`, `{"hasPassword":true,"secret":null}`},
		{"key as value", `{"note":"sk-abcdefghijklmnop"}`, `{"note":"[REDACTED]"}`},
		{"key in prose", `"key is sk-abcdefghijklmnop ok"`, `"[REDACTED]"`},
		{"quoted key", `"\"sk-proj-abcdefghijklmnop\""`, `"[REDACTED]"`},
		{"no-break space is an edge", `"key\u00a0sk-abcdefghijklmnop"`, `"[REDACTED]"`},
		{"bearer in any case", `"curl -H 'authorization: bEaReR abcdefghijklmnop=='"`, `"[REDACTED]"`},
		{"slug in an address", `"https://host/api/sk-checkout-flow-12345678/status"`, `"https://host/api/sk-checkout-flow-12345678/status"`},
		{"prose", `"reset the password, then get a token"`, `"reset the password, then get a token"`},
		{"upper case is no key", `"SK-ABCDEFGHIJKLMNOPQ"`, `"SK-ABCDEFGHIJKLMNOPQ"`},
		{"plain token key is kept", `{"token":"abc"}`, `{"token":"abc"}`},
		{"numbers keep digits", `{"a":12345678901234567890}`, `{"a":12345678901234567890}`},
		{"idempotent", `{"apiKey":"[REDACTED]"}`, `{"apiKey":"[REDACTED]"}`},
		{"NUL", `{"a\u0000":["b\u0000c"]}`, "{\"a\uFFFD\":[\"b\uFFFDc\"]}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := JSON(json.RawMessage(tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("JSON(%s) = %s, want %s", tc.in, got, tc.want)
			}
			again, err := JSON(got)
			if err != nil || string(again) != string(got) {
				t.Errorf("JSON is not idempotent: %s, %v", again, err)
			}
		})
	}
}

func TestValueLeavesInputAlone(t *testing.T) {
	t.Parallel()
	in := map[string]any{"password": "x", "list": []any{"sk-abcdefghijklmnop"}}
	_ = Value(in)
	if in["password"] != "x" || in["list"].([]any)[0] != "sk-abcdefghijklmnop" {
		t.Errorf("input was changed: %v", in)
	}
}

func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"a":[1,"Bearer abcdefghijklmnop",{"secret":[]}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		once, err := JSON(raw)
		if err != nil {
			return
		}
		twice, err := JSON(once)
		if err != nil || string(twice) != string(once) {
			t.Fatalf("scrubbing twice differs: %s then %s (%v)", once, twice, err)
		}
	})
}
