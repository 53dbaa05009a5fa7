package llm

import "strings"

// thinkFilter separates <think>…</think> from the answer in a text that
// arrives in pieces, wherever the pieces are cut. An opening tag right after a
// backtick is a quotation and stays. A block that never closes is reasoning to
// its end; a closing tag without an opening one is dropped.
type thinkFilter struct {
	held     string // a possible beginning of a tag
	inside   bool
	trimLead bool // a block just closed: skip the blank lines behind it
	last     byte // last byte given out as answer
}

var (
	thinkOpen  = []string{"<think>", "<thinking>"}
	thinkClose = []string{"</think>", "</thinking>"}
)

// write takes the next piece and gives what is certain by now.
func (f *thinkFilter) write(s string) (answer, reasoning string) {
	return f.scan(f.take(s), false)
}

// flush gives what was held back, once the text is over.
func (f *thinkFilter) flush() (answer, reasoning string) {
	return f.scan(f.take(""), true)
}

func (f *thinkFilter) take(s string) string {
	s = f.held + s
	f.held = ""
	return s
}

func (f *thinkFilter) scan(s string, final bool) (answer, reasoning string) {
	var a, r strings.Builder
	for s != "" {
		i := strings.IndexByte(s, '<')
		if i < 0 {
			f.put(&a, &r, s)
			break
		}
		f.put(&a, &r, s[:i])
		s = s[i:]
		if tag := hasAnyPrefix(s, thinkClose); tag != "" && (f.inside || !f.quoted()) {
			f.inside, f.trimLead = false, true
			s = s[len(tag):]
			continue
		}
		if tag := hasAnyPrefix(s, thinkOpen); tag != "" && !f.inside && !f.quoted() {
			f.inside = true
			s = s[len(tag):]
			continue
		}
		if !final && (couldBecome(s, thinkOpen) || couldBecome(s, thinkClose)) {
			f.held = s
			break
		}
		f.put(&a, &r, s[:1])
		s = s[1:]
	}
	return a.String(), r.String()
}

func (f *thinkFilter) quoted() bool { return f.last == '`' }

func (f *thinkFilter) put(a, r *strings.Builder, s string) {
	if f.inside {
		r.WriteString(s)
		return
	}
	if f.trimLead {
		s = strings.TrimLeft(s, " \t\r\n")
	}
	if s == "" {
		return
	}
	f.trimLead = false
	f.last = s[len(s)-1]
	a.WriteString(s)
}

func hasAnyPrefix(s string, tags []string) string {
	for _, t := range tags {
		if strings.HasPrefix(s, t) {
			return t
		}
	}
	return ""
}

// couldBecome reports whether s is a proper beginning of one of the tags.
func couldBecome(s string, tags []string) bool {
	for _, t := range tags {
		if len(s) < len(t) && strings.HasPrefix(t, s) {
			return true
		}
	}
	return false
}
