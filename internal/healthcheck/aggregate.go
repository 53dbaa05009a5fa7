package healthcheck

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// Bucket sums up the runs of one interval of a chart.
type Bucket struct {
	Start, End                   time.Time
	Runs                         int
	Healthy, Degraded, Unhealthy int
	// Latency figures are nil when no run of the bucket measured one.
	Avg, Min, Max, P50, P95 *int64
}

// SuccessRate is the share of healthy runs, 0..1.
func (b Bucket) SuccessRate() float64 {
	if b.Runs == 0 {
		return 0
	}
	return float64(b.Healthy) / float64(b.Runs)
}

// Aggregate is a chart of one check on one system.
type Aggregate struct {
	Interval time.Duration
	Buckets  []Bucket // in the order of time; intervals without runs are left out
}

// Aggregated sums the runs from start to end into about points buckets that are
// aligned to start, spec/monitoring.md 4.13. What was not measured is a hole, not
// a value (FC-006).
func (s *Service) Aggregated(ctx context.Context, systemID, configurationID string, start, end time.Time, points int) (Aggregate, error) {
	if !end.After(start) {
		return Aggregate{}, problem.Field("endDate", "must be after startDate")
	}
	a := Aggregate{Interval: max(end.Sub(start)/time.Duration(points), time.Second), Buckets: []Bucket{}}
	live, err := s.live(ctx, s.db.Read, systemID, configurationID)
	if err != nil || !live {
		return a, err
	}
	rows, err := s.db.Read.QueryContext(ctx, `SELECT id, status, latency_ms FROM health_check_runs
		WHERE slice_id = ? AND id >= ? AND id < ? ORDER BY id`, sliceID(systemID, configurationID), lowestID(start), lowestID(end))
	if err != nil {
		return a, fmt.Errorf("read runs for a chart: %w", err)
	}
	defer func() { _ = rows.Close() }()
	var latencies []int64
	var id, status string
	var latency *int64
	index := int64(-1)
	flush := func() {
		if index >= 0 {
			a.Buckets[len(a.Buckets)-1].measure(latencies)
		}
		latencies = latencies[:0]
	}
	for rows.Next() {
		if err := rows.Scan(&id, &status, &latency); err != nil {
			return a, fmt.Errorf("read runs for a chart: %w", err)
		}
		if i := int64(timeOfID(id).Sub(start) / a.Interval); i != index {
			flush()
			index = i
			from := start.Add(time.Duration(i) * a.Interval)
			a.Buckets = append(a.Buckets, Bucket{Start: from, End: from.Add(a.Interval)})
		}
		b := &a.Buckets[len(a.Buckets)-1]
		b.count(Status(status))
		if latency != nil {
			latencies = append(latencies, *latency)
		}
	}
	if err := rows.Err(); err != nil {
		return a, fmt.Errorf("read runs for a chart: %w", err)
	}
	flush()
	if n := len(a.Buckets); n > 0 {
		if last := &a.Buckets[n-1]; last.End.After(end) || end.Sub(last.End) < a.Interval {
			last.End = end
		}
	}
	return a, nil
}

func (b *Bucket) count(s Status) {
	b.Runs++
	switch s {
	case Healthy:
		b.Healthy++
	case Degraded:
		b.Degraded++
	default:
		b.Unhealthy++
	}
}

// measure fills the latency figures; percentiles are nearest rank.
func (b *Bucket) measure(latencies []int64) {
	if len(latencies) == 0 {
		return
	}
	slices.Sort(latencies)
	var sum int64
	for _, v := range latencies {
		sum += v
	}
	n := len(latencies)
	rank := func(q float64) *int64 { return new(latencies[max(int(math.Ceil(q*float64(n)))-1, 0)]) }
	b.Avg = new(int64(math.Round(float64(sum) / float64(n))))
	b.Min, b.Max = new(latencies[0]), new(latencies[n-1])
	b.P50, b.P95 = rank(0.50), rank(0.95)
}
