package healthcheck

import (
	"context"
	"encoding/json"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// operations are the declared capabilities, with their types for the tools.
type operations struct {
	all               []operation.Operation
	getStrategies     *operation.Op[operation.Empty, StrategiesOutput]
	getCollectors     *operation.Op[CollectorsInput, CollectorsOutput]
	getConfiguration  *operation.Op[IDInput, ConfigurationBody]
	getConfigurations *operation.Op[operation.Empty, ConfigurationsOutput]
	validate          *operation.Op[ValidateInput, ValidateOutput]
	create            *operation.Op[CreateInput, ConfigurationBody]
	createAndAssign   *operation.Op[CreateAndAssignInput, ConfigurationBody]
	update            *operation.Op[UpdateInput, ConfigurationBody]
	remove            *operation.Op[IDInput, SuccessOutput]
}

// Operations gives the operations of this domain.
func (s *Service) Operations() []operation.Operation { return s.ops.all }

// declare adds an operation to the list and hands it on.
func declare[In, Out any](o *operations, d operation.Declaration, handler func(context.Context, *In) (*Out, error)) *operation.Op[In, Out] {
	op := operation.New(d, handler)
	o.all = append(o.all, op)
	return op
}

func query(id, summary string, caller operation.Caller, rule authz.Rule) operation.Declaration {
	return operation.Declaration{ID: "healthcheck." + id, Kind: operation.Query, Summary: summary, Caller: caller, Access: []authz.Rule{rule}}
}

func change(id, summary string) operation.Declaration {
	return operation.Declaration{ID: "healthcheck." + id, Kind: operation.Mutation, Summary: summary,
		Caller: operation.Authenticated, Access: []authz.Rule{RuleManage}}
}

// Object is JSON whose members only a check kind knows: any object, kept exactly
// as it was written.
type Object json.RawMessage

// Schema implements huma.SchemaProvider.
func (Object) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeObject, AdditionalProperties: true}
}

// MarshalJSON writes the object; nothing is the empty object.
func (o Object) MarshalJSON() ([]byte, error) {
	if len(o) == 0 {
		return []byte("{}"), nil
	}
	return o, nil
}

// UnmarshalJSON keeps the text. null means absent.
func (o *Object) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*o = nil
		return nil
	}
	*o = append((*o)[:0], b...)
	return nil
}

func (o Object) raw() json.RawMessage { return json.RawMessage(o) }

// IDInput names a configuration.
type IDInput struct {
	ID string `json:"id" format:"uuid" doc:"The configuration"`
}

// SuccessOutput says that it was done.
type SuccessOutput struct {
	Success bool `json:"success"`
}

// StrategiesOutput lists the kinds of checks.
type StrategiesOutput struct {
	Strategies []StrategyBody `json:"strategies"`
}

// StrategyBody describes a kind of check.
type StrategyBody struct {
	ID           string          `json:"id"`
	DisplayName  string          `json:"displayName"`
	Description  string          `json:"description"`
	Category     string          `json:"category"`
	ConfigSchema json.RawMessage `json:"configSchema" doc:"JSON Schema of the settings"`
	ResultSchema json.RawMessage `json:"resultSchema" doc:"JSON Schema of the result"`
}

// CollectorsInput names a strategy.
type CollectorsInput struct {
	StrategyID string `json:"strategyId" minLength:"1" maxLength:"200"`
}

// CollectorsOutput lists the collectors of a strategy.
type CollectorsOutput struct {
	Collectors []CollectorKindBody `json:"collectors"`
}

// CollectorKindBody describes a collector.
type CollectorKindBody struct {
	ID              string                    `json:"id"`
	DisplayName     string                    `json:"displayName"`
	Description     string                    `json:"description"`
	ConfigSchema    json.RawMessage           `json:"configSchema" doc:"JSON Schema of the settings"`
	ResultSchema    json.RawMessage           `json:"resultSchema" doc:"JSON Schema of the result"`
	AllowMultiple   bool                      `json:"allowMultiple"`
	AssertionFields []strategy.AssertionField `json:"assertionFields" doc:"Fields that assertions may use, with their operators"`
}

// ConfigurationsOutput lists configurations.
type ConfigurationsOutput struct {
	Configurations []ConfigurationBody `json:"configurations"`
}

// UpdateInput changes a configuration.
type UpdateInput struct {
	ID      string     `json:"id" format:"uuid"`
	Body    UpdateBody `json:"body"`
	Version *int64     `json:"version,omitempty" doc:"The version that was read; the update is refused when it has moved"`
}

// ValidateInput is a draft to check.
type ValidateInput struct {
	Draft DraftBody `json:"draft"`
}

// ValidateOutput lists what is wrong with a draft.
type ValidateOutput struct {
	Valid  bool            `json:"valid"`
	Errors []problem.Issue `json:"errors"`
}

// TestInput is a draft to run once.
type TestInput struct {
	Draft    DraftBody `json:"draft"`
	SystemID string    `json:"systemId,omitempty" doc:"System whose values templates see"`
}

// TestOutput is what a trial run gave.
type TestOutput struct {
	Status    string `json:"status" enum:"healthy,degraded,unhealthy"`
	LatencyMs *int64 `json:"latencyMs,omitempty"`
	Message   string `json:"message"`
	Metadata  Object `json:"metadata"`
}

// SystemInput names a system.
type SystemInput struct {
	SystemID string `json:"systemId" minLength:"1" maxLength:"100"`
}

// AssociationsOutput lists the assignments of a system.
type AssociationsOutput struct {
	Associations []AssociationBody `json:"associations"`
}

// AssociateInput assigns a configuration or changes its assignment.
type AssociateInput struct {
	SystemID string        `json:"systemId" minLength:"1" maxLength:"100"`
	Body     AssociateBody `json:"body"`
}

// AssociateBody is an assignment.
type AssociateBody struct {
	ConfigurationID string          `json:"configurationId" format:"uuid"`
	Enabled         bool            `json:"enabled" required:"false" default:"true"`
	StateThresholds *ThresholdsBody `json:"stateThresholds,omitempty" doc:"Leave it out for the default"`
}

// PairInput names an assignment.
type PairInput struct {
	SystemID        string `json:"systemId" minLength:"1" maxLength:"100"`
	ConfigurationID string `json:"configurationId" format:"uuid"`
}

// BulkStatusInput names systems.
type BulkStatusInput struct {
	SystemIDs []string `json:"systemIds" maxItems:"500"`
}

// BulkStatusOutput gives the states of those systems that exist.
type BulkStatusOutput struct {
	Statuses map[string]SystemStatusBody `json:"statuses"`
}

// OverviewOutput is what the page of a system shows.
type OverviewOutput struct {
	SystemID string         `json:"systemId"`
	Checks   []OverviewBody `json:"checks"`
}

// HistoryInput selects runs.
type HistoryInput struct {
	SystemID        string     `json:"systemId,omitempty" maxLength:"100"`
	ConfigurationID string     `json:"configurationId,omitempty" format:"uuid"`
	StartDate       *time.Time `json:"startDate,omitempty" doc:"Inclusive"`
	EndDate         *time.Time `json:"endDate,omitempty" doc:"Exclusive"`
	Status          string     `json:"status,omitempty" enum:"healthy,degraded,unhealthy"`
	Limit           int        `json:"limit" required:"false" default:"10" minimum:"1" maximum:"100"`
	Offset          int        `json:"offset" required:"false" default:"0" minimum:"0" maximum:"10000"`
	SortOrder       string     `json:"sortOrder" required:"false" default:"desc" enum:"asc,desc"`
}

func (in *HistoryInput) query() HistoryQuery {
	q := HistoryQuery{SystemID: in.SystemID, ConfigurationID: in.ConfigurationID, Status: Status(in.Status),
		Ascending: in.SortOrder == "asc", Limit: in.Limit, Offset: in.Offset}
	if in.StartDate != nil {
		q.Start = *in.StartDate
	}
	if in.EndDate != nil {
		q.End = *in.EndDate
	}
	return q
}

// HistoryOutput is a page of runs.
type HistoryOutput struct {
	Runs  []RunBody `json:"runs"`
	Total int       `json:"total" doc:"How many match, counted up to 10000"`
}

// DetailedHistoryOutput is a page of runs in full.
type DetailedHistoryOutput struct {
	Runs  []DetailedRunBody `json:"runs"`
	Total int               `json:"total" doc:"How many match, counted up to 10000"`
}

// RunInput names a run.
type RunInput struct {
	RunID string `json:"runId" format:"uuid"`
}

// AggregatedInput asks for a chart.
type AggregatedInput struct {
	SystemID        string    `json:"systemId" minLength:"1" maxLength:"100"`
	ConfigurationID string    `json:"configurationId" format:"uuid"`
	StartDate       time.Time `json:"startDate"`
	EndDate         time.Time `json:"endDate"`
	TargetPoints    int       `json:"targetPoints" required:"false" default:"500" minimum:"10" maximum:"2000"`
}

// AggregatedOutput is a chart.
type AggregatedOutput struct {
	Buckets               []BucketBody `json:"buckets"`
	BucketIntervalSeconds int          `json:"bucketIntervalSeconds"`
}

func newOperations(s *Service) *operations {
	o := &operations{}
	s.declareKinds(o)
	s.declareConfigurations(o)
	s.declareAssignments(o)
	s.declareStatus(o)
	s.declareHistory(o)
	return o
}

func (s *Service) declareKinds(o *operations) {
	o.getStrategies = declare(o, query("getStrategies", "List the kinds of health checks", operation.Authenticated, RuleRead),
		func(context.Context, *operation.Empty) (*StrategiesOutput, error) {
			out := &StrategiesOutput{Strategies: []StrategyBody{}}
			for _, k := range s.kinds.List() {
				config, result, err := schemas(k.ConfigSchema, k.ResultSchema)
				if err != nil {
					return nil, err
				}
				out.Strategies = append(out.Strategies, StrategyBody{k.ID, k.DisplayName, k.Description, k.Category, config, result})
			}
			return out, nil
		})
	o.getCollectors = declare(o, query("getCollectors", "List what a kind of health check can measure", operation.Authenticated, RuleRead),
		func(_ context.Context, in *CollectorsInput) (*CollectorsOutput, error) {
			out := &CollectorsOutput{Collectors: []CollectorKindBody{}}
			for _, k := range s.kinds.Collectors(in.StrategyID) {
				config, result, err := schemas(k.ConfigSchema, k.ResultSchema)
				if err != nil {
					return nil, err
				}
				out.Collectors = append(out.Collectors, CollectorKindBody{k.ID, k.DisplayName, k.Description, config, result, k.AllowMultiple, k.AssertionFields})
			}
			return out, nil
		})
}

func schemas(config, result *strategy.Schema) (c, r json.RawMessage, err error) {
	if c, err = json.Marshal(config); err != nil {
		return nil, nil, err
	}
	r, err = json.Marshal(result)
	return c, r, err
}

func (s *Service) declareConfigurations(o *operations) {
	o.getConfigurations = declare(o, query("getConfigurations", "List health check configurations", operation.Authenticated, RuleRead),
		func(ctx context.Context, _ *operation.Empty) (*ConfigurationsOutput, error) {
			list, err := s.Configurations(ctx)
			if err != nil {
				return nil, err
			}
			out := &ConfigurationsOutput{Configurations: make([]ConfigurationBody, len(list))}
			for i, c := range list {
				out.Configurations[i] = configurationOut(c)
			}
			return out, nil
		})
	o.getConfiguration = declare(o, query("getConfiguration", "Read one health check configuration", operation.Authenticated, RuleRead),
		func(ctx context.Context, in *IDInput) (*ConfigurationBody, error) {
			return answer(configurationOut)(s.Configuration(ctx, in.ID))
		})
	o.create = declare(o, change("createConfiguration", "Create a health check configuration"),
		func(ctx context.Context, in *CreateInput) (*ConfigurationBody, error) {
			return answer(configurationOut)(s.Create(ctx, in.draft(), nil))
		})
	o.createAndAssign = declare(o, change("createAndAssign", "Create a health check configuration and assign it, all or nothing"),
		func(ctx context.Context, in *CreateAndAssignInput) (*ConfigurationBody, error) {
			return answer(configurationOut)(s.Create(ctx, in.draft(), in.SystemIDs))
		})
	o.update = declare(o, change("updateConfiguration", "Change a health check configuration"),
		func(ctx context.Context, in *UpdateInput) (*ConfigurationBody, error) {
			return answer(configurationOut)(s.Update(ctx, in.ID, in.Body.change(), in.Version))
		})
	o.remove = declare(o, change("deleteConfiguration", "Delete a health check configuration with its assignments and runs"),
		func(ctx context.Context, in *IDInput) (*SuccessOutput, error) { return done(s.Delete(ctx, in.ID)) })
	declare(o, change("pauseConfiguration", "Pause a health check on all its systems"),
		func(ctx context.Context, in *IDInput) (*SuccessOutput, error) {
			return done(s.SetPaused(ctx, in.ID, true))
		})
	declare(o, change("resumeConfiguration", "Resume a paused health check"),
		func(ctx context.Context, in *IDInput) (*SuccessOutput, error) {
			return done(s.SetPaused(ctx, in.ID, false))
		})
	o.validate = declare(o, change("validateConfiguration", "List everything that is wrong with a draft"),
		func(ctx context.Context, in *ValidateInput) (*ValidateOutput, error) {
			issues, err := s.Validate(ctx, in.Draft.draft(), in.Draft.ID)
			if err != nil {
				return nil, err
			}
			return &ValidateOutput{Valid: len(issues) == 0, Errors: append([]problem.Issue{}, issues...)}, nil
		})
	declare(o, change("testConfiguration", "Run a draft once without storing anything"),
		func(ctx context.Context, in *TestInput) (*TestOutput, error) {
			res, err := s.Test(ctx, in.Draft.draft(), in.Draft.ID, in.SystemID)
			if err != nil {
				return nil, err
			}
			raw, err := json.Marshal(res.Metadata)
			return &TestOutput{string(res.Status), res.LatencyMs, res.Message, raw}, err
		})
}

func (s *Service) declareAssignments(o *operations) {
	declare(o, query("getSystemAssociations", "List the health checks assigned to a system", operation.Authenticated, RuleRead),
		func(ctx context.Context, in *SystemInput) (*AssociationsOutput, error) {
			list, err := s.Associations(ctx, in.SystemID)
			if err != nil {
				return nil, err
			}
			out := &AssociationsOutput{Associations: make([]AssociationBody, len(list))}
			for i, a := range list {
				out.Associations[i] = associationOut(a)
			}
			return out, nil
		})
	declare(o, change("associateSystem", "Assign a health check to a system, or change the assignment"),
		func(ctx context.Context, in *AssociateInput) (*AssociationBody, error) {
			return answer(associationOut)(s.Associate(ctx, in.SystemID, in.Body.ConfigurationID, in.Body.Enabled, in.Body.StateThresholds.thresholds()))
		})
	declare(o, change("disassociateSystem", "Take a health check off a system; its history stays until it is too old"),
		func(ctx context.Context, in *PairInput) (*SuccessOutput, error) {
			return done(s.Disassociate(ctx, in.SystemID, in.ConfigurationID))
		})
	declare(o, change("runNow", "Run a health check of a system at once"),
		func(ctx context.Context, in *PairInput) (*SuccessOutput, error) {
			return done(s.RunNow(ctx, in.SystemID, in.ConfigurationID))
		})
}

// seesReasons says whether the caller may read why a check fails. Guests are
// shown the status only.
func seesReasons(ctx context.Context) bool {
	p := authz.From(ctx)
	return !p.IsGuest() || p.Has(RuleDetails.ID)
}

func (s *Service) declareStatus(o *operations) {
	declare(o, query("getSystemHealthStatus", "Read the health of a system", operation.Public, RuleStatus),
		func(ctx context.Context, in *SystemInput) (*SystemStatusBody, error) {
			st, err := s.SystemStatus(ctx, in.SystemID)
			if err != nil {
				return nil, err
			}
			return new(s.statusOut(ctx, st)), nil
		})
	declare(o, query("getBulkSystemHealthStatus", "Read the health of several systems", operation.Public, RuleStatus),
		func(ctx context.Context, in *BulkStatusInput) (*BulkStatusOutput, error) {
			all, err := s.SystemStatuses(ctx, in.SystemIDs)
			if err != nil {
				return nil, err
			}
			out := &BulkStatusOutput{Statuses: make(map[string]SystemStatusBody, len(all))}
			for id, st := range all {
				out.Statuses[id] = s.statusOut(ctx, st)
			}
			return out, nil
		})
	declare(o, query("getSystemHealthOverview", "Read the checks of a system with their newest runs", operation.Public, RuleStatus),
		func(ctx context.Context, in *SystemInput) (*OverviewOutput, error) {
			list, err := s.Overview(ctx, in.SystemID)
			if err != nil {
				return nil, err
			}
			out := &OverviewOutput{SystemID: in.SystemID, Checks: make([]OverviewBody, len(list))}
			for i, c := range list {
				out.Checks[i] = overviewOut(c)
			}
			return out, nil
		})
}

func (s *Service) declareHistory(o *operations) {
	declare(o, query("getHistory", "List stored runs", operation.Public, RuleStatus),
		func(ctx context.Context, in *HistoryInput) (*HistoryOutput, error) {
			runs, total, err := s.History(ctx, in.query())
			if err != nil {
				return nil, err
			}
			out := &HistoryOutput{Runs: make([]RunBody, len(runs)), Total: total}
			for i, r := range runs {
				out.Runs[i] = runOut(r)
			}
			return out, nil
		})
	declare(o, query("getDetailedHistory", "List stored runs with their results", operation.Authenticated, RuleDetails),
		func(ctx context.Context, in *HistoryInput) (*DetailedHistoryOutput, error) {
			runs, total, err := s.DetailedHistory(ctx, in.query())
			if err != nil {
				return nil, err
			}
			out := &DetailedHistoryOutput{Runs: make([]DetailedRunBody, len(runs)), Total: total}
			for i, r := range runs {
				out.Runs[i] = detailedRunOut(r)
			}
			return out, nil
		})
	declare(o, query("getRunById", "Read one stored run in full", operation.Authenticated, RuleDetails),
		func(ctx context.Context, in *RunInput) (*DetailedRunBody, error) {
			return answer(detailedRunOut)(s.Run(ctx, in.RunID))
		})
	declare(o, query("getAggregatedHistory", "Read the chart of a check", operation.Public, RuleStatus),
		func(ctx context.Context, in *AggregatedInput) (*AggregatedOutput, error) {
			a, err := s.Aggregated(ctx, in.SystemID, in.ConfigurationID, in.StartDate, in.EndDate, in.TargetPoints)
			if err != nil {
				return nil, err
			}
			out := &AggregatedOutput{Buckets: make([]BucketBody, len(a.Buckets)), BucketIntervalSeconds: int(a.Interval.Round(time.Second).Seconds())}
			for i, b := range a.Buckets {
				out.Buckets[i] = bucketOut(b, out.BucketIntervalSeconds)
			}
			return out, nil
		})
}

// answer turns a service's answer into an output.
func answer[T, Out any](convert func(T) Out) func(T, error) (*Out, error) {
	return func(v T, err error) (*Out, error) {
		if err != nil {
			return nil, err
		}
		return new(convert(v)), nil
	}
}

func done(err error) (*SuccessOutput, error) {
	if err != nil {
		return nil, err
	}
	return &SuccessOutput{Success: true}, nil
}
