package healthcheck

import (
	"fmt"
	"strings"

	"github.com/checkstack/checkstack/internal/problem"
)

// Mode says how outcomes become a state.
type Mode string

// The modes of spec/monitoring.md 4.7.
const (
	Consecutive Mode = "consecutive"
	Window      Mode = "window"
)

// Thresholds debounce the state of a slice.
type Thresholds struct {
	Mode Mode
	// HealthyAfter successes in a row are healthy again (consecutive only).
	HealthyAfter int
	// DegradedAfter and UnhealthyAfter are failures: in a row, or within the window.
	DegradedAfter  int
	UnhealthyAfter int
	// WindowSize is how many runs the window holds (window only), 3..100.
	WindowSize int
}

// DefaultThresholds is what an assignment without thresholds is judged by.
func DefaultThresholds() Thresholds {
	return Thresholds{Mode: Consecutive, HealthyAfter: 1, DegradedAfter: 2, UnhealthyAfter: 5}
}

// maxRecent is how many outcomes of a slice are kept for judging it.
const maxRecent = 100

// withDefaults fills what was left out.
func (t Thresholds) withDefaults() Thresholds {
	d := DefaultThresholds()
	if t.Mode == Window {
		d = Thresholds{DegradedAfter: 3, UnhealthyAfter: 7, WindowSize: 10}
		if t.WindowSize > 0 { // a small window lowers the defaults that it cannot hold
			d.DegradedAfter, d.UnhealthyAfter = min(3, t.WindowSize), min(7, t.WindowSize)
		}
	}
	fill := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	fill(&t.HealthyAfter, d.HealthyAfter)
	fill(&t.DegradedAfter, d.DegradedAfter)
	fill(&t.UnhealthyAfter, d.UnhealthyAfter)
	fill(&t.WindowSize, d.WindowSize)
	return t
}

// issues lists what is wrong with t, below path. Counts that could never be
// reached are refused: they would look like a rule and be none.
func (t Thresholds) issues(path string) []problem.Issue {
	var out []problem.Issue
	limit := func(field string, v, low, high int) {
		if v < low || v > high {
			out = append(out, problem.Issue{Path: path + "." + field,
				Message: fmt.Sprintf("must be a whole number from %d to %d", low, high)})
		}
	}
	switch t.Mode {
	case Consecutive:
		limit("healthy.minSuccessCount", t.HealthyAfter, 1, maxRecent)
		limit("degraded.minFailureCount", t.DegradedAfter, 1, maxRecent)
		limit("unhealthy.minFailureCount", t.UnhealthyAfter, 1, maxRecent)
	case Window:
		limit("windowSize", t.WindowSize, 3, maxRecent)
		size := min(max(t.WindowSize, 3), maxRecent)
		limit("degraded.minFailureCount", t.DegradedAfter, 1, size)
		limit("unhealthy.minFailureCount", t.UnhealthyAfter, 1, size)
	default:
		out = append(out, problem.Issue{Path: path + ".mode", Message: "must be consecutive or window"})
	}
	return out
}

// Outcomes are written as one letter each, newest first.
const (
	letterHealthy   = 'h'
	letterDegraded  = 'd'
	letterUnhealthy = 'u'
)

func letter(s Status) byte {
	switch s {
	case Healthy:
		return letterHealthy
	case Degraded:
		return letterDegraded
	}
	return letterUnhealthy
}

// push puts the newest outcome in front of recent.
func push(recent string, s Status) string {
	if len(recent) >= maxRecent {
		recent = recent[:maxRecent-1]
	}
	return string(letter(s)) + recent
}

// Evaluate judges a slice by its newest outcomes, spec/monitoring.md 4.7. A run
// that is degraded or unhealthy is a failure; without runs the state is Healthy.
//
// In consecutive mode the outcomes are replayed from the oldest: a streak that
// reaches a threshold sets the state, a shorter one leaves it as it was. So one
// failure among successes changes nothing (field case FC-026), although 4.7 would
// let the newest run speak for itself there. held is the state before the oldest
// outcome; it counts only when older ones were dropped.
func Evaluate(t Thresholds, recent string, held Status) Status {
	if len(recent) > maxRecent {
		recent = recent[:maxRecent]
	}
	if t.Mode == Window {
		window := recent[:min(t.WindowSize, len(recent))]
		failures := len(window) - strings.Count(window, string(rune(letterHealthy)))
		switch {
		case failures >= t.UnhealthyAfter:
			return Unhealthy
		case failures >= t.DegradedAfter:
			return Degraded
		}
		return Healthy
	}
	state := Healthy
	if len(recent) == maxRecent && severity(held) > 0 {
		state = held
	}
	failures, successes := 0, 0
	for i := len(recent) - 1; i >= 0; i-- {
		if recent[i] == letterHealthy {
			failures, successes = 0, successes+1
		} else {
			failures, successes = failures+1, 0
		}
		switch {
		case failures > 0 && failures >= t.UnhealthyAfter:
			state = Unhealthy
		case failures > 0 && failures >= t.DegradedAfter:
			state = Degraded
		case successes > 0 && successes >= t.HealthyAfter:
			state = Healthy
		}
	}
	return state
}

// stateOf is Evaluate, except that what never ran is Unknown.
func stateOf(t Thresholds, recent string, held Status) Status {
	if recent == "" {
		return Unknown
	}
	return Evaluate(t, recent, held)
}

// worse gives the worse of two statuses; Unknown is better than all others.
func worse(a, b Status) Status {
	if severity(b) > severity(a) {
		return b
	}
	return a
}
