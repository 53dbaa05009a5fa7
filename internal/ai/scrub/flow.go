package scrub

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Flow scrubs a text while it comes in pieces, such as an answer while a model
// writes it. What was shown cannot be taken back, so only the credential itself
// is covered, not the text around it; and the end of a piece is held back when
// it may be the beginning of a credential. The result does not depend on how
// the text was cut. The zero value is ready.
type Flow struct {
	held string // what is not decided
	prev rune   // the rune before held; 0 at the beginning of the text
	mode flowMode
}

// flowMode says what held may go on with.
type flowMode int

const (
	flowing   flowMode = iota
	armed              // behind "Bearer ", where a token may come
	inKey              // within a key that is covered
	inBearer           // within a token that is covered
	inPadding          // within the = behind it
)

const (
	keyPrefix = 3  // "sk-", "rk-"
	keyLeast  = 16 // letters behind it
	// keyMost is where waiting for the end of a possible key ends: it counts as
	// one, whatever follows.
	keyMost     = 256
	bearerWord  = "bearer"
	bearerLeast = 12
)

// Write takes a piece and gives what can be shown.
func (f *Flow) Write(piece string) string { return f.run(piece, false) }

// Close gives the rest, and makes f ready for another text.
func (f *Flow) Close() string {
	rest := f.run("", true)
	*f = Flow{}
	return rest
}

// Prose gives a whole text as a Flow gives it.
func Prose(s string) string {
	var f Flow
	return f.Write(s) + f.Close()
}

func (f *Flow) run(piece string, last bool) string {
	if piece == "" && !last {
		return ""
	}
	if f.mode == flowing && f.held == "" && f.plain(piece) == len(piece) {
		// Nearly every piece is this.
		at := 0
		f.skip(piece, &at, len(piece))
		return Storable(piece)
	}
	text := f.held + piece
	var out strings.Builder
	at := 0
	pass := func(n int) { // shows the next n bytes
		out.WriteString(Storable(text[at : at+n]))
		f.skip(text, &at, n)
	}
	for at < len(text) {
		rest := text[at:]
		switch f.mode {
		case inKey:
			n := runOf(rest, isKey)
			f.skip(text, &at, n)
			if at < len(text) {
				f.mode = flowing
			}
			continue
		case inBearer:
			n := runOf(rest, isToken)
			f.skip(text, &at, n)
			if at < len(text) {
				f.mode = inPadding
			}
			continue
		case inPadding:
			f.skip(text, &at, runOf(rest, func(b byte) bool { return b == '=' }))
			if at < len(text) {
				f.mode = flowing
			}
			continue
		case armed:
			if n := len(rest) - len(strings.TrimLeftFunc(rest, isSpace)); n > 0 {
				pass(n)
				continue
			}
			if !utf8.FullRuneInString(rest) && !last {
				f.held = rest
				return out.String()
			}
			n := runOf(rest, isToken)
			switch {
			case n >= bearerLeast:
				out.WriteString(Redacted)
				f.mode = inBearer
				continue
			case n == len(rest) && !last:
				f.held = rest
				return out.String()
			}
			f.mode = flowing
			continue
		}
		// Most of a text is neither.
		if n := f.plain(rest); n > 0 {
			pass(n)
			continue
		}
		if !utf8.FullRuneInString(rest) && !last {
			break
		}
		word, more := f.word(rest, last)
		if more {
			break
		}
		switch {
		case word.key > 0:
			out.WriteString(Redacted)
			f.skip(text, &at, word.key)
			if word.key >= keyMost {
				f.mode = inKey
			}
		case word.bearer > 0:
			pass(word.bearer)
			f.mode = armed
		default:
			_, n := utf8.DecodeRuneInString(rest)
			pass(n)
		}
	}
	f.held = text[at:]
	return out.String()
}

// skip goes n bytes on.
func (f *Flow) skip(text string, at *int, n int) {
	if n == 0 {
		return
	}
	*at += n
	if f.prev, _ = utf8.DecodeLastRuneInString(text[:*at]); f.prev == 0 {
		f.prev = utf8.RuneError // a NUL is no beginning
	}
}

// plain gives how many bytes at the beginning of s begin no credential, whatever
// stands before and behind them.
func (f *Flow) plain(s string) int {
	for i := range len(s) {
		switch b := s[i]; {
		case b >= utf8.RuneSelf:
			return i
		case b == 's' || b == 'r' || b == 'b' || b == 'B':
			before := f.prev
			if i > 0 {
				before = rune(s[i-1]) // up to here all runes are bytes
			}
			if !isWord(before) { // within a word it begins nothing
				return i
			}
		}
	}
	return len(s)
}

// begins is the length of what begins a text: a key as a whole, or "bearer"
// with the first space behind it.
type begins struct{ key, bearer int }

// word looks for a credential at the beginning of s. more says that the text
// must go on before it is known.
func (f *Flow) word(s string, last bool) (w begins, more bool) {
	if f.prev == 0 || isEdge(f.prev) {
		n, open := keyAt(s, last)
		if n > 0 || open {
			return begins{key: n}, open
		}
	}
	if !isWord(f.prev) {
		n := 0
		for n < len(s) && n < len(bearerWord) && s[n]|0x20 == bearerWord[n] {
			n++
		}
		switch {
		case n == len(s):
			return begins{}, !last
		case n == len(bearerWord):
			if !utf8.FullRuneInString(s[n:]) && !last {
				return begins{}, true
			}
			if r, size := utf8.DecodeRuneInString(s[n:]); isSpace(r) {
				return begins{bearer: n + size}, false
			}
		}
	}
	return begins{}, false
}

// keyAt gives the length of the key at the beginning of s.
func keyAt(s string, last bool) (n int, more bool) {
	for i, want := range []string{"sr", "k", "-"} {
		switch {
		case i == len(s):
			return 0, !last
		case strings.IndexByte(want, s[i]) < 0:
			return 0, false
		}
	}
	n = keyPrefix + runOf(s[keyPrefix:], isKey)
	switch {
	case n >= keyMost:
		return keyMost, false
	case n == len(s) && !last:
		return 0, true
	case n < keyPrefix+keyLeast:
		return 0, false
	case n == len(s):
		return n, false
	case !utf8.FullRuneInString(s[n:]) && !last:
		return 0, true
	}
	if next, _ := utf8.DecodeRuneInString(s[n:]); !isEdge(next) {
		return 0, false
	}
	return n, false
}

func runOf(s string, in func(byte) bool) int {
	n := 0
	for n < len(s) && in(s[n]) {
		n++
	}
	return n
}

func isLetter(b byte) bool {
	return b >= '0' && b <= '9' || b >= 'A' && b <= 'Z' || b >= 'a' && b <= 'z'
}
func isKey(b byte) bool   { return isLetter(b) || b == '_' || b == '-' }
func isToken(b byte) bool { return isLetter(b) || strings.IndexByte("._~+/-", b) >= 0 }
func isWord(r rune) bool  { return r < utf8.RuneSelf && (isLetter(byte(r)) || r == '_') }

// isSpace says whether r separates, as spaces does.
func isSpace(r rune) bool {
	switch r {
	case '\t', '\n', '\v', '\f', '\r', ' ', 0x85, 0xfeff:
		return true
	}
	return r >= utf8.RuneSelf && unicode.Is(unicode.Z, r)
}

// isEdge says whether r may stand beside a standalone key, as edge does.
func isEdge(r rune) bool { return isSpace(r) || strings.ContainsRune("\"'`,;", r) }
