package healthcheck

import (
	"encoding/json"
	"time"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

// Status is the state of a slice or a system.
type Status = strategy.Status

// The statuses. Unknown means that nothing was measured.
const (
	Healthy   = strategy.Healthy
	Degraded  = strategy.Degraded
	Unhealthy = strategy.Unhealthy
	Unknown   = Status("unknown")
)

// severity orders statuses; the worst of several is the highest.
func severity(s Status) int {
	switch s {
	case Healthy:
		return 1
	case Degraded:
		return 2
	case Unhealthy:
		return 3
	}
	return 0
}

// Configuration is what is probed. Config and the collectors' configs hold no
// secrets; ConfiguredSecrets names the secret fields that have a value.
type Configuration struct {
	ID              string
	Name            string
	StrategyID      string
	Config          json.RawMessage
	Collectors      []strategy.CollectorConfig
	IntervalSeconds int
	Paused          bool
	// Version grows with every change, for optimistic concurrency.
	Version           int64
	CreatedAt         time.Time
	UpdatedAt         time.Time
	ConfiguredSecrets []string
	SystemIDs         []string
}

// Limits of a configuration.
const (
	MaxIntervalSeconds = 7 * 86400
	MaxNameLength      = 200
	maxCollectors      = 50
)

// Draft is a configuration as it was asked for.
type Draft struct {
	Name            string
	StrategyID      string
	Config          json.RawMessage
	Collectors      []strategy.CollectorConfig
	IntervalSeconds int
}

// Change is a partial update of a configuration; nil leaves a field alone. In
// Config and Collectors a blank or absent secret keeps the stored value.
type Change struct {
	Name            *string
	StrategyID      *string
	Config          json.RawMessage
	Collectors      *[]strategy.CollectorConfig
	IntervalSeconds *int
	Paused          *bool
}

// Association is one assignment of a configuration to a system.
type Association struct {
	SystemID          string
	ConfigurationID   string
	ConfigurationName string
	Enabled           bool
	// Thresholds is nil for the default.
	Thresholds *Thresholds
}

// Run is one stored execution.
type Run struct {
	ID              string
	ConfigurationID string
	SystemID        string
	Status          Status
	Timestamp       time.Time
	// LatencyMs is nil when nothing was measured.
	LatencyMs *int64
	// Message and Result are filled by the detailed reads only.
	Message string
	Result  json.RawMessage
}

// CheckStatus is the present state of one slice.
type CheckStatus struct {
	SystemID          string
	ConfigurationID   string
	ConfigurationName string
	StrategyID        string
	IntervalSeconds   int
	Enabled           bool
	Paused            bool
	Status            Status
	// Since is when the slice entered Status; zero when it never ran.
	Since time.Time
	// RunsConsidered is how many outcomes the state was judged from, 0..100.
	RunsConsidered int
	Thresholds     *Thresholds
	LastRunAt      time.Time // zero when it never ran
	NextRunAt      time.Time // zero when it is not scheduled
	// Reason is the message of the newest failing run; empty while healthy.
	Reason string
	recent string
}

// Stale says whether the slice has been silent for five intervals and at least
// ten minutes, spec/monitoring.md 4.15. What is not scheduled is never stale.
func (c CheckStatus) Stale(now time.Time) bool {
	if !c.Enabled || c.Paused || c.LastRunAt.IsZero() {
		return false
	}
	return now.Sub(c.LastRunAt) >= max(10*time.Minute, 5*time.Duration(c.IntervalSeconds)*time.Second)
}

// SystemStatus is the rollup of one system: the worst of its checks and of what
// is said about it by hand.
type SystemStatus struct {
	Status      Status
	Since       time.Time // zero when unknown
	EvaluatedAt time.Time
	Checks      []CheckStatus
	// Measured is the status by the checks alone.
	Measured Status
	// Overrides are what is said about the system, the worst first.
	Overrides []Override
}

// Transition is one change of a system's rollup.
type Transition struct {
	ID       string
	SystemID string
	// ConfigurationID is the check that drove the change; empty when it was an
	// edit that concerns several.
	ConfigurationID string
	From            Status // empty for the first one
	To              Status
	At              time.Time
}
