package identity

import (
	"fmt"
	"testing"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/secret"
)

// BenchmarkPrincipal measures what every request pays: an administrator, a
// person with two roles and sixty rules, an application with as many, a guest.
func BenchmarkPrincipal(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		ctx := b.Context()
		s := replica(b, d, newClock(), discard())
		rules := Rules()
		for i := range 60 {
			rules = append(rules, authz.Rule{ID: fmt.Sprintf("domain%02d.resource.read", i), Description: "Read", Default: true, Public: i%4 == 0})
		}
		if err := s.SyncRules(ctx, rules); err != nil {
			b.Fatal(err)
		}
		adminIn, err := s.Onboard(ctx, account("Ada", "ada@example.com"), Client{})
		if err != nil {
			b.Fatal(err)
		}
		admin, err := s.PrincipalForSession(ctx, adminIn.Token.Reveal())
		if err != nil {
			b.Fatal(err)
		}
		as := authz.With(ctx, admin)
		role, err := s.CreateRole(as, "Half", "", []string{"domain00.resource.read", "domain01.resource.read"})
		if err != nil {
			b.Fatal(err)
		}
		roles := []string{RoleUsers, role.ID}
		for i := range 200 {
			if _, err := s.CreateUser(as, account("Bob", fmt.Sprintf("bob%d@example.com", i)), roles); err != nil {
				b.Fatal(err)
			}
		}
		bob, err := s.Login(ctx, "bob7@example.com", secret.New(goodPassword), Client{})
		if err != nil {
			b.Fatal(err)
		}
		_, key, err := s.CreateApplication(as, "CI", "", roles)
		if err != nil {
			b.Fatal(err)
		}
		run := func(name string, rules int, load func() (authz.Principal, error)) {
			b.Run(name, func(b *testing.B) {
				for b.Loop() {
					p, err := load()
					if err != nil || len(p.Rules) != rules {
						b.Fatalf("%d rules, %v", len(p.Rules), err)
					}
				}
			})
		}
		run("admin", 1, func() (authz.Principal, error) { return s.PrincipalForSession(ctx, adminIn.Token.Reveal()) })
		run("user", 60, func() (authz.Principal, error) { return s.PrincipalForSession(ctx, bob.Token.Reveal()) })
		run("application", 60, func() (authz.Principal, error) { return s.PrincipalForKey(ctx, key.Reveal()) })
		run("guest", 15, func() (authz.Principal, error) { return s.Guest(ctx) })
		s.Close()
	})
}

func BenchmarkPassword(b *testing.B) {
	h := newHasher(passwordParams)
	p := secret.New(goodPassword)
	for b.Loop() {
		if _, _, err := h.verify(b.Context(), p, ""); err != nil {
			b.Fatal(err)
		}
	}
}
