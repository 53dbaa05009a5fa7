package identity

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func (f *fixture) rulesOfRole(id string) []string {
	f.t.Helper()
	r, err := f.store.role(f.t.Context(), f.db.Read, id)
	if err != nil {
		f.t.Fatal(err)
	}
	return r.Rules
}

func TestSyncRules(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		sync := func(rules ...authz.Rule) {
			t.Helper()
			if err := f.SyncRules(ctx, rules); err != nil {
				t.Fatal(err)
			}
		}
		want := func(role string, rules ...string) {
			t.Helper()
			if got := f.rulesOfRole(role); !slices.Equal(rules, got) {
				t.Errorf("role %s: got %v, want %v", role, got, rules)
			}
		}
		want(RoleUsers, "ai.chat.read", "catalog.system.read")
		want(RoleAnonymous, "catalog.system.read")
		want(RoleApplications)
		if got := f.rulesOfRole(RoleAdmin); len(got) != len(allRules()) {
			t.Errorf("admin has %v", got)
		}

		// An administrator takes defaults away; they do not return.
		admin := f.as(f.admin)
		for _, role := range []string{RoleUsers, RoleAnonymous} {
			if _, err := f.UpdateRole(admin, role, RoleChange{Rules: &[]string{}}); err != nil {
				t.Fatal(err)
			}
		}
		sync(allRules()...)
		want(RoleUsers)
		want(RoleAnonymous)
		// Not even when the rule goes and comes back.
		sync(Rules()...)
		sync(allRules()...)
		want(RoleUsers)
		want(RoleAnonymous)
		// A new default rule does arrive.
		sync(append(allRules(), authz.Rule{ID: "slo.objective.read", Description: "Read", Default: true, Public: true})...)
		want(RoleUsers, "slo.objective.read")
		want(RoleAnonymous, "slo.objective.read")
		// Given back by hand, the rule is a default again.
		back := []string{"ai.chat.read", "slo.objective.read"}
		if _, err := f.UpdateRole(admin, RoleUsers, RoleChange{Rules: &back}); err != nil {
			t.Fatal(err)
		}
		sync(Rules()...)
		want(RoleUsers)
		sync(allRules()...)
		want(RoleUsers, "ai.chat.read")

		// What nobody declares vanishes from every role, new texts arrive.
		r, err := f.CreateRole(admin, "Readers", "", []string{"catalog.system.read", "ai.chat.read"})
		if err != nil {
			t.Fatal(err)
		}
		sync(append(Rules(), authz.Rule{ID: "catalog.system.read", Description: "Look at systems"})...)
		want(r.ID, "catalog.system.read")
		stored, err := f.AccessRules(ctx)
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(stored, func(r authz.Rule) bool { return r.ID == "catalog.system.read" })
		if i < 0 || stored[i].Description != "Look at systems" || stored[i].Public {
			t.Errorf("stored %+v", stored)
		}

		// Renamed system roles keep their name.
		name := "Team"
		if _, err := f.UpdateRole(admin, RoleUsers, RoleChange{Name: &name}); err != nil {
			t.Fatal(err)
		}
		sync(allRules()...)
		if r, err := f.store.role(ctx, d.Read, RoleUsers); err != nil || r.Name != "Team" || !r.System {
			t.Errorf("got %+v, %v", r, err)
		}
	})
}

func TestSyncRulesRefusesMistakes(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for name, rules := range map[string][]authz.Rule{
		"none":      {},
		"wildcard":  {{ID: authz.Wildcard}},
		"space":     {{ID: "a b"}},
		"different": {{ID: "a.b.read"}, {ID: "a.b.read", Public: true}},
	} {
		if err := f.SyncRules(t.Context(), rules); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if got := f.rulesOfRole(RoleAdmin); len(got) != len(allRules()) {
		t.Errorf("a refused sync changed the rules: %v", got)
	}
}

func TestSyncRulesOnSeveralReplicasAtOnce(t *testing.T) {
	t.Parallel()
	replicas(t, newClock(), func(t *testing.T, a, b *Service) {
		var wg sync.WaitGroup
		for i := range 12 {
			wg.Go(func() {
				s := a
				if i%2 == 1 {
					s = b
				}
				if err := s.SyncRules(t.Context(), allRules()); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		guest, err := a.Guest(t.Context())
		if err != nil || !guest.IsGuest() || !cmp.Equal(guest.Rules, []string{"catalog.system.read"}) {
			t.Errorf("Guest = %+v, %v", guest, err)
		}
	})
}

func TestOwnRolesAndAdminKeepTheirRules(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		bob, _ := f.person("bob", "auth.roles.update.manage", "auth.roles.delete.manage", "catalog.system.read")
		own := bob.Roles[0]
		name, rules := "Renamed", []string{"auth.roles.update.manage"}
		r, err := f.UpdateRole(f.as(bob), own, RoleChange{Name: &name, Rules: &rules})
		if err != nil || r.Name != "Renamed" || len(r.Rules) != 3 {
			t.Errorf("own role: %+v, %v", r, err)
		}
		r, err = f.UpdateRole(f.as(f.admin), RoleAdmin, RoleChange{Rules: &rules})
		if err != nil || len(r.Rules) != len(allRules()) {
			t.Errorf("admin: %+v, %v", r, err)
		}
		wantKind(t, f.DeleteRole(f.as(bob), own), problem.KindForbidden, "Cannot delete a role that you have yourself")
		for _, id := range []string{RoleAdmin, RoleUsers, RoleAnonymous, RoleApplications} {
			wantKind(t, f.DeleteRole(f.as(f.admin), id), problem.KindForbidden, "Cannot delete system roles")
		}
		if err := f.DeleteRole(f.as(f.admin), own); err != nil {
			t.Fatal(err)
		}
		p, err := f.PrincipalForUser(t.Context(), bob.ID)
		if err != nil || len(p.Rules) != 0 || len(p.Roles) != 0 {
			t.Errorf("after its role was deleted: %+v, %v", p, err)
		}
	})
}

func TestNobodyGrantsMoreThanTheyHold(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		bob, _ := f.person("bob", "auth.users.create.manage", "auth.users.manage", "auth.roles.create.manage",
			"auth.roles.update.manage", "auth.applications.manage", "catalog.system.read")
		carol, _ := f.person("carol", "ai.chat.read")
		strong, err := f.CreateRole(f.as(f.admin), "Strong", "", []string{"catalog.system.manage"})
		if err != nil {
			t.Fatal(err)
		}
		weak, err := f.CreateRole(f.as(f.admin), "Weak", "", []string{"catalog.system.read"})
		if err != nil {
			t.Fatal(err)
		}
		strongApp, _, err := f.CreateApplication(f.as(f.admin), "strong", "", []string{strong.ID})
		if err != nil {
			t.Fatal(err)
		}
		weakApp, _, err := f.CreateApplication(f.as(f.admin), "weak", "", []string{weak.ID})
		if err != nil {
			t.Fatal(err)
		}
		ctx := f.as(bob)
		const refusal = "You cannot grant access that you do not have yourself: catalog.system.manage"
		refused := func(what string, err error, message string) {
			t.Helper()
			t.Log(what)
			wantKind(t, err, problem.KindForbidden, message)
		}
		_, err = f.SetUserRoles(ctx, carol.ID, []string{strong.ID})
		refused("role with more", err, refusal)
		_, err = f.SetUserRoles(ctx, carol.ID, []string{RoleAdmin})
		refused("role admin", err, "Only an administrator can give or take the role admin")
		_, err = f.SetUserRoles(ctx, f.admin.ID, []string{})
		wantKind(t, err, problem.KindConflict, "")
		_, err = f.CreateUser(ctx, account("Dan", "dan@example.com"), []string{strong.ID})
		refused("user with more", err, refusal)
		_, err = f.CreateRole(ctx, "New", "", []string{"catalog.system.manage", "catalog.system.read"})
		refused("role", err, refusal)
		_, err = f.UpdateRole(ctx, weak.ID, RoleChange{Rules: &[]string{"catalog.system.manage"}})
		refused("more for a role", err, refusal)
		_, _, err = f.CreateApplication(ctx, "app", "", []string{strong.ID})
		refused("application", err, refusal)
		_, err = f.UpdateApplication(ctx, weakApp.ID, ApplicationChange{Roles: &[]string{strong.ID}})
		refused("more for an application", err, refusal)
		_, err = f.RegenerateKey(ctx, strongApp.ID)
		refused("key of a stronger application", err, refusal)

		// What bob holds he can give; roles that are there already may stay.
		if u, err := f.SetUserRoles(ctx, carol.ID, append(carol.Roles, weak.ID, RoleUsers)); err != nil || len(u.Roles) != 3 {
			t.Errorf("own access: %+v, %v", u, err)
		}
		if _, err := f.CreateUser(ctx, account("Dan", "dan@example.com"), nil); err != nil {
			t.Errorf("plain user: %v", err)
		}
		if _, err := f.RegenerateKey(ctx, weakApp.ID); err != nil {
			t.Errorf("own access: %v", err)
		}
		if _, err := f.UpdateRole(ctx, strong.ID, RoleChange{Rules: &[]string{"catalog.system.manage", "catalog.system.read"}}); err != nil {
			t.Errorf("adding what bob holds to a stronger role: %v", err)
		}
		// With two administrators a plain user manager still cannot demote one.
		dora, _ := f.person("dora")
		if _, err := f.SetUserRoles(f.as(f.admin), dora.ID, []string{RoleAdmin}); err != nil {
			t.Fatal(err)
		}
		_, err = f.SetUserRoles(ctx, dora.ID, []string{})
		refused("demotion", err, "Only an administrator can give or take the role admin")
	})
}

func TestOneAdministratorAlwaysRemains(t *testing.T) {
	t.Parallel()
	replicas(t, newClock(), func(t *testing.T, a, b *Service) {
		ctx := t.Context()
		if err := a.SyncRules(ctx, allRules()); err != nil {
			t.Fatal(err)
		}
		in, err := a.Onboard(ctx, account("Ada", "ada@example.com"), Client{})
		if err != nil {
			t.Fatal(err)
		}
		ada, err := a.PrincipalForSession(ctx, in.Token.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		u, err := a.CreateUser(authz.With(ctx, ada), account("Bob", "bob@example.com"), []string{RoleAdmin})
		if err != nil {
			t.Fatal(err)
		}
		bob, err := a.PrincipalForUser(ctx, u.ID)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			var wg sync.WaitGroup
			var errs [2]error
			wg.Go(func() { _, errs[0] = a.SetUserRoles(authz.With(ctx, ada), bob.ID, []string{}) })
			wg.Go(func() { _, errs[1] = b.SetUserRoles(authz.With(ctx, bob), ada.ID, []string{}) })
			wg.Wait()
			loser := ada.ID
			switch {
			case errs[0] == nil && errs[1] != nil:
				wantKind(t, errs[1], problem.KindConflict, "This is the only administrator; make somebody else one first")
				loser = bob.ID
			case errs[1] == nil && errs[0] != nil:
				wantKind(t, errs[0], problem.KindConflict, "This is the only administrator; make somebody else one first")
			default:
				t.Fatalf("errors %v: exactly one may win", errs)
			}
			// Put it back for the next round.
			winner := ada
			if loser == ada.ID {
				winner = bob
			}
			if _, err := a.SetUserRoles(authz.With(ctx, winner), loser, []string{RoleAdmin}); err != nil {
				t.Fatal(err)
			}
		}
		err = a.DeleteUser(authz.With(ctx, ada), bob.ID)
		wantKind(t, err, problem.KindForbidden, "Cannot delete users with the admin role")
	})
}

func TestApplicationKeys(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		app, key, err := f.CreateApplication(f.as(f.admin), "CI", "", []string{RoleAdmin})
		if err != nil {
			t.Fatal(err)
		}
		p, err := f.PrincipalForKey(ctx, key.Reveal())
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(p.Rules, authz.Wildcard) || len(p.Rules) != len(allRules()) || p.Kind != authz.Application {
			t.Errorf("an application with the role admin is %+v; it must hold every rule, never the wildcard", p)
		}
		f.settle()
		used := func() int64 {
			t.Helper()
			f.settle()
			list, err := f.Applications(ctx)
			if err != nil || len(list) != 1 || list[0].LastUsedAt == nil {
				t.Fatalf("%+v, %v", list, err)
			}
			return list[0].LastUsedAt.Unix()
		}
		first := used()
		f.clock.add(seenEvery - 1)
		if _, err := f.PrincipalForKey(ctx, key.Reveal()); err != nil || used() != first {
			t.Errorf("used again within a minute was written (%v)", err)
		}
		f.clock.add(1)
		if _, err := f.PrincipalForKey(ctx, key.Reveal()); err != nil || used() != first+60 {
			t.Errorf("use after a minute was not written (%v)", err)
		}

		next, err := f.RegenerateKey(f.as(f.admin), app.ID)
		if err != nil {
			t.Fatal(err)
		}
		_, err = f.PrincipalForKey(ctx, key.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "The application key is not valid")
		if _, err := f.PrincipalForKey(ctx, next.Reveal()); err != nil {
			t.Error(err)
		}
		_, err = f.PrincipalForKey(ctx, strings.Replace(next.Reveal(), app.ID, newID(), 1))
		wantKind(t, err, problem.KindUnauthenticated, "")
		if byID, err := f.PrincipalForApplication(ctx, app.ID); err != nil || !cmp.Equal(byID, p) {
			t.Errorf("PrincipalForApplication = %+v, %v", byID, err)
		}
		if err := f.DeleteApplication(f.as(f.admin), app.ID); err != nil {
			t.Fatal(err)
		}
		_, err = f.PrincipalForKey(ctx, next.Reveal())
		wantKind(t, err, problem.KindUnauthenticated, "")
		_, err = f.PrincipalForApplication(ctx, app.ID)
		wantKind(t, err, problem.KindNotFound, "")
	})
}

func TestUsersWithRule(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		manager, _ := f.person("manager", "catalog.system.manage")
		reader, _ := f.person("reader", "catalog.system.read")
		f.person("other", "ai.chat.read")
		for rule, want := range map[string][]string{
			"catalog.system.read":   {f.admin.ID, manager.ID, reader.ID},
			"catalog.system.manage": {f.admin.ID, manager.ID},
			"nobody.declares.read":  {f.admin.ID},
		} {
			got, err := f.UsersWithRule(t.Context(), rule)
			slices.Sort(want)
			if err != nil || !cmp.Equal(got, want) {
				t.Errorf("%s: got %v, %v, want %v", rule, got, err, want)
			}
		}
		app, _, err := f.CreateApplication(f.as(f.admin), "Deploy robot", "", []string{})
		if err != nil {
			t.Fatal(err)
		}
		names, err := f.Names(t.Context(), []string{reader.ID, app.ID, "nobody"})
		if want := map[string]string{reader.ID: reader.Name, app.ID: "Deploy robot"}; err != nil || !cmp.Equal(names, want) {
			t.Errorf("Names = %v, %v, want %v", names, err, want)
		}
	})
}
