package knowledge

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// words splits a text into the words that a search compares: lower case, in
// their stem, without those shorter than two characters. Scripts that write
// without spaces give pairs of characters.
func words(s string) []string {
	var out []string
	for _, run := range runs(s) {
		if strings.ContainsFunc(run, dense) {
			out = append(out, pairs(run)...)
		} else if utf8.RuneCountInString(run) >= 2 {
			out = append(out, stem(run))
		}
	}
	return out
}

// runs gives the unbroken sequences of letters and digits.
func runs(s string) []string {
	return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// dense says that r belongs to a script that puts no spaces between words.
func dense(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

func pairs(run string) []string {
	rs := []rune(run)
	if len(rs) == 1 {
		return []string{run}
	}
	out := make([]string, 0, len(rs)-1)
	for i := range len(rs) - 1 {
		out = append(out, string(rs[i:i+2]))
	}
	return out
}

// stem takes the common English endings off, so that "recurring" finds
// "recurrence" and "schedules" finds "scheduling". It is coarse on purpose:
// both sides of a comparison go through it.
func stem(w string) string {
	if len(w) < 4 || strings.ContainsFunc(w, func(r rune) bool { return r < 'a' || r > 'z' }) {
		return w
	}
	if s, ok := strings.CutSuffix(w, "ies"); ok && len(s) > 1 {
		w = s + "y"
	} else if s, ok := strings.CutSuffix(w, "s"); ok && !strings.HasSuffix(s, "s") && !strings.HasSuffix(s, "u") && !strings.HasSuffix(s, "i") {
		w = s
	}
	for _, ending := range []struct {
		text string
		left int // letters that must stay
	}{{"ences", 5}, {"ence", 5}, {"ance", 5}, {"ing", 3}, {"ed", 3}} {
		s, ok := strings.CutSuffix(w, ending.text)
		if !ok || len(s) < ending.left || !strings.ContainsAny(s, "aeiouy") {
			continue
		}
		if n := len(s); s[n-1] == s[n-2] && !strings.ContainsRune("lsz", rune(s[n-1])) {
			s = s[:n-1]
		}
		w = s
		break
	}
	if s, ok := strings.CutSuffix(w, "e"); ok && len(s) > 3 {
		w = s
	}
	return w
}

// idle words say nothing about what is looked for.
var idle = func() map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(`a about all also am an and any are as at be been but by can could did do does for from get
		had has have how i if in into is it its me my no not of on or our out please should so than that the their them then there
		these they this to up use using want was way we were what when where which who why will with would you your`) {
		m[stem(w)] = true
	}
	return m
}()

// maxTerms bounds the words of a query that count.
const maxTerms = 50

// terms gives the distinct words of a query, without idle ones unless there is
// nothing else.
func terms(query string) []string {
	all := words(query)
	telling := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return idle[w] })
	if len(telling) == 0 {
		telling = all
	}
	out := make([]string, 0, len(telling))
	for _, w := range telling {
		if len(out) < maxTerms && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// counts says how often each word occurs.
type counts map[string]int

func count(texts ...string) counts {
	c := counts{}
	for _, text := range texts {
		for _, w := range words(text) {
			c[w]++
		}
	}
	return c
}

// sat makes the tenth occurrence of a word count less than the first, as BM25
// does.
func sat(tf int) float64 {
	if tf <= 0 {
		return 0
	}
	return float64(tf) * 2.5 / (float64(tf) + 1.5)
}

func (c counts) score(terms []string) float64 {
	var sum float64
	for _, t := range terms {
		sum += sat(c[t])
	}
	return sum
}

// excerptLimit is the length of an excerpt in characters.
const excerptLimit = 500

// excerpt gives the part of a text around the first of the terms, on one line,
// at most excerptLimit characters, with … where it was cut.
func excerpt(text string, terms []string) string {
	rs := []rune(strings.Join(strings.Fields(text), " "))
	if len(rs) <= excerptLimit {
		return string(rs)
	}
	at := firstMatch(rs, terms)
	start := 0
	if at >= 0 {
		start = min(max(at-excerptLimit/2, 0), len(rs)-excerptLimit)
	}
	end := start + excerptLimit
	// Begin and end between words where that costs little.
	if start > 0 {
		if i := slices.Index(rs[start:min(start+30, at+1)], ' '); i >= 0 {
			start += i + 1
		}
	}
	if end < len(rs) {
		for i := end; i > end-30; i-- {
			if rs[i] == ' ' {
				end = i
				break
			}
		}
	}
	out := string(rs[start:end])
	if start > 0 {
		out = "…" + out
	}
	if end < len(rs) {
		out += "…"
	}
	return out
}

// firstMatch gives the position of the first word that is one of the terms, -1
// when there is none.
func firstMatch(rs []rune, terms []string) int {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }
	for i := 0; i < len(rs); {
		if !inWord(rs[i]) {
			i++
			continue
		}
		j := i
		for j < len(rs) && inWord(rs[j]) {
			j++
		}
		run := rs[i:j]
		for k, w := range words(string(run)) {
			if slices.Contains(terms, w) {
				if slices.ContainsFunc(run, dense) {
					return min(i+k, j-1)
				}
				return i
			}
		}
		i = j
	}
	return -1
}
