package oauth

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
)

// ErrToken says that an access token is not, or no longer, accepted.
var ErrToken = errors.New("access token is not valid")

// Access is what an access token allows at this moment.
type Access struct {
	// Principal is the person, narrowed to the token's scopes.
	Principal authz.Principal
	Scopes    []string
	ClientID  string
	ExpiresAt time.Time
}

// Verify gives what an access token for the MCP endpoint allows now; ErrToken
// when it is unknown, expired, revoked, for another resource, its person is
// gone, or the server is switched off.
func (s *Server) Verify(ctx context.Context, token string) (Access, error) {
	if !strings.HasPrefix(token, accessPrefix) {
		return Access{}, ErrToken
	}
	set, err := s.Settings(ctx)
	if err != nil {
		return Access{}, err
	}
	if !set.Enabled {
		return Access{}, ErrToken
	}
	t, err := s.loadToken(ctx, s.db.Read, token, "access")
	if errors.Is(err, sql.ErrNoRows) || (err == nil && (t.RevokedAt != nil || !t.ExpiresAt.After(s.now()) || t.Resource != s.Resource())) {
		return Access{}, ErrToken
	}
	if err != nil {
		return Access{}, err
	}
	var scopes []string
	if err := json.Unmarshal([]byte(t.Scopes), &scopes); err != nil {
		return Access{}, fmt.Errorf("read token: %w", err)
	}
	p, err := s.people.PrincipalForUser(ctx, t.UserID)
	if problem.Is(err, problem.KindNotFound) || problem.Is(err, problem.KindUnauthenticated) {
		return Access{}, ErrToken
	}
	if err != nil {
		return Access{}, err
	}
	return Access{Principal: narrow(p, scopes, s.rules()), Scopes: scopes, ClientID: t.ClientID, ExpiresAt: t.ExpiresAt.UTC()}, nil
}
