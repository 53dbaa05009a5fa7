package knowledge

import (
	"encoding/json"
	"mime"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/ai/scrub"
)

// visible takes out of a foreign text what a person reading it would not see
// and a model would: control characters but for lines and tabs, marks of
// direction, tag characters, characters without a meaning. Bytes that are no
// text become the replacement character.
func visible(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case unicode.IsControl(r), unicode.In(r, unicode.Cf, unicode.Co, unicode.Cs, unicode.Zl, unicode.Zp),
			unicode.Is(unicode.Variation_Selector, r):
			return -1
		}
		return r
	}, s)
}

// isText says whether a body is text, by its media type or, without a telling
// one, by its first bytes.
func isText(contentType string, body []byte) bool {
	media, _, err := mime.ParseMediaType(contentType)
	switch {
	case err == nil && (strings.HasPrefix(media, "text/") || strings.HasSuffix(media, "+json") || strings.HasSuffix(media, "+xml")):
		return true
	case err == nil && slices.Contains([]string{"application/json", "application/xml", "application/javascript", "application/yaml",
		"application/x-yaml", "application/x-ndjson", "application/x-www-form-urlencoded", "application/problem+json"}, media):
		return true
	case err == nil && media != "application/octet-stream":
		return false
	}
	head := body[:min(len(body), 1024)]
	for len(head) > 0 && len(head) < len(body) && !utf8.RuneStart(body[len(head)]) {
		head = head[:len(head)-1]
	}
	return utf8.Valid(head) && !slices.Contains(head, 0)
}

var textPair = regexp.MustCompile(`"((?:[^"\\\n]|\\.){1,100})"(\s*:\s*)"((?:[^"\\]|\\.)*)("|$)`)

// cover takes credentials out of a foreign text: values under telling keys of
// JSON, and lines that hold a key or a bearer token. whole says that the text
// is the complete body, so that it can be read as JSON.
func cover(s string, whole bool) string {
	if whole && json.Valid([]byte(s)) {
		if v, err := scrub.Decode(json.RawMessage(s)); err == nil {
			clean := scrub.Value(v)
			if reflect.DeepEqual(v, clean) {
				return s
			}
			if raw, err := json.MarshalIndent(clean, "", "  "); err == nil {
				return string(raw)
			}
		}
	}
	s = textPair.ReplaceAllStringFunc(s, func(pair string) string {
		m := textPair.FindStringSubmatch(pair)
		if !scrub.SecretKey(m[1]) {
			return pair
		}
		return `"` + m[1] + `"` + m[2] + `"` + scrub.Redacted + m[4]
	})
	lines := strings.SplitAfter(s, "\n")
	for i, line := range lines {
		text := strings.TrimRight(line, "\n")
		if scrub.Secret(text) {
			lines[i] = scrub.Redacted + line[len(text):]
		}
	}
	return strings.Join(lines, "")
}

// secretParameter says whether a parameter of an address carries a credential.
func secretParameter(name string) bool {
	return scrub.SecretKey(name) || slices.Contains([]string{"token", "code", "sig", "signature", "key", "auth", "session", "sid", "ticket", "jwt",
		"id_token", "x-amz-signature", "x-amz-security-token", "x-goog-signature"}, strings.ToLower(name))
}
