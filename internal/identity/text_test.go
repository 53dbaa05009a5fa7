package identity

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestNames(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"  Ada Lovelace ":        "Ada Lovelace",
		"Zoe\u0308":              "Zo\u00eb",
		"李小龍":                    "李小龍",
		"👩\u200d🚀":               "👩\u200d🚀",
		strings.Repeat("ä", 100): strings.Repeat("ä", 100),
	} {
		var is issues
		if got := is.name("name", in); got != want || len(is) > 0 {
			t.Errorf("%q: got %q, %v", in, got, is)
		}
	}
	for _, in := range []string{"", " ", "\u200b", strings.Repeat("a", 101), "a\x00b", "a\nb", "a\x7fb", "a\u202eb", "a\u2028b", "\xff"} {
		var is issues
		if is.name("name", in); len(is) != 1 || is[0].Path != "name" {
			t.Errorf("%q: accepted (%v)", in, is)
		}
	}
	var is issues
	if got := is.description("description", " a\r\n\tb "); got != "a\r\n\tb" || len(is) > 0 {
		t.Errorf("description %q, %v", got, is)
	}
	if is.description("description", "a\x00"); len(is) != 1 {
		t.Errorf("NUL in a description: %v", is)
	}
	if is.description("description", strings.Repeat("a", 501)); len(is) != 2 {
		t.Errorf("long description: %v", is)
	}
}

func TestEmails(t *testing.T) {
	t.Parallel()
	for _, in := range []string{"a@b", "ada@example.com", "first.last+tag@sub.example.co.uk", "o'hara@example.com", "ada@bücher.example", "用户@例え.jp"} {
		var is issues
		if got := is.email("email", " "+in+" "); got != in || len(is) > 0 {
			t.Errorf("%q: got %q, %v", in, got, is)
		}
	}
	for _, in := range []string{"", "ada", "@example.com", "ada@", "ada@@example.com", "a b@example.com", "ada@exa mple.com", `"ada"@example.com`,
		"ada@[192.0.2.1]", ".ada@example.com", "ada.@example.com", "a..b@example.com", "ada@-x.com", "ada@x-.com", "ada@x..com", "ada@x.com.",
		"Ada <ada@example.com>", "ada@example.com,eve@example.com", "ada\x00@example.com", "ada\u202e@example.com", "ada@example.com\nbcc: x@y",
		strings.Repeat("a", 65) + "@example.com", "ada@" + strings.Repeat("a", 64) + ".com", "ada@" + strings.Repeat("a.", 130) + "com"} {
		var is issues
		if is.email("email", in); len(is) != 1 || is[0].Path != "email" {
			t.Errorf("%q: accepted (%v)", in, is)
		}
	}
	for a, b := range map[string]string{"Ada@Example.COM": " ada@example.com", "zoe\u0308@x": "ZO\u00cb@x", "ａｄａ@x": "ada@x"} {
		if textKey(a) != textKey(b) {
			t.Errorf("%q and %q are two accounts", a, b)
		}
	}
}

func TestNetwork(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"192.0.2.1":          "192.0.2.1",
		"::ffff:192.0.2.1":   "192.0.2.1",
		"2001:db8:1:2::99":   "2001:db8:1:2::/64",
		"fe80::1%eth0":       "fe80::/64",
		"":                   "",
		"not an address\x00": "not an address",
	} {
		if got := network(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	t.Parallel()
	if got := clip("Moz\x00illa\xff/5.0\r\n", 255); got != "Mozilla/5.0" {
		t.Errorf("got %q", got)
	}
	if got := clip(strings.Repeat("ä", 200), 255); len(got) != 254 || !utf8.ValidString(got) {
		t.Errorf("got %d bytes, valid %v", len(got), utf8.ValidString(got))
	}
}

func FuzzParseKey(f *testing.F) {
	good := formatKey(newID(), newKeySecret()).Reveal()
	for _, s := range []string{good, "", "ck_", "Bearer " + good, good + " ", good[:len(good)-1], strings.ToUpper(good),
		strings.Replace(good, "-", "_", 1), "ck_" + strings.Repeat("_", 69), good[:len(good)-1] + "\x00", good[:len(good)-2] + "é"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		id, s, ok := parseKey(bearer)
		if !ok {
			if id != "" || !s.Empty() {
				t.Errorf("%q: refused, yet gave parts", bearer)
			}
			return
		}
		if got := formatKey(id, s).Reveal(); got != bearer {
			t.Errorf("%q is accepted as %q: a key must have one spelling", bearer, got)
		}
		if !IsKey(bearer) {
			t.Errorf("%q is accepted but not recognised as a key", bearer)
		}
	})
}

func TestKeysAndTokens(t *testing.T) {
	t.Parallel()
	seen := map[rune]bool{}
	for range 200 {
		id := newID()
		key := formatKey(id, newKeySecret()).Reveal()
		gotID, s, ok := parseKey(key)
		if !ok || gotID != id {
			t.Fatalf("%q does not parse", key)
		}
		for _, r := range s.Reveal() {
			seen[r] = true
		}
		if token := newToken().Reveal(); len(token) != tokenTextLen {
			t.Fatalf("token of %d characters", len(token))
		}
	}
	if len(seen) != len(keyAlphabet) {
		t.Errorf("200 keys use %d of %d characters", len(seen), len(keyAlphabet))
	}
}

func FuzzEmail(f *testing.F) {
	for _, s := range []string{"ada@example.com", "a@b", "\"x\"@y", "a@b\r\nTo: c@d", "用户@例え.jp"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var is issues
		got := is.email("email", text)
		if len(is) > 0 {
			return
		}
		if !utf8.ValidString(got) || strings.ContainsAny(got, "\x00\r\n\t ,;<>\"") || strings.Count(got, "@") != 1 || len(got) > maxEmail {
			t.Errorf("%q is accepted as %q", text, got)
		}
		var again issues
		if again.email("email", got) != got || len(again) > 0 {
			t.Errorf("%q does not stay as it is", got)
		}
	})
}
