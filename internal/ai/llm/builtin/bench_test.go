package builtin

import "testing"

func BenchmarkMatch(b *testing.B) {
	for i := 0; b.Loop(); i++ {
		match(phrasings[i%len(phrasings)].text)
	}
}

func BenchmarkOverviewTurn(b *testing.B) {
	w := defaultWorld()
	for b.Loop() {
		w.play(b, "what is down?")
	}
}
