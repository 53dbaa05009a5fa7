package healthcheck

import (
	"math"
	"sync"
	"time"
)

// Stats are figures of this process since it started or ResetStats.
type Stats struct {
	Started  int64 // probes begun
	Stored   int64 // results written
	Dropped  int64 // results that could not be kept: their check is gone, or the process stopped
	Running  int   // probes running now
	Lateness Percentiles
}

// Percentiles of how long after their due time probes began. Each is at most
// 5 % above the true value.
type Percentiles struct {
	P50, P95, P99, Max time.Duration
}

// growth is the width of one histogram bucket relative to the one before.
const growth = 1.05

// lateness is a histogram of due against started, with counters beside it.
type lateness struct {
	mu      sync.Mutex
	buckets [400]int64
	max     time.Duration
	started int64
	stored  int64
	dropped int64
}

func newLateness() *lateness { return &lateness{} }

func (l *lateness) begin(late time.Duration) {
	late = max(late, 0)
	i := int(math.Log(float64(late.Milliseconds()+1)) / math.Log(growth))
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started++
	l.buckets[min(i, len(l.buckets)-1)]++
	l.max = max(l.max, late)
}

func (l *lateness) count(stored, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stored += int64(stored)
	l.dropped += int64(dropped)
}

// Stats gives the figures so far.
func (s *Service) Stats() Stats {
	l := s.stats
	l.mu.Lock()
	defer l.mu.Unlock()
	at := func(q float64) time.Duration {
		want := int64(math.Ceil(q * float64(l.started)))
		var seen int64
		for i, n := range l.buckets {
			if seen += n; n > 0 && seen >= want {
				ms := math.Pow(growth, float64(i+1)) - 1
				return min(time.Duration(ms*float64(time.Millisecond)), l.max)
			}
		}
		return 0
	}
	return Stats{Started: l.started, Stored: l.stored, Dropped: l.dropped, Running: len(s.slots),
		Lateness: Percentiles{P50: at(0.50), P95: at(0.95), P99: at(0.99), Max: l.max}}
}

// ResetStats begins the figures anew.
func (s *Service) ResetStats() {
	l := s.stats
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets, l.max, l.started, l.stored, l.dropped = [400]int64{}, 0, 0, 0, 0
}
