package agent

import (
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestCredentialsAreCoveredWhileTheyAreWritten streams answers that hold
// credentials, in pieces of five characters: what is shown at any moment, what
// a second tab sees and what is stored are the same and hold none. f.turn
// compares the stream with what is stored.
func TestCredentialsAreCoveredWhileTheyAreWritten(t *testing.T) {
	t.Parallel()
	const key, token = "sk-canarycanarycanary", "canarycanarycanary"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, tc := range []struct{ in, want string }{
			{"The key is " + key + " and it works.", "The key is " + scrub.Redacted + " and it works."},
			{"Use \"" + key + "\"", "Use \"" + scrub.Redacted + "\""},
			{key, scrub.Redacted},
			{"curl -H 'Authorization: Bearer " + token + "' https://x/", "curl -H 'Authorization: Bearer " + scrub.Redacted + "' https://x/"},
			{"null\x00byte and sk-short", "null\uFFFDbyte and sk-short"},
			{"It ends with sk", "It ends with sk"},
		} {
			f := setup(t, d)
			gateway := llmtest.NewServer(t, llmtest.Turn{Text: tc.in, Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{})}}, llmtest.Turn{Text: tc.in}, llmtest.Turn{Text: "Fine."})
			connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
			frames := f.turn(conv, connection, "go")
			if got := text(frames); got != tc.want+tc.want {
				t.Errorf("%q is streamed as %q", tc.in, got)
			}
			f.turn(conv, connection, "and now?")
			all := gateway.Requests()
			for i, r := range all[1:] {
				if strings.Contains(string(r.Body), "canary") {
					t.Errorf("%q: request %d still tells it: %s", tc.in, i+1, r.Body)
				}
			}
			if stored := f.dump(); strings.Contains(stored, token) || !strings.Contains(stored, strings.TrimSpace(strings.Split(tc.want, "\"")[0])) {
				t.Errorf("%q is stored as %s", tc.in, stored)
			}
		}
	})
}

// An error of the provider that repeats a credential tells none either, and
// stays readable.
func TestProviderErrorsTellNoCredential(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	gateway := llmtest.NewServer(t, llmtest.Turn{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: sk-canarycanarycanary , ask Grace"}}`})
	connection, conv := f.connection(gateway, obj{"disableTopicalClassifier": true}), f.conversation("approve")
	frames := f.turn(conv, connection, "go")
	got := find(t, frames, "error").ErrorText
	if strings.Contains(got, "canary") || !strings.Contains(got, "ask Grace") || !strings.Contains(got, "401") {
		t.Errorf("the person is told %q", got)
	}
	if strings.Contains(f.dump(), "canarycanary") || strings.Contains(f.log.String(), "canarycanary") {
		t.Errorf("it is stored or logged: %s", f.log.String())
	}
}
