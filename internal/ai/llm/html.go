package llm

import (
	"html"
	"strings"
)

func looksLikeHTML(s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	return strings.HasPrefix(s, "<!doctype html") || strings.HasPrefix(s, "<html")
}

// htmlText reduces an error page to what a person reads on it. It need not be
// exact, and its result is shown as text only.
func htmlText(s string) string {
	for _, tag := range []string{"script", "style", "head"} {
		s = dropElement(s, tag)
	}
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		b.WriteByte(' ')
		j := strings.IndexByte(s[i:], '>')
		if j < 0 {
			break
		}
		s = s[i+j+1:]
	}
	return strings.Join(strings.Fields(html.UnescapeString(b.String())), " ")
}

// dropElement removes an element with its content; the page's title is kept
// as it often is the only text that says anything.
func dropElement(s, tag string) string {
	for {
		lower := asciiLower(s)
		i := openTag(lower, tag)
		if i < 0 {
			return s
		}
		end := "</" + tag + ">"
		j := strings.Index(lower[i:], end)
		if j < 0 {
			return s[:i]
		}
		kept := ""
		if tag == "head" {
			kept = title(s[i : i+j])
		}
		s = s[:i] + " " + kept + " " + s[i+j+len(end):]
	}
}

// openTag finds <tag> or <tag …>, but not <tagger>.
func openTag(lower, tag string) int {
	i, j := strings.Index(lower, "<"+tag+">"), strings.Index(lower, "<"+tag+" ")
	if i < 0 || (j >= 0 && j < i) {
		return j
	}
	return i
}

func title(head string) string {
	lower := asciiLower(head)
	i := strings.Index(lower, "<title>")
	j := strings.Index(lower, "</title>")
	if i < 0 || j < i {
		return ""
	}
	return head[i+len("<title>") : j]
}

// asciiLower keeps the length, unlike strings.ToLower.
func asciiLower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
