package overview

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestSilence: maintenances are asked first, and who cannot answer does not
// silence (spec/monitoring.md 20, item 9).
func TestSilence(t *testing.T) {
	t.Parallel()
	yes := func(context.Context, string) (bool, error) { return true, nil }
	no := func(context.Context, string) (bool, error) { return false, nil }
	broken := func(context.Context, string) (bool, error) { return true, errors.New("database away") }
	for _, tc := range []struct {
		name                  string
		maintenance, incident func(context.Context, string) (bool, error)
		want                  string
		warned                bool
	}{
		{"none", no, no, "", false},
		{"incident", no, yes, "incident", false},
		{"maintenance is asked first", yes, broken, "maintenance", false},
		{"both", yes, yes, "maintenance", false},
		{"maintenance broken", broken, no, "", true},
		{"maintenance broken, incident asks for quiet", broken, yes, "incident", true},
		{"both broken", broken, broken, "", true},
	} {
		var log strings.Builder
		s := New(Deps{Silencers: []Silencer{{"maintenance", tc.maintenance}, {"incident", tc.incident}}, Log: slog.New(slog.NewTextHandler(&log, nil))})
		if got := s.SilencedBy(t.Context(), "s1"); got != tc.want {
			t.Errorf("%s: silenced by %q, want %q", tc.name, got, tc.want)
		}
		if warned := strings.Contains(log.String(), "level=WARN"); warned != tc.warned {
			t.Errorf("%s: log %q", tc.name, log.String())
		}
	}
}
