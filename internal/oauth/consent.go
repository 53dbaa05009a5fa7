package oauth

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// consentView is what the consent page shows.
type consentView struct {
	Client       string        `json:"client"`
	ClientID     string        `json:"clientId"`
	Source       string        `json:"source"` // manual, dynamic or document
	DocumentHost string        `json:"documentHost,omitempty"`
	RedirectHost string        `json:"redirectHost"`
	ThisMachine  bool          `json:"thisMachine"` // the answer goes to a program on the person's machine
	Scopes       []string      `json:"scopes"`
	Permissions  []consentRule `json:"permissions"` // what the person holds of it
	Missing      int           `json:"missing"`     // how many asked-for rules the person lacks
	Proposes     bool          `json:"proposes"`    // whether clients may propose changes at all
	Before       bool          `json:"before"`      // the person allowed as much before
}

type consentRule struct {
	ID          string `json:"id"`
	Description string `json:"description"`
}

var errNoRequest = problem.NotFound("This request has ended or was begun in another browser. Start again from the client.")

// waiting finds the request of a consent page for the browser and person that
// look at it.
func (s *Server) waiting(r *http.Request, id string) (ask, authz.Principal, error) {
	ctx := r.Context()
	p := authz.From(ctx)
	if p.Kind != authz.User || r.Header.Get("Authorization") != "" {
		return ask{}, p, problem.Unauthenticated("Sign in to decide what this client may do")
	}
	set, err := s.Settings(ctx)
	if err != nil {
		return ask{}, p, err
	}
	c, cerr := r.Cookie(s.browserCookie())
	if !set.Enabled || cerr != nil || !storable(id) {
		return ask{}, p, errNoRequest
	}
	var row struct {
		BrowserHash, ClientID, RedirectUri, Scopes, Challenge, Resource string
		State                                                           *string
	}
	err = s.db.Read.NewRaw(`SELECT browser_hash, client_id, redirect_uri, CAST(scopes AS TEXT) AS scopes, challenge, resource, state
		FROM oauth_requests WHERE id = ? AND expires_at > ?`, id, s.clock()).Scan(ctx, &row)
	if errors.Is(err, sql.ErrNoRows) || (err == nil && !sameDigest(row.BrowserHash, c.Value)) {
		return ask{}, p, errNoRequest
	}
	if err != nil {
		return ask{}, p, fmt.Errorf("read request: %w", err)
	}
	a := ask{redirect: row.RedirectUri, challenge: row.Challenge, resource: row.Resource}
	if row.State != nil {
		a.state, a.hasState = *row.State, true
	}
	if err := json.Unmarshal([]byte(row.Scopes), &a.scopes); err != nil {
		return ask{}, p, fmt.Errorf("read request: %w", err)
	}
	if a.client, err = s.client(ctx, row.ClientID); err != nil {
		return ask{}, p, err
	}
	if !a.client.allows(a.redirect) { // the client was changed meanwhile
		return ask{}, p, errNoRequest
	}
	return a, p, nil
}

func (s *Server) showConsent(w http.ResponseWriter, r *http.Request) {
	a, p, err := s.waiting(r, r.URL.Query().Get("request"))
	if err != nil {
		s.problem(w, r, err)
		return
	}
	set, err := s.Settings(r.Context())
	if err != nil {
		s.problem(w, r, err)
		return
	}
	allowed, err := s.allowed(r.Context(), p.ID, a.client.ID)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	rules := s.rules()
	v := consentView{Client: a.client.Name, ClientID: a.client.ID, Source: a.client.Source, Scopes: a.scopes, Permissions: []consentRule{},
		Proposes: set.AllowProposals, Before: allowed != nil && within(a.scopes, allowed, rules)}
	if u, err := url.Parse(a.redirect); err == nil {
		v.RedirectHost, v.ThisMachine = u.Host, u.Scheme == "http"
	}
	if a.client.Source == sourceDocument {
		if u, err := url.Parse(a.client.ID); err == nil {
			v.DocumentHost = u.Host
		}
	}
	held := narrow(p, a.scopes, rules)
	for _, id := range expand(a.scopes, rules) {
		if !slices.Contains(held.Rules, id) {
			v.Missing++
		}
	}
	for _, rule := range rules {
		if slices.Contains(held.Rules, rule.ID) {
			v.Permissions = append(v.Permissions, consentRule{rule.ID, rule.Description})
		}
	}
	writeJSON(w, http.StatusOK, v)
}

func (s *Server) problem(w http.ResponseWriter, r *http.Request, err error) {
	if problem.Write(w, err) {
		s.log.ErrorContext(r.Context(), "consent failed", "error", err)
	}
}

// decideConsent takes the person's decision and tells the page where to go.
// Only JSON is taken: no form of another site can send it.
func (s *Server) decideConsent(w http.ResponseWriter, r *http.Request) {
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mt != "application/json" {
		s.problem(w, r, problem.Invalid("The body must be application/json"))
		return
	}
	var in struct {
		Request string `json:"request"`
		Allow   *bool  `json:"allow"`
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 4096)).Decode(&in); err != nil || in.Allow == nil || in.Request == "" {
		s.problem(w, r, problem.Invalid(`The body must be {"request": "…", "allow": true or false}`))
		return
	}
	ctx := r.Context()
	a, p, err := s.waiting(r, in.Request)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	res, err := s.db.Write.NewRaw("DELETE FROM oauth_requests WHERE id = ?", in.Request).Exec(ctx)
	if err := db.MustAffect(res, err, errNoRequest); err != nil { // decided in another tab
		s.problem(w, r, err)
		return
	}
	if !*in.Allow {
		writeJSON(w, http.StatusOK, map[string]string{"redirectTo": s.back(a, url.Values{"error": {"access_denied"},
			"error_description": {"the person declined"}})})
		return
	}
	if err := s.allow(ctx, p.ID, a); err != nil {
		s.problem(w, r, err)
		return
	}
	to, err := s.issueCode(ctx, p.ID, a)
	if err != nil {
		s.problem(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, map[string]string{"redirectTo": to})
}

// allowed gives the scopes a person allowed a client, nil when none.
func (s *Server) allowed(ctx context.Context, userID, clientID string) ([]string, error) {
	var raw string
	err := s.db.Read.NewRaw("SELECT CAST(scopes AS TEXT) FROM oauth_consents WHERE user_id = ? AND client_id = ?", userID, clientID).Scan(ctx, &raw)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read consent: %w", err)
	}
	var scopes []string
	if err := json.Unmarshal([]byte(raw), &scopes); err != nil {
		return nil, fmt.Errorf("read consent: %w", err)
	}
	return scopes, nil
}

// allow remembers a consent; a wider one replaces a narrower one and the other
// way round, since the person has just seen exactly this.
func (s *Server) allow(ctx context.Context, userID string, a ask) error {
	scopes, err := json.Marshal(a.scopes)
	if err != nil {
		return fmt.Errorf("encode scopes: %w", err)
	}
	now := s.clock()
	_, err = s.db.Write.NewRaw(`INSERT INTO oauth_consents (user_id, client_id, scopes, created_at, updated_at) VALUES (?, ?, ?, ?, ?)
		ON CONFLICT (user_id, client_id) DO UPDATE SET scopes = excluded.scopes, updated_at = excluded.updated_at`,
		userID, a.client.ID, string(scopes), now, now).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store consent: %w", err)
	}
	return nil
}

// issueCode makes a code and gives the address that takes it to the client.
func (s *Server) issueCode(ctx context.Context, userID string, a ask) (string, error) {
	scopes, err := json.Marshal(a.scopes)
	if err != nil {
		return "", fmt.Errorf("encode scopes: %w", err)
	}
	code := newSecret()
	now := s.clock()
	_, err = s.db.Write.NewRaw(`INSERT INTO oauth_grants (id, user_id, client_id, redirect_uri, scopes, challenge, resource, code_hash, code_expires_at, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, uuid.Must(uuid.NewV7()).String(), userID, a.client.ID, a.redirect, string(scopes), a.challenge,
		s.Resource(), digest(code), db.Time(now.Add(codeLife)), now).Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("store code: %w", err)
	}
	return s.back(a, url.Values{"code": {code}}), nil
}

// Sweep deletes what nobody can use any more: ended requests, tokens and
// grants, and clients that registered themselves and were never used.
func (s *Server) Sweep(ctx context.Context) error {
	now := s.clock()
	old := db.Time(now.Add(-refreshLife))
	for _, q := range []struct {
		text string
		args []any
	}{
		{"DELETE FROM oauth_requests WHERE expires_at <= ?", []any{now}},
		{"DELETE FROM oauth_tokens WHERE expires_at <= ?", []any{now}},
		// A grant stays as long as its code or a used token could come back.
		{`DELETE FROM oauth_grants WHERE created_at < ? AND NOT EXISTS (SELECT 1 FROM oauth_tokens t WHERE t.grant_id = oauth_grants.id)`, []any{old}},
		{`DELETE FROM oauth_clients WHERE source IN (?) AND created_at < ? AND (last_used_at IS NULL OR last_used_at < ?)
			AND NOT EXISTS (SELECT 1 FROM oauth_grants g WHERE g.client_id = oauth_clients.id)
			AND NOT EXISTS (SELECT 1 FROM oauth_consents c WHERE c.client_id = oauth_clients.id)`,
			[]any{bun.List([]string{sourceDynamic, sourceDocument}), db.Time(now.Add(-7 * 24 * time.Hour)), old}},
		{"DELETE FROM oauth_counters WHERE window_start <= ?", []any{db.Time(now.Add(-registerWindow))}},
	} {
		if _, err := s.db.Write.NewRaw(q.text, q.args...).Exec(ctx); err != nil {
			return fmt.Errorf("sweep authorization server: %w", err)
		}
	}
	return nil
}
