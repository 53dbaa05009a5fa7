package identity

import (
	"context"
	"crypto/subtle"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// PrincipalForSession gives the person whose session token this is. A token
// that is unknown, ended or expired is Unauthenticated; a browser may then go
// on as Guest, since its cookie outlives the session.
func (s *Service) PrincipalForSession(ctx context.Context, token string) (authz.Principal, error) {
	ended := problem.Unauthenticated("Your session has ended. Sign in again.")
	if len(token) != tokenTextLen {
		return authz.Principal{}, ended
	}
	c, err := s.store.sessionCaller(ctx, s.db, digest(secret.New(token)))
	if errors.Is(err, sql.ErrNoRows) {
		return authz.Principal{}, ended
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("read session: %w", err)
	}
	now := s.now()
	if !now.Before(c.ExpiresAt) {
		return authz.Principal{}, ended
	}
	if now.Sub(c.LastSeenAt) >= seenEvery {
		expires := sessionExpiry(c.CreatedAt, now)
		s.mark(ctx, c.ID, func(ctx context.Context) error {
			return s.store.touchSession(ctx, s.db.Write, c.ID, now, expires)
		})
	}
	return c.principal(), nil
}

// PrincipalForUser gives a person by id, for work that runs later in the
// person's name. It holds what the person holds now.
func (s *Service) PrincipalForUser(ctx context.Context, userID string) (authz.Principal, error) {
	c, err := s.store.userCaller(ctx, s.db, userID)
	if errors.Is(err, sql.ErrNoRows) {
		return authz.Principal{}, errNoUser
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("read user: %w", err)
	}
	return c.principal(), nil
}

func (c sessionCaller) principal() authz.Principal {
	p := authz.Principal{Kind: authz.User, ID: c.UserID, Name: c.Name, SessionID: c.ID, Roles: ids(c.Roles), Rules: ids(c.Rules)}
	if slices.Contains(p.Roles, RoleAdmin) {
		p.Rules = []string{authz.Wildcard}
	}
	return p
}

// PrincipalForKey gives the application whose key this is: the value of the
// Authorization header after "Bearer ". Anything else is Unauthenticated.
func (s *Service) PrincipalForKey(ctx context.Context, bearer string) (authz.Principal, error) {
	invalid := problem.Unauthenticated("The application key is not valid")
	id, given, ok := parseKey(bearer)
	if !ok {
		return authz.Principal{}, invalid
	}
	c, err := s.store.applicationCaller(ctx, s.db, id)
	if errors.Is(err, sql.ErrNoRows) {
		return authz.Principal{}, invalid
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("read application: %w", err)
	}
	if subtle.ConstantTimeCompare([]byte(digest(given)), []byte(c.SecretHash)) != 1 {
		return authz.Principal{}, invalid
	}
	now := s.now()
	if c.LastUsedAt == nil || now.Sub(*c.LastUsedAt) >= seenEvery {
		s.mark(ctx, id, func(ctx context.Context) error {
			return s.store.touchApplication(ctx, s.db.Write, id, now)
		})
	}
	return c.principal(), nil
}

// PrincipalForApplication gives an application by id, for work that runs as a
// service account.
func (s *Service) PrincipalForApplication(ctx context.Context, id string) (authz.Principal, error) {
	c, err := s.store.applicationCaller(ctx, s.db, id)
	if errors.Is(err, sql.ErrNoRows) {
		return authz.Principal{}, errNoApplication
	}
	if err != nil {
		return authz.Principal{}, fmt.Errorf("read application: %w", err)
	}
	return c.principal(), nil
}

func (c applicationCaller) principal() authz.Principal {
	return authz.Principal{Kind: authz.Application, ID: c.ID, Name: c.Name, Roles: ids(c.Roles), Rules: ids(c.Rules)}
}

// Guest gives the caller nobody knows, with the rules of the role "anonymous".
func (s *Service) Guest(ctx context.Context) (authz.Principal, error) {
	rules, err := s.store.rulesOf(ctx, s.db.Read, RoleAnonymous)
	if err != nil {
		return authz.Principal{}, err
	}
	return authz.Principal{Roles: []string{RoleAnonymous}, Rules: rules}, nil
}
