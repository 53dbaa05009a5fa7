package builtin

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The words that are recognised with a slip of the keyboard in them: the verb a
// request begins with, and the kinds of things. Names are never corrected.
var (
	slipVerbs = []string{"create", "delete", "remove", "rename", "update", "change", "monitor", "watch", "pause", "resume", "describe",
		"declare", "report", "resolve", "close", "reopen", "schedule", "extend", "shorten", "postpone", "reschedule", "cancel", "start", "finish"}
	slipNouns = []string{"incident", "incidents", "maintenance", "maintenances", "system", "systems", "checks", "group", "groups"}
)

// slipWords is how many words from the beginning are looked at.
const slipWords = 5

// corrected gives a message without slips in its first words, and what was
// read as what; "" when there is none. It is asked only for a message that is
// not understood as it stands.
func corrected(message string) (text, note string) {
	words := strings.Fields(message)
	polite := politeStart.FindString(strings.Join(words, " ") + " ")
	first := len(strings.Fields(polite))
	var notes []string
	for i := first; i < min(len(words), first+slipWords); i++ {
		word := strings.TrimFunc(words[i], unicode.IsPunct)
		vocabulary := slipNouns
		if i == first {
			vocabulary = slipVerbs
		}
		if meant := slipOf(word, vocabulary); meant != "" {
			words[i] = strings.Replace(words[i], word, meant, 1)
			notes = append(notes, fmt.Sprintf("%s as %s", quoted(word), quoted(meant)))
		}
		if r, _ := utf8.DecodeLastRuneInString(words[i]); r == ':' || strings.ContainsAny(words[i], "\"“„«`") {
			break // what follows is a text or a name
		}
	}
	if len(notes) == 0 {
		return "", ""
	}
	return strings.Join(words, " "), "I read " + strings.Join(notes, " and ") + ".\n\n"
}

// slipOf gives the word of the vocabulary that is one slip away, or two for
// long words; "" when the word itself belongs to it, or when several are near.
func slipOf(word string, vocabulary []string) string {
	word = strings.ToLower(word)
	if len(word) < 5 || len(word) > 20 {
		return ""
	}
	found := ""
	for _, v := range vocabulary {
		most := 1
		if len(v) >= 10 {
			most = 2
		}
		switch d := slips(word, v); {
		case d == 0:
			return ""
		case d <= most && found != "" && !strings.HasPrefix(v, found):
			return ""
		case d <= most && (found == "" || d < slips(word, found)):
			found = v
		}
	}
	return found
}

// slips counts letters too many, too few, wrong or swapped with their
// neighbour.
func slips(a, b string) int {
	var before, last []int
	for i := 0; i <= len(a); i++ {
		row := make([]int, len(b)+1)
		for j := range row {
			if i == 0 || j == 0 {
				row[j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
