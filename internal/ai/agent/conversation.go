package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// Conversation is one person's talk with the assistant.
type Conversation struct {
	ID             string
	UserID         string
	Title          *string
	IntegrationID  *string
	Model          *string
	PermissionMode string
	CreatedAt      time.Time
	UpdatedAt      time.Time
	ArchivedAt     *time.Time
	// Summary stands for the messages up to SummarizedThroughMessageID.
	Summary                    *string
	SummarizedThroughMessageID *string
	// TurnID is the message that a turn is writing now, see running.go.
	TurnID      *string
	TurnAliveAt *time.Time
}

func (c *Conversation) mode() proposal.Mode { return proposal.Mode(c.PermissionMode) }

var errNoConversation = problem.NotFound("This conversation does not exist")

const conversationColumns = "id, user_id, title, integration_id, model, permission_mode, created_at, updated_at, archived_at, " +
	"summary, summarized_through_message_id, turn_id, turn_alive_at"

// maxListed bounds the sidebar's list; older conversations keep their address.
const maxListed = 500

func (s *Service) conversations(ctx context.Context, userID string, archived bool) ([]Conversation, error) {
	which := "IS NULL"
	if archived {
		which = "IS NOT NULL"
	}
	var out []Conversation
	err := s.db.Read.NewRaw("SELECT "+conversationColumns+" FROM ai_conversations WHERE user_id = ? AND archived_at "+which+
		" ORDER BY updated_at DESC, id DESC LIMIT ?", userID, maxListed).Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return out, nil
}

// conversation gives a conversation of the user; one of somebody else does not
// exist.
func (s *Service) conversation(ctx context.Context, userID, id string) (*Conversation, error) {
	var rows []Conversation
	err := s.db.ScanPrepared(ctx, s.db.Read, &rows, "SELECT "+conversationColumns+" FROM ai_conversations WHERE id = ? AND user_id = ?", id, userID)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read conversation: %w", err)
	case len(rows) == 0:
		return nil, errNoConversation
	}
	return &rows[0], nil
}

func (s *Service) createConversation(ctx context.Context, c Conversation) (*Conversation, error) {
	c.ID = uuid.Must(uuid.NewV7()).String()
	c.CreatedAt = db.Time(s.now())
	c.UpdatedAt = c.CreatedAt
	_, err := s.db.Write.NewRaw(`INSERT INTO ai_conversations (id, user_id, title, integration_id, model, permission_mode, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, c.ID, c.UserID, c.Title, c.IntegrationID, c.Model, c.PermissionMode, c.CreatedAt, c.UpdatedAt).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("create conversation: %w", err)
	}
	return &c, nil
}

// updateConversation sets the given fields; nil leaves one alone. It is no
// activity: the conversation keeps its place in the list. An archived one stays
// as it is.
func (s *Service) updateConversation(ctx context.Context, userID, id string, title, model, mode *string) (*Conversation, error) {
	q := s.db.Write.NewUpdate().Table("ai_conversations").Where("id = ? AND user_id = ? AND archived_at IS NULL", id, userID)
	if title != nil {
		q = q.Set("title = ?", *title)
	}
	if model != nil {
		q = q.Set("model = ?", nullable(*model))
	}
	if mode != nil {
		q = q.Set("permission_mode = ?", *mode)
	}
	if title != nil || model != nil || mode != nil {
		res, err := q.Exec(ctx)
		if err := db.MustAffect(res, err, errNoConversation); err != nil {
			return nil, err
		}
	}
	c, err := s.conversation(ctx, userID, id)
	if err == nil && c.ArchivedAt != nil {
		return nil, errNoConversation
	}
	return c, err
}

// archiveConversation hides a conversation and keeps its rows; false when it
// was hidden before or is not the user's.
func (s *Service) archiveConversation(ctx context.Context, userID, id string) (bool, error) {
	return s.putAway(ctx, id, `UPDATE ai_conversations SET archived_at = ? WHERE id = ? AND user_id = ? AND archived_at IS NULL`,
		db.Time(s.now()), id, userID)
}

// deleteConversation removes a conversation with its messages; false when it
// does not exist or is not the user's.
func (s *Service) deleteConversation(ctx context.Context, userID, id string) (bool, error) {
	return s.putAway(ctx, id, "DELETE FROM ai_conversations WHERE id = ? AND user_id = ?", id, userID)
}

// putAway runs the statement that takes a conversation from its owner, and
// declines what waits in it: nobody should be asked by a talk that is over. It
// is false, and nothing is declined, when the statement found nothing.
func (s *Service) putAway(ctx context.Context, id, statement string, args ...any) (done bool, err error) {
	announce := func() {}
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The cards are found by their conversation, so they come first; when there
		// is none of this owner, all of it is undone.
		if announce, err = s.gate.DeclineConversation(ctx, tx, id); err != nil {
			return err
		}
		res, err := tx.NewRaw(statement, args...).Exec(ctx)
		return db.MustAffect(res, err, errNoConversation)
	})
	if errors.Is(err, errNoConversation) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("put conversation away: %w", err)
	}
	announce()
	return true, nil
}

// restoreConversation takes that back; false when there was nothing to restore.
func (s *Service) restoreConversation(ctx context.Context, userID, id string) (bool, error) {
	return affected(s.db.Write.NewRaw("UPDATE ai_conversations SET archived_at = NULL WHERE id = ? AND user_id = ? AND archived_at IS NOT NULL",
		id, userID).Exec(ctx))
}

func affected(res interface{ RowsAffected() (int64, error) }, err error) (bool, error) {
	if err != nil {
		return false, err
	}
	n, err := res.RowsAffected()
	return n > 0, err
}

// used is what a turn leaves on its conversation besides the message.
type used struct{ integrationID, model, title string }

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// knownConnection gives the connection of an id, nil when there is none.
func (s *Service) knownConnection(ctx context.Context, id string) (*Connection, error) {
	if id == "" {
		return nil, nil
	}
	c, err := s.Connection(ctx, id)
	if problem.Is(err, problem.KindNotFound) {
		return nil, nil
	}
	return c, err
}
