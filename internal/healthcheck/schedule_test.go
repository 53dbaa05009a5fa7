package healthcheck

import (
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
)

func TestNextSlot(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ phase, interval, now, want int64 }{
		{0, 10, 100, 110}, {3, 10, 100, 103}, {3, 10, 103, 113}, {3, 10, 102, 103}, {9, 10, 100, 109},
	} {
		if got := nextSlot(tc.phase, tc.interval, tc.now); got != tc.want {
			t.Errorf("nextSlot(%d, %d, %d) = %d, want %d", tc.phase, tc.interval, tc.now, got, tc.want)
		}
	}
}

func TestPhasesAreEven(t *testing.T) {
	t.Parallel()
	const n, interval = 10_000, 60_000
	perSecond := make([]int, 60)
	for range n {
		perSecond[phaseOf(sliceID(newID(), newID()), interval)/1000]++
	}
	if most := slices.Max(perSecond); most > n*5/200 {
		t.Errorf("%d of %d slices share a second", most, n)
	}
	if sliceID("a", "b") == sliceID("b", "a") || sliceID("ab", "c") == sliceID("a", "bc") {
		t.Error("different pairs share a slice")
	}
}

func TestRunIDsSortLikeTime(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 7, 1, 12, 0, 0, 5e6, time.UTC)
	id := runID(at)
	if u, err := uuid.Parse(id); err != nil || u.Version() != 7 || u.Variant() != uuid.RFC4122 {
		t.Fatalf("%s is no UUIDv7: %v", id, err)
	}
	if got := timeOfID(id); !got.Equal(at) {
		t.Errorf("got %v, want %v", got, at)
	}
	if !(lowestID(at) < id && id < lowestID(at.Add(time.Millisecond))) {
		t.Errorf("%s is not between its bounds", id)
	}
	if first, second := runID(at), runID(at); first == second {
		t.Error("two runs of one millisecond share an id")
	}
	if lowestID(time.Date(1960, 1, 1, 0, 0, 0, 0, time.UTC)) > id {
		t.Error("a time before 1970 is above a run")
	}
}

func TestStaleness(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration, interval int) CheckStatus {
		return CheckStatus{Enabled: true, IntervalSeconds: interval, LastRunAt: now.Add(-d)}
	}
	for _, tc := range []struct {
		name string
		c    CheckStatus
		want bool
	}{
		{"five short intervals are not ten minutes", ago(9*time.Minute, 30), false},
		{"ten minutes", ago(10*time.Minute, 30), true},
		{"long interval", ago(4*time.Hour, 3600), false},
		{"five long intervals", ago(5*time.Hour, 3600), true},
		{"paused", CheckStatus{Enabled: true, Paused: true, IntervalSeconds: 30, LastRunAt: now.Add(-time.Hour)}, false},
		{"never ran", CheckStatus{Enabled: true, IntervalSeconds: 30}, false},
	} {
		if got := tc.c.Stale(now); got != tc.want {
			t.Errorf("%s: got %v, want %v", tc.name, got, tc.want)
		}
	}
}
