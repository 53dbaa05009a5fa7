package oauth

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

const maxForm = 16 << 10

// Token prefixes let people and secret scanners see what a string is.
const (
	accessPrefix  = "cko_"
	refreshPrefix = "ckr_"
)

var verifierPattern = regexp.MustCompile(`^[A-Za-z0-9._~-]{43,128}$`)

// readForm reads the parameters of a token request: the body alone, each once.
func readForm(r *http.Request) (url.Values, *fault) {
	if mt, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || mt != "application/x-www-form-urlencoded" {
		return nil, badRequest("invalid_request", "the body must be application/x-www-form-urlencoded")
	}
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxForm+1))
	if err != nil || len(raw) > maxForm {
		return nil, badRequest("invalid_request", "the body must be at most 16 KiB")
	}
	form, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, badRequest("invalid_request", "the body cannot be read")
	}
	if name := repeated(form); name != "" {
		return nil, badRequest("invalid_request", short(name)+" is given more than once")
	}
	return form, nil
}

// identify finds the client that makes a token request and proves it.
func (s *Server) identify(r *http.Request, form url.Values) (Client, error) {
	unknown := &fault{http.StatusUnauthorized, "invalid_client", "the client is not known here or its secret is wrong; a client that was removed must register again"}
	id, secret, basic := form.Get("client_id"), form.Get("client_secret"), false
	if header := r.Header.Get("Authorization"); header != "" {
		user, pass, ok := r.BasicAuth()
		if !ok {
			return Client{}, unknown
		}
		bid, err1 := url.QueryUnescape(user)
		bsecret, err2 := url.QueryUnescape(pass)
		if err1 != nil || err2 != nil || (id != "" && id != bid) || secret != "" {
			return Client{}, badRequest("invalid_request", "the client identifies itself in two ways")
		}
		id, secret, basic = bid, bsecret, true
	}
	if id == "" || len(id) > maxRedirectLen {
		return Client{}, unknown
	}
	c, err := s.client(r.Context(), id)
	if problem.Is(err, problem.KindNotFound) {
		return Client{}, unknown
	}
	if err != nil {
		return Client{}, err
	}
	switch {
	case c.public() && (secret != "" || basic):
		return Client{}, unknown
	case c.public():
		return c, nil
	case !sameDigest(c.secretHash, secret), (c.AuthMethod == "client_secret_basic") != basic:
		return Client{}, unknown
	}
	return c, nil
}

// token is the token endpoint.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	form, f := readForm(r)
	if f != nil {
		writeFault(w, f)
		return
	}
	c, err := s.identify(r, form)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if res := form.Get("resource"); res != "" && !s.ours(res) {
		writeFault(w, badRequest("invalid_target", "resource must be "+s.Resource()))
		return
	}
	var made *tokenAnswer
	switch form.Get("grant_type") {
	case "authorization_code":
		made, err = s.redeem(r.Context(), c, form)
	case "refresh_token":
		made, err = s.refresh(r.Context(), c, form)
	default:
		err = badRequest("unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
	}
	if err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusOK, made)
}

type tokenAnswer struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token"`
	Scope        string `json:"scope"`
}

type grantRow struct {
	ID, UserID, ClientID, RedirectUri, Scopes, Challenge string
	CodeExpiresAt                                        time.Time
	CodeUsedAt, RevokedAt                                *time.Time
}

const grantColumns = "id, user_id, client_id, redirect_uri, CAST(scopes AS TEXT) AS scopes, challenge, code_expires_at, code_used_at, revoked_at"

var errGrant = badRequest("invalid_grant", "the code or refresh token is not valid: it may be used, expired or revoked, or belong to another client")

// redeem trades a code for tokens. Whatever is wrong with the request, a code
// that was presented is spent: its holder had it, so it is no secret any more.
// Spending it and storing the tokens is one transaction, so of several who
// present one code exactly one gets tokens; the others then end them, for one of
// them is a thief and nobody knows which.
func (s *Server) redeem(ctx context.Context, c Client, form url.Values) (*tokenAnswer, error) {
	code, verifier := form.Get("code"), form.Get("code_verifier")
	if code == "" || !verifierPattern.MatchString(verifier) {
		return nil, badRequest("invalid_request", "code and code_verifier (43 to 128 characters) are required")
	}
	var made *tokenAnswer
	known := false
	now := s.clock()
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		var g grantRow
		err := tx.NewRaw("UPDATE oauth_grants SET code_used_at = ? WHERE code_hash = ? AND code_used_at IS NULL RETURNING "+grantColumns,
			now, digest(code)).Scan(ctx, &g)
		if errors.Is(err, sql.ErrNoRows) {
			return nil
		}
		known = true
		if err != nil {
			return err
		}
		if g.ClientID != c.ID || g.RevokedAt != nil || !g.CodeExpiresAt.After(now) || !verifies(verifier, g.Challenge) {
			return nil
		}
		// OAuth 2.1 dropped redirect_uri here; OAuth 2.0 clients still send it.
		if uri := form.Get("redirect_uri"); form.Has("redirect_uri") && uri != g.RedirectUri {
			return nil
		}
		var scopes []string
		if err := json.Unmarshal([]byte(g.Scopes), &scopes); err != nil {
			return err
		}
		made, err = s.issue(ctx, tx, g.ID, c.ID, scopes, scopes)
		return err
	})
	if errors.Is(err, errGrant) { // revoked meanwhile; nothing was stored
		return nil, errGrant
	}
	if err != nil {
		return nil, fmt.Errorf("redeem code: %w", err)
	}
	if !known { // or replayed: then somebody has a code that is not theirs
		if _, err := s.db.Write.NewRaw("UPDATE oauth_grants SET revoked_at = ? WHERE code_hash = ? AND revoked_at IS NULL", now, digest(code)).Exec(ctx); err != nil {
			return nil, fmt.Errorf("revoke grant: %w", err)
		}
	}
	if made == nil {
		return nil, errGrant
	}
	return made, nil
}

func verifies(verifier, challenge string) bool {
	sum := sha256.Sum256([]byte(verifier))
	return subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(challenge)) == 1
}

// issue makes a pair of tokens for a grant: an access token for scopes, and a
// refresh token for all that was granted (RFC 6749 6). A grant that was revoked
// meanwhile gives errGrant.
func (s *Server) issue(ctx context.Context, tx bun.Tx, grantID, clientID string, scopes, granted []string) (*tokenAnswer, error) {
	access, refresh := accessPrefix+newSecret(), refreshPrefix+newSecret()
	now := s.clock()
	narrow, err := json.Marshal(scopes)
	if err != nil {
		return nil, fmt.Errorf("encode scopes: %w", err)
	}
	full, err := json.Marshal(granted)
	if err != nil {
		return nil, fmt.Errorf("encode scopes: %w", err)
	}
	res, err := tx.NewRaw("UPDATE oauth_grants SET last_used_at = ? WHERE id = ? AND revoked_at IS NULL", now, grantID).Exec(ctx)
	if err != nil {
		return nil, err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return nil, errors.Join(err, errGrant)
	}
	if _, err := tx.NewRaw("UPDATE oauth_clients SET last_used_at = ? WHERE id = ?", now, clientID).Exec(ctx); err != nil {
		return nil, err
	}
	_, err = tx.NewRaw(`INSERT INTO oauth_tokens (hash, grant_id, kind, scopes, expires_at, created_at) VALUES (?, ?, 'access', ?, ?, ?), (?, ?, 'refresh', ?, ?, ?)`,
		digest(access), grantID, string(narrow), db.Time(now.Add(accessLife)), now,
		digest(refresh), grantID, string(full), db.Time(now.Add(refreshLife)), now).Exec(ctx)
	if err != nil {
		return nil, err
	}
	return &tokenAnswer{AccessToken: access, TokenType: "Bearer", ExpiresIn: int(accessLife / time.Second), RefreshToken: refresh, Scope: strings.Join(scopes, " ")}, nil
}

type tokenRow struct {
	GrantID, UserID, ClientID, Scopes, Resource string
	UsedAt, RevokedAt                           *time.Time
	ExpiresAt                                   time.Time
}

// loadToken reads a token of a kind with its grant.
func (s *Server) loadToken(ctx context.Context, idb bun.IDB, token, kind string) (tokenRow, error) {
	var rows []tokenRow
	err := s.db.ScanPrepared(ctx, idb, &rows, `SELECT t.grant_id, g.user_id, g.client_id, CAST(t.scopes AS TEXT) AS scopes, g.resource, t.used_at, t.expires_at, g.revoked_at
		FROM oauth_tokens t JOIN oauth_grants g ON g.id = t.grant_id WHERE t.hash = ? AND t.kind = ?`, digest(token), kind)
	if err != nil {
		return tokenRow{}, fmt.Errorf("read token: %w", err)
	}
	if len(rows) == 0 {
		return tokenRow{}, sql.ErrNoRows
	}
	return rows[0], nil
}

// refresh trades a refresh token for a new pair. A used one that comes back
// within the grace is a lost answer or a second window; later it is theft, and
// the grant ends. The client may ask for less, and gets more again later.
func (s *Server) refresh(ctx context.Context, c Client, form url.Values) (*tokenAnswer, error) {
	token := form.Get("refresh_token")
	t, err := s.loadToken(ctx, s.db.Write, token, "refresh")
	if errors.Is(err, sql.ErrNoRows) {
		return nil, errGrant
	}
	if err != nil {
		return nil, err
	}
	now := s.clock()
	if t.ClientID != c.ID || t.RevokedAt != nil || !t.ExpiresAt.After(now) {
		return nil, errGrant
	}
	var granted []string
	if err := json.Unmarshal([]byte(t.Scopes), &granted); err != nil {
		return nil, fmt.Errorf("read token: %w", err)
	}
	scopes := granted
	if form.Get("scope") != "" {
		var unknown string
		scopes, unknown = parseScopes(form.Get("scope"), s.rules())
		if unknown != "" || !within(scopes, granted, s.rules()) {
			return nil, badRequest("invalid_scope", "a refresh can only ask for scopes that were granted: "+strings.Join(granted, " "))
		}
	}
	res, err := s.db.Write.NewRaw("UPDATE oauth_tokens SET used_at = ? WHERE hash = ? AND (used_at IS NULL OR used_at > ?)",
		usedAt(t.UsedAt, now), digest(token), db.Time(now.Add(-refreshGrace))).Exec(ctx)
	if err != nil {
		return nil, fmt.Errorf("consume refresh token: %w", err)
	}
	n, err := res.RowsAffected()
	if err != nil {
		return nil, fmt.Errorf("consume refresh token: %w", err)
	}
	if n == 0 {
		if err := s.revokeGrant(ctx, t.GrantID); err != nil {
			return nil, err
		}
		s.log.WarnContext(ctx, "used refresh token came back; its grant was ended", "client_id", c.ID, "user_id", t.UserID)
		return nil, errGrant
	}
	if err := s.live(ctx, t.UserID); err != nil {
		return nil, err
	}
	var made *tokenAnswer
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		made, err = s.issue(ctx, tx, t.GrantID, c.ID, scopes, granted)
		return err
	})
	if errors.Is(err, errGrant) { // revoked meanwhile
		return nil, errGrant
	}
	if err != nil {
		return nil, fmt.Errorf("store tokens: %w", err)
	}
	return made, nil
}

// usedAt keeps the first use: the grace does not begin anew with every repeat.
func usedAt(first *time.Time, now time.Time) time.Time {
	if first != nil {
		return *first
	}
	return now
}

// live refuses tokens of a person who is gone.
func (s *Server) live(ctx context.Context, userID string) error {
	_, err := s.people.PrincipalForUser(ctx, userID)
	if problem.Is(err, problem.KindNotFound) || problem.Is(err, problem.KindUnauthenticated) {
		return errGrant
	}
	return err
}

func (s *Server) revokeGrant(ctx context.Context, id string) error {
	if _, err := s.db.Write.NewRaw("UPDATE oauth_grants SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL", s.clock(), id).Exec(ctx); err != nil {
		return fmt.Errorf("revoke grant: %w", err)
	}
	return nil
}

// revoke is RFC 7009. Ending either token ends the grant; an unknown token is
// no error.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) {
	form, f := readForm(r)
	if f != nil {
		writeFault(w, f)
		return
	}
	c, err := s.identify(r, form)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if form.Get("token") == "" {
		writeFault(w, badRequest("invalid_request", "token is required"))
		return
	}
	for _, kind := range []string{"access", "refresh"} {
		t, err := s.loadToken(r.Context(), s.db.Read, form.Get("token"), kind)
		if errors.Is(err, sql.ErrNoRows) || (err == nil && t.ClientID != c.ID) {
			continue
		}
		if err == nil {
			err = s.revokeGrant(r.Context(), t.GrantID)
		}
		if err != nil {
			s.fail(w, r, err)
			return
		}
	}
	noStore(w)
	w.WriteHeader(http.StatusOK)
}
