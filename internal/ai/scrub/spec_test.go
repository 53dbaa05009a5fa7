package scrub

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestKeyList holds the list to spec/ai-platform.md 29.1, word for word, with
// the addition it recommends.
func TestKeyList(t *testing.T) {
	t.Parallel()
	spec := strings.Fields(`apikey api-key api_key secret password passwd authorization auth-token authtoken access-token accesstoken access_token
		refresh-token refreshtoken refresh_token bearer x-api-key private-key privatekey private_key client-secret clientsecret client_secret credential auth_token`)
	for _, k := range spec {
		if !slices.Contains(secretKeys, k) {
			t.Errorf("the list lacks %q", k)
		}
	}
	if len(secretKeys) != len(spec) {
		t.Errorf("the list has %d entries, the contract %d", len(secretKeys), len(spec))
	}
	for _, k := range spec {
		for _, key := range []string{k, strings.ToUpper(k), "my" + k + "2", " " + k[:1] + " \t" + k[1:] + "\u00a0"} {
			got, err := JSON(json.RawMessage(fmt.Sprintf(`{"a":[{%q:{"deep":["x",1]},"plain":"x"}]}`, key)))
			if err != nil || !strings.Contains(string(got), Redacted) || strings.Contains(string(got), "deep") || !strings.Contains(string(got), `"plain":"x"`) {
				t.Errorf("%q: %s, %v", key, got, err)
			}
		}
	}
	// Deliberately absent.
	for _, key := range []string{"token", "tokens", "key", "name", "pass", "auth", "author", "monkey", "tokenBudget"} {
		if SecretKey(key) {
			t.Errorf("%q counts as a credential", key)
		}
	}
}

// TestStandaloneKeys holds the patterns to spec/ai-platform.md 29.2: a key is a
// token of its own between edges, and the whole text goes.
func TestStandaloneKeys(t *testing.T) {
	t.Parallel()
	const key = "sk-abcdefghijklmnop" // 16 characters behind the prefix
	edges := []string{"", " ", "\t", "\n", "\r", "\v", "\f", `"`, "'", "`", ",", ";", "\u00a0", "\u2003", "\u3000", "\u0085", "\u2028", "\ufeff"}
	for _, left := range edges {
		for _, right := range edges {
			if got := Text("x" + left + key + right + "y"); (left != "") != (got == Redacted) { // without an edge on the right the key ends with the text
				t.Errorf("between %q and %q: %q", left, right, got)
			}
		}
	}
	for _, s := range []string{key, "rk-abcdefghijklmnop", "sk-proj-abcdefghijklmnop", "sk-" + strings.Repeat("a", 200), "sk-abc_def-ghi_jkl-mno"} {
		if Text(s) != Redacted {
			t.Errorf("%q is kept", s)
		}
	}
	for _, s := range []string{"sk-abcdefghijklmno", "SK-ABCDEFGHIJKLMNOP", "(" + key + ")", "/" + key + "/", "=" + key, key + ".", "pk-abcdefghijklmnop",
		"https://host/api/sk-checkout-flow-12345678/status", "task-abcdefghijklmnopqr"} {
		if Text(s) != s {
			t.Errorf("%q is covered", s)
		}
	}
	for s, want := range map[string]bool{
		"Bearer abcdefghijkl": true, "bearer ABCDEFGHIJKL==": true, "Authorization: Bearer  a.b_c~d+e/f-gh": true, "xBearer abcdefghijkl": false,
		"Bearer\u00a0abcdefghijkl": true, "Bearer\vabcdefghijkl": true, "Bearer\u00e9abcdefghijkl": false,
		"Bearer abcdefghijk": false, "the bearer of this letter": false, "bearer certificate": false, "bearer authentication": true,
	} {
		if got := Text(s) == Redacted; got != want {
			t.Errorf("%q covered: %v, want %v", s, got, want)
		}
	}
}
