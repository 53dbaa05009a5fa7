// Package text checks what people type, for every domain alike: a title or a
// label of one line, a longer Markdown text, and an address to link to.
//
// Texts are kept as they were written apart from Clean. What a reader could
// not see, or what would change how the text around it looks, is refused:
// control characters, and marks that reorder the direction of writing, with
// which one name can be made to look like another ("Trojan Source",
// CVE-2021-42574). So are tag characters outside of flag emoji, which nobody
// sees and language models read.
package text

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/checkstack/checkstack/internal/problem"
)

// Clean brings a text to the form in which it is checked and stored: the
// composed form of Unicode, so that texts that look equal are equal, lines
// that end with \n, and no space around it.
func Clean(s string) string {
	if strings.Contains(s, "\r") {
		s = strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
	}
	return strings.TrimSpace(norm.NFC.String(s))
}

// Line checks a text of one line, such as a title, a name or a label: it has
// something visible and at most limit characters (code points). The issues
// carry path; there are none when the text is fine.
func Line(path, s string, limit int) []problem.Issue {
	switch {
	case Blank(s):
		return issue(path, "must not be blank")
	case utf8.RuneCountInString(s) > limit:
		return issue(path, fmt.Sprintf("must have at most %d characters", limit))
	case strings.ContainsAny(s, "\r\n\u2028\u2029\u0085"):
		return issue(path, "must be one line")
	case hidden(s, ""):
		return issue(path, "must not contain control characters or direction overrides")
	}
	return nil
}

// Block checks a longer text, such as a description or a message in Markdown,
// which may have lines and tabs and at most limit characters. A blank one is
// fine; see Blank.
func Block(path, s string, limit int) []problem.Issue {
	switch {
	case utf8.RuneCountInString(s) > limit:
		return issue(path, fmt.Sprintf("must have at most %d characters", limit))
	case hidden(s, "\n\r\t"):
		return issue(path, "must not contain control characters or direction overrides")
	}
	return nil
}

// Message is Block for a text that must not be blank.
func Message(path, s string, limit int) []problem.Issue {
	if Blank(s) {
		return issue(path, "must not be blank")
	}
	return Block(path, s, limit)
}

// Blank says that nothing of the text can be seen: it is empty, or made of
// spaces, controls and characters without a shape.
func Blank(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool {
		// The braille blank and the Hangul fillers count as letters or symbols
		// and show nothing.
		switch r {
		case 0x2800, 0x115F, 0x1160, 0x3164, 0xFFA0, utf8.RuneError:
			return false
		}
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
	})
}

// Address checks an address that people will follow: http or https with a
// host, at most limit characters, and no user name or password in it.
func Address(path, s string, limit int) []problem.Issue {
	u, err := url.Parse(s)
	switch {
	case utf8.RuneCountInString(s) > limit:
		return issue(path, fmt.Sprintf("must have at most %d characters", limit))
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" || hidden(s, "") || strings.ContainsFunc(s, unicode.IsSpace):
		return issue(path, "must be an http or https address, such as https://wiki.example.com/runbook")
	case u.User != nil:
		return issue(path, "must not contain a user name or password")
	}
	return nil
}

func issue(path, message string) []problem.Issue {
	return []problem.Issue{{Path: path, Message: message}}
}

// hidden finds a character that must not be in a text, but for those in allow.
func hidden(s, allow string) bool {
	if !utf8.ValidString(s) {
		return true
	}
	flag := false // inside of a flag emoji, which is spelled in tag characters
	for _, r := range s {
		tag := r >= 0xE0000 && r <= 0xE007F
		switch {
		case tag && !flag:
			return true
		case r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069: // direction overrides and isolates
			return true
		case r == 0x2028 || r == 0x2029:
			return true
		case unicode.IsControl(r) && !strings.ContainsRune(allow, r):
			return true
		}
		flag = r == 0x1F3F4 || (tag && r != 0xE007F)
	}
	return false
}
