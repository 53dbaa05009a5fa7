package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

type spendCapOutput struct {
	TokenBudget   int64 `json:"tokenBudget"`
	WindowMinutes int64 `json:"windowMinutes"`
}

type connectionOutput struct {
	ID                       string          `json:"id"`
	Name                     string          `json:"name"`
	BaseURL                  string          `json:"baseUrl"`
	DefaultModel             string          `json:"defaultModel"`
	AvailableModels          []string        `json:"availableModels"`
	HasAPIKey                bool            `json:"hasApiKey" doc:"The key itself is never given out"`
	SpendCap                 *spendCapOutput `json:"spendCap"`
	ContextWindowTokens      *int64          `json:"contextWindowTokens"`
	ModelFamily              string          `json:"modelFamily" enum:"generic,anthropic,openai"`
	DisableTopicalClassifier bool            `json:"disableTopicalClassifier" doc:"Whether the check that a message is about this platform is left out"`
	CreatedAt                time.Time       `json:"createdAt"`
	UpdatedAt                time.Time       `json:"updatedAt"`
}

func connectionOut(c *Connection) *connectionOutput {
	out := &connectionOutput{ID: c.ID, Name: c.Name, BaseURL: c.BaseURL, DefaultModel: c.DefaultModel, AvailableModels: c.Models,
		HasAPIKey: c.HasKey, ModelFamily: c.Family, DisableTopicalClassifier: c.NoGuard, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt}
	if c.Cap != nil {
		out.SpendCap = &spendCapOutput{c.Cap.TokenBudget, c.Cap.WindowMinutes}
	}
	if c.ContextTokens > 0 {
		out.ContextWindowTokens = &c.ContextTokens
	}
	return out
}

type listConnectionsOutput struct {
	Connections []connectionOutput `json:"connections"`
}

type createConnectionInput struct {
	Name                     string          `json:"name" minLength:"1" maxLength:"200"`
	BaseURL                  string          `json:"baseUrl,omitempty" maxLength:"2000" doc:"Endpoint up to and including /v1; OpenAI's when absent"`
	APIKey                   string          `json:"apiKey,omitempty" maxLength:"4000" doc:"Stored encrypted and never given out; absent for endpoints without one"`
	DefaultModel             string          `json:"defaultModel" minLength:"1" maxLength:"200"`
	AvailableModels          []string        `json:"availableModels,omitempty" maxItems:"200" doc:"Models that may be used; all when empty"`
	SpendCap                 json.RawMessage `json:"spendCap,omitempty" doc:"Tokens per person in a rolling window: {tokenBudget, windowMinutes}; absent, null, blank or incomplete means no cap"`
	ContextWindowTokens      *int64          `json:"contextWindowTokens,omitempty" minimum:"1" maximum:"100000000"`
	ModelFamily              string          `json:"modelFamily,omitempty" enum:"generic,anthropic,openai" default:"generic"`
	DisableTopicalClassifier bool            `json:"disableTopicalClassifier,omitempty" doc:"Leaves out the extra model call that checks whether a message is about this platform"`
}

type updateConnectionInput struct {
	ID                       string                 `json:"id" minLength:"1" maxLength:"200"`
	Name                     *string                `json:"name,omitempty" minLength:"1" maxLength:"200"`
	BaseURL                  *string                `json:"baseUrl,omitempty" maxLength:"2000"`
	APIKey                   string                 `json:"apiKey,omitempty" maxLength:"4000" doc:"Absent or blank keeps the stored key; needed again when the address points to another server"`
	DefaultModel             *string                `json:"defaultModel,omitempty" minLength:"1" maxLength:"200"`
	AvailableModels          *[]string              `json:"availableModels,omitempty" maxItems:"200"`
	SpendCap                 json.RawMessage        `json:"spendCap,omitempty" doc:"null, blank or incomplete removes the cap; absent keeps it"`
	ContextWindowTokens      operation.Patch[int64] `json:"contextWindowTokens,omitzero"`
	ModelFamily              *string                `json:"modelFamily,omitempty" enum:"generic,anthropic,openai"`
	DisableTopicalClassifier *bool                  `json:"disableTopicalClassifier,omitempty"`
}

type testConnectionInput struct {
	ID      string `json:"id,omitempty" maxLength:"200" doc:"Stored connection whose values stand in for what is absent"`
	BaseURL string `json:"baseUrl,omitempty" maxLength:"2000"`
	APIKey  string `json:"apiKey,omitempty" maxLength:"4000"`
}

type testConnectionOutput struct {
	OK      bool   `json:"ok"`
	Message string `json:"message"`
}

func (s *Service) connectionOperations() []operation.Operation {
	read, manage := []authz.Rule{RuleConnectionsRead}, []authz.Rule{RuleConnectionsManage}
	d := func(id string, kind operation.Kind, access []authz.Rule, summary string) operation.Declaration {
		return operation.Declaration{ID: "ai." + id, Kind: kind, Caller: operation.Authenticated, Access: access, Summary: summary}
	}
	return []operation.Operation{
		operation.New(d("listConnections", operation.Query, read, "List connections to model providers"), s.opListConnections),
		operation.New(d("createConnection", operation.Mutation, manage, "Add a connection to a model provider"), s.opCreateConnection),
		operation.New(d("updateConnection", operation.Mutation, manage, "Change a connection to a model provider"), s.opUpdateConnection),
		operation.New(d("deleteConnection", operation.Mutation, manage, "Delete a connection and its key"), s.opDeleteConnection),
		operation.New(d("testConnection", operation.Mutation, manage, "Ask a provider for its models to see whether it can be reached"), s.opTestConnection),
	}
}

func (s *Service) opListConnections(ctx context.Context, _ *operation.Empty) (*listConnectionsOutput, error) {
	list, err := s.Connections(ctx)
	if err != nil {
		return nil, err
	}
	out := &listConnectionsOutput{Connections: []connectionOutput{}}
	for _, c := range list {
		out.Connections = append(out.Connections, *connectionOut(c))
	}
	return out, nil
}

func (s *Service) opCreateConnection(ctx context.Context, in *createConnectionInput) (*connectionOutput, error) {
	spend, err := readCap(in.SpendCap)
	if err != nil {
		return nil, err
	}
	c := Connection{Name: in.Name, BaseURL: in.BaseURL, DefaultModel: in.DefaultModel, Models: in.AvailableModels, Cap: spend, Family: in.ModelFamily,
		NoGuard: in.DisableTopicalClassifier}
	if in.ContextWindowTokens != nil {
		c.ContextTokens = *in.ContextWindowTokens
	}
	made, err := s.CreateConnection(ctx, c, secret.New(in.APIKey))
	if err != nil {
		return nil, err
	}
	return connectionOut(made), nil
}

func (s *Service) opUpdateConnection(ctx context.Context, in *updateConnectionInput) (*connectionOutput, error) {
	spend, err := readCap(in.SpendCap)
	if err != nil {
		return nil, err
	}
	if v := in.ContextWindowTokens.Value; v != nil && *v <= 0 {
		return nil, problem.Field("contextWindowTokens", "must be above 0")
	}
	c, err := s.UpdateConnection(ctx, in.ID, secret.New(in.APIKey), func(c *Connection) {
		set(&c.Name, in.Name)
		set(&c.BaseURL, in.BaseURL)
		set(&c.NoGuard, in.DisableTopicalClassifier)
		set(&c.DefaultModel, in.DefaultModel)
		set(&c.Models, in.AvailableModels)
		set(&c.Family, in.ModelFamily)
		if len(in.SpendCap) > 0 {
			c.Cap = spend
		}
		if in.ContextWindowTokens.Set {
			c.ContextTokens = 0
			set(&c.ContextTokens, in.ContextWindowTokens.Value)
		}
	})
	if err != nil {
		return nil, err
	}
	return connectionOut(c), nil
}

func (s *Service) opDeleteConnection(ctx context.Context, in *idInput) (*deletedOutput, error) {
	if err := s.DeleteConnection(ctx, in.ID); err != nil {
		return nil, err
	}
	return &deletedOutput{Deleted: true}, nil
}

func (s *Service) opTestConnection(ctx context.Context, in *testConnectionInput) (*testConnectionOutput, error) {
	ok, message, err := s.TestConnection(ctx, in.ID, Connection{BaseURL: in.BaseURL}, secret.New(in.APIKey))
	if err != nil {
		return nil, err
	}
	return &testConnectionOutput{OK: ok, Message: message}, nil
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}
