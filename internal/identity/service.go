package identity

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// Deps is what the service needs.
type Deps struct {
	DB  *db.DB
	Log *slog.Logger
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// UserDeleted runs in the transaction that deletes a user, so that other
	// domains can remove or hand over what the person left there. An error
	// keeps the user.
	UserDeleted []func(ctx context.Context, tx bun.Tx, userID string) error
}

// Service is the domain's only door.
type Service struct {
	db          *db.DB
	log         *slog.Logger
	clock       func() time.Time
	userDeleted []func(ctx context.Context, tx bun.Tx, userID string) error
	store       store
	hasher      *hasher
	marks       marks
}

// New makes the service. Call SyncRules before serving, and Close before the
// database is closed.
func New(d Deps) *Service {
	if d.Now == nil {
		d.Now = time.Now
	}
	return &Service{
		db: d.DB, log: d.Log, clock: d.Now, userDeleted: d.UserDeleted,
		hasher: newHasher(passwordParams),
		marks:  marks{busy: map[string]struct{}{}, slots: make(chan struct{}, 4)},
	}
}

// Close waits for the notes of use that are still being written.
func (s *Service) Close() {
	s.marks.mu.Lock()
	s.marks.closed = true
	s.marks.mu.Unlock()
	s.marks.wg.Wait()
}

func (s *Service) now() time.Time { return db.Time(s.clock()) }

// marks are the notes "session or key was used" that are being written beside
// the requests that caused them.
type marks struct {
	mu     sync.Mutex
	busy   map[string]struct{}
	closed bool
	slots  chan struct{}
	wg     sync.WaitGroup
}

// mark runs write beside the request. It never makes the caller wait: when the
// same id is already being written, or the database is behind, the note is left
// to the next request.
func (s *Service) mark(ctx context.Context, id string, write func(ctx context.Context) error) {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, running := m.busy[id]; running || m.closed {
		return
	}
	select {
	case m.slots <- struct{}{}:
	default:
		return
	}
	m.busy[id] = struct{}{}
	m.wg.Go(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer cancel()
		if err := write(ctx); err != nil {
			s.log.WarnContext(ctx, "use of a session or application key could not be noted", "error", err)
		}
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.busy, id)
		<-m.slots
	})
}

// lockAccounts makes changes to who is an administrator run one after another,
// on every replica.
func (s *Service) lockAccounts(ctx context.Context, tx bun.Tx) error {
	if err := s.db.LockKey(ctx, tx, "identity.accounts"); err != nil {
		return fmt.Errorf("lock accounts: %w", err)
	}
	return nil
}

// lockUser keeps a sign-in and a change of the password of one user apart.
func (s *Service) lockUser(ctx context.Context, tx bun.Tx, id string) error {
	if err := s.db.LockKey(ctx, tx, "identity.user."+id); err != nil {
		return fmt.Errorf("lock user: %w", err)
	}
	return nil
}

// caller gives the person that runs the use case.
func caller(ctx context.Context) (authz.Principal, error) {
	p := authz.From(ctx)
	if p.Kind != authz.User {
		return p, problem.Forbidden("This endpoint is for users only")
	}
	return p, nil
}
