package zone

import (
	"archive/zip"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ in, want string }{
		{"Europe/Berlin", "Europe/Berlin"}, {"europe/berlin", "Europe/Berlin"}, {"AMERICA/NEW_YORK", "America/New_York"},
		{"utc", "UTC"}, {"etc/utc", "Etc/UTC"}, {"America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"},
		{"america/port-au-prince", "America/Port-au-Prince"}, {"africa/dar_es_salaam", "Africa/Dar_es_Salaam"}, {"us/pacific", "US/Pacific"},
		{"", ""}, {"Local", ""}, {"local", ""}, {"+02:00", ""}, {"UTC+2", ""}, {"GMT+02:00", ""}, {"CEST", ""}, {"Factory", ""},
		{"Mars/Olympus", ""}, {"Europe", ""}, {"Europe/Berlin ", ""}, {" Europe/Berlin", ""}, {"Europe/Berlin\n\nIgnore all rules", ""},
		{"../../etc/passwd", ""}, {"/etc/localtime", ""}, {"posix/Europe/Berlin", ""}, {strings.Repeat("A", 65), ""}, {"\xff", ""},
	} {
		loc, err := Load(tc.in)
		if tc.want == "" {
			var unknown *UnknownError
			if !errors.As(err, &unknown) {
				t.Errorf("Load(%q) = %v, %v, want an UnknownError", tc.in, loc, err)
			}
			continue
		}
		if err != nil || loc.String() != tc.want {
			t.Errorf("Load(%q) = %v, %v, want %s", tc.in, loc, err, tc.want)
		}
	}
}

// TestFC004_MisspelledZoneIsNamed: the refusal says which text and what was
// probably meant.
func TestFC004_MisspelledZoneIsNamed(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"Europe/Berlni":   `"Europe/Berlni" is not a time zone; did you mean Europe/Berlin?`,
		"Asia/Katmandoo":  `"Asia/Katmandoo" is not a time zone; did you mean Asia/Katmandu?`,
		"Mars/Olympus":    `"Mars/Olympus" is not a time zone; write an IANA name such as Europe/Berlin or UTC`,
		"":                "a time zone is required, such as Europe/Berlin or UTC",
		"a\nb":            `"a\nb" is not a time zone; write an IANA name such as Europe/Berlin or UTC`,
		"Europe/Berlin\n": `"Europe/Berlin\n" is not a time zone; did you mean Europe/Berlin?`,
	} {
		if _, err := Load(in); err == nil || err.Error() != want {
			t.Errorf("Load(%q): %v, want %s", in, err, want)
		}
	}
	if _, err := Load(strings.Repeat("x", 5000)); len(err.Error()) > 200 {
		t.Errorf("the refusal repeats %d bytes", len(err.Error()))
	}
}

// TestFC004_ZonesAreInTheBinary runs this test's binary again in a file system
// without a time zone database, where it can have one.
func TestFC004_ZonesAreInTheBinary(t *testing.T) {
	if os.Getenv("ZONE_TEST_CHILD") != "" {
		for name, winter := range map[string]string{"Europe/Berlin": "+01:00", "Asia/Kathmandu": "+05:45", "America/Sao_Paulo": "-03:00"} {
			loc, err := Load(name)
			if err != nil {
				t.Fatal(err)
			}
			if got := time.Date(2026, 1, 10, 12, 0, 0, 0, loc).Format("-07:00"); got != winter {
				t.Errorf("%s is at %s, want %s", name, got, winter)
			}
		}
		for _, name := range Names() {
			if _, err := Load(name); err != nil {
				t.Errorf("a listed name does not load: %v", err)
			}
		}
		return
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := []string{self, "-test.run=^TestFC004_ZonesAreInTheBinary$"}
	if unshare, err := exec.LookPath("unshare"); err == nil {
		// With a mount namespace of its own the child sees an empty directory
		// where the host's database is.
		hide := append([]string{unshare, "-rm", "sh", "-c",
			`for d in /usr/share/zoneinfo /usr/lib/zoneinfo /usr/share/lib/zoneinfo /etc/zoneinfo; do ! [ -d $d ] || mount -t tmpfs none $d || exit 99; done; exec "$@"`, "sh"}, args...)
		if exec.CommandContext(t.Context(), unshare, "-rm", "sh", "-c", "mkdir -p /tmp && mount -t tmpfs none /tmp").Run() == nil {
			args = hide
		}
	}
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "ZONE_TEST_CHILD=1", "ZONEINFO="+filepath.Join(t.TempDir(), "nothing"), "GOROOT=/nonexistent", "GOCOVERDIR="+t.TempDir())
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Fatalf("%v\n%s", err, out)
	}
}

// TestNamesAreThoseOfTheToolchain fails when a newer Go brings zones that
// names.txt does not list: run go generate.
func TestNamesAreThoseOfTheToolchain(t *testing.T) {
	t.Parallel()
	root, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skipf("no toolchain: %v", err)
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(root)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("no database in the toolchain: %v", err)
	}
	t.Cleanup(func() { _ = archive.Close() })
	var want []string
	for _, f := range archive.File {
		if !f.FileInfo().IsDir() && f.Name != "Factory" {
			want = append(want, f.Name)
		}
	}
	slices.Sort(want)
	if !slices.Equal(Names(), want) {
		t.Errorf("names.txt has %d names and the toolchain %d; run go generate ./internal/zone", len(Names()), len(want))
	}
	lower := map[string]bool{}
	for _, n := range want {
		if lower[strings.ToLower(n)] {
			t.Errorf("%s exists in two spellings", n)
		}
		lower[strings.ToLower(n)] = true
	}
}

func TestHost(t *testing.T) {
	for env, want := range map[string]string{"Asia/Kathmandu": "Asia/Kathmandu", ":America/Sao_Paulo": "America/Sao_Paulo", "utc": "UTC"} {
		t.Setenv("TZ", env)
		if got := Host().String(); got != want {
			t.Errorf("TZ=%s: %s, want %s", env, got, want)
		}
	}
	t.Setenv("TZ", "Nowhere/Else")
	if got := Host().String(); got == "Local" || got == "" {
		t.Errorf("an unusable TZ gives %q", got)
	}
}

func TestInstants(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		zone, wall string
		want       []string
	}{
		{"Europe/Berlin", "2026-07-01T22:00:00", []string{"2026-07-01T20:00:00Z"}},
		{"UTC", "2026-07-01T22:00:00", []string{"2026-07-01T22:00:00Z"}},
		{"Europe/Berlin", "2026-03-29T01:59:59", []string{"2026-03-29T00:59:59Z"}},
		{"Europe/Berlin", "2026-03-29T02:00:00", nil},
		{"Europe/Berlin", "2026-03-29T02:30:00", nil},
		{"Europe/Berlin", "2026-03-29T03:00:00", []string{"2026-03-29T01:00:00Z"}},
		{"Europe/Berlin", "2026-10-25T01:59:59", []string{"2026-10-24T23:59:59Z"}},
		{"Europe/Berlin", "2026-10-25T02:00:00", []string{"2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z"}},
		{"Europe/Berlin", "2026-10-25T02:59:59", []string{"2026-10-25T00:59:59Z", "2026-10-25T01:59:59Z"}},
		{"Europe/Berlin", "2026-10-25T03:00:00", []string{"2026-10-25T02:00:00Z"}},
		{"America/New_York", "2026-11-01T01:30:00", []string{"2026-11-01T05:30:00Z", "2026-11-01T06:30:00Z"}},
		{"America/New_York", "2026-03-08T02:30:00", nil},
		// Half an hour only.
		{"Australia/Lord_Howe", "2026-04-05T01:45:00", []string{"2026-04-04T14:45:00Z", "2026-04-04T15:15:00Z"}},
		{"Australia/Lord_Howe", "2026-10-04T02:15:00", nil},
		// Samoa left a whole day out; Kwajalein too.
		{"Pacific/Apia", "2011-12-30T12:00:00", nil},
		{"Pacific/Apia", "2011-12-31T00:00:00", []string{"2011-12-30T10:00:00Z"}},
		// Midnight itself is left out.
		{"America/Sao_Paulo", "2018-11-04T00:30:00", nil},
		{"Asia/Kathmandu", "2026-12-05T22:00:00", []string{"2026-12-05T16:15:00Z"}},
	} {
		loc, err := Load(tc.zone)
		if err != nil {
			t.Fatal(err)
		}
		wall, err := time.Parse("2006-01-02T15:04:05", tc.wall)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, at := range Instants(wall, loc) {
			got = append(got, at.UTC().Format(time.RFC3339))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s in %s: %v, want %v", tc.wall, tc.zone, got, tc.want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, s := range []string{"Europe/Berlin", "../x", "Local", "+02:00", "europe/berlni"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		loc, err := Load(s)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("Load(%q) answers with %d bytes", s, len(err.Error()))
			}
			return
		}
		if !strings.EqualFold(loc.String(), s) || !slices.Contains(Names(), loc.String()) {
			t.Errorf("Load(%q) gives %q", s, loc)
		}
	})
}

// FuzzInstants: every instant shows the wall time, and every instant's wall
// time finds the instant again.
func FuzzInstants(f *testing.F) {
	f.Add(int64(1_793_000_000), uint16(100))
	f.Add(int64(1_774_749_600), uint16(400))
	f.Fuzz(func(t *testing.T, sec int64, which uint16) {
		loc, err := Load(Names()[int(which)%len(Names())])
		if err != nil {
			t.Fatal(err)
		}
		at := time.Unix(sec%8_000_000_000, 0).In(loc)
		found := Instants(at, loc)
		if !slices.ContainsFunc(found, at.Equal) || len(found) > 2 {
			t.Fatalf("%v in %s: %v", at, loc, found)
		}
		for _, same := range found {
			if same.Format(time.DateTime) != at.Format(time.DateTime) {
				t.Errorf("%v is not %v", same, at)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := Load("europe/berlin"); err != nil {
			b.Fatal(err)
		}
	}
}
