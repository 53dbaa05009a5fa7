package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/zone"
)

// Limits of one chat request.
const (
	maxBody    = 256 << 10
	maxMessage = 32_000
)

// chatRequest is what is read of a request. The browser's chat library sends
// its own idea of the history along; it is not even decoded.
type chatRequest struct {
	ConversationID string `json:"conversationId"`
	ConnectionID   string `json:"connectionId"`
	Model          string `json:"model"`
	Message        string `json:"message"`
	Decision       *struct {
		Token string `json:"token"`
		Kind  string `json:"kind"`
	} `json:"decision"`
	TimeZone string `json:"timeZone"`
	SkillID  string `json:"skillId"`
}

func principalOf(ctx context.Context) authz.Principal { return authz.From(ctx) }

// ChatHandler serves POST /api/ai/chat: one turn, as a UI message stream. The
// principal must be in the request's context. What is refused before the
// stream begins is answered as JSON.
func (s *Service) ChatHandler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		t, err := s.accept(r.Context(), w, r)
		if err != nil {
			s.refuse(r.Context(), w, err)
			return
		}
		s.play(r.Context(), w, t)
	})
}

// refuse answers with the one form of errors, and the key "error" beside it for
// readers that expect plain text.
func (s *Service) refuse(ctx context.Context, w http.ResponseWriter, err error) {
	status, body := problem.BodyOf(err)
	text := body.Message
	if p, ok := problem.As(err); ok {
		text = p.Error() // with every fault of the input
	}
	if status == http.StatusInternalServerError {
		s.log.ErrorContext(ctx, "chat turn could not begin", "error", err)
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		problem.Body
		Error string `json:"error"`
	}{body, text})
}

// accept makes the checks of spec/ai-platform.md 13.2 in their order, stores
// the person's message and gives the turn ready to run.
func (s *Service) accept(ctx context.Context, w http.ResponseWriter, r *http.Request) (*turn, error) {
	p := principalOf(ctx)
	switch {
	case p.IsGuest():
		return nil, problem.Unauthenticated("Authentication required")
	case p.Kind != authz.User:
		return nil, problem.Forbidden("The chat is for people; use the API or MCP instead")
	case !p.Has(RuleChat.ID):
		return nil, problem.Forbidden("Missing access: %s", RuleChat.ID)
	}
	req, err := readChat(w, r)
	if err != nil {
		return nil, err
	}
	found := s.look(ctx, p.ID, req)
	conv := found.conv
	if found.convErr != nil {
		return nil, found.convErr
	}
	var made *decision
	if req.Message == "" {
		// First of all: declining works even when nothing else of the turn does.
		if made, err = s.decide(ctx, conv, req.Decision.Token, req.Decision.Kind == "apply"); err != nil {
			return nil, err
		}
	}
	if conv.ArchivedAt != nil {
		return nil, errNoConversation
	}
	if problem.Is(found.connErr, problem.KindNotFound) {
		return nil, problem.Field("connectionId", "names no connection; choose another one")
	}
	if found.connErr != nil {
		return nil, found.connErr
	}
	return s.begin(ctx, p, conv, req, found, made)
}

// found is what a turn needs to know before it begins.
type found struct {
	conv      *Conversation
	conn      *Connection
	stored    []Message
	notes     notes
	convErr   error // then nothing else of it may be used: the conversation is not the person's
	connErr   error
	storedErr error
}

// look reads it, side by side: each of them is one round trip to the database.
func (s *Service) look(ctx context.Context, userID string, req *chatRequest) *found {
	f := &found{}
	var reads sync.WaitGroup
	reads.Go(func() { f.conv, f.convErr = s.conversation(ctx, userID, req.ConversationID) })
	reads.Go(func() { f.stored, f.storedErr = s.recalled(ctx, req.ConversationID) })
	if req.ConnectionID != BuiltinID {
		reads.Go(func() { f.notes = s.preambles(ctx, req.ConversationID, req) })
	}
	f.conn, f.connErr = s.Connection(ctx, req.ConnectionID)
	reads.Wait()
	return f
}

func readChat(w http.ResponseWriter, r *http.Request) (*chatRequest, error) {
	// A form of another site can post text, but not JSON.
	if ct := r.Header.Get("Content-Type"); ct != "" && !strings.HasPrefix(ct, "application/json") {
		return nil, problem.Invalid("The body must be JSON; send it with Content-Type: application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		var large *http.MaxBytesError
		if errors.As(err, &large) {
			return nil, problem.TooLarge("The request is larger than the %d bytes accepted here", maxBody)
		}
		return nil, problem.Invalid("The request body could not be read").Because(err)
	}
	var req chatRequest
	if err := json.Unmarshal(body, &req); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, problem.Field(wrong.Field, "expected %s", wrong.Type).Because(err)
		}
		return nil, problem.Invalid("The body must be a JSON object").Because(err)
	}
	var issues []problem.Issue
	add := func(path, message string) { issues = append(issues, problem.Issue{Path: path, Message: message}) }
	if req.ConversationID == "" {
		add("conversationId", "is required")
	}
	if req.ConnectionID == "" {
		add("connectionId", "is required")
	}
	if len(req.Model) > 200 {
		add("model", "must have at most 200 characters")
	}
	switch {
	case req.Message != "":
		if utf8.RuneCountInString(req.Message) > maxMessage {
			add("message", fmt.Sprintf("must have at most %d characters", maxMessage))
		}
		if strings.TrimSpace(req.Message) == "" {
			add("message", "must not be blank")
		}
		if strings.ContainsRune(req.Message, 0) {
			add("message", "must not contain a NUL character")
		}
	case req.Decision == nil:
		add("message", "is required, unless a decision is sent")
	default:
		if req.Decision.Token == "" {
			add("decision.token", "is required")
		}
		if req.Decision.Kind != "apply" && req.Decision.Kind != "decline" {
			add("decision.kind", "must be apply or decline")
		}
	}
	if strings.ContainsRune(req.ConversationID+req.ConnectionID+req.Model+req.SkillID, 0) {
		add("", "must not contain a NUL character")
	}
	return &req, problem.InputIssues(issues)
}

// decide checks a decision against the stored proposal, and carries a decline
// out.
func (s *Service) decide(ctx context.Context, conv *Conversation, token string, apply bool) (*decision, error) {
	rec, err := s.gate.Lookup(ctx, token)
	if err != nil {
		return nil, err
	}
	if rec.ConversationID != conv.ID {
		return nil, problem.NotFound("This proposal does not exist")
	}
	if apply {
		if rec.Status != proposal.Applied {
			return nil, problem.Conflict("The change is not applied: it is %s", rec.Status)
		}
		return &decision{rec, true}, nil
	}
	if err := s.gate.Decline(ctx, token); err != nil {
		return nil, err
	}
	return &decision{rec, false}, nil
}

// begin reads the history back, reserves what the first round will use, and
// stores the person's message.
func (s *Service) begin(ctx context.Context, p authz.Principal, conv *Conversation, req *chatRequest, found *found, made *decision) (*turn, error) {
	conn := found.conn
	if conv.TurnID != nil {
		// A turn that is refused must not stop the one that runs.
		if err := s.enforceCap(ctx, p, conn); err != nil {
			return nil, err
		}
		if err := s.vacate(ctx, p.ID, conv.ID); err != nil {
			return nil, err
		}
		found.stored, found.storedErr = s.recalled(ctx, conv.ID)
	}
	if found.storedErr != nil {
		return nil, found.storedErr
	}
	t, err := s.newTurn(p, conv, conn)
	if err != nil {
		return nil, err
	}
	requested := req.Model
	if requested == "" && conv.Model != nil {
		requested = *conv.Model
	}
	t.modelID = conn.resolveModel(requested)
	if loc, err := zone.Load(req.TimeZone); err == nil {
		t.zone = loc
	}
	if t.model, err = s.model(ctx, conn); err != nil {
		return nil, err
	}
	last, user, u := llm.Message{Role: llm.RoleUser}, (*Message)(nil), used{}
	if made != nil {
		t.answers = &answered{ToolCallID: made.rec.ID, Applied: made.apply}
	}
	switch {
	case made != nil && conn.builtin():
		last.Text = made.note(nil)
	case made != nil:
		last.Text = made.note(t.fencedText)
	default:
		// The model gets the person's own words; what is stored is scrubbed.
		last.Text = req.Message
		t.question, t.idle = req.Message, t.now.Sub(conv.UpdatedAt)
		t.guarded = !conn.builtin() && !conn.NoGuard
		user = &Message{ID: uuid.Must(uuid.NewV7()).String(), Role: llm.RoleUser, Text: req.Message, CreatedAt: t.now,
			Parts: []Part{{Type: partText, Text: req.Message, State: stateDone}}}
		if strings.TrimSpace(deref(conv.Title)) == "" {
			if t.title = !conn.builtin(); conn.builtin() && scrub.Text(req.Message) == req.Message {
				u.title = heuristicTitle(req.Message)
			}
		}
		if conv.IntegrationID == nil || *conv.IntegrationID != conn.ID {
			u.integrationID = conn.ID
		}
		if req.Model != "" {
			u.model = t.modelID
		}
	}
	t.stored, t.last, t.notes = found.stored, last, found.notes
	t.history = append(replay(t.stored), last)
	for {
		err := s.open(ctx, t, user, u)
		if err == nil {
			return t, nil
		}
		// Another turn was quicker, or the conversation has gone.
		if !problem.Is(err, problem.KindConflict) {
			return nil, err
		}
		if err := s.vacate(ctx, p.ID, conv.ID); err != nil {
			return nil, err
		}
		if t.stored, err = s.recalled(ctx, conv.ID); err != nil {
			return nil, err
		}
		t.history = append(replay(t.stored), last)
	}
}
