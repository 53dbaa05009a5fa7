package healthcheck

import (
	"context"
	"encoding/json"
	"time"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

// AssertionBody is an assertion in requests and answers.
type AssertionBody struct {
	Field    string          `json:"field" doc:"Result field, such as statusCode, or body.$ with jsonPath"`
	JSONPath string          `json:"jsonPath,omitempty" doc:"Path into a raw body, such as $.items.length"`
	Operator string          `json:"operator" doc:"One of the operators that getCollectors lists for the field"`
	Value    json.RawMessage `json:"value,omitempty" doc:"What to compare with; absent for operators such as isTrue"`
}

// CollectorBody is one collector instance in requests and answers.
type CollectorBody struct {
	ID          string          `json:"id,omitempty" doc:"UUID of this instance; leave it out for a new one"`
	CollectorID string          `json:"collectorId" doc:"Kind of collector, such as healthcheck-http.request"`
	Config      Object          `json:"config,omitempty" doc:"Settings after the collector's configSchema"`
	Assertions  []AssertionBody `json:"assertions,omitempty"`
}

func collectorsIn(in []CollectorBody) []strategy.CollectorConfig {
	out := make([]strategy.CollectorConfig, len(in))
	for i, c := range in {
		out[i] = strategy.CollectorConfig{ID: c.ID, CollectorID: c.CollectorID, Config: c.Config.raw()}
		for _, a := range c.Assertions {
			out[i].Assertions = append(out[i].Assertions, strategy.Assertion(a))
		}
	}
	return out
}

func collectorsOut(in []strategy.CollectorConfig) []CollectorBody {
	out := make([]CollectorBody, len(in))
	for i, c := range in {
		out[i] = CollectorBody{ID: c.ID, CollectorID: c.CollectorID, Config: Object(c.Config), Assertions: []AssertionBody{}}
		for _, a := range c.Assertions {
			out[i].Assertions = append(out[i].Assertions, AssertionBody(a))
		}
	}
	return out
}

// ConfigurationBody is a configuration in answers.
type ConfigurationBody struct {
	ID                string          `json:"id"`
	Name              string          `json:"name"`
	StrategyID        string          `json:"strategyId"`
	Config            Object          `json:"config" doc:"Settings after the strategy's configSchema, without secrets"`
	IntervalSeconds   int             `json:"intervalSeconds"`
	Collectors        []CollectorBody `json:"collectors"`
	Paused            bool            `json:"paused"`
	ConfiguredSecrets []string        `json:"configuredSecrets" doc:"Paths of the secret fields that hold a value"`
	Version           int64           `json:"version"`
	CreatedAt         time.Time       `json:"createdAt"`
	UpdatedAt         time.Time       `json:"updatedAt"`
	SystemIDs         []string        `json:"systemIds"`
}

func configurationOut(c Configuration) ConfigurationBody {
	return ConfigurationBody{ID: c.ID, Name: c.Name, StrategyID: c.StrategyID, Config: Object(c.Config), IntervalSeconds: c.IntervalSeconds,
		Collectors: collectorsOut(c.Collectors), Paused: c.Paused, ConfiguredSecrets: c.ConfiguredSecrets, Version: c.Version,
		CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, SystemIDs: c.SystemIDs}
}

// CreateInput is a new configuration. Its limits are checked by the service, so
// that they are reported together with the faults of config and collectors.
type CreateInput struct {
	Name            string          `json:"name" doc:"1 to 200 characters"`
	StrategyID      string          `json:"strategyId" doc:"Kind of check, such as healthcheck-http.http"`
	Config          Object          `json:"config" doc:"Settings after the strategy's configSchema"`
	IntervalSeconds int             `json:"intervalSeconds" doc:"Seconds between two runs, 1 to 604800"`
	Collectors      []CollectorBody `json:"collectors,omitempty"`
}

func (in CreateInput) draft() Draft {
	return Draft{Name: in.Name, StrategyID: in.StrategyID, Config: in.Config.raw(), IntervalSeconds: in.IntervalSeconds, Collectors: collectorsIn(in.Collectors)}
}

// CreateAndAssignInput is a new configuration with the systems it is for.
type CreateAndAssignInput struct {
	CreateInput
	SystemIDs []string `json:"systemIds" minItems:"1" maxItems:"500" doc:"Systems to assign it to"`
}

// DraftBody is a configuration that is not stored yet.
type DraftBody struct {
	ID              string          `json:"id,omitempty" doc:"A stored configuration whose secrets stand in for blank ones"`
	Name            string          `json:"name,omitempty"`
	StrategyID      string          `json:"strategyId,omitempty"`
	Config          Object          `json:"config,omitempty"`
	IntervalSeconds int             `json:"intervalSeconds,omitempty"`
	Collectors      []CollectorBody `json:"collectors,omitempty"`
}

func (in DraftBody) draft() Draft {
	return Draft{Name: in.Name, StrategyID: in.StrategyID, Config: in.Config.raw(), IntervalSeconds: in.IntervalSeconds, Collectors: collectorsIn(in.Collectors)}
}

// UpdateBody is a partial update; absent fields stay as they are.
type UpdateBody struct {
	Name            *string          `json:"name,omitempty"`
	StrategyID      *string          `json:"strategyId,omitempty"`
	Config          Object           `json:"config,omitempty" doc:"Replaces the settings; blank or absent secrets keep their value, null removes it"`
	IntervalSeconds *int             `json:"intervalSeconds,omitempty"`
	Collectors      *[]CollectorBody `json:"collectors,omitempty" doc:"Replaces the list"`
	Paused          *bool            `json:"paused,omitempty"`
}

func (in UpdateBody) change() Change {
	c := Change{Name: in.Name, StrategyID: in.StrategyID, Config: in.Config.raw(), IntervalSeconds: in.IntervalSeconds, Paused: in.Paused}
	if in.Collectors != nil {
		list := collectorsIn(*in.Collectors)
		c.Collectors = &list
	}
	return c
}

// SuccessCount and FailureCount are thresholds.
type SuccessCount struct {
	MinSuccessCount int `json:"minSuccessCount"`
}

// FailureCount is how many failures make a state.
type FailureCount struct {
	MinFailureCount int `json:"minFailureCount"`
}

// ThresholdsBody says how outcomes become a state; what is left out has its
// default.
type ThresholdsBody struct {
	Mode       string        `json:"mode" enum:"consecutive,window"`
	Healthy    *SuccessCount `json:"healthy,omitempty" doc:"Successes in a row that are healthy again; consecutive only, default 1"`
	Degraded   *FailureCount `json:"degraded,omitempty" doc:"Failures that are degraded; default 2 in a row, or 3 in the window"`
	Unhealthy  *FailureCount `json:"unhealthy,omitempty" doc:"Failures that are unhealthy; default 5 in a row, or 7 in the window"`
	WindowSize *int          `json:"windowSize,omitempty" doc:"Runs in the window, 3 to 100, default 10; window only"`
}

func (in *ThresholdsBody) thresholds() *Thresholds {
	if in == nil {
		return nil
	}
	t := Thresholds{Mode: Mode(in.Mode)}
	// A zero that was written is a fault, not a default.
	written := func(v int) int {
		if v == 0 {
			return -1
		}
		return v
	}
	if in.Healthy != nil {
		t.HealthyAfter = written(in.Healthy.MinSuccessCount)
	}
	if in.Degraded != nil {
		t.DegradedAfter = written(in.Degraded.MinFailureCount)
	}
	if in.Unhealthy != nil {
		t.UnhealthyAfter = written(in.Unhealthy.MinFailureCount)
	}
	if in.WindowSize != nil {
		t.WindowSize = written(*in.WindowSize)
	}
	return &t
}

func thresholdsOut(t *Thresholds) *ThresholdsBody {
	if t == nil {
		return nil
	}
	out := &ThresholdsBody{Mode: string(t.Mode), Degraded: &FailureCount{t.DegradedAfter}, Unhealthy: &FailureCount{t.UnhealthyAfter}}
	if t.Mode == Window {
		out.WindowSize = new(t.WindowSize)
	} else {
		out.Healthy = &SuccessCount{t.HealthyAfter}
	}
	return out
}

// AssociationBody is an assignment in answers.
type AssociationBody struct {
	ConfigurationID   string          `json:"configurationId"`
	ConfigurationName string          `json:"configurationName"`
	Enabled           bool            `json:"enabled"`
	StateThresholds   *ThresholdsBody `json:"stateThresholds" doc:"null for the default"`
}

func associationOut(a Association) AssociationBody {
	return AssociationBody{a.ConfigurationID, a.ConfigurationName, a.Enabled, thresholdsOut(a.Thresholds)}
}

// CheckStatusBody is the state of one check of a system.
type CheckStatusBody struct {
	ConfigurationID   string     `json:"configurationId"`
	ConfigurationName string     `json:"configurationName"`
	Status            string     `json:"status" enum:"healthy,degraded,unhealthy,unknown"`
	Since             *time.Time `json:"since"`
	RunsConsidered    int        `json:"runsConsidered"`
	LastRunAt         *time.Time `json:"lastRunAt,omitempty"`
	Paused            bool       `json:"paused"`
	Enabled           bool       `json:"enabled"`
	Message           string     `json:"message,omitempty" doc:"What the newest failing run said; not for guests"`
}

// OverrideBody is a status that is forced by hand.
type OverrideBody struct {
	Source   string    `json:"source" doc:"Plugin that forces it, such as incident"`
	SourceID string    `json:"sourceId,omitempty" doc:"What forces it; absent when the caller may not know"`
	Title    string    `json:"title,omitempty" doc:"Name of what forces it; absent when the caller may not know"`
	Status   string    `json:"status" enum:"degraded,unhealthy"`
	Since    time.Time `json:"since"`
}

// SystemStatusBody is the state of a system.
type SystemStatusBody struct {
	Status         string            `json:"status" enum:"healthy,degraded,unhealthy,unknown" doc:"The worst of the checks and of what is forced"`
	MeasuredStatus string            `json:"measuredStatus" enum:"healthy,degraded,unhealthy,unknown" doc:"By the checks alone"`
	Override       *OverrideBody     `json:"override" doc:"The worst status that is forced by hand; null when none is"`
	Since          *time.Time        `json:"since"`
	EvaluatedAt    time.Time         `json:"evaluatedAt"`
	CheckStatuses  []CheckStatusBody `json:"checkStatuses"`
}

// statusOut is a system's state as the principal in ctx may see it.
func (s *Service) statusOut(ctx context.Context, st SystemStatus) SystemStatusBody {
	reasons := seesReasons(ctx)
	out := SystemStatusBody{Status: string(st.Status), MeasuredStatus: string(st.Measured), Since: timeOrNil(st.Since), EvaluatedAt: st.EvaluatedAt, CheckStatuses: []CheckStatusBody{}}
	if len(st.Overrides) > 0 {
		o := s.visible(ctx, st.Overrides[0])
		out.Override = &OverrideBody{o.Source, o.SourceID, o.Title, string(o.Status), o.Since}
	}
	for _, c := range st.Checks {
		b := CheckStatusBody{ConfigurationID: c.ConfigurationID, ConfigurationName: c.ConfigurationName, Status: string(c.Status),
			Since: timeOrNil(c.Since), RunsConsidered: c.RunsConsidered, LastRunAt: timeOrNil(c.LastRunAt), Paused: c.Paused, Enabled: c.Enabled}
		if reasons {
			b.Message = c.Reason
		}
		out.CheckStatuses = append(out.CheckStatuses, b)
	}
	return out
}

// RunBody is a stored run without its payload.
type RunBody struct {
	ID              string    `json:"id"`
	ConfigurationID string    `json:"configurationId"`
	SystemID        string    `json:"systemId"`
	Status          string    `json:"status" enum:"healthy,degraded,unhealthy"`
	Timestamp       time.Time `json:"timestamp"`
	LatencyMs       *int64    `json:"latencyMs,omitempty"`
}

func runOut(r Run) RunBody {
	return RunBody{r.ID, r.ConfigurationID, r.SystemID, string(r.Status), r.Timestamp, r.LatencyMs}
}

// DetailedRunBody is a stored run in full.
type DetailedRunBody struct {
	RunBody
	Message string `json:"message"`
	Result  Object `json:"result" doc:"connected, connectionTimeMs, error, collectors by instance id, timings"`
}

func detailedRunOut(r Run) DetailedRunBody {
	return DetailedRunBody{RunBody: runOut(r), Message: r.Message, Result: Object(r.Result)}
}

// RecentRun is one dot of a check's overview.
type RecentRun struct {
	ID        string    `json:"id"`
	Status    string    `json:"status" enum:"healthy,degraded,unhealthy"`
	Timestamp time.Time `json:"timestamp"`
	LatencyMs *int64    `json:"latencyMs,omitempty"`
}

// OverviewBody is one check of a system with its newest runs.
type OverviewBody struct {
	ConfigurationID   string          `json:"configurationId"`
	ConfigurationName string          `json:"configurationName"`
	StrategyID        string          `json:"strategyId"`
	IntervalSeconds   int             `json:"intervalSeconds"`
	Enabled           bool            `json:"enabled"`
	Paused            bool            `json:"paused"`
	Status            string          `json:"status" enum:"healthy,degraded,unhealthy,unknown"`
	Since             *time.Time      `json:"since"`
	StateThresholds   *ThresholdsBody `json:"stateThresholds" doc:"null for the default"`
	LastRunAt         *time.Time      `json:"lastRunAt"`
	NextRunAt         *time.Time      `json:"nextRunAt" doc:"null when it is paused or disabled"`
	Stale             bool            `json:"stale" doc:"Silent for five intervals and at least ten minutes"`
	RecentRuns        []RecentRun     `json:"recentRuns" doc:"The newest 25, oldest first"`
}

func overviewOut(o Overview) OverviewBody {
	out := OverviewBody{ConfigurationID: o.ConfigurationID, ConfigurationName: o.ConfigurationName, StrategyID: o.StrategyID,
		IntervalSeconds: o.IntervalSeconds, Enabled: o.Enabled, Paused: o.Paused, Status: string(o.Status), Since: timeOrNil(o.Since),
		StateThresholds: thresholdsOut(o.Thresholds), LastRunAt: timeOrNil(o.LastRunAt), NextRunAt: timeOrNil(o.NextRunAt),
		Stale: o.Stale, RecentRuns: []RecentRun{}}
	for _, r := range o.Runs {
		out.RecentRuns = append(out.RecentRuns, RecentRun{r.ID, string(r.Status), r.Timestamp, r.LatencyMs})
	}
	return out
}

// BucketBody is one interval of a chart.
type BucketBody struct {
	BucketStart           time.Time `json:"bucketStart"`
	BucketEnd             time.Time `json:"bucketEnd"`
	BucketIntervalSeconds int       `json:"bucketIntervalSeconds"`
	RunCount              int       `json:"runCount"`
	HealthyCount          int       `json:"healthyCount"`
	DegradedCount         int       `json:"degradedCount"`
	UnhealthyCount        int       `json:"unhealthyCount"`
	SuccessRate           float64   `json:"successRate" doc:"Share of healthy runs, 0 to 1"`
	AvgLatencyMs          *int64    `json:"avgLatencyMs,omitempty"`
	MinLatencyMs          *int64    `json:"minLatencyMs,omitempty"`
	MaxLatencyMs          *int64    `json:"maxLatencyMs,omitempty"`
	P50LatencyMs          *int64    `json:"p50LatencyMs,omitempty"`
	P95LatencyMs          *int64    `json:"p95LatencyMs,omitempty"`
}

func bucketOut(b Bucket, seconds int) BucketBody {
	return BucketBody{b.Start.UTC(), b.End.UTC(), seconds, b.Runs, b.Healthy, b.Degraded, b.Unhealthy, b.SuccessRate(), b.Avg, b.Min, b.Max, b.P50, b.P95}
}

func timeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}
