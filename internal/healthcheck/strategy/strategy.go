package strategy

import "encoding/json"

// Status is the outcome of one run and of one evaluated slice.
type Status string

// The statuses, from best to worst.
const (
	Healthy   Status = "healthy"
	Degraded  Status = "degraded"
	Unhealthy Status = "unhealthy"
)

// Draft is a check definition as a person or a model wrote it.
type Draft struct {
	StrategyID string            `json:"strategyId"`
	Config     json.RawMessage   `json:"config"`
	Collectors []CollectorConfig `json:"collectors,omitempty"`
}

// CollectorConfig is one collector instance of a check.
type CollectorConfig struct {
	// ID is the UUID of this instance; its series is kept under it.
	ID          string          `json:"id"`
	CollectorID string          `json:"collectorId"`
	Config      json.RawMessage `json:"config"`
	Assertions  []Assertion     `json:"assertions,omitempty"`
}

// Assertion compares one result field of a collector, spec/monitoring.md 4.11.
type Assertion struct {
	Field    string          `json:"field"`
	JSONPath string          `json:"jsonPath,omitempty"`
	Operator string          `json:"operator"`
	Value    json.RawMessage `json:"value,omitempty"`
}

// Check is everything one run needs. Secrets are already resolved in Config
// and the collectors' configs; templates are not yet rendered.
type Check struct {
	Draft
	Template TemplateContext
}

// TemplateContext is what {{ path }} references in templatable fields see,
// spec/monitoring.md 4.6.
type TemplateContext struct {
	CheckID         string
	CheckName       string
	IntervalSeconds int
	SystemID        string
	SystemName      string
	SystemMetadata  map[string]any
	Environment     map[string]any
}

// Result is the outcome of one run.
type Result struct {
	Status    Status
	LatencyMs *int64 // nil when nothing was measured
	Message   string
	Metadata  Metadata
	// Warnings are for the log: parts of the check that were skipped because
	// their kind is not part of this build.
	Warnings []string
	// Fault is the panic of a kind with its stack, for the log only: never
	// stored or shown. Secrets of the check are masked in it.
	Fault error
}

// Metadata is the stored detail of a run, spec/monitoring.md 4.4.
type Metadata struct {
	Connected        bool                       `json:"connected"`
	ConnectionTimeMs int64                      `json:"connectionTimeMs"`
	Error            string                     `json:"error,omitempty"`
	Collectors       map[string]CollectorResult `json:"collectors,omitempty"`
	Timings          map[string]int64           `json:"timings,omitempty"`
}

// CollectorResult is one collector's stored result: its fields, plus
// "_collectorId", "error", "_assertionFailed" and "_assertions".
type CollectorResult map[string]any
