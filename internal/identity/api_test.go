package identity

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// ground is what the inputs of TestOperations refer to.
type ground struct {
	person, session, role, application string
}

const nowhere = "0197b000-0000-7000-8000-000000000000"

// operationRow is one operation with an input for every outcome. %s stands for
// the thing the operation is about.
type operationRow struct {
	rule  *authz.Rule
	on    func(ground) string
	valid string
	// notFound says that the same input for a thing that does not exist is
	// NOT_FOUND.
	notFound bool
	invalid  map[string][]string // input: paths of the issues
}

func person(g ground) string      { return g.person }
func session(g ground) string     { return g.session }
func role(g ground) string        { return g.role }
func application(g ground) string { return g.application }

var operationRows = map[string]operationRow{
	"auth.getCurrentUserProfile": {valid: `{}`, invalid: map[string][]string{`{"x":1}`: {"x"}}},
	"auth.updateCurrentUser": {valid: `{"name":"Beatrice","email":"bea@example.com"}`, invalid: map[string][]string{
		`{"name":"","email":"no"}`:             {"email", "name"},
		`{"name":"a\u0000b","email":"\u0000"}`: {"email", "name"},
		`{"name":"a\u0007b"}`:                  {"name"},
		`{"name":5}`:                           {"name"},
	}},
	"auth.changePassword": {valid: `{"currentPassword":"` + goodPassword + `","newPassword":"Another-Horse-8"}`, invalid: map[string][]string{
		`{}`: {"currentPassword", "newPassword"},
		`{"currentPassword":"` + goodPassword + `","newPassword":"canary-secret"}`: {"newPassword", "newPassword"},
		`{"currentPassword":"canary-secret","newPassword":"Another-Horse-8"}`:      {"currentPassword"},
	}},
	"auth.getSessions":   {valid: `{}`},
	"auth.deleteSession": {on: session, valid: `{"id":"%s"}`, notFound: true, invalid: map[string][]string{`{}`: {"id"}, `{"id":""}`: {"id"}}},

	"auth.getUsers": {rule: &usersRead, valid: `{}`},
	"auth.createCredentialUser": {rule: &usersCreate, valid: `{"name":"Neo","email":"neo@example.com","password":"Matrix-1999"}`, invalid: map[string][]string{
		`{}`: {"email", "name", "password"},
		`{"name":" ","email":"x","password":"canary-secret"}`:                                {"email", "name", "password", "password"},
		`{"name":"a","email":"a@b","password":"Matrix-1999","roleIds":["anonymous","nope"]}`: {"roleIds[0]", "roleIds[1]"},
		`{"name":"a","email":"a@b","password":"Matrix-1999","roleIds":"users","admin":true}`: {"admin", "roleIds"},
		`{"name":"a","email":"a@b","password":"Matrix-1999\u0000"}`:                          {"password"},
	}},
	"auth.updateUserRoles": {rule: &usersManage, on: person, valid: `{"userId":"%s","roleIds":["users"]}`, notFound: true, invalid: map[string][]string{
		`{}`: {"roleIds", "userId"},
		`{"userId":"%s","roleIds":["users","anonymous","\u0001"]}`: {"roleIds[1]", "roleIds[2]"},
	}},
	"auth.deleteUser": {rule: &usersManage, on: person, valid: `{"userId":"%s"}`, notFound: true, invalid: map[string][]string{`{"userId":5}`: {"userId"}}},

	"auth.getRoles":       {rule: &rolesRead, valid: `{}`},
	"auth.getAccessRules": {rule: &rolesRead, valid: `{}`},
	"auth.createRole": {rule: &rolesCreate, valid: `{"name":"Night shift","accessRules":["nobody.declares.this"]}`, invalid: map[string][]string{
		`{}`: {"accessRules", "name"},
		`{"name":"a\nb","description":"\u0000","accessRules":[]}`: {"description"},
		`{"name":"a\nb","description":"\u0001","accessRules":[]}`: {"description", "name"},
	}},
	"auth.updateRole": {rule: &rolesUpdate, on: role, valid: `{"id":"%s","name":"Day shift","description":null}`, notFound: true, invalid: map[string][]string{
		`{}`: {"id"},
		`{"id":"%s","name":"","description":"\u0001"}`: {"description", "name"},
	}},
	"auth.deleteRole": {rule: &rolesDelete, on: role, valid: `{"id":"%s"}`, notFound: true, invalid: map[string][]string{`{}`: {"id"}}},

	"auth.getApplications": {rule: &applicationsManage, valid: `{}`},
	"auth.createApplication": {rule: &applicationsManage, valid: `{"name":"CI"}`, invalid: map[string][]string{
		`{}`:                                    {"name"},
		`{"name":"","description":"\u0001"}`:    {"description", "name"},
		`{"name":"CI","roleIds":["anonymous"]}`: {"roleIds[0]"},
		`{"name":"` + strings.Repeat("a", 101) + `"}`: {"name"},
	}},
	"auth.updateApplication": {rule: &applicationsManage, on: application, valid: `{"id":"%s","name":"CD","description":"x","roleIds":[]}`, notFound: true, invalid: map[string][]string{
		`{"id":"%s","name":""}`:          {"name"},
		`{"id":"%s","roleIds":["nope"]}`: {"roleIds[0]"},
	}},
	"auth.regenerateApplicationSecret": {rule: &applicationsManage, on: application, valid: `{"id":"%s"}`, notFound: true, invalid: map[string][]string{`{}`: {"id"}}},
	"auth.deleteApplication":           {rule: &applicationsManage, on: application, valid: `{"id":"%s"}`, notFound: true, invalid: map[string][]string{`{}`: {"id"}}},

	"auth.getRegistrationStatus": {valid: `{}`},
	"auth.setRegistrationStatus": {rule: &registrationManage, valid: `{"allowRegistration":false}`, invalid: map[string][]string{`{"allowRegistration":"no"}`: {"allowRegistration"}, `{}`: {"allowRegistration"}}},
}

// TestOperations runs every operation as a guest, as an application, without
// the rule, with the rule and nothing else, with inputs that are wrong and with
// a thing that does not exist.
func TestOperations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		guest, err := f.Guest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		everything := make([]string, 0, len(allRules()))
		for _, r := range allRules() {
			everything = append(everything, r.ID)
		}
		app := authz.Principal{Kind: authz.Application, ID: nowhere, Rules: everything}

		declared := make([]string, 0, len(operationRows))
		for i, op := range f.set.All() {
			decl := op.Declaration()
			declared = append(declared, decl.ID)
			row, ok := operationRows[decl.ID]
			if !ok {
				t.Errorf("%s has no row in this test", decl.ID)
				continue
			}
			who := fmt.Sprintf("who%d", i)
			var with, without authz.Principal
			if row.rule == nil {
				with, _ = f.person(who)
			} else {
				with, _ = f.person(who, row.rule.ID)
				rest := slices.DeleteFunc(slices.Clone(everything), func(r string) bool {
					// manage of the same resource would satisfy read
					return r == row.rule.ID || r == strings.TrimSuffix(row.rule.ID, ".read")+".manage"
				})
				without, _ = f.person(who+"x", rest...)
			}
			g := f.ground(who, with)
			input := func(text, on string) string { return strings.ReplaceAll(text, "%s", on) }
			on := ""
			if row.on != nil {
				on = row.on(g)
			}
			check := func(outcome string, p authz.Principal, in string, kind problem.Kind, message string) {
				t.Helper()
				_, err := f.call(p, decl.ID, in)
				if e, ok := problem.As(err); !ok || e.Kind != kind || (message != "" && e.Message != message) {
					t.Errorf("%s, %s: got %v, want kind %d %q", decl.ID, outcome, err, kind, message)
				}
			}
			if decl.Caller != operation.Anonymous {
				check("anonymous", guest, input(row.valid, on), problem.KindUnauthenticated, "Authentication required")
				check("application", app, input(row.valid, on), problem.KindForbidden, "This endpoint is for users only")
			} else if _, err := f.call(guest, decl.ID, row.valid); err != nil {
				t.Errorf("%s, anonymous: %v", decl.ID, err)
			}
			if row.rule != nil {
				check("wrong role", without, input(row.valid, on), problem.KindForbidden, "Missing access: "+row.rule.ID)
			}
			for in, paths := range row.invalid {
				_, err := f.call(with, decl.ID, input(in, on))
				e, ok := problem.As(err)
				if !ok || e.Kind != problem.KindInvalid {
					t.Errorf("%s, %s: got %v, want an invalid input", decl.ID, in, err)
					continue
				}
				var got []string
				for _, is := range e.Issues {
					got = append(got, is.Path)
				}
				slices.Sort(got)
				if diff := cmp.Diff(paths, got); diff != "" {
					t.Errorf("%s, %s: paths (-want +got):\n%s", decl.ID, in, diff)
				}
				if strings.Contains(err.Error(), "canary-secret") {
					t.Errorf("%s repeats the submitted value: %v", decl.ID, err)
				}
			}
			if row.notFound {
				check("not found", with, input(row.valid, nowhere), problem.KindNotFound, "")
			}
			if _, err := f.call(with, decl.ID, input(row.valid, on)); err != nil {
				t.Errorf("%s, right role: %v", decl.ID, err)
			}
		}
		slices.Sort(declared)
		if diff := cmp.Diff(slices.Sorted(maps.Keys(operationRows)), declared); diff != "" {
			t.Errorf("operations (-tested +declared):\n%s", diff)
		}
	})
}

// ground makes something for one operation to act on, without any access so
// that whoever holds the operation's rule may act.
func (f *fixture) ground(name string, with authz.Principal) ground {
	f.t.Helper()
	ctx := f.as(f.admin)
	u, err := f.CreateUser(ctx, account("Target", name+"-target@example.com"), []string{})
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := f.CreateRole(ctx, "Target of "+name, "", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	a, _, err := f.CreateApplication(ctx, "target", "", []string{})
	if err != nil {
		f.t.Fatal(err)
	}
	// A second session of the caller.
	in := f.login(strings.ToLower(with.Name) + "@example.com")
	return ground{person: u.ID, session: in.Session.ID, role: r.ID, application: a.ID}
}

func TestAnswersOfOperations(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		call := func(id, in string) map[string]any {
			t.Helper()
			out, err := f.call(f.admin, id, in)
			if err != nil {
				t.Fatalf("%s: %v", id, err)
			}
			return out
		}
		at := "2026-07-01T12:00:00Z"
		eq := func(what string, got, want any) {
			t.Helper()
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", what, diff)
			}
		}
		eq("profile", call("auth.getCurrentUserProfile", `{}`), map[string]any{
			"id": f.admin.ID, "name": "Ada", "email": "ada@example.com", "hasCredentialAccount": true, "createdAt": at})
		eq("sessions", call("auth.getSessions", `{}`), map[string]any{"sessions": []any{map[string]any{
			"id": f.admin.SessionID, "createdAt": at, "lastSeenAt": at, "expiresAt": "2026-07-08T12:00:00Z",
			"ipAddress": "192.0.2.1", "userAgent": "", "current": true}}})

		created := call("auth.createCredentialUser", `{"name":"Bob","email":"Bob@Example.com","password":"`+goodPassword+`"}`)
		bob := created["id"].(string)
		eq("created user", created, map[string]any{"id": bob, "name": "Bob", "email": "Bob@Example.com", "roles": []any{"users"}, "createdAt": at})
		eq("users", call("auth.getUsers", `{}`), map[string]any{"users": []any{
			map[string]any{"id": f.admin.ID, "name": "Ada", "email": "ada@example.com", "roles": []any{"admin"}, "createdAt": at, "lastLoginAt": at},
			created}})
		_, err := f.call(f.admin, "auth.createCredentialUser", `{"name":"B","email":"bob@example.COM","password":"`+goodPassword+`"}`)
		wantKind(t, err, problem.KindConflict, "A user with this email already exists.")
		_, err = f.call(f.admin, "auth.updateCurrentUser", `{"email":"BOB@example.com"}`)
		wantKind(t, err, problem.KindConflict, "A user with this email already exists.")
		_, err = f.call(f.admin, "auth.updateUserRoles", `{"userId":"`+f.admin.ID+`","roleIds":["admin","users"]}`)
		wantKind(t, err, problem.KindForbidden, "Cannot update your own roles")
		eq("no roles", call("auth.updateUserRoles", `{"userId":"`+bob+`","roleIds":[]}`)["roles"], []any{})

		role := call("auth.createRole", `{"name":"Readers","description":"Look","accessRules":["catalog.system.read","no.such.read","*"]}`)
		eq("role", role, map[string]any{"id": role["id"], "name": "Readers", "description": "Look", "isSystem": false,
			"accessRules": []any{"catalog.system.read"}, "memberCount": 0.0})
		_, err = f.call(f.admin, "auth.createRole", `{"name":"readers","accessRules":[]}`)
		wantKind(t, err, problem.KindConflict, "A role with this name already exists.")
		id := role["id"].(string)
		call("auth.updateUserRoles", `{"userId":"`+bob+`","roleIds":["`+id+`","`+id+`"]}`)
		role = call("auth.updateRole", `{"id":"`+id+`","description":null,"accessRules":["ai.chat.read"]}`)
		eq("role", role, map[string]any{"id": id, "name": "Readers", "description": "", "isSystem": false,
			"accessRules": []any{"ai.chat.read"}, "memberCount": 1.0})
		roles := call("auth.getRoles", `{}`)["roles"].([]any)
		if len(roles) != 5 || roles[4].(map[string]any)["id"] != id {
			t.Errorf("roles: %v", roles)
		}
		rules := call("auth.getAccessRules", `{}`)["accessRules"].([]any)
		eq("rules", rules[0], map[string]any{"id": "ai.chat.read", "description": "Chat", "isDefault": true, "isPublic": false})

		made := call("auth.createApplication", `{"name":"CI","description":"Builds"}`)
		app := made["application"].(map[string]any)
		eq("application", app, map[string]any{"id": app["id"], "name": "CI", "description": "Builds", "roles": []any{"applications"}, "createdAt": at})
		if p, err := f.PrincipalForKey(t.Context(), made["key"].(string)); err != nil || p.ID != app["id"] {
			t.Errorf("key: %+v, %v", p, err)
		}
		f.settle()
		app["lastUsedAt"] = at
		eq("applications", call("auth.getApplications", `{}`), map[string]any{"applications": []any{app}})

		eq("registration", call("auth.getRegistrationStatus", `{}`), map[string]any{"allowRegistration": true})
		call("auth.setRegistrationStatus", `{"allowRegistration":false}`)
		eq("registration", call("auth.getRegistrationStatus", `{}`), map[string]any{"allowRegistration": false})

		// Deleting who made an application keeps the application.
		if _, err := f.call(f.admin, "auth.updateUserRoles", `{"userId":"`+bob+`","roleIds":["admin"]}`); err != nil {
			t.Fatal(err)
		}
		boss, err := f.PrincipalForUser(t.Context(), bob)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := f.call(boss, "auth.updateUserRoles", `{"userId":"`+f.admin.ID+`","roleIds":[]}`); err != nil {
			t.Fatal(err)
		}
		if _, err := f.call(boss, "auth.deleteUser", `{"userId":"`+f.admin.ID+`"}`); err != nil {
			t.Fatal(err)
		}
		if _, err := f.PrincipalForApplication(t.Context(), app["id"].(string)); err != nil {
			t.Error(err)
		}
	})
}

// TestSecretsNeverLeak looks for passwords, tokens and keys in every answer,
// error, log line and table.
func TestSecretsNeverLeak(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ctx := t.Context()
		in := f.login("ada@example.com")
		app, key, err := f.CreateApplication(f.as(f.admin), "CI", "", []string{})
		if err != nil {
			t.Fatal(err)
		}
		_, keySecret, _ := parseKey(key.Reveal())
		secrets := []string{goodPassword, in.Token.Reveal(), key.Reveal(), keySecret.Reveal(), "canary-secret"}
		var seen []string
		note := func(where string, v any, err error) {
			seen = append(seen, fmt.Sprintf("%s: %v %+v %v", where, v, v, err))
		}
		_, err = f.Login(ctx, "ada@example.com", secret.New("canary-secret"), Client{Address: "192.0.2.1"})
		note("login", nil, err)
		_, err = f.PrincipalForKey(ctx, key.Reveal()+"x")
		note("key", nil, err)
		_, err = f.PrincipalForSession(ctx, in.Token.Reveal()+"x")
		note("session", nil, err)
		note("values", in, nil)
		note("account", account("Ada", "ada@example.com"), nil)
		for id, row := range operationRows {
			if id == "auth.deleteApplication" || id == "auth.regenerateApplicationSecret" || id == "auth.changePassword" || id == "auth.createApplication" {
				continue
			}
			out, err := f.call(f.admin, id, strings.ReplaceAll(row.valid, "%s", app.ID))
			note(id, out, err)
			for text := range row.invalid {
				_, err := f.call(f.admin, id, text)
				note(id, nil, err)
			}
		}
		note("log", f.log.String(), nil)
		for table, columns := range map[string]string{
			"users": "id || name || email || email_key", "credentials": "password_hash", "sessions": "id || token_hash || ip_address || user_agent",
			"applications": "id || name || description || secret_hash", "throttles": "key", "settings": "key || value"} {
			var rows []string
			if err := d.Read.NewRaw("SELECT "+columns+" FROM "+table).Scan(ctx, &rows); err != nil {
				t.Fatal(err)
			}
			note(table, rows, nil)
		}
		for _, text := range seen {
			for _, s := range secrets {
				if strings.Contains(text, s) {
					t.Errorf("leaked: %s", text)
				}
			}
		}
	})
}
