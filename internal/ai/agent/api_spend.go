package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// The spend report: tokens per connection and person, and per day.

const (
	spendDefault = 30 * 24 * time.Hour
	spendMost    = 366 * 24 * time.Hour
)

type getSpendInput struct {
	From         *time.Time `json:"from,omitempty" doc:"30 days before the end when absent"`
	To           *time.Time `json:"to,omitempty" doc:"Now when absent; at most 366 days after the beginning"`
	ConnectionID string     `json:"connectionId,omitempty" maxLength:"200"`
	PrincipalID  string     `json:"principalId,omitempty" maxLength:"200" doc:"Person or application"`
}

// SpendTotals sums entries. It is exported because only then the API description
// sees its fields where it is embedded.
type SpendTotals struct {
	InputTokens     int64 `json:"inputTokens"`
	OutputTokens    int64 `json:"outputTokens"`
	TotalTokens     int64 `json:"totalTokens"`
	EstimatedTokens int64 `json:"estimatedTokens" doc:"How many of the total the provider did not report; they are estimates"`
	Entries         int64 `json:"entries" doc:"Turns and smaller model calls"`
}

type spendLine struct {
	SpendTotals
	ConnectionID   string          `json:"connectionId"`
	ConnectionName *string         `json:"connectionName" doc:"Null when the connection is deleted"`
	PrincipalKind  string          `json:"principalKind" enum:"user,application"`
	PrincipalID    string          `json:"principalId"`
	PrincipalName  *string         `json:"principalName" doc:"Null when it is deleted"`
	LastUsedAt     time.Time       `json:"lastUsedAt"`
	SpendCap       *spendCapOutput `json:"spendCap"`
	WindowTokens   *int64          `json:"windowTokens" doc:"Used and reserved within the cap's window now; null without a cap"`
	ReservedTokens *int64          `json:"reservedTokens" doc:"Of them, those reserved for answers that are being written now"`
}

type spendDay struct {
	Date        string `json:"date" doc:"Day in UTC, such as 2026-07-01"`
	TotalTokens int64  `json:"totalTokens"`
}

type getSpendOutput struct {
	From  time.Time   `json:"from"`
	To    time.Time   `json:"to"`
	Total SpendTotals `json:"total"`
	Lines []spendLine `json:"lines" doc:"One per connection and person, most tokens first"`
	Days  []spendDay  `json:"days" doc:"Days with spend, oldest first"`
}

func (s *Service) spendOperations() []operation.Operation {
	return []operation.Operation{
		operation.New(operation.Declaration{ID: "ai.getSpend", Kind: operation.Query, Caller: operation.Authenticated,
			Access: []authz.Rule{RuleConnectionsManage}, Summary: "Report the tokens used per connection and person",
			Description: "Counts what providers reported, or an estimate where they reported nothing. The built-in assistant uses none."}, s.opGetSpend),
	}
}

type spendSum struct {
	IntegrationID string
	PrincipalKind string
	PrincipalID   string
	Input         int64
	Output        int64
	Total         int64
	Estimated     int64
	Entries       int64
	LastAt        time.Time
}

func (s *Service) opGetSpend(ctx context.Context, in *getSpendInput) (*getSpendOutput, error) {
	to := db.Time(s.now())
	if in.To != nil {
		to = *in.To
	}
	from := to.Add(-spendDefault)
	if in.From != nil {
		from = *in.From
	}
	switch {
	case !from.Before(to):
		return nil, problem.Field("from", "must be before the end")
	case to.Sub(from) > spendMost:
		return nil, problem.Field("from", "must be at most 366 days before the end")
	}
	where, args := "created_at >= ? AND created_at < ?", []any{from, to}
	if in.ConnectionID != "" {
		where, args = where+" AND integration_id = ?", append(args, in.ConnectionID)
	}
	if in.PrincipalID != "" {
		where, args = where+" AND principal_id = ?", append(args, in.PrincipalID)
	}
	var sums []spendSum
	err := s.db.Read.NewRaw(`SELECT integration_id, principal_kind, principal_id, CAST(sum(input_tokens) AS BIGINT) AS input,
		CAST(sum(output_tokens) AS BIGINT) AS output, CAST(sum(total_tokens) AS BIGINT) AS total,
		CAST(sum(CASE WHEN estimated THEN total_tokens ELSE 0 END) AS BIGINT) AS estimated, count(*) AS entries, max(created_at) AS last_at
		FROM ai_spend WHERE `+where+` GROUP BY integration_id, principal_kind, principal_id
		ORDER BY total DESC, integration_id, principal_id`, args...).Scan(ctx, &sums)
	if err != nil {
		return nil, fmt.Errorf("sum spend: %w", err)
	}
	out := &getSpendOutput{From: from, To: to, Lines: []spendLine{}, Days: []spendDay{}}
	if err := s.spendLines(ctx, sums, out); err != nil {
		return nil, err
	}
	// The first ten characters of an instant are its day in both databases.
	day := "substr(CAST(created_at AS TEXT), 1, 10)"
	if s.db.Postgres() {
		day = "to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD')"
	}
	var days []spendDay
	err = s.db.Read.NewRaw("SELECT "+day+" AS date, CAST(sum(total_tokens) AS BIGINT) AS total_tokens FROM ai_spend WHERE "+where+" GROUP BY 1 ORDER BY 1", args...).
		Scan(ctx, &days)
	if err != nil {
		return nil, fmt.Errorf("sum spend by day: %w", err)
	}
	out.Days = append(out.Days, days...)
	return out, nil
}

func (s *Service) spendLines(ctx context.Context, sums []spendSum, out *getSpendOutput) error {
	list, err := s.Connections(ctx)
	if err != nil {
		return err
	}
	connections := map[string]*Connection{}
	for _, c := range list {
		connections[c.ID] = c
	}
	ids := make([]string, 0, len(sums))
	for _, r := range sums {
		ids = append(ids, r.PrincipalID)
	}
	names := map[string]string{}
	if s.names != nil && len(ids) > 0 {
		if names, err = s.names(ctx, ids); err != nil {
			return fmt.Errorf("names of people: %w", err)
		}
	}
	for _, r := range sums {
		line := spendLine{SpendTotals: SpendTotals{r.Input, r.Output, r.Total, r.Estimated, r.Entries}, ConnectionID: r.IntegrationID,
			PrincipalKind: r.PrincipalKind, PrincipalID: r.PrincipalID, LastUsedAt: r.LastAt.UTC()}
		if name, ok := names[r.PrincipalID]; ok {
			line.PrincipalName = &name
		}
		if c := connections[r.IntegrationID]; c != nil {
			line.ConnectionName = &c.Name
			if c.Cap != nil {
				line.SpendCap = &spendCapOutput{c.Cap.TokenBudget, c.Cap.WindowMinutes}
				spent, err := s.spent(ctx, s.db.Read, authz.Principal{Kind: authz.Kind(r.PrincipalKind), ID: r.PrincipalID}, c, "")
				if err != nil {
					return err
				}
				line.WindowTokens, line.ReservedTokens = &spent.Total, &spent.Reserved
			}
		}
		out.Total.InputTokens += r.Input
		out.Total.OutputTokens += r.Output
		out.Total.TotalTokens += r.Total
		out.Total.EstimatedTokens += r.Estimated
		out.Total.Entries += r.Entries
		out.Lines = append(out.Lines, line)
	}
	return nil
}
