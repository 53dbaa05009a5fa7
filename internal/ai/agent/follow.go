package agent

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// followEvery is how often a follower looks for what a turn has saved.
const followEvery = 300 * time.Millisecond

// FollowHandler serves GET /api/ai/chat/{id}/stream, where the browser's chat
// library resumes: the running turn of a conversation as a UI message stream,
// from its beginning to its end, read from what the turn saves; so a reloaded
// page or a second tab sees it wherever it runs. 204 when none runs. Who follows
// a turn listens to it: it goes on without its sender.
func (s *Service) FollowHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		c, err := s.followed(ctx, r.PathValue("id"))
		switch {
		case err != nil:
			s.refuse(ctx, w, err)
		case !c.alive(s.now()):
			w.WriteHeader(http.StatusNoContent)
		default:
			s.follow(ctx, w, c)
		}
	})
}

func (s *Service) followed(ctx context.Context, id string) (*Conversation, error) {
	p := principalOf(ctx)
	switch {
	case p.IsGuest():
		return nil, problem.Unauthenticated("Authentication required")
	case p.Kind != authz.User:
		return nil, problem.Forbidden("The chat is for people; use the API or MCP instead")
	case !p.Has(RuleChat.ID):
		return nil, problem.Forbidden("Missing access: %s", RuleChat.ID)
	}
	return s.conversation(ctx, p.ID, id)
}

func (s *Service) follow(ctx context.Context, w http.ResponseWriter, c *Conversation) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id := *c.TurnID
	f := follower{out: newStream(w, cancel), texts: map[int]*followedText{}, tools: map[int]string{}}
	f.out.send(frame{Type: "start", MessageID: id})
	tick, quiet := time.NewTicker(followEvery), time.NewTicker(s.keepAlive)
	defer tick.Stop()
	defer quiet.Stop()
	var listened time.Time
	for {
		if now := s.now(); now.Sub(listened) >= s.listenEvery {
			if err := s.listen(ctx, c.ID, id); err != nil && ctx.Err() == nil {
				s.log.WarnContext(ctx, "listener could not be noted", "conversation_id", c.ID, "error", err)
			}
			listened = now
		}
		// The conversation is read first: a turn that has ended by now has
		// stored all of its message.
		c, err := s.conversation(ctx, c.UserID, c.ID)
		var m *Message
		if err == nil {
			m, err = s.followedMessage(ctx, c, id)
		}
		if err != nil {
			if ctx.Err() == nil && !errors.Is(err, errNoConversation) {
				s.log.ErrorContext(ctx, "running turn could not be followed", "conversation_id", c.ID, "error", err)
			}
			f.close()
			f.out.send(frame{Type: "error", ErrorText: "The connection to the running answer was lost. Reload the page to see it."})
			f.out.end()
			return
		}
		if m != nil {
			f.show(m.Parts)
		}
		if m == nil || !m.Writing {
			f.finish(m)
			return
		}
		for waiting := true; waiting; {
			select {
			case <-ctx.Done():
				return
			case <-quiet.C:
				f.out.comment()
			case <-tick.C:
				waiting = false
			}
		}
	}
}

// followedMessage gives the message as it is shown now, nil when it is gone.
func (s *Service) followedMessage(ctx context.Context, c *Conversation, id string) (*Message, error) {
	var rows []messageRow
	if err := s.db.Read.NewRaw(messageSelect+"id = ? AND conversation_id = ?", id, c.ID).Scan(ctx, &rows); err != nil || len(rows) == 0 {
		return nil, err
	}
	shown, err := s.present(ctx, c, []Message{rows[0].message()})
	if err != nil || len(shown) == 0 {
		return nil, err
	}
	return &shown[0], nil
}

// follower turns the growing parts of a message into frames.
type follower struct {
	out   *stream
	step  bool
	texts map[int]*followedText
	tools map[int]string // the state that was told last
}

type followedText struct {
	id, sent string
	closed   bool
}

func (f *follower) show(parts []Part) {
	for i, p := range parts {
		switch p.Type {
		case partStep:
			if _, ok := f.tools[i]; !ok {
				f.tools[i] = p.Type
				f.endStep()
				f.step = true
				f.out.send(frame{Type: "start-step"})
			}
		case partText:
			f.showText(i, p.Text, i < len(parts)-1)
		case partTool:
			f.showTool(i, p)
		}
	}
}

func (f *follower) showText(i int, text string, whole bool) {
	t := f.texts[i]
	if t == nil {
		t = &followedText{id: uuid.Must(uuid.NewV7()).String()}
		f.texts[i] = t
		f.out.send(frame{Type: "text-start", ID: t.id})
	}
	// A text that a credential made unfit is not taken back, only not continued.
	if more, ok := strings.CutPrefix(text, t.sent); ok && more != "" && !t.closed {
		t.sent = text
		f.out.delta(t.id, more)
	}
	if whole {
		f.closeText(t)
	}
}

func (f *follower) closeText(t *followedText) {
	if !t.closed {
		t.closed = true
		f.out.send(frame{Type: "text-end", ID: t.id})
	}
}

func (f *follower) showTool(i int, p Part) {
	told := f.tools[i]
	if told == "" {
		f.out.send(frame{Type: "tool-input-start", ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: true})
		told = stateInput
	}
	if told == stateInput && p.State != stateInput {
		f.out.send(frame{Type: "tool-input-available", ToolCallID: p.ToolCallID, ToolName: p.ToolName, Dynamic: true, Input: p.Input})
		told = stateRunning
	}
	if told == stateRunning {
		switch p.State {
		case stateOutput:
			f.out.send(frame{Type: "tool-output-available", ToolCallID: p.ToolCallID, Dynamic: true, Output: p.Output})
			told = p.State
		case stateError:
			f.out.send(frame{Type: "tool-output-error", ToolCallID: p.ToolCallID, Dynamic: true, ErrorText: p.ErrorText})
			told = p.State
		}
	}
	f.tools[i] = told
}

func (f *follower) endStep() {
	if f.step {
		f.step = false
		f.out.send(frame{Type: "finish-step"})
	}
}

// close ends what is open.
func (f *follower) close() {
	for _, t := range f.texts {
		f.closeText(t)
	}
	f.endStep()
}

func (f *follower) finish(m *Message) {
	f.close()
	switch {
	case m != nil && m.Error != "":
		f.out.send(frame{Type: "error", ErrorText: m.Error})
	case m == nil || m.Stopped:
		f.out.send(frame{Type: "abort"})
	default:
		f.out.send(frame{Type: "finish"})
	}
	f.out.end()
}
