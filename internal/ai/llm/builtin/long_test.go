package builtin

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestLongTextsAreReadQuickly: what a stranger can make a server do with one
// message is bounded, however the message is made.
func TestLongTextsAreReadQuickly(t *testing.T) {
	t.Parallel()
	w := defaultWorld()
	var systems []string
	for i := range 500 {
		systems = append(systems, fmt.Sprintf(`{"id":"n%d","name":"on for system number %d of many"}`, i, i))
	}
	w.reads["catalog_listSystems"] = `{"systems":[` + strings.Join(systems, ",") + `]}`
	for begin, again := range map[string]string{
		"": "a : ", "update incident a ": "update incident a ", "add a ": "to b ", "open incident ": "on for ", "open incident x ": "on number 7 and ",
		"schedule maintenance ": "every ", "schedule maintenance x ": "1 hour ", "schedule maintenance y ": "22:00 to ", "plan maintenance ": "for the next on ",
		"resolve incident ": "the incident with note ", "move maintenance x to ": "next week on the ",
	} {
		text := begin + strings.Repeat(again, maxCommand/len(again))
		start := time.Now()
		w.play(t, text)
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%.40s… took %v", text, took)
		} else {
			t.Logf("%.40s… %v", text, took)
		}
	}
}
