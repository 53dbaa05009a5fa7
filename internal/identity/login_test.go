package identity

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alexedwards/argon2id"
	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// replicas opens two services on one database: two processes on PostgreSQL; on
// SQLite, which one process has alone, two services on one handle.
func replicas(t *testing.T, c *clock, fn func(t *testing.T, a, b *Service)) {
	t.Helper()
	quiet := discard()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		d := dbtest.SQLite(t)
		fn(t, replica(t, d, c, quiet), replica(t, d, c, quiet))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		url := dbtest.PostgresURL(t)
		open := func() *Service {
			d, err := db.Open(t.Context(), db.Options{URL: url, MaxOpenConns: 6})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = d.Close() })
			return replica(t, d, c, quiet)
		}
		a, b := open(), open()
		if err := a.db.Migrate(t.Context(), quiet); err != nil {
			t.Fatal(err)
		}
		fn(t, a, b)
	})
}

func TestOnboardingHasOneWinner(t *testing.T) {
	t.Parallel()
	replicas(t, newClock(), func(t *testing.T, a, b *Service) {
		ctx := t.Context()
		for _, s := range []*Service{a, b} {
			if err := s.SyncRules(ctx, allRules()); err != nil {
				t.Fatal(err)
			}
			if needed, err := s.NeedsOnboarding(ctx); err != nil || !needed {
				t.Fatalf("NeedsOnboarding = %v, %v", needed, err)
			}
		}
		_, err := a.Register(ctx, account("Eve", "eve@example.com"), Client{})
		wantKind(t, err, problem.KindForbidden, "Create the first administrator before anyone can register.")

		var won atomic.Int32
		var winner SignedIn
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range 50 {
			wg.Go(func() {
				s := a
				if i%2 == 1 {
					s = b
				}
				<-start
				in, err := s.Onboard(ctx, account(fmt.Sprint("Admin ", i), fmt.Sprintf("a%d@example.com", i)), Client{})
				if err == nil {
					if won.Add(1) == 1 {
						winner = in
					}
					return
				}
				wantKind(t, err, problem.KindForbidden, "Onboarding has already been completed.")
			})
		}
		close(start)
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d callers won", won.Load())
		}
		p, err := b.PrincipalForSession(ctx, winner.Token.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{authz.Wildcard}, p.Rules); diff != "" {
			t.Error(diff)
		}
		for table, want := range map[string]int{"users": 1, "credentials": 1, "sessions": 1, "user_roles": 1} {
			var n int
			if err := a.db.Read.NewRaw("SELECT count(*) FROM "+table).Scan(ctx, &n); err != nil || n != want {
				t.Errorf("%s has %d rows (%v), want %d", table, n, err, want)
			}
		}
	})
}

// Whatever stops onboarding half way, the next attempt starts from nothing.
func TestUnfinishedOnboardingLeavesNothing(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		s := replica(t, d, newClock(), discard())
		if err := s.SyncRules(ctx, allRules()); err != nil {
			t.Fatal(err)
		}
		// The session is the last thing written.
		if _, err := d.Write.ExecContext(ctx, "ALTER TABLE sessions RENAME TO sessions_away"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Onboard(ctx, account("Ada", "ada@example.com"), Client{}); err == nil {
			t.Fatal("onboarding without a sessions table succeeded")
		}
		if needed, err := s.NeedsOnboarding(ctx); err != nil || !needed {
			t.Errorf("after the failure NeedsOnboarding = %v, %v", needed, err)
		}
		if _, err := d.Write.ExecContext(ctx, "ALTER TABLE sessions_away RENAME TO sessions"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Onboard(ctx, account("Ada", "ada@example.com"), Client{}); err != nil {
			t.Errorf("the next attempt: %v", err)
		}
	})
}

func TestLoginThrottlePerAccountAcrossReplicas(t *testing.T) {
	t.Parallel()
	c := newClock()
	replicas(t, c, func(t *testing.T, a, b *Service) {
		ctx := t.Context()
		if err := a.SyncRules(ctx, allRules()); err != nil {
			t.Fatal(err)
		}
		if _, err := a.Onboard(ctx, account("Ada", "ada@example.com"), Client{}); err != nil {
			t.Fatal(err)
		}
		from := Client{Address: "192.0.2.7"}
		try := func(s *Service, email, password string, from Client) error {
			_, err := s.Login(ctx, email, secret.New(password), from)
			return err
		}
		// Right passwords do not count, however many.
		for range 12 {
			if err := try(a, "ada@example.com", goodPassword, from); err != nil {
				t.Fatal(err)
			}
		}
		for i := range 10 {
			s := a
			if i%2 == 1 {
				s = b
			}
			// The spelling of the address does not make it another account.
			wantKind(t, try(s, " ADA@Example.com", "wrong", from), problem.KindUnauthenticated, "Invalid email or password")
		}
		for _, s := range []*Service{a, b} {
			err := try(s, "ada@example.com", goodPassword, from)
			wantKind(t, err, problem.KindTooMany, "")
			if e, _ := problem.As(err); e.RetryAfter <= 0 || e.RetryAfter > 15*time.Minute {
				t.Errorf("RetryAfter = %v", e.RetryAfter)
			}
		}
		// Neither another address nor another account is held up.
		if err := try(b, "ada@example.com", goodPassword, Client{Address: "192.0.2.8"}); err != nil {
			t.Errorf("from elsewhere: %v", err)
		}
		wantKind(t, try(b, "bob@example.com", "wrong", from), problem.KindUnauthenticated, "")
	})
}

func TestLoginThrottleWindowEndsAndAddressLimit(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		fail := func(email, address string) error {
			_, err := f.Login(ctx, email, secret.New("wrong"), Client{Address: address})
			return err
		}
		for i := range 11 {
			err := fail("ada@example.com", "192.0.2.9")
			if want := i == 10; problem.Is(err, problem.KindTooMany) != want {
				t.Fatalf("attempt %d: %v", i+1, err)
			}
		}
		// A client that goes on and on about one account holds up nobody else
		// behind the same address.
		for range 60 {
			wantKind(t, fail("ada@example.com", "192.0.2.9"), problem.KindTooMany, "")
		}
		wantKind(t, fail("bob@example.com", "192.0.2.9"), problem.KindUnauthenticated, "")
		f.clock.add(15 * time.Minute)
		wantKind(t, fail("ada@example.com", "192.0.2.9"), problem.KindUnauthenticated, "")

		// 50 accounts from one IPv6 network, each with another address.
		for i := range 51 {
			err := fail(fmt.Sprintf("u%d@example.com", i), fmt.Sprintf("2001:db8:1:2::%x", i))
			if want := i == 50; problem.Is(err, problem.KindTooMany) != want {
				t.Fatalf("attempt %d: %v", i+1, err)
			}
		}
		wantKind(t, fail("u1@example.com", "2001:db8:1:3::1"), problem.KindUnauthenticated, "")
	})
}

// A thousand guesses at the same moment are no way around the limit.
func TestLoginThrottleHoldsAgainstConcurrentGuesses(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		var evaluated atomic.Int32
		var wg sync.WaitGroup
		for range 40 {
			wg.Go(func() {
				_, err := f.Login(t.Context(), "ada@example.com", secret.New("wrong"), Client{Address: "192.0.2.9"})
				if problem.Is(err, problem.KindUnauthenticated) {
					evaluated.Add(1)
				} else if !problem.Is(err, problem.KindTooMany) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if evaluated.Load() != 10 {
			t.Errorf("%d guesses were looked at, want 10", evaluated.Load())
		}
	})
}

func TestRegisterThrottleAndSetting(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		register := func(i int) (SignedIn, error) {
			return f.Register(ctx, account("New", fmt.Sprintf("n%d@example.com", i)), Client{Address: "192.0.2.5"})
		}
		in, err := register(0)
		if err != nil {
			t.Fatal(err)
		}
		if p := f.principal(in); !cmp.Equal(p.Roles, []string{RoleUsers}) || !p.Has("ai.chat.read") || p.Has("auth.users.read") {
			t.Errorf("got %+v", p)
		}
		_, err = register(0)
		wantKind(t, err, problem.KindConflict, "A user with this email already exists.")
		for i := 1; i < 19; i++ {
			if _, err := register(i); err != nil {
				t.Fatal(err)
			}
		}
		_, err = register(99)
		wantKind(t, err, problem.KindTooMany, "")

		if err := f.SetRegistration(f.as(f.admin), false); err != nil {
			t.Fatal(err)
		}
		_, err = register(100)
		wantKind(t, err, problem.KindForbidden, "Registration is currently disabled. Please contact an administrator.")
	})
}

// A password that was changed while a sign-in with the old one was under way
// has ended all sessions; that sign-in must not open another.
func TestLoginWithAPasswordChangedMeanwhile(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		old, err := f.store.credentialBy(ctx, d.Read, "id", f.admin.ID)
		if err != nil {
			t.Fatal(err)
		}
		// Without a buffer the hasher stops on its way in and on its way out.
		f.hasher.slots = make(chan struct{})
		done := make(chan error)
		go func() {
			_, err := f.Login(ctx, "ada@example.com", secret.New(goodPassword), Client{Address: "192.0.2.3"})
			done <- err
		}()
		<-f.hasher.slots // the sign-in has read the old hash
		err = d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
			_, err := f.store.replaceHash(ctx, tx, f.admin.ID, old.PasswordHash, f.hasher.nobody, f.now())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		f.hasher.slots <- struct{}{}
		wantKind(t, <-done, problem.KindUnauthenticated, "Invalid email or password")
		left, err := f.Sessions(f.as(f.admin))
		if err != nil || len(left) != 1 {
			t.Errorf("sessions after the change: %+v, %v", left, err)
		}
	})
}

func TestLoginRenewsAnOutdatedHash(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		dearer := cheap
		dearer.Memory = 16
		f.hasher = newHasher(dearer)
		f.login("ada@example.com")
		c, err := f.store.credentialBy(t.Context(), d.Read, "email_key", "ada@example.com")
		if err != nil {
			t.Fatal(err)
		}
		params, _, _, err := argon2id.DecodeHash(c.PasswordHash)
		if err != nil || *params != dearer {
			t.Errorf("stored hash has %+v (%v), want %+v", params, err, dearer)
		}
		f.login("ada@example.com")
	})
}

func TestPasswordCostAndUnknownAccountTakesAsLong(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	h := newHasher(passwordParams)
	if want := (argon2id.Params{Memory: 19456, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}); h.params != want {
		t.Errorf("parameters %+v, want %+v", h.params, want)
	}
	p := secret.New(goodPassword)
	hash, err := h.hash(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	fastest := func(hash string, wantOK bool) time.Duration {
		best := time.Hour
		for range 5 {
			start := time.Now()
			ok, outdated, err := h.verify(ctx, p, hash)
			if err != nil || ok != wantOK || outdated {
				t.Fatalf("verify = %v, %v, %v", ok, outdated, err)
			}
			best = min(best, time.Since(start))
		}
		return best
	}
	known, unknown := fastest(hash, true), fastest("", false)
	if unknown < known/4 || unknown > known*4 {
		t.Errorf("an unknown account takes %v, a known one %v", unknown, known)
	}
	// With all slots taken a caller that gives up is let go.
	for range cap(h.slots) {
		h.slots <- struct{}{}
	}
	gone, cancel := context.WithCancel(ctx)
	cancel()
	if _, _, err := h.verify(gone, p, hash); err == nil {
		t.Error("verify without a slot and with a cancelled context succeeded")
	}
}

func TestPasswordRules(t *testing.T) {
	t.Parallel()
	long := "Aa" + strings.Repeat("1", 127)
	for _, tc := range []struct {
		password, message string
	}{
		{"Abcdefg1", ""},
		{"Äbcdefg1", ""},
		{"Abcdef1", "Password must be at least 8 characters"},
		{"abcdefg1", "Password must contain at least one uppercase letter"},
		{"ABCDEFG1", "Password must contain at least one lowercase letter"},
		{"Abcdefgh", "Password must contain at least one number"},
		{"", "Password must be at least 8 characters, Password must contain at least one uppercase letter, Password must contain at least one lowercase letter, Password must contain at least one number"},
		{long, "Password must be at most 128 characters"},
		{long[:128], ""},
		{"Abcdefg1\x00", "Password must not contain control characters"},
	} {
		_, err := NewAccount{Name: "Ada", Email: "a@b.example", Password: secret.New(tc.password)}.normal()
		if tc.message == "" {
			if err != nil {
				t.Errorf("%q: %v", tc.password, err)
			}
			continue
		}
		wantKind(t, err, problem.KindInvalid, tc.message)
	}
	// The same password from two keyboards.
	h := newHasher(cheap)
	hash, err := h.hash(t.Context(), secret.New("Cafe\u0301-12345"))
	if err != nil {
		t.Fatal(err)
	}
	if ok, _, err := h.verify(t.Context(), secret.New("Caf\u00e9-12345"), hash); !ok || err != nil {
		t.Errorf("composed form: %v, %v", ok, err)
	}
}
