package identity

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/secret"
)

// sessionExpiry is the sliding end of a session, within its absolute one.
func sessionExpiry(created, seen time.Time) time.Time {
	sliding, last := seen.Add(SessionIdle), created.Add(SessionMax)
	if sliding.After(last) {
		return last
	}
	return sliding
}

// startSession makes a session with a fresh token; the token the browser had
// before ends.
func (s *Service) startSession(ctx context.Context, tx bun.Tx, userID string, from Client) (SignedIn, error) {
	if !from.Previous.Empty() {
		if err := s.store.deleteSessionByToken(ctx, tx, digest(from.Previous)); err != nil {
			return SignedIn{}, err
		}
	}
	now := s.now()
	in := SignedIn{Token: newToken(), Session: Session{
		ID: newID(), UserID: userID, CreatedAt: now, LastSeenAt: now, ExpiresAt: sessionExpiry(now, now),
		IPAddress: clip(from.Address, maxAddress), UserAgent: clip(from.UserAgent, maxUserAgent),
	}}
	if err := s.store.insertSession(ctx, tx, in.Session, digest(in.Token)); err != nil {
		return SignedIn{}, err
	}
	return in, s.store.setLastLogin(ctx, tx, userID, now)
}

// Sessions gives the caller's own live sessions, last used first.
func (s *Service) Sessions(ctx context.Context) ([]Session, error) {
	p, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	return s.store.sessions(ctx, s.db.Read, p.ID, s.now())
}

// DeleteSession ends one of the caller's own sessions. Somebody else's session
// does not exist for the caller.
func (s *Service) DeleteSession(ctx context.Context, id string) error {
	p, err := caller(ctx)
	if err != nil {
		return err
	}
	return s.store.deleteSession(ctx, s.db.Write, p.ID, id)
}

// SignOut ends the session of a token. A token that is unknown is fine: the
// browser wanted to be signed out, and is.
func (s *Service) SignOut(ctx context.Context, token secret.String) error {
	return s.store.deleteSessionByToken(ctx, s.db.Write, digest(token))
}
