package agent

import (
	"slices"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

func TestSanitizeTitle(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`"**Open incidents summary**"`:  "Open incidents summary",
		`"'Nested title'"`:              "Nested title",
		"## Incident triage":            "Incident triage",
		"1. Draft automation":           "Draft automation",
		"Is it down?!":                  "Is it down",
		"Open incidents\nmore":          "Open incidents",
		"one two three four five six 7": "one two three four five six",
		"":                              "",
		`""`:                            "",
		"***":                           "",
		"\n\n  Second line  \n":         "Second line",
		"- Checks that fail":            "Checks that fail",
		"* Checks that fail.":           "Checks that fail",
		"+ Checks; that fail;":          "Checks; that fail",
		"“Curly”":                       "Curly",
		"‘Curly’":                       "Curly",
		"`code`":                        "code",
		"####### seven":                 "####### seven",
		"#hashtag stays":                "#hashtag stays",
		"-5 degrees":                    "-5 degrees",
		"snake_case *bold*":             "snakecase bold",
		"a\u202eb\u0007c":               "abc",
		`"unbalanced`:                   `"unbalanced`,
		strings.Repeat("x", 90):         strings.Repeat("x", 60),
	} {
		if got := sanitizeTitle(in); got != want {
			t.Errorf("sanitizeTitle(%q) = %q, want %q", in, got, want)
		}
	}
}

func FuzzSanitizeTitle(f *testing.F) {
	f.Add(`"**Open**"`)
	f.Fuzz(func(t *testing.T, in string) {
		got := sanitizeTitle(in)
		if len([]rune(got)) > titleChars || len(strings.Fields(got)) > titleWords || strings.ContainsAny(got, "\r\n*_`") || got != strings.TrimSpace(got) {
			t.Errorf("sanitizeTitle(%q) = %q", in, got)
		}
	})
}

func TestTitles(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t)
		connection := f.connection(gateway, nil)
		f.s.changed = f.noteChange
		turn := func(conv, message string) {
			gateway.Push(llmtest.Turn{Text: "Ok."})
			f.turn(conv, connection, message)
			f.s.background.Wait()
		}

		conv := f.conversation("approve")
		turn(conv, "  please  look at   the failing checks of Shop today ")
		if got := f.title(conv); got != "please look at the failing checks" {
			t.Errorf("title %q: a model that gives none leaves the first six words", got)
		}
		// That the turn began, its title, and that it ended.
		if got := f.changes(); !slices.Equal(got, slices.Repeat([]string{"ada " + conv}, 3)) {
			t.Errorf("the pages were told %v", got)
		}
		turn(conv, "and now?")
		if n := len(gateway.SideRequests(llmtest.Title)); n != 1 {
			t.Errorf("%d title calls, want one: there is a title", n)
		}

		gateway.PushSide(llmtest.Title, llmtest.Turn{Text: "## \"Failing checks of Shop\"\nbecause of you"})
		conv = f.conversation("approve")
		turn(conv, "look")
		if got := f.title(conv); got != "Failing checks of Shop" {
			t.Errorf("title %q", got)
		}
		// A title that a person gave is never replaced.
		conv = f.must(f.ada, "ai.createConversation", obj{"title": "Mine"})["id"].(string)
		turn(conv, "look")
		if got := f.title(conv); got != "Mine" {
			t.Errorf("title %q", got)
		}
		// Neither is one given while the model thinks about it.
		wait := make(chan struct{})
		conv = f.conversation("approve")
		gateway.PushSide(llmtest.Title, llmtest.Turn{Text: "x"}, llmtest.Turn{Text: "Too late", Wait: wait})
		turn(f.conversation("approve"), "takes x off")
		gateway.Push(llmtest.Turn{Text: "Ok."})
		f.turn(conv, connection, "look")
		f.must(f.ada, "ai.updateConversation", obj{"id": conv, "title": "Quicker"})
		close(wait)
		f.s.background.Wait()
		if got := f.title(conv); got != "Quicker" {
			t.Errorf("title %q", got)
		}
		// A credential in the message is no title, whoever words it.
		conv = f.conversation("approve")
		turn(conv, "use sk-canary0123456789abcdef")
		if got := f.title(conv); got != nil {
			t.Errorf("title %q", got)
		}
		var rows int
		if err := d.Read.NewRaw("SELECT count(*) FROM ai_spend WHERE conversation_id = ?", conv).Scan(t.Context(), &rows); err != nil || rows != 3 {
			t.Errorf("%d rows of spend for turn, guard and title, want 3; %v", rows, err)
		}
	})
}

// TestTitleNeverDelaysTheTurn has a model that never answers with a title.
func TestTitleNeverDelaysTheTurn(t *testing.T) {
	t.Parallel()
	never := make(chan struct{})
	gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Ok."})
	gateway.PushSide(llmtest.Title, llmtest.Turn{Wait: never})
	f := setup(t, dbtest.SQLite(t))
	f.s.idle = 0
	conv := f.conversation("approve")
	if got := text(f.turn(conv, f.connection(gateway, nil), "first words of mine")); got != "Ok." {
		t.Errorf("text %q", got)
	}
	f.s.Close() // ends the wait, as stopping the product does
	if got := f.title(conv); got != "first words of mine" {
		t.Errorf("title %v", got)
	}
	close(never)
}
