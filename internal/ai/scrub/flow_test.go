package scrub

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

const aKey = "sk-abcdefghijklmnop"

func TestProse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"", ""},
		{"plain words, nothing else", "plain words, nothing else"},
		{aKey, Redacted},
		{"the key is " + aKey + " and works", "the key is " + Redacted + " and works"},
		{`"` + aKey + `", '` + aKey + `'`, `"` + Redacted + `", '` + Redacted + `'`},
		{aKey + " " + aKey, Redacted + " " + Redacted},
		{"rk-proj-" + strings.Repeat("x", 40) + "\n", Redacted + "\n"},
		{"sk-short", "sk-short"},
		{"x" + aKey, "x" + aKey},
		{"(" + aKey + ")", "(" + aKey + ")"},
		{aKey + ".", aKey + "."},
		{"https://host/api/sk-checkout-flow-12345678/status", "https://host/api/sk-checkout-flow-12345678/status"},
		{"key\u00a0" + aKey + "\u2003x", "key\u00a0" + Redacted + "\u2003x"},
		{"curl -H 'Authorization: bEaReR  abc.def~ghi/jkl==' x", "curl -H 'Authorization: bEaReR  " + Redacted + "' x"},
		{"Bearer\u00a0\u3000abcdefghijkl", "Bearer\u00a0\u3000" + Redacted},
		{"Bearer\u00a0\u00e9bcdefghijkl", "Bearer\u00a0\u00e9bcdefghijkl"},
		{"Bearer abcdefghijk.", "Bearer " + Redacted + ""},
		{"Bearer abcdefghijk is short", "Bearer abcdefghijk is short"},
		{"the bearer of this letter; bearer certificate", "the bearer of this letter; bearer certificate"},
		{"bearer bearer bearer abcdefghijkl!", "bearer bearer bearer " + Redacted + "!"},
		{"sk-bearer abcdefghijkl", "sk-bearer " + Redacted},
		{"xBearer abcdefghijkl", "xBearer abcdefghijkl"},
		{"a\x00b", "a\uFFFDb"},
		{"\x00" + aKey, "\uFFFD" + aKey},
		{"sk-" + strings.Repeat("a", 2*keyMost) + ".x sk", Redacted + ".x sk"},
	} {
		if got := Prose(tc.in); got != tc.want {
			t.Errorf("Prose(%q) = %q, want %q", tc.in, got, tc.want)
		}
	}
}

// The words of an ordinary answer are not delayed.
func TestFlowHoldsNothingOfOrdinaryText(t *testing.T) {
	t.Parallel()
	var f Flow
	for _, piece := range []string{"One ", "system ", "is ", "down: ", "Shop, ", "since ", "brunch. ", "Größe ", "🔥 "} {
		if got := f.Write(piece); got != piece {
			t.Errorf("Write(%q) = %q", piece, got)
		}
	}
	// What may begin a credential waits, and only that.
	for _, step := range [][2]string{{"the sk", "the "}, {"-abc", ""}, {"def ", "sk-abcdef "}, {"Bear", ""}, {"er abc", "Bearer "}, {"\n", "abc\n"}} {
		if got := f.Write(step[0]); got != step[1] {
			t.Errorf("Write(%q) = %q, want %q", step[0], got, step[1])
		}
	}
	// However long: no more is held than a possible key has.
	f = Flow{}
	for range 10_000 {
		f.Write("sk-a")
		if len(f.held) > keyMost+4 {
			t.Fatalf("%d bytes are held", len(f.held))
		}
	}
}

// pieces of texts from which credentials and near misses come about.
var pieces = []string{"sk-", "rk-", "sk", "s", "r", "-", "proj-", "abcdefghijklmnop", "abc", "_", "Bearer", "bearer", "BEARER ", "b", " ", "\n", "\t", "  ", "\u3000",
	"\u00a0", "\u2003", "\ufeff", "\u0085", ",", ";", "\"", "'", "`", ".", "/", "=", "==", "~", "(", ")", "é", "🔥", "\x00", "\xff", "\xc2", "x", "A1", strings.Repeat("q", 300)}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(14) {
		b.WriteString(pieces[r.IntN(len(pieces))])
	}
	return b.String()
}

// checkFlow holds what must be true of every text and every cut of it.
func checkFlow(t *testing.T, text string, cut func() int) {
	t.Helper()
	whole := Prose(text)
	var f Flow
	var got strings.Builder
	for rest := text; rest != ""; {
		n := min(1+cut(), len(rest))
		got.WriteString(f.Write(rest[:n]))
		rest = rest[n:]
	}
	got.WriteString(f.Close())
	if got.String() != whole {
		t.Fatalf("%q in pieces gives %q, as a whole %q", text, got.String(), whole)
	}
	if Secret(whole) {
		t.Fatalf("%q gives %q, which still holds a credential", text, whole)
	}
	if Text(whole) != whole || Prose(whole) != whole {
		t.Fatalf("%q gives %q, which is stored as %q", text, whole, Text(whole))
	}
	switch covered := strings.Count(whole, Redacted) > strings.Count(text, Redacted); {
	case Secret(text) && !covered:
		t.Fatalf("nothing of %q is covered", text)
	case !Secret(text) && len(text) < keyMost && whole != Storable(text):
		t.Fatalf("%q holds no credential and became %q", text, whole)
	}
}

func TestFlowIsTheSameForEveryCut(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 30_000 {
		most := 1 + r.IntN(20)
		checkFlow(t, randomText(r), func() int { return r.IntN(most) })
	}
}

func FuzzFlow(f *testing.F) {
	f.Add("the key is "+aKey+" ok, Bearer abcdefghijkl==", uint64(1))
	f.Add("s sk sk-\u00a0sk-abc\x00 bearer \n\t bear", uint64(2))
	f.Fuzz(func(t *testing.T, text string, seed uint64) {
		r := rand.New(rand.NewPCG(seed, 0))
		checkFlow(t, text, func() int { return r.IntN(8) })
		if utf8.ValidString(text) && !utf8.ValidString(Prose(text)) {
			t.Fatalf("%q became invalid", text)
		}
	})
}

func BenchmarkFlow(b *testing.B) {
	words := strings.SplitAfter(strings.Repeat("One system is down since brunch: the shop answers 503. ", 20), " ")
	b.ReportAllocs()
	for b.Loop() {
		var f Flow
		for _, w := range words {
			f.Write(w)
		}
		f.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(words)), "ns/delta")
}
