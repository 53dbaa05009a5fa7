package text

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/problem"
)

const (
	blank   = "must not be blank"
	long    = "must have at most 10 characters"
	oneLine = "must be one line"
	hides   = "must not contain control characters or direction overrides"
	england = "\U0001F3F4\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F"
)

func message(t *testing.T, issues []problem.Issue) string {
	t.Helper()
	if len(issues) == 0 {
		return ""
	}
	if len(issues) != 1 || issues[0].Path != "a.b[0]" {
		t.Fatalf("issues %v", issues)
	}
	return issues[0].Message
}

func TestChecks(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, line, block, message string }{
		{"Payments", "", "", ""},
		{"Zürich 東京", "", "", ""},
		{"🙂", "", "", ""},
		{"👩\u200d💻 شكرا\u200f", "", "", ""},
		{england, "", "", ""},
		{"?", "", "", ""},
		{"ten letter", "", "", ""},
		{"ten letters", long, long, long},
		{"éééééééééé", "", "", ""},
		{"", blank, "", blank},
		{" \t\n", blank, "", blank},
		{"\u200b\u200d\ufeff", blank, "", blank},
		{"\u2800\u3164", blank, "", blank},
		{"a\nb", oneLine, "", ""},
		{"a\u2028b", oneLine, hides, hides},
		{"a\tb", hides, "", ""},
		{"a\x00b", hides, hides, hides},
		{"a\x1b[2Jb", hides, hides, hides},
		{"a\x7f", hides, hides, hides},
		{"a\u202eb", hides, hides, hides},
		{"a\u2066b", hides, hides, hides},
		{"a\xffb", hides, hides, hides},
		{"a\U000E0041", hides, hides, hides},
		{england + "\U000E0041", hides, hides, hides},
	} {
		for name, c := range map[string]struct {
			check func(string, string, int) []problem.Issue
			want  string
		}{"Line": {Line, tc.line}, "Block": {Block, tc.block}, "Message": {Message, tc.message}} {
			if got := message(t, c.check("a.b[0]", tc.in, 10)); got != c.want {
				t.Errorf("%s(%q): %q, want %q", name, tc.in, got, c.want)
			}
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  a  ": "a", "e\u0301": "é", "a\r\nb\rc\n": "a\nb\nc", "\u00a0x\u2003": "x", "": "",
	} {
		if got := Clean(in); got != want {
			t.Errorf("Clean(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestAddress(t *testing.T) {
	t.Parallel()
	const bad, user = "must be an http or https address, such as https://wiki.example.com/runbook", "must not contain a user name or password"
	for in, want := range map[string]string{
		"https://wiki.example.com/runbook?x=1#y": "", "http://[::1]:8080/": "", "HTTPS://host": "", "https://bücher.example/ä": "",
		"": bad, "wiki.example.com": bad, "//host/x": bad, "javascript:alert(1)": bad, "data:text/html,x": bad, "ftp://host": bad,
		"https://": bad, "https://:443/": bad, "https:///x": bad, "https://ho st/": bad, "https://host/a b": bad, "https://host/\u202egnp": bad,
		"https://host/%zz": bad, "https://u:p@host/": user, "https://u@host/": user,
		"https://host/" + strings.Repeat("a", 100): "must have at most 60 characters",
	} {
		if got := message(t, Address("a.b[0]", in, 60)); got != want {
			t.Errorf("Address(%q): %q, want %q", in, got, want)
		}
	}
}

// FuzzLine: an accepted line has nothing that breaks or reorders the line it
// is printed in, and cleaning is stable.
func FuzzLine(f *testing.F) {
	for _, s := range []string{"Payments", "a\u202eb", "e\u0301", england, "\r", "\xff"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		clean := Clean(s)
		if again := Clean(clean); again != clean {
			t.Errorf("cleaned twice: %q, %q", clean, again)
		}
		line, block := Line("x", clean, 100), Block("x", clean, 100)
		if len(line) > 0 {
			return
		}
		if len(block) > 0 {
			t.Errorf("%q is a line and no block", clean)
		}
		if Blank(clean) || !utf8.ValidString(clean) || utf8.RuneCountInString(clean) > 100 || strings.ContainsFunc(clean, func(r rune) bool {
			return unicode.IsControl(r) || unicode.Is(unicode.Zl, r) || unicode.Is(unicode.Zp, r) || (r >= 0x202A && r <= 0x202E)
		}) {
			t.Errorf("accepted %q", clean)
		}
	})
}
