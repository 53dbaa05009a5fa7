package secret_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/secret"
)

var (
	keyA = strings.Repeat("a1", 32)
	keyB = strings.Repeat("b2", 32)
)

func box(t *testing.T, keys ...string) *secret.Box {
	t.Helper()
	b, err := secret.NewBox(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestStringNeverPrints(t *testing.T) {
	t.Parallel()
	const canary = "canary-4711"
	s := secret.New(canary)
	holder := struct {
		Key secret.String `json:"key"`
		Ptr *secret.String
	}{s, &s}
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("x", "s", s, "holder", holder)
	j, err := json.Marshal(holder)
	if err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{
		fmt.Sprint(s), fmt.Sprintf("%s %v %+v %#v %q %x %d", s, s, s, s, s, s, s), fmt.Sprintf("%v %+v %#v", holder, holder, holder),
		string(j), logged.String(), fmt.Errorf("wrap %v: %w", s, errors.New("x")).Error(),
	} {
		if strings.Contains(out, canary) || strings.Contains(out, fmt.Sprintf("%x", canary)) {
			t.Errorf("printed: %s", out)
		}
	}
	if s.Reveal() != canary {
		t.Error("Reveal must give the credential")
	}
}

func TestBoxRotatesAndBindsToItsPlace(t *testing.T) {
	t.Parallel()
	old := box(t, keyA)
	sealed, err := old.Seal(secret.New("hunter2"), "place")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(sealed, "hunter2") {
		t.Fatal("not encrypted")
	}
	second, _ := old.Seal(secret.New("hunter2"), "place")
	if second == sealed {
		t.Error("a nonce was used twice")
	}
	rotated := box(t, keyB, keyA)
	got, err := rotated.Open(sealed, "place")
	if err != nil || got.Reveal() != "hunter2" {
		t.Errorf("after rotation: %v", err)
	}
	for name, open := range map[string]func() (secret.String, error){
		"another place": func() (secret.String, error) { return old.Open(sealed, "elsewhere") },
		"another key":   func() (secret.String, error) { return box(t, keyB).Open(sealed, "place") },
		"tampered":      func() (secret.String, error) { return old.Open(sealed[:len(sealed)-2]+"AA", "place") },
		"not ours":      func() (secret.String, error) { return old.Open("plain text", "place") },
		"empty":         func() (secret.String, error) { return old.Open("", "place") },
	} {
		if _, err := open(); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	for _, bad := range []string{"", "zz", keyA + "00", strings.Repeat("g", 64)} {
		if _, err := secret.NewBox(bad); !errors.Is(err, secret.ErrKeyForm) {
			t.Errorf("key %q: got %v", bad, err)
		}
	}
}

func TestStoreKeepsAndReencrypts(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		st := secret.NewStore(box(t, keyA))
		for name, v := range map[string]string{"one": "1", "two": "2"} {
			if err := st.Put(ctx, d.Write, "s", name, secret.New(v)); err != nil {
				t.Fatal(err)
			}
		}
		if err := st.Put(ctx, d.Write, "s", "one", secret.New("1b")); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := st.Get(ctx, d.Read, "s", "none"); ok || err != nil {
			t.Errorf("missing: %v, %v", ok, err)
		}
		if _, _, err := secret.NewStore(box(t, keyB)).Get(ctx, d.Read, "s", "one"); !errors.Is(err, secret.ErrDecrypt) {
			t.Errorf("a lost key must be an error, got %v", err)
		}
		for want, st := range map[int]*secret.Store{0: st, 2: secret.NewStore(box(t, keyB))} {
			if n, err := st.Unreadable(ctx, d.Read); err != nil || n != want {
				t.Errorf("unreadable: %d, %v; want %d", n, err, want)
			}
		}
		rotated := secret.NewStore(box(t, keyB, keyA))
		if n, err := rotated.Unreadable(ctx, d.Read); err != nil || n != 0 {
			t.Errorf("unreadable with the older key listed: %d, %v", n, err)
		}
		scanned, rewritten, failed, err := rotated.Reencrypt(ctx, d.Write)
		if err != nil || scanned != 2 || rewritten != 2 || failed != 0 {
			t.Errorf("%d %d %d %v", scanned, rewritten, failed, err)
		}
		all, err := secret.NewStore(box(t, keyB)).All(ctx, d.Read, "s")
		if err != nil || len(all) != 2 || all["one"].Reveal() != "1b" {
			t.Errorf("after rotation: %v", err)
		}
		if err := st.Delete(ctx, d.Write, "s", "one"); err != nil {
			t.Fatal(err)
		}
		if err := st.Delete(ctx, d.Write, "s"); err != nil {
			t.Fatal(err)
		}
		if all, _ := rotated.All(ctx, d.Read, "s"); len(all) != 0 {
			t.Errorf("%d left", len(all))
		}
	})
}
