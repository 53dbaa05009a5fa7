package agent

import (
	"context"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/scrub"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	typed "github.com/checkstack/checkstack/internal/text"
)

type conversationOutput struct {
	ID             string    `json:"id"`
	Title          *string   `json:"title"`
	IntegrationID  *string   `json:"integrationId" doc:"Connection that was used last"`
	Model          *string   `json:"model"`
	PermissionMode string    `json:"permissionMode" enum:"approve,auto"`
	CreatedAt      time.Time `json:"createdAt"`
	UpdatedAt      time.Time `json:"updatedAt"`
	Running        bool      `json:"running" doc:"A turn is being answered; follow it at GET /api/ai/chat/{id}/stream"`
	Archived       bool      `json:"archived" doc:"Off the list; it can be read, but takes no further messages"`
}

func (s *Service) conversationOut(c *Conversation) *conversationOutput {
	return &conversationOutput{ID: c.ID, Title: c.Title, IntegrationID: c.IntegrationID, Model: c.Model,
		PermissionMode: c.PermissionMode, CreatedAt: c.CreatedAt.UTC(), UpdatedAt: c.UpdatedAt.UTC(), Archived: c.ArchivedAt != nil, Running: c.alive(s.now())}
}

type listConversationsInput struct {
	Archived bool `json:"archived,omitempty" default:"false" doc:"List those taken off the list instead"`
}

type listConversationsOutput struct {
	Conversations []conversationOutput `json:"conversations"`
}

type createConversationInput struct {
	Title          string `json:"title,omitempty" maxLength:"200"`
	IntegrationID  string `json:"integrationId,omitempty" maxLength:"200" doc:"Connection to use; unknown ones are not stored"`
	Model          string `json:"model,omitempty" maxLength:"200" doc:"Becomes the connection's default when it may not be used"`
	PermissionMode string `json:"permissionMode,omitempty" enum:"approve,auto" default:"approve"`
}

type idInput struct {
	ID string `json:"id" minLength:"1" maxLength:"200"`
}

type messageMetadata struct {
	Stopped bool   `json:"stopped,omitempty" doc:"The person stopped the turn"`
	Error   string `json:"error,omitempty" doc:"Why the turn ended early"`
	Running bool   `json:"running,omitempty" doc:"The message is still being written"`
	// Answers is what a person decided just before; no message of theirs says it.
	Answers *answersOutput `json:"answers,omitempty" doc:"The decision that the message answers"`
}

type answersOutput struct {
	Kind       string `json:"kind" enum:"apply,decline"`
	ToolCallID string `json:"toolCallId" doc:"Of the card that was decided on"`
	Summary    string `json:"summary" doc:"What was decided on, in one line; empty when that is no longer known"`
}

type messageOutput struct {
	ID        string           `json:"id"`
	Role      llm.Role         `json:"role" enum:"user,assistant"`
	Parts     []Part           `json:"parts"`
	Metadata  *messageMetadata `json:"metadata,omitempty"`
	CreatedAt time.Time        `json:"createdAt"`
}

type getConversationOutput struct {
	Conversation conversationOutput `json:"conversation"`
	Messages     []messageOutput    `json:"messages"`
}

type updateConversationInput struct {
	ID             string  `json:"id" minLength:"1" maxLength:"200"`
	Title          *string `json:"title,omitempty" maxLength:"200"`
	Model          *string `json:"model,omitempty" maxLength:"200"`
	PermissionMode *string `json:"permissionMode,omitempty" enum:"approve,auto"`
}

type archivedOutput struct {
	Archived bool `json:"archived"`
}

type restoredOutput struct {
	Restored bool `json:"restored" doc:"False when it was on the list"`
}

type stoppedOutput struct {
	Stopped bool `json:"stopped" doc:"False when nothing ran"`
}

type deletedOutput struct {
	Deleted bool `json:"deleted"`
}

type chatIntegration struct {
	ConnectionID    string   `json:"connectionId"`
	Name            string   `json:"name"`
	DefaultModel    string   `json:"defaultModel"`
	AvailableModels []string `json:"availableModels,omitempty"`
	Builtin         bool     `json:"builtin" doc:"The built-in assistant, which is no language model"`
}

type listChatIntegrationsOutput struct {
	Integrations []chatIntegration `json:"integrations"`
}

func (s *Service) conversationOperations() []operation.Operation {
	d := func(id string, kind operation.Kind, summary string) operation.Declaration {
		return operation.Declaration{ID: "ai." + id, Kind: kind, Caller: operation.UserOnly, Access: []authz.Rule{RuleChat}, Summary: summary}
	}
	return []operation.Operation{
		operation.New(d("listChatIntegrations", operation.Query, "List what the assistant can run on, the built-in assistant first"), s.opListChatIntegrations),
		operation.New(d("listConversations", operation.Query, "List the caller's conversations, latest activity first"), s.opListConversations),
		operation.New(d("createConversation", operation.Mutation, "Begin a conversation"), s.opCreateConversation),
		operation.New(d("getConversation", operation.Query, "Get a conversation with its messages, cards in their present state"), s.opGetConversation),
		operation.New(d("updateConversation", operation.Mutation, "Change title, model or permission mode"), s.opUpdateConversation),
		operation.New(d("stopTurn", operation.Mutation, "Stop the turn that is being answered in a conversation; what was shown is kept"), s.opStopTurn),
		operation.New(d("archiveConversation", operation.Mutation, "Take a conversation off the list"), s.opArchiveConversation),
		operation.New(d("restoreConversation", operation.Mutation, "Put an archived conversation back on the list"), s.opRestoreConversation),
		operation.New(d("deleteConversation", operation.Mutation, "Delete a conversation for good"), s.opDeleteConversation),
	}
}

func (s *Service) opListChatIntegrations(ctx context.Context, _ *operation.Empty) (*listChatIntegrationsOutput, error) {
	connections, err := s.Connections(ctx)
	if err != nil {
		return nil, err
	}
	out := &listChatIntegrationsOutput{}
	for _, c := range slices.Concat([]*Connection{builtinConnection()}, connections) {
		out.Integrations = append(out.Integrations, chatIntegration{ConnectionID: c.ID, Name: c.Name, DefaultModel: c.DefaultModel,
			AvailableModels: c.Models, Builtin: c.builtin()})
	}
	return out, nil
}

func (s *Service) opListConversations(ctx context.Context, in *listConversationsInput) (*listConversationsOutput, error) {
	list, err := s.conversations(ctx, authz.From(ctx).ID, in.Archived)
	if err != nil {
		return nil, err
	}
	out := &listConversationsOutput{Conversations: []conversationOutput{}}
	for i := range list {
		out.Conversations = append(out.Conversations, *s.conversationOut(&list[i]))
	}
	return out, nil
}

func (s *Service) opCreateConversation(ctx context.Context, in *createConversationInput) (*conversationOutput, error) {
	title, err := cleanTitle(in.Title)
	if err != nil {
		return nil, err
	}
	c := Conversation{UserID: authz.From(ctx).ID, Title: nullable(title), PermissionMode: in.PermissionMode}
	if c.PermissionMode == "" {
		c.PermissionMode = string(proposal.Approve)
	}
	if conn, err := s.knownConnection(ctx, in.IntegrationID); err != nil {
		return nil, err
	} else if conn != nil {
		c.IntegrationID = &conn.ID
		if in.Model != "" {
			model := conn.resolveModel(in.Model)
			c.Model = &model
		}
	}
	made, err := s.createConversation(ctx, c)
	if err != nil {
		return nil, err
	}
	return s.conversationOut(made), nil
}

func (s *Service) opGetConversation(ctx context.Context, in *idInput) (*getConversationOutput, error) {
	c, err := s.conversation(ctx, authz.From(ctx).ID, in.ID)
	if err != nil {
		return nil, err
	}
	messages, err := s.shown(ctx, c)
	if err != nil {
		return nil, err
	}
	out := &getConversationOutput{Conversation: *s.conversationOut(c), Messages: []messageOutput{}}
	for _, m := range messages {
		mo := messageOutput{ID: m.ID, Role: m.Role, Parts: m.Parts, CreatedAt: m.CreatedAt}
		if m.Stopped || m.Error != "" || m.Writing || m.Answers != nil {
			mo.Metadata = &messageMetadata{Stopped: m.Stopped, Error: m.Error, Running: m.Writing}
		}
		if a := m.Answers; a != nil {
			mo.Metadata.Answers = &answersOutput{Kind: "decline", ToolCallID: a.ToolCallID, Summary: a.summary}
			if a.Applied {
				mo.Metadata.Answers.Kind = "apply"
			}
		}
		out.Messages = append(out.Messages, mo)
	}
	return out, nil
}

func (s *Service) opUpdateConversation(ctx context.Context, in *updateConversationInput) (*conversationOutput, error) {
	if in.Title != nil {
		title, err := cleanTitle(*in.Title)
		if err != nil {
			return nil, err
		}
		in.Title = &title
	}
	user := authz.From(ctx).ID
	model := in.Model
	if model != nil && *model != "" {
		c, err := s.conversation(ctx, user, in.ID)
		if err != nil {
			return nil, err
		}
		conn, err := s.knownConnection(ctx, deref(c.IntegrationID))
		if err != nil {
			return nil, err
		}
		allowed := ""
		if conn != nil {
			allowed = conn.resolveModel(*model)
		}
		model = &allowed
	}
	c, err := s.updateConversation(ctx, user, in.ID, in.Title, model, in.PermissionMode)
	if err != nil {
		return nil, err
	}
	return s.conversationOut(c), nil
}

func (s *Service) opStopTurn(ctx context.Context, in *idInput) (*stoppedOutput, error) {
	user := authz.From(ctx).ID
	if _, err := s.conversation(ctx, user, in.ID); err != nil {
		return nil, err
	}
	done, err := s.StopTurn(ctx, user, in.ID)
	return &stoppedOutput{Stopped: done}, err
}

func (s *Service) opArchiveConversation(ctx context.Context, in *idInput) (*archivedOutput, error) {
	if _, err := s.StopTurn(ctx, authz.From(ctx).ID, in.ID); err != nil {
		return nil, err
	}
	done, err := s.archiveConversation(ctx, authz.From(ctx).ID, in.ID)
	return &archivedOutput{Archived: done}, err
}

func (s *Service) opRestoreConversation(ctx context.Context, in *idInput) (*restoredOutput, error) {
	done, err := s.restoreConversation(ctx, authz.From(ctx).ID, in.ID)
	return &restoredOutput{Restored: done}, err
}

func (s *Service) opDeleteConversation(ctx context.Context, in *idInput) (*deletedOutput, error) {
	if _, err := s.StopTurn(ctx, authz.From(ctx).ID, in.ID); err != nil {
		return nil, err
	}
	done, err := s.deleteConversation(ctx, authz.From(ctx).ID, in.ID)
	return &deletedOutput{Deleted: done}, err
}

// cleanTitle checks a title that a person gave; an empty one means none.
func cleanTitle(title string) (string, error) {
	if title = typed.Clean(title); title == "" {
		return "", nil
	}
	return scrub.Text(title), problem.InputIssues(typed.Line("title", title, 200))
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
