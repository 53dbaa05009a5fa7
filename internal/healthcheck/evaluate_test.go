package healthcheck

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sequence replays outcomes (S success, F failure, D degraded) and gives the
// first letter of the state after each.
func sequence(t Thresholds, outcomes string) string {
	recent, states := "", ""
	status := Unknown
	for _, o := range strings.ReplaceAll(outcomes, " ", "") {
		recent = push(recent, map[rune]Status{'S': Healthy, 'F': Unhealthy, 'D': Degraded}[o])
		status = Evaluate(t, recent, status)
		states += string(status[:1])
	}
	return states
}

func TestEvaluate(t *testing.T) {
	t.Parallel()
	def := DefaultThresholds()
	window := Thresholds{Mode: Window, WindowSize: 5, DegradedAfter: 3, UnhealthyAfter: 5}
	for _, tc := range []struct {
		name       string
		thresholds Thresholds
		outcomes   string
		want       string
	}{
		{"FC-026 single failures", def, "F S F S F S F S F", "hhhhhhhhh"},
		{"FC-026 interrupted", def, "F F S F F", "hdhhd"},
		{"FC-026 four, recovery, one", def, "F F F F S F", "hdddhh"},
		{"FC-026 five, recovery", def, "F F F F F S", "hddduh"},
		{"FC-026 window trips and clears", window, "F S F S F S S S", "hhhhdhhh"},
		{"degraded runs are failures", def, "D D D D D S", "hddduh"},
		{"several successes to recover", Thresholds{Mode: Consecutive, HealthyAfter: 3, DegradedAfter: 1, UnhealthyAfter: 2}, "F F S S F S S S", "duuudddh"},
		{"degraded is never reached", Thresholds{Mode: Consecutive, HealthyAfter: 1, DegradedAfter: 3, UnhealthyAfter: 2}, "F F F S", "huuh"},
		{"first failure counts", Thresholds{Mode: Consecutive, HealthyAfter: 1, DegradedAfter: 1, UnhealthyAfter: 1}, "F S F", "uhu"},
		{"long outage keeps its state", def, strings.Repeat("F", 150) + "S", "hddd" + strings.Repeat("u", 146) + "h"},
		{"window of 100", Thresholds{Mode: Window, WindowSize: 100, DegradedAfter: 100, UnhealthyAfter: 100}, strings.Repeat("F", 101), strings.Repeat("h", 99) + "uu"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := sequence(tc.thresholds, tc.outcomes); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
	if got := Evaluate(def, "", Unknown); got != Healthy {
		t.Errorf("no runs: got %s, want healthy", got)
	}
	if got := stateOf(def, "", Healthy); got != Unknown {
		t.Errorf("no runs, as shown: got %s, want unknown", got)
	}
}

func TestHeldStateSurvivesLongUndecidedHistory(t *testing.T) {
	t.Parallel()
	// An outage, then a hundred alternating runs that reach no threshold: the
	// outage is no longer among the outcomes, but it has not been recovered from.
	th := Thresholds{Mode: Consecutive, HealthyAfter: 2, DegradedAfter: 2, UnhealthyAfter: 2}
	got := sequence(th, "FF"+strings.Repeat("SF", 100))
	if strings.Trim(got, "u") != "h" {
		t.Errorf("got %s", got)
	}
}

func TestRollup(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		in   []Status
		want Status
	}{
		{nil, Unknown}, {[]Status{Unknown}, Unknown}, {[]Status{Unknown, Healthy}, Healthy},
		{[]Status{Healthy, Degraded}, Degraded}, {[]Status{Unhealthy, Degraded, Healthy, Unknown}, Unhealthy},
	} {
		got := Unknown
		for _, s := range tc.in {
			got = worse(got, s)
		}
		if got != tc.want {
			t.Errorf("%v: got %s, want %s", tc.in, got, tc.want)
		}
	}
}

func TestThresholdIssues(t *testing.T) {
	t.Parallel()
	paths := func(t Thresholds) []string {
		var out []string
		for _, is := range t.withDefaults().issues("body.stateThresholds") {
			out = append(out, strings.TrimPrefix(is.Path, "body.stateThresholds."))
		}
		slices.Sort(out)
		return out
	}
	for _, tc := range []struct {
		name string
		in   Thresholds
		want []string
	}{
		{"defaults", Thresholds{Mode: Consecutive}, nil},
		{"window defaults", Thresholds{Mode: Window}, nil},
		{"mode", Thresholds{Mode: "x"}, []string{"mode"}},
		{"all at once", Thresholds{Mode: Consecutive, HealthyAfter: -1, DegradedAfter: 101, UnhealthyAfter: -3},
			[]string{"degraded.minFailureCount", "healthy.minSuccessCount", "unhealthy.minFailureCount"}},
		{"beyond the window", Thresholds{Mode: Window, WindowSize: 5, DegradedAfter: 6}, []string{"degraded.minFailureCount"}},
		{"window size", Thresholds{Mode: Window, WindowSize: 2, DegradedAfter: 1, UnhealthyAfter: 2}, []string{"windowSize"}},
	} {
		if d := cmp.Diff(tc.want, paths(tc.in)); d != "" {
			t.Errorf("%s (-want +got)\n%s", tc.name, d)
		}
	}
	for _, th := range []*Thresholds{nil, {Mode: Consecutive, HealthyAfter: 2, DegradedAfter: 3, UnhealthyAfter: 4}, {Mode: Window, DegradedAfter: 1, UnhealthyAfter: 2, WindowSize: 7}} {
		if d := cmp.Diff(th, readThresholds(storeThresholds(th))); d != "" {
			t.Errorf("stored and read (-want +got)\n%s", d)
		}
	}
}

// FuzzEvaluate states that any outcomes give a state, and that a long streak
// always decides.
func FuzzEvaluate(f *testing.F) {
	f.Add("hhuud", 1, 2, 5)
	f.Fuzz(func(t *testing.T, recent string, healthy, degraded, unhealthy int) {
		th := Thresholds{Mode: Consecutive, HealthyAfter: healthy, DegradedAfter: degraded, UnhealthyAfter: unhealthy}.withDefaults()
		if len(th.issues("")) > 0 {
			t.Skip()
		}
		if severity(Evaluate(th, recent, Unknown)) == 0 {
			t.Errorf("no state for %q", recent)
		}
		if got := Evaluate(th, strings.Repeat("u", 100)+recent, Healthy); got == Healthy && th.UnhealthyAfter <= 100 {
			t.Errorf("100 failures are %s", got)
		}
		if got := Evaluate(th, strings.Repeat("h", 100)+recent, Unhealthy); got != Healthy {
			t.Errorf("100 successes are %s", got)
		}
	})
}
