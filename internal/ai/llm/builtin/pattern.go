package builtin

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The pattern notation, one line per way of saying something:
//
//	word        the word itself, in any case
//	(a|b c)     one of these
//	[a|b c]     one of these or nothing
//	{slot}      any words, given to the plan under that name
//	{"slot}     one quoted text
//	{=slot a|b} one of these, given to the plan under that name
//	:           a colon, in a verbatim intent
//
// A pattern covers the whole text, after normalize has taken away politeness,
// end marks and commas. Quoted text counts as one word that matches nothing
// but a slot, so `create system "delete everything"` is read as meant. An
// intent that takes over what a person wrote, such as the text of an update, is
// verbatim: commas and colons stay, and of the end marks only politeness goes.

// matched holds what the slots of a pattern matched.
type matched struct {
	u     utterance
	slots map[string]string
}

// get gives a slot's text, quoted parts put back; "" when the pattern lacks it.
func (m matched) get(slot string) string { return m.u.value(m.slots[slot]) }

// prose is get for a text that may quote something: the marks stay, unless it
// is quoted as a whole.
func (m matched) prose(slot string) string { return m.u.prose(m.slots[slot]) }

// words gives the words of a slot; a quoted part is one word.
func (m matched) words(slot string) []string { return strings.Fields(m.slots[slot]) }

var (
	tokenPattern  = regexp.MustCompile(`\[[^\]]+\]|\([^)]+\)|\{"?[a-z]+\}|\{=[a-z]+ [^}]+\}|\S+`)
	slotPattern   = regexp.MustCompile(`^\{([a-z]+)\}$`)
	quotedPattern = regexp.MustCompile(`^\{"([a-z]+)\}$`)
	choicePattern = regexp.MustCompile(`^\{=([a-z]+) ([^}]+)\}$`)
)

// compile turns a pattern into a regular expression over the text plus a
// trailing space: each token eats the space behind it.
func compile(pattern string) *regexp.Regexp {
	var b strings.Builder
	b.WriteString(`(?i)^`)
	for _, tok := range tokenPattern.FindAllString(pattern, -1) {
		switch {
		case tok[0] == '[':
			b.WriteString("(?:(?:" + alternatives(tok) + ") )?")
		case tok[0] == '(':
			b.WriteString("(?:" + alternatives(tok) + ") ")
		case slotPattern.MatchString(tok):
			b.WriteString("(?P<" + tok[1:len(tok)-1] + ">.+?) ")
		case quotedPattern.MatchString(tok):
			b.WriteString("(?P<" + tok[2:len(tok)-1] + `>[\x{E000}-\x{E0FF}]) `)
		case choicePattern.MatchString(tok):
			m := choicePattern.FindStringSubmatch(tok)
			b.WriteString("(?P<" + m[1] + ">" + alternatives(" "+m[2]+" ") + ") ")
		default:
			b.WriteString(literal(tok) + " ")
		}
	}
	b.WriteString("$")
	return regexp.MustCompile(b.String())
}

func alternatives(tok string) string {
	parts := strings.Split(tok[1:len(tok)-1], "|")
	for i, p := range parts {
		parts[i] = literal(p)
	}
	return strings.Join(parts, "|")
}

// literal matches words as they are, with either apostrophe.
func literal(s string) string {
	if s == ":" {
		return colon
	}
	return strings.ReplaceAll(regexp.QuoteMeta(s), "'", "['’]")
}

// utterance is a normalized text with its quoted parts put aside.
type utterance struct {
	text     string
	verbatim string // with marks for pauses, see comma
	quotes   []string
}

// firstQuote is the private-use character that stands for the first quoted
// part; input is freed of the range before.
const (
	firstQuote = '\uE000'
	maxQuotes  = 256
	// comma, colon and semicolon stand for themselves, as words of a verbatim
	// text.
	comma, colon, semicolon = "\uE100", "\uE101", "\uE102"
	lastMark                = '\uE1FF'
	// maxCommand is how much of a message is read as a command, in bytes.
	maxCommand = 4000
)

var (
	openers = map[rune]rune{'"': '"', '“': '”', '”': '”', '„': '“', '«': '»', '»': '«', '`': '`', '\'': '\'', '‘': '’', '‚': '‘', '’': '’', '「': '」', '＂': '＂', '‹': '›'}

	pauses = map[rune]string{',': comma, ':': colon, ';': semicolon}

	politeStart = regexp.MustCompile(`(?i)^(?:(?:hi there|hello there|hey there|hi|hello|hey|ok|okay|so|now|and|then|please|pls|kindly|just|quickly|` +
		`(?:can|could|would|will) you(?: please| kindly)?|would you mind|i(?:['’]d| would) like (?:you )?to|i (?:want|need) (?:you )?to|i wanna|` +
		`let['’]s|let us|go ahead and|help me(?: to)?|tell me(?: if| whether)?|do you know(?: if| whether)?|check if|check whether|checkstack|assistant)(?: ` + comma + `)? )+`)
	onlyPolite = regexp.MustCompile(`(?i)(?:(?: ` + comma + `)? (?:please|pls|thanks|thank you|thx|for me))+ $`)
	politeEnd  = regexp.MustCompile(`(?i)(?: (?:please|pls|thanks|thank you|thx|for me|right now|now|currently|at the moment|today))+ $`)
)

// normalize reads a message as an utterance.
func normalize(message string) utterance {
	var u utterance
	if len(message) > maxCommand {
		message = strings.ToValidUTF8(message[:maxCommand], "")
	}
	runes := make([]rune, 0, len(message))
	for _, r := range message {
		switch {
		case r >= firstQuote && r <= lastMark, r == unicode.ReplacementChar:
		case unicode.IsSpace(r):
			runes = append(runes, ' ')
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
		default:
			runes = append(runes, r)
		}
	}
	var b, v strings.Builder
	for i := 0; i < len(runes); i++ {
		if end := u.quoteEnd(runes, i); end > 0 {
			b.WriteRune(firstQuote + rune(len(u.quotes)))
			v.WriteRune(firstQuote + rune(len(u.quotes)))
			u.quotes = append(u.quotes, strings.Join(strings.Fields(string(runes[i+1:end])), " "))
			i = end
			continue
		}
		if r := runes[i]; (r == ',' || r == ':' || r == ';') && (i+1 == len(runes) || runes[i+1] == ' ') {
			v.WriteString(" " + pauses[r] + " ")
			continue // a pause; within a URL or a time it is followed by more
		}
		if opensNothing(runes, i) {
			continue
		}
		b.WriteRune(runes[i])
		v.WriteRune(runes[i])
	}
	u.text, u.verbatim = trimPolite(b.String(), politeEnd), trimPolite(v.String(), onlyPolite)
	return u
}

func trimPolite(text string, end *regexp.Regexp) string {
	text = strings.Join(strings.Fields(text), " ")
	text = strings.TrimRight(text, " ?!.…") + " "
	text = end.ReplaceAllString(text, " ")
	if rest := politeStart.ReplaceAllString(text, ""); strings.TrimSpace(rest) != "" {
		text = rest // a bare "hello" stays
	}
	return strings.TrimRight(text, " ?!.…") + " "
}

// quoteEnd gives where the quotation that starts at i ends, or 0. A quotation
// starts at a word's beginning and ends at a word's end, so that the
// apostrophe of "Bob's" is none.
func (u *utterance) quoteEnd(runes []rune, i int) int {
	closer, ok := openers[runes[i]]
	if !ok || len(u.quotes) == maxQuotes || (i > 0 && !strings.ContainsRune(" (:=,", runes[i-1])) {
		return 0
	}
	for j := i + 1; j < len(runes); j++ {
		// People and keyboards mix closing marks of one kind.
		if (runes[j] == closer || closes(runes[i], runes[j])) && (j+1 == len(runes) || strings.ContainsRune(" ,.;:?!)", runes[j+1])) {
			if j == i+1 {
				return 0
			}
			return j
		}
	}
	return 0
}

// opensNothing says whether a quotation mark begins a word without a quotation
// behind it: the closing one was forgotten, or nothing was quoted. Such a mark
// is no part of a name; one within or behind a word, as in 15", may be.
func opensNothing(runes []rune, i int) bool {
	const marks = "\"“”„«»＂"
	for ; strings.ContainsRune(marks, runes[i]); i-- {
		if i == 0 || runes[i-1] == ' ' {
			return true
		}
	}
	return false
}

func closes(open, r rune) bool {
	switch open {
	case '"', '“', '”', '„', '＂':
		return strings.ContainsRune("\"“”＂", r)
	case '\'', '‘', '’', '‚':
		return strings.ContainsRune("'‘’", r)
	}
	return false
}

// value gives the text behind a slot, with quoted parts put back.
func (u utterance) value(slot string) string { return u.restore(slot, "", "") }

func (u utterance) prose(slot string) string {
	if utf8.RuneCountInString(strings.TrimSpace(slot)) == 1 {
		return u.value(slot)
	}
	return u.restore(slot, "“", "”")
}

var gluedMarks = strings.NewReplacer(" "+comma, ",", " "+colon, ":", " "+semicolon, ";", comma, ",", colon, ":", semicolon, ";")

func (u utterance) restore(slot, open, end string) string {
	var b strings.Builder
	for _, r := range gluedMarks.Replace(strings.TrimSpace(slot)) {
		if i := int(r - firstQuote); i >= 0 && i < len(u.quotes) {
			b.WriteString(open + u.quotes[i] + end)
			continue
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// match finds the first intent that a message fits.
func match(message string) (intent, matched, bool) {
	u := normalize(message)
	for _, in := range intents {
		text := u.text
		if in.verbatim {
			text = u.verbatim
		}
		for _, re := range in.patterns {
			sub := re.FindStringSubmatch(text)
			if sub == nil {
				continue
			}
			m := matched{u: u, slots: map[string]string{}}
			for i, name := range re.SubexpNames() {
				if name != "" {
					m.slots[name] = sub[i]
				}
			}
			if in.accept != nil && !in.accept(m) {
				continue
			}
			return in, m, true
		}
	}
	return intent{}, matched{}, false
}
