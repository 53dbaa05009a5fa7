package identity

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// settle waits for notes of use under way.
func (f *fixture) settle() { f.marks.wg.Wait() }

func TestSessionSlidesAndEnds(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		start := f.clock.now()
		in := f.login("ada@example.com")
		token := in.Token.Reveal()
		row := func() Session {
			t.Helper()
			f.settle()
			list, err := f.store.sessions(ctx, d.Read, f.admin.ID, start.Add(-time.Hour))
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range list {
				if s.ID == in.Session.ID {
					return s
				}
			}
			t.Fatal("session is gone")
			return Session{}
		}
		use := func() {
			t.Helper()
			if _, err := f.PrincipalForSession(ctx, token); err != nil {
				t.Fatal(err)
			}
		}
		if s := row(); !s.ExpiresAt.Equal(start.Add(SessionIdle)) || s.IPAddress != "192.0.2.1" {
			t.Errorf("fresh session %+v", s)
		}
		f.clock.add(59 * time.Second)
		use()
		if s := row(); !s.LastSeenAt.Equal(start) {
			t.Errorf("seen again within a minute was written: %v", s.LastSeenAt)
		}
		f.clock.add(time.Second)
		use()
		if s := row(); !s.LastSeenAt.Equal(start.Add(time.Minute)) || !s.ExpiresAt.Equal(start.Add(time.Minute+SessionIdle)) {
			t.Errorf("after a minute %+v", s)
		}
		// Used every six days it lives on, but thirty days at most.
		for range 4 {
			f.clock.add(6 * 24 * time.Hour)
			use()
			f.settle()
		}
		if s := row(); !s.ExpiresAt.Equal(start.Add(SessionMax)) {
			t.Errorf("expires %v, want %v", s.ExpiresAt, start.Add(SessionMax))
		}
		f.clock.add(start.Add(SessionMax).Sub(f.clock.now()) - time.Millisecond)
		use()
		f.clock.add(time.Millisecond)
		_, err := f.PrincipalForSession(ctx, token)
		wantKind(t, err, problem.KindUnauthenticated, "Your session has ended. Sign in again.")
		f.settle()

		// An unused one ends after seven days.
		idle := f.login("ada@example.com")
		f.clock.add(SessionIdle)
		_, err = f.PrincipalForSession(ctx, idle.Token.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")
	})
}

func TestSessionTokensAreStoredHashedAndRotate(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		first := f.login("ada@example.com")
		second, err := f.Login(ctx, "ada@example.com", secret.New(goodPassword), Client{Previous: first.Token})
		if err != nil {
			t.Fatal(err)
		}
		if first.Token.Reveal() == second.Token.Reveal() {
			t.Error("the token did not change with the sign-in")
		}
		_, err = f.PrincipalForSession(ctx, first.Token.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")

		// Session fixation: a token an attacker chose is not adopted.
		planted := secret.New("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
		third, err := f.Login(ctx, "ada@example.com", secret.New(goodPassword), Client{Previous: planted})
		if err != nil || third.Token.Reveal() == planted.Reveal() {
			t.Fatalf("planted token adopted (%v)", err)
		}
		for _, token := range []string{planted.Reveal(), "", "x", digest(third.Token), third.Token.Reveal() + "="} {
			_, err := f.PrincipalForSession(ctx, token)
			wantKind(t, err, problem.KindUnauthenticated, "")
		}
		var stored []string
		if err := d.Read.NewRaw("SELECT token_hash FROM sessions").Scan(ctx, &stored); err != nil {
			t.Fatal(err)
		}
		for _, h := range stored {
			if h == third.Token.Reveal() || len(h) != 64 {
				t.Errorf("stored %q", h)
			}
		}
	})
}

func TestPasswordChangeEndsOtherSessions(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		other := f.login("ada@example.com")
		bob, bobIn := f.person("bob", "auth.users.read")
		next := secret.New("Another-Horse-8")

		err := f.ChangePassword(f.as(f.admin), secret.New("wrong"), next)
		wantKind(t, err, problem.KindInvalid, "Invalid input")
		if err := f.ChangePassword(f.as(f.admin), secret.New(goodPassword), next); err != nil {
			t.Fatal(err)
		}
		_, err = f.PrincipalForSession(ctx, other.Token.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")
		left, err := f.Sessions(f.as(f.admin))
		if err != nil || len(left) != 1 || left[0].ID != f.admin.SessionID {
			t.Errorf("left %+v, %v", left, err)
		}
		if _, err := f.PrincipalForSession(ctx, bobIn.Token.Reveal()); err != nil {
			t.Errorf("somebody else's session ended: %v", err)
		}
		_, err = f.Login(ctx, "ada@example.com", secret.New(goodPassword), Client{Address: "192.0.2.1"})
		wantKind(t, err, problem.KindUnauthenticated, "")
		if _, err := f.Login(ctx, "ada@example.com", next, Client{Address: "192.0.2.1"}); err != nil {
			t.Error(err)
		}
		// A stolen session cannot try passwords without end.
		for range 10 {
			_ = f.ChangePassword(f.as(bob), secret.New("wrong"), next)
		}
		wantKind(t, f.ChangePassword(f.as(bob), secret.New(goodPassword), next), problem.KindTooMany, "")
	})
}

func TestOwnSessionsOnly(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		bob, _ := f.person("bob", "auth.users.read")
		wantKind(t, f.DeleteSession(f.as(f.admin), bob.SessionID), problem.KindNotFound, "Session not found")
		second := f.login("ada@example.com")
		if err := f.DeleteSession(f.as(f.admin), second.Session.ID); err != nil {
			t.Fatal(err)
		}
		_, err := f.PrincipalForSession(t.Context(), second.Token.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")
	})
}

func TestChangesCountOnTheNextRequestOfEveryReplica(t *testing.T) {
	t.Parallel()
	c := newClock()
	replicas(t, c, func(t *testing.T, a, b *Service) {
		ctx := t.Context()
		if err := a.SyncRules(ctx, allRules()); err != nil {
			t.Fatal(err)
		}
		adminIn, err := a.Onboard(ctx, account("Ada", "ada@example.com"), Client{})
		if err != nil {
			t.Fatal(err)
		}
		admin, err := a.PrincipalForSession(ctx, adminIn.Token.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		as := authz.With(ctx, admin)
		in, err := a.Register(ctx, account("Bob", "bob@example.com"), Client{})
		if err != nil {
			t.Fatal(err)
		}
		bob := func() authz.Principal {
			t.Helper()
			p, err := b.PrincipalForSession(ctx, in.Token.Reveal())
			if err != nil {
				t.Fatal(err)
			}
			return p
		}
		if diff := cmp.Diff([]string{"ai.chat.read", "catalog.system.read"}, bob().Rules); diff != "" {
			t.Error(diff)
		}
		if _, err := a.SetUserRoles(as, in.Session.UserID, []string{RoleAdmin}); err != nil {
			t.Fatal(err)
		}
		if p := bob(); !cmp.Equal(p.Rules, []string{"*"}) {
			t.Errorf("after promotion %v", p.Rules)
		}
		if _, err := a.SetUserRoles(as, in.Session.UserID, []string{}); err != nil {
			t.Fatal(err)
		}
		if p := bob(); len(p.Rules) != 0 || len(p.Roles) != 0 {
			t.Errorf("after losing all roles %+v", p)
		}
		role, err := a.CreateRole(as, "Readers", "", []string{"catalog.system.read"})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := a.SetUserRoles(as, in.Session.UserID, []string{role.ID}); err != nil {
			t.Fatal(err)
		}
		if _, err := a.UpdateRole(as, role.ID, RoleChange{Rules: &[]string{"catalog.system.manage"}}); err != nil {
			t.Fatal(err)
		}
		if p := bob(); !cmp.Equal(p.Rules, []string{"catalog.system.manage"}) {
			t.Errorf("after the role changed %v", p.Rules)
		}
		byID, err := b.PrincipalForUser(ctx, in.Session.UserID)
		if err != nil || !cmp.Equal(byID.Rules, []string{"catalog.system.manage"}) || byID.SessionID != "" {
			t.Errorf("PrincipalForUser = %+v, %v", byID, err)
		}
		if err := a.DeleteUser(as, in.Session.UserID); err != nil {
			t.Fatal(err)
		}
		_, err = b.PrincipalForSession(ctx, in.Token.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")
		_, err = b.PrincipalForUser(ctx, in.Session.UserID)
		wantKind(t, err, problem.KindNotFound, "")
	})
}

func TestDeleteUserRunsTheHooksInItsTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		bob, _ := f.person("bob", "auth.users.read")
		refuse := true
		f.userDeleted = []func(context.Context, bun.Tx, string) error{func(ctx context.Context, tx bun.Tx, id string) error {
			if id != bob.ID {
				t.Errorf("hook got %s", id)
			}
			if refuse {
				return errors.New("not now")
			}
			_, err := tx.NewRaw("SELECT 1").Exec(ctx)
			return err
		}}
		if err := f.DeleteUser(f.as(f.admin), bob.ID); err == nil {
			t.Error("a failing hook did not keep the user")
		}
		if _, err := f.PrincipalForUser(t.Context(), bob.ID); err != nil {
			t.Errorf("user is gone: %v", err)
		}
		refuse = false
		if err := f.DeleteUser(f.as(f.admin), bob.ID); err != nil {
			t.Fatal(err)
		}
		for _, table := range []string{"users", "credentials", "sessions", "user_roles"} {
			var n int
			column := "user_id"
			if table == "users" {
				column = "id"
			}
			if err := d.Read.NewRaw("SELECT count(*) FROM ? WHERE ? = ?", bun.Ident(table), bun.Ident(column), bob.ID).Scan(t.Context(), &n); err != nil || n != 0 {
				t.Errorf("%s keeps %d rows (%v)", table, n, err)
			}
		}
	})
}

func TestSweep(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		err := d.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
			for i := range 2*sweepBatch + 1 {
				s := Session{ID: newID(), UserID: f.admin.ID, CreatedAt: f.now(), LastSeenAt: f.now(), ExpiresAt: f.now().Add(time.Duration(i) * time.Millisecond)}
				if err := f.store.insertSession(ctx, tx, s, s.ID); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.take(ctx, loginPerAddress, "192.0.2.1"); err != nil {
			t.Fatal(err)
		}
		f.clock.add(time.Minute)
		if err := f.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		count := func(table string) (n int) {
			t.Helper()
			if err := d.Read.NewRaw("SELECT count(*) FROM ?", bun.Ident(table)).Scan(ctx, &n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		if n := count("sessions"); n != 1 {
			t.Errorf("%d sessions left, want the live one", n)
		}
		if n := count("throttles"); n != 1 {
			t.Errorf("%d throttle rows left, want the one that still counts", n)
		}
		f.clock.add(15 * time.Minute)
		if err := f.Sweep(ctx); err != nil {
			t.Fatal(err)
		}
		if n := count("throttles"); n != 0 {
			t.Errorf("%d throttle rows left", n)
		}
	})
}
