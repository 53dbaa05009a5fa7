package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
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
}

func (c *Conversation) mode() proposal.Mode { return proposal.Mode(c.PermissionMode) }

// Message is one stored message.
type Message struct {
	ID        string
	Role      llm.Role
	Text      string
	Parts     []Part
	Stopped   bool
	Error     string
	CreatedAt time.Time

	model []llm.Message
}

// content is the JSON of ai_messages.content.
type content struct {
	Text    string `json:"text"`
	Stopped bool   `json:"stopped,omitempty"`
	Error   string `json:"error,omitempty"`
}

var errNoConversation = problem.NotFound("This conversation does not exist")

const conversationColumns = "id, user_id, title, integration_id, model, permission_mode, created_at, updated_at, archived_at"

// maxListed bounds the sidebar's list; older conversations keep their address.
const maxListed = 500

func (s *Service) conversations(ctx context.Context, userID string) ([]Conversation, error) {
	var out []Conversation
	err := s.db.Read.NewRaw("SELECT "+conversationColumns+` FROM ai_conversations
		WHERE user_id = ? AND archived_at IS NULL ORDER BY updated_at DESC, id DESC LIMIT ?`, userID, maxListed).Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("list conversations: %w", err)
	}
	return out, nil
}

// conversation gives a conversation of the user; one of somebody else does not
// exist.
func (s *Service) conversation(ctx context.Context, userID, id string) (*Conversation, error) {
	c := new(Conversation)
	err := s.db.Read.NewRaw("SELECT "+conversationColumns+" FROM ai_conversations WHERE id = ? AND user_id = ?", id, userID).Scan(ctx, c)
	if err != nil {
		return nil, db.Found(err, errNoConversation)
	}
	return c, nil
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

// updateConversation sets the given fields; nil leaves one alone.
func (s *Service) updateConversation(ctx context.Context, userID, id string, title, model, mode *string) (*Conversation, error) {
	q := s.db.Write.NewUpdate().Table("ai_conversations").Where("id = ? AND user_id = ?", id, userID).
		Set("updated_at = ?", db.Time(s.now()))
	if title != nil {
		q = q.Set("title = ?", *title)
	}
	if model != nil {
		q = q.Set("model = ?", nullable(*model))
	}
	if mode != nil {
		q = q.Set("permission_mode = ?", *mode)
	}
	res, err := q.Exec(ctx)
	if err := db.MustAffect(res, err, errNoConversation); err != nil {
		return nil, err
	}
	return s.conversation(ctx, userID, id)
}

// archiveConversation hides a conversation and keeps its rows; false when it
// was hidden before or is not the user's.
func (s *Service) archiveConversation(ctx context.Context, userID, id string) (bool, error) {
	return affected(s.db.Write.NewRaw(`UPDATE ai_conversations SET archived_at = ? WHERE id = ? AND user_id = ? AND archived_at IS NULL`,
		db.Time(s.now()), id, userID).Exec(ctx))
}

func (s *Service) deleteConversation(ctx context.Context, userID, id string) (bool, error) {
	return affected(s.db.Write.NewRaw("DELETE FROM ai_conversations WHERE id = ? AND user_id = ?", id, userID).Exec(ctx))
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

// appendMessage scrubs and stores a message and moves its conversation to the
// top. The update comes first: its row lock gives each message its own place.
func (s *Service) appendMessage(ctx context.Context, conversationID string, m Message, u used) error {
	parts, err := scrubbed(m.Parts)
	if err != nil {
		return fmt.Errorf("scrub message: %w", err)
	}
	c, err := json.Marshal(content{Text: scrub.Text(m.Text), Stopped: m.Stopped, Error: scrub.Text(m.Error)})
	if err != nil {
		return fmt.Errorf("encode message: %w", err)
	}
	var model any
	if len(m.model) > 0 {
		raw, err := scrubbedMessages(m.model)
		if err != nil {
			return fmt.Errorf("scrub model messages: %w", err)
		}
		model = string(raw)
	}
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		q := tx.NewUpdate().Table("ai_conversations").Where("id = ?", conversationID).Set("updated_at = ?", db.Time(s.now()))
		if u.integrationID != "" {
			q = q.Set("integration_id = ?", u.integrationID)
		}
		if u.model != "" {
			q = q.Set("model = ?", u.model)
		}
		if u.title != "" {
			q = q.Set("title = CASE WHEN title IS NULL OR trim(title) = '' THEN ? ELSE title END", u.title)
		}
		res, err := q.Exec(ctx)
		if err := db.MustAffect(res, err, errNoConversation); err != nil {
			return err
		}
		_, err = tx.NewRaw(`INSERT INTO ai_messages (id, conversation_id, seq, role, content, parts, model_messages, created_at)
			SELECT ?, ?, coalesce(max(seq), 0) + 1, ?, ?, ?, ?, ? FROM ai_messages WHERE conversation_id = ?`,
			m.ID, conversationID, m.Role, string(c), string(parts), model, db.Time(m.CreatedAt), conversationID).Exec(ctx)
		return err
	})
}

func scrubbed(parts []Part) (json.RawMessage, error) {
	if parts == nil {
		parts = []Part{}
	}
	raw, err := json.Marshal(parts)
	if err != nil {
		return nil, err
	}
	return scrub.JSON(raw)
}

// scrubbedMessages scrubs texts, and within tool results and arguments the
// JSON they hold: as one text, a single credential would take all of it.
func scrubbedMessages(messages []llm.Message) (json.RawMessage, error) {
	out := make([]llm.Message, len(messages))
	for i, m := range messages {
		if m.Role == llm.RoleTool && !m.IsError {
			if raw, err := scrub.JSON(json.RawMessage(m.Text)); err == nil {
				m.Text = string(raw)
			}
		}
		calls := make([]llm.ToolCall, len(m.ToolCalls))
		for j, c := range m.ToolCalls {
			raw, err := scrub.JSON(c.Arguments)
			if err != nil {
				raw = json.RawMessage("{}")
			}
			c.Arguments = raw
			calls[j] = c
		}
		m.ToolCalls = calls
		if m.Role != llm.RoleTool || m.IsError {
			m.Text = scrub.Text(m.Text)
		}
		out[i] = m
	}
	return json.Marshal(out)
}

type messageRow struct {
	ID            string
	Role          string
	Content       json.RawMessage
	Parts         json.RawMessage
	ModelMessages json.RawMessage
	CreatedAt     time.Time
}

// messages gives the stored messages in order.
func (s *Service) messages(ctx context.Context, conversationID string) ([]Message, error) {
	var rows []messageRow
	err := s.db.Read.NewRaw(`SELECT id, role, content, parts, model_messages, created_at FROM ai_messages
		WHERE conversation_id = ? ORDER BY seq`, conversationID).Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	out := make([]Message, len(rows))
	for i, r := range rows {
		m := Message{ID: r.ID, Role: llm.Role(r.Role), CreatedAt: r.CreatedAt.UTC(), Parts: []Part{}}
		var c content
		if json.Unmarshal(r.Content, &c) == nil {
			m.Text, m.Stopped, m.Error = c.Text, c.Stopped, c.Error
		}
		// A damaged row shows its text and does not take the conversation down.
		if json.Unmarshal(r.Parts, &m.Parts) != nil || (len(m.Parts) == 0 && m.Text != "") {
			m.Parts = []Part{{Type: partText, Text: m.Text, State: stateDone}}
		}
		m.model = replayable(r.ModelMessages)
		out[i] = m
	}
	return out, nil
}

// shown gives the messages of a conversation with every card in the present
// state of its proposal.
func (s *Service) shown(ctx context.Context, conversationID string) ([]Message, error) {
	messages, err := s.messages(ctx, conversationID)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Type == partTool && isCard(p.Output) {
				ids = append(ids, p.ToolCallID)
			}
		}
	}
	records, err := s.gate.Records(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		for i, p := range m.Parts {
			if p.Type != partTool || !isCard(p.Output) {
				continue
			}
			if m.Parts[i].Output, err = cardNow(p.Output, records[p.ToolCallID]); err != nil {
				return nil, err
			}
		}
	}
	return messages, nil
}

// heuristicTitle makes a title from a first message: six words, 60 characters.
func heuristicTitle(message string) string {
	words := strings.Fields(message)
	title := []rune(strings.Join(words[:min(len(words), 6)], " "))
	return strings.TrimSpace(string(title[:min(len(title), 60)]))
}

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
