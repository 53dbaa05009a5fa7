package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// enforceCap refuses a turn when the person has used up the connection's
// budget. Without a cap nothing is asked.
func (s *Service) enforceCap(ctx context.Context, p authz.Principal, c *Connection) error {
	if c.Cap == nil {
		return nil
	}
	since := db.Time(s.now().Add(-time.Duration(c.Cap.WindowMinutes) * time.Minute))
	var used int64
	err := s.db.Read.NewRaw(`SELECT CAST(coalesce(sum(total_tokens), 0) AS BIGINT) FROM ai_spend
		WHERE integration_id = ? AND principal_kind = ? AND principal_id = ? AND created_at >= ?`,
		c.ID, p.Kind, p.ID, since).Scan(ctx, &used)
	if err != nil {
		return fmt.Errorf("read spend: %w", err)
	}
	if used < c.Cap.TokenBudget {
		return nil
	}
	return problem.TooMany("LLM spend/budget exceeded: %d of %d tokens used in the last %d minutes on this connection",
		used, c.Cap.TokenBudget, c.Cap.WindowMinutes)
}

// recordSpend writes what a turn used. It must not fail the turn.
func (s *Service) recordSpend(ctx context.Context, p authz.Principal, c *Connection, conversationID, model string, u llm.Usage) {
	if c.builtin() || (u.TotalTokens <= 0 && u.InputTokens <= 0 && u.OutputTokens <= 0) {
		return
	}
	in, out := max(u.InputTokens, 0), max(u.OutputTokens, 0)
	_, err := s.db.Write.NewRaw(`INSERT INTO ai_spend (id, integration_id, principal_kind, principal_id, conversation_id, model,
		input_tokens, output_tokens, total_tokens, estimated, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		uuid.Must(uuid.NewV7()).String(), c.ID, p.Kind, p.ID, conversationID, model, in, out,
		max(u.TotalTokens, in+out), u.Estimated, db.Time(s.now())).Exec(ctx)
	if err != nil {
		s.log.ErrorContext(ctx, "spend could not be recorded", "conversation_id", conversationID, "connection_id", c.ID, "error", err)
	}
}
