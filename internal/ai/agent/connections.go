package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

const keyName = "apiKey"

func keyScope(id string) string { return "ai.connection:" + id }

var errNoConnection = problem.NotFound("This connection does not exist")

type connectionRow struct {
	ID                       string
	Name                     string
	BaseURL                  string
	DefaultModel             string
	AvailableModels          json.RawMessage
	TokenBudget              *int64
	WindowMinutes            *int64
	ContextWindowTokens      *int64
	ModelFamily              string
	DisableTopicalClassifier bool
	HasKey                   bool
	CreatedAt                time.Time
	UpdatedAt                time.Time
}

const connectionSelect = `SELECT id, name, base_url, default_model, available_models, token_budget, window_minutes,
	context_window_tokens, model_family, disable_topical_classifier, created_at, updated_at,
	EXISTS (SELECT 1 FROM secrets WHERE scope = 'ai.connection:' || ai_connections.id) AS has_key FROM ai_connections`

func (r *connectionRow) connection() (*Connection, error) {
	c := &Connection{ID: r.ID, Name: r.Name, BaseURL: r.BaseURL, DefaultModel: r.DefaultModel, Family: r.ModelFamily,
		NoGuard: r.DisableTopicalClassifier, HasKey: r.HasKey, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if err := json.Unmarshal(r.AvailableModels, &c.Models); err != nil {
		return nil, fmt.Errorf("read connection %s: %w", r.ID, err)
	}
	if r.TokenBudget != nil && r.WindowMinutes != nil {
		c.Cap = &SpendCap{*r.TokenBudget, *r.WindowMinutes}
	}
	if r.ContextWindowTokens != nil {
		c.ContextTokens = *r.ContextWindowTokens
	}
	return c, nil
}

// Connections gives the configured connections by name, without the built-in.
func (s *Service) Connections(ctx context.Context) ([]*Connection, error) {
	var rows []connectionRow
	if err := s.db.Read.NewRaw(connectionSelect+" ORDER BY lower(name), id").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("list connections: %w", err)
	}
	out := make([]*Connection, 0, len(rows))
	for i := range rows {
		c, err := rows[i].connection()
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// Connection gives one connection; the built-in too.
func (s *Service) Connection(ctx context.Context, id string) (*Connection, error) {
	if id == BuiltinID {
		return builtinConnection(), nil
	}
	var rows []connectionRow
	err := s.db.ScanPrepared(ctx, s.db.Read, &rows, connectionSelect+" WHERE id = ?", id)
	switch {
	case err != nil:
		return nil, fmt.Errorf("read connection: %w", err)
	case len(rows) == 0:
		return nil, errNoConnection
	}
	return rows[0].connection()
}

func loadConnection(ctx context.Context, idb bun.IDB, id string) (*Connection, error) {
	var r connectionRow
	if err := idb.NewRaw(connectionSelect+" WHERE id = ?", id).Scan(ctx, &r); err != nil {
		return nil, db.Found(err, errNoConnection)
	}
	return r.connection()
}

// CreateConnection stores a connection and its key; an empty key means none.
func (s *Service) CreateConnection(ctx context.Context, c Connection, key secret.String) (*Connection, error) {
	if err := c.validate(); err != nil {
		return nil, err
	}
	c.ID = uuid.Must(uuid.NewV7()).String()
	c.CreatedAt = db.Time(s.now())
	c.UpdatedAt = c.CreatedAt
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.writeConnection(ctx, tx, &c); err != nil {
			return err
		}
		return s.writeKey(ctx, tx, &c, key)
	})
	if err != nil {
		return nil, err
	}
	return &c, nil
}

// UpdateConnection changes a connection. An empty key keeps the stored one,
// except for another server: a stored key is never sent to an address that it
// was not entered for.
func (s *Service) UpdateConnection(ctx context.Context, id string, key secret.String, change func(*Connection)) (*Connection, error) {
	if id == BuiltinID {
		return nil, problem.Invalid("The built-in assistant cannot be changed")
	}
	var c *Connection
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var err error
		if c, err = loadConnection(ctx, tx, id); err != nil {
			return err
		}
		before := c.BaseURL
		change(c)
		if err := c.validate(); err != nil {
			return err
		}
		if c.HasKey && key.Empty() && !sameOrigin(before, c.BaseURL) {
			return problem.Field("apiKey", "enter the API key again: the address points to another server")
		}
		c.UpdatedAt = db.Time(s.now())
		if err := s.writeConnection(ctx, tx, c); err != nil {
			return err
		}
		return s.writeKey(ctx, tx, c, key)
	})
	return c, err
}

func (s *Service) writeConnection(ctx context.Context, tx bun.Tx, c *Connection) error {
	models, err := json.Marshal(c.Models)
	if err != nil {
		return fmt.Errorf("encode models: %w", err)
	}
	var budget, window, contextTokens any
	if c.Cap != nil {
		budget, window = c.Cap.TokenBudget, c.Cap.WindowMinutes
	}
	if c.ContextTokens > 0 {
		contextTokens = c.ContextTokens
	}
	_, err = tx.NewRaw(`INSERT INTO ai_connections (id, name, base_url, default_model, available_models, token_budget,
		window_minutes, context_window_tokens, model_family, disable_topical_classifier, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, base_url = excluded.base_url, default_model = excluded.default_model,
		available_models = excluded.available_models, token_budget = excluded.token_budget, window_minutes = excluded.window_minutes,
		context_window_tokens = excluded.context_window_tokens, model_family = excluded.model_family,
		disable_topical_classifier = excluded.disable_topical_classifier, updated_at = excluded.updated_at`,
		c.ID, c.Name, c.BaseURL, c.DefaultModel, string(models), budget, window, contextTokens, c.Family, c.NoGuard, c.CreatedAt, c.UpdatedAt).Exec(ctx)
	if db.IsUnique(err) {
		return problem.Conflict("A connection with this name exists already")
	}
	if err != nil {
		return fmt.Errorf("store connection: %w", err)
	}
	return nil
}

func (s *Service) writeKey(ctx context.Context, tx bun.Tx, c *Connection, key secret.String) error {
	if key.Empty() {
		return nil
	}
	c.HasKey = true
	return s.secrets.Put(ctx, tx, keyScope(c.ID), keyName, key)
}

// DeleteConnection removes a connection with its key.
func (s *Service) DeleteConnection(ctx context.Context, id string) error {
	return s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		res, err := tx.NewRaw("DELETE FROM ai_connections WHERE id = ?", id).Exec(ctx)
		if err := db.MustAffect(res, err, errNoConnection); err != nil {
			return err
		}
		return s.secrets.Delete(ctx, tx, keyScope(id))
	})
}

// TestConnection asks the endpoint for its models and says how that went. With
// an id the stored values stand in for what the draft leaves empty.
func (s *Service) TestConnection(ctx context.Context, id string, draft Connection, key secret.String) (ok bool, message string, err error) {
	if id == BuiltinID {
		return true, "The built-in assistant is part of Checkstack and always works.", nil
	}
	if id != "" {
		stored, err := s.Connection(ctx, id)
		if err != nil {
			return false, "", err
		}
		if draft.BaseURL == "" {
			draft.BaseURL = stored.BaseURL
		}
		if key.Empty() && stored.HasKey {
			if !sameOrigin(stored.BaseURL, draft.BaseURL) {
				return false, "", problem.Field("apiKey", "enter the API key again: the address points to another server")
			}
			if key, _, err = s.secrets.Get(ctx, s.db.Read, keyScope(id), keyName); err != nil {
				return false, "", err
			}
		}
	}
	client, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: draft.BaseURL, APIKey: key, HTTP: s.http, IdleTimeout: s.idle})
	if err != nil {
		return false, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	models, err := client.Models(ctx)
	switch {
	case errors.Is(err, context.Canceled):
		return false, "", err
	case err != nil:
		return false, llm.UserText(err), nil
	case len(models) == 0:
		return true, "The endpoint answered, but listed no models.", nil
	case len(models) == 1:
		return true, "The endpoint answered with 1 model.", nil
	}
	return true, fmt.Sprintf("The endpoint answered with %d models.", len(models)), nil
}

// model gives the model behind a connection.
func (s *Service) model(ctx context.Context, c *Connection) (llm.Model, error) {
	if c.builtin() {
		return s.builtin, nil
	}
	s.mu.Lock()
	cached, ok := s.clients[c.ID]
	s.mu.Unlock()
	if ok && cached.updatedAt.Equal(c.UpdatedAt) {
		return cached.model, nil
	}
	key, _, err := s.secrets.Get(ctx, s.db.Read, keyScope(c.ID), keyName)
	if err != nil {
		return nil, err
	}
	m, err := llm.NewOpenAI(llm.OpenAIConfig{BaseURL: c.BaseURL, APIKey: key, HTTP: s.http, IdleTimeout: s.idle})
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.clients[c.ID] = cachedClient{c.UpdatedAt, m}
	s.mu.Unlock()
	return m, nil
}
