package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/db"
)

// Message is one stored message.
type Message struct {
	ID        string
	Role      llm.Role
	Text      string
	Parts     []Part
	Stopped   bool
	Error     string
	CreatedAt time.Time
	// Writing says that no turn has finished it; see running.go.
	Writing bool
	// Answers is the decision that the message answers, nil when it answers words.
	Answers *answered

	model []llm.Message
}

// content is the JSON of ai_messages.content.
type content struct {
	Text    string `json:"text"`
	Stopped bool   `json:"stopped,omitempty"`
	Error   string `json:"error,omitempty"`
	// Answers is set in an answer to a decision.
	Answers *answered `json:"answers,omitempty"`
	// Turn is set while the message is being written.
	Turn *crashNote `json:"turn,omitempty"`
}

// answered is a decision that was answered. What was decided on is kept by its
// proposal.
type answered struct {
	ToolCallID string `json:"toolCallId"`
	Applied    bool   `json:"applied"`

	summary string // for people, when shown; empty when the proposal is gone
}

// crashNote is what has to be known of a running turn when its process dies.
type crashNote struct {
	Usage        llm.Usage `json:"usage"`
	ConnectionID string    `json:"connectionId"`
	Model        string    `json:"model"`
	// Reserved says that the ledger counts the turn already.
	Reserved bool `json:"reserved,omitempty"`
}

type messageRow struct {
	ID            string
	Role          string
	Content       json.RawMessage
	Parts         json.RawMessage
	ModelMessages json.RawMessage
	CreatedAt     time.Time
}

// encodeMessage scrubs a message and brings it into the form in which it is
// stored.
func encodeMessage(m Message, crash *crashNote) (*messageRow, error) {
	parts, err := scrubbed(m.Parts)
	if err != nil {
		return nil, fmt.Errorf("scrub message: %w", err)
	}
	text := scrub.Text(m.Text)
	if m.Role == llm.RoleAssistant {
		text = scrub.Prose(m.Text) // its parts are scrubbed, their join is not
	}
	r := &messageRow{ID: m.ID, Role: string(m.Role), Parts: parts, CreatedAt: db.Time(m.CreatedAt)}
	if r.Content, err = json.Marshal(content{Text: text, Stopped: m.Stopped, Error: scrub.Prose(m.Error), Answers: m.Answers, Turn: crash}); err != nil {
		return nil, fmt.Errorf("encode message: %w", err)
	}
	if len(m.model) > 0 {
		if r.ModelMessages, err = scrubbedMessages(m.model); err != nil {
			return nil, fmt.Errorf("scrub model messages: %w", err)
		}
	}
	return r, nil
}

// model gives the column of model messages, null when there are none.
func (r *messageRow) model() any {
	if len(r.ModelMessages) == 0 {
		return nil
	}
	return string(r.ModelMessages)
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
			c.ID, c.Name, c.Arguments = scrub.Storable(c.ID), scrub.Text(c.Name), raw
			calls[j] = c
		}
		m.ToolCalls = calls
		if m.Role != llm.RoleTool || m.IsError {
			m.Text = scrub.Text(m.Text)
		}
		m.Text, m.ToolCallID, m.ToolName = scrub.Storable(m.Text), scrub.Storable(m.ToolCallID), scrub.Text(m.ToolName)
		out[i] = m
	}
	return json.Marshal(out)
}

const messageSelect = "SELECT id, role, content, parts, model_messages, created_at FROM ai_messages WHERE "

// messages gives the stored messages in order.
func (s *Service) messages(ctx context.Context, conversationID string) ([]Message, error) {
	var rows []messageRow
	if err := s.db.Read.NewRaw(messageSelect+"conversation_id = ? ORDER BY seq", conversationID).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	out := make([]Message, len(rows))
	for i := range rows {
		out[i] = rows[i].message()
	}
	return out, nil
}

// past gives the stored messages as the model needs them: without their parts.
func (s *Service) past(ctx context.Context, conversationID string) ([]Message, error) {
	var rows []messageRow
	err := s.db.ScanPrepared(ctx, s.db.Read, &rows, "SELECT id, role, content, model_messages FROM ai_messages WHERE conversation_id = ? ORDER BY seq", conversationID)
	if err != nil {
		return nil, fmt.Errorf("read messages: %w", err)
	}
	out := make([]Message, len(rows))
	for i, r := range rows {
		out[i] = Message{ID: r.ID, Role: llm.Role(r.Role), model: replayable(r.ModelMessages)}
		var c content
		if json.Unmarshal(r.Content, &c) == nil {
			out[i].Text = c.Text
		}
	}
	return out, nil
}

// message reads a row. A damaged one shows its text and does not take the
// conversation down.
func (r *messageRow) message() Message {
	m := Message{ID: r.ID, Role: llm.Role(r.Role), CreatedAt: r.CreatedAt.UTC(), Parts: []Part{}}
	var c content
	if json.Unmarshal(r.Content, &c) == nil {
		m.Text, m.Stopped, m.Error, m.Answers, m.Writing = c.Text, c.Stopped, c.Error, c.Answers, c.Turn != nil
	}
	if json.Unmarshal(r.Parts, &m.Parts) != nil || (len(m.Parts) == 0 && m.Text != "") {
		m.Parts = []Part{{Type: partText, Text: m.Text, State: stateDone}}
	}
	m.model = replayable(r.ModelMessages)
	return m
}

// shown gives the messages of a conversation as a person sees them now: every
// card in the present state of its proposal, and an answer whose process died
// marked as such.
func (s *Service) shown(ctx context.Context, c *Conversation) ([]Message, error) {
	messages, err := s.messages(ctx, c.ID)
	if err != nil {
		return nil, err
	}
	return s.present(ctx, c, messages)
}

func (s *Service) present(ctx context.Context, c *Conversation, messages []Message) ([]Message, error) {
	var ids []string
	kept := messages[:0]
	for _, m := range messages {
		if m.Writing && (deref(c.TurnID) != m.ID || !c.alive(s.now())) {
			if len(m.Parts) == 0 && m.Answers == nil {
				continue
			}
			m.Writing, m.Error = false, interruptedText
		}
		if m.Answers != nil {
			ids = append(ids, m.Answers.ToolCallID)
		}
		for _, p := range m.Parts {
			if p.Type == partTool && (isCard(p.Output) || (p.unfinished() && !m.Writing)) {
				ids = append(ids, p.ToolCallID)
			}
		}
		kept = append(kept, m)
	}
	records, err := s.gate.Records(ctx, ids...)
	if err != nil {
		return nil, err
	}
	for _, m := range kept {
		if m.Answers != nil && records[m.Answers.ToolCallID] != nil {
			m.Answers.summary = records[m.Answers.ToolCallID].Summary
		}
		for i := range m.Parts {
			p := &m.Parts[i]
			rec := records[p.ToolCallID]
			switch {
			case p.Type != partTool:
			case isCard(p.Output):
				if p.Output, err = cardNow(p.Output, rec); err != nil {
					return nil, err
				}
			case p.unfinished() && !m.Writing && rec != nil:
				// The change was proposed, but its process died before it said so.
				card, err := json.Marshal(newConfirmCard(&rec.Proposal))
				if err != nil {
					return nil, fmt.Errorf("encode card: %w", err)
				}
				p.State = stateOutput
				if p.Output, err = cardNow(card, rec); err != nil {
					return nil, err
				}
			case p.unfinished() && !m.Writing:
				p.State, p.ErrorText = stateError, stoppedText
			}
		}
	}
	return kept, nil
}
