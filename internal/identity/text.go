package identity

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/checkstack/checkstack/internal/problem"
)

// Limits of texts, in characters (Unicode code points) except for addresses,
// which RFC 5321 counts in bytes.
const (
	maxName        = 100
	maxDescription = 500
	maxEmail       = 254
	maxEmailLocal  = 64
	maxUserAgent   = 255
	maxAddress     = 64
)

// issues collects the faults of an input.
type issues []problem.Issue

func (is *issues) add(path, message string) {
	*is = append(*is, problem.Issue{Path: path, Message: message})
}

// name checks and normalises a name: composed form (so that equal looking names
// are equal), no space around it, one line, something visible in it.
func (is *issues) name(path, text string) string {
	text = strings.TrimSpace(norm.NFC.String(text))
	switch {
	case text == "":
		is.add(path, "must not be empty")
	case utf8.RuneCountInString(text) > maxName:
		is.add(path, "must be at most 100 characters")
	case strings.ContainsFunc(text, unprintable):
		is.add(path, "must not contain control characters")
	case !strings.ContainsFunc(text, visible):
		is.add(path, "must contain a visible character")
	}
	return text
}

// description checks and normalises a longer text, which may have lines.
func (is *issues) description(path, text string) string {
	text = strings.TrimSpace(norm.NFC.String(text))
	switch {
	case utf8.RuneCountInString(text) > maxDescription:
		is.add(path, "must be at most 500 characters")
	case strings.ContainsFunc(text, func(r rune) bool { return unprintable(r) && r != '\n' && r != '\r' && r != '\t' }):
		is.add(path, "must not contain control characters")
	}
	return text
}

// unprintable finds control characters, and the ones that reorder or break the
// line of text around them, with which a name can be made to look like another.
func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == utf8.RuneError ||
		(r >= 0x202A && r <= 0x202E) || (r >= 0x2066 && r <= 0x2069) || r == 0x2028 || r == 0x2029
}

func visible(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsPunct(r) || unicode.IsSymbol(r)
}

// email checks and normalises an address. It accepts what mail systems deliver
// to in practice: no quoted local part, no comment, no address literal; a
// domain without a dot is fine inside a company.
func (is *issues) email(path, text string) string {
	text = strings.TrimSpace(norm.NFC.String(text))
	switch {
	case text == "":
		is.add(path, "must not be empty")
	case len(text) > maxEmail:
		is.add(path, "must be at most 254 characters")
	case !validEmail(text):
		is.add(path, "must be an email address such as name@example.com")
	}
	return text
}

func validEmail(text string) bool {
	at := strings.LastIndexByte(text, '@')
	if at < 1 || at > maxEmailLocal {
		return false
	}
	for part := range strings.SplitSeq(text[:at], ".") {
		if part == "" || strings.ContainsFunc(part, func(r rune) bool {
			return !visible(r) && !unicode.IsMark(r) || unprintable(r) || strings.ContainsRune(`()<>[]:;@\,"`, r)
		}) {
			return false
		}
	}
	for label := range strings.SplitSeq(text[at+1:], ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' ||
			strings.ContainsFunc(label, func(r rune) bool {
				return r != '-' && !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
			}) {
			return false
		}
	}
	return true
}

// textKey is the form in which addresses and role names are compared: two that
// differ only in case or in the way Unicode writes the same character are one.
func textKey(text string) string {
	return strings.ToLower(norm.NFKC.String(strings.TrimSpace(text)))
}

// clip makes a header of a stranger fit for storing: valid text without control
// characters, bounded.
func clip(text string, limit int) string {
	text = strings.ToValidUTF8(text, "")
	text = strings.Map(func(r rune) rune {
		if unprintable(r) {
			return -1
		}
		return r
	}, text)
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}
