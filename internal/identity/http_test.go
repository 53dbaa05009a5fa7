package identity

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// site is the sign-in endpoints behind a small edge, and one browser.
type site struct {
	t       *testing.T
	s       *Service
	handler http.Handler
	cookie  string
	address string
}

func newSite(t *testing.T, d *db.DB, https bool) *site {
	t.Helper()
	v := &site{t: t, address: "192.0.2.1"}
	c := newClock()
	v.s = replica(t, d, c, discard())
	if err := v.s.SyncRules(t.Context(), allRules()); err != nil {
		t.Fatal(err)
	}
	inner := v.s.AuthHandler(HTTPConfig{SecureCookie: https, ClientAddress: func(*http.Request) string { return v.address }})
	v.handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := v.s.PrincipalForSession(r.Context(), SessionToken(r).Reveal())
		if problem.Is(err, problem.KindUnauthenticated) {
			p, err = v.s.Guest(r.Context())
		}
		if err != nil {
			t.Error(err)
		}
		inner.ServeHTTP(w, r.WithContext(authz.With(r.Context(), p)))
	})
	return v
}

type reply struct {
	status int
	header http.Header
	body   map[string]any
	text   string
	cookie *http.Cookie
}

func (v *site) send(method, path, body string, edit ...func(*http.Request)) reply {
	v.t.Helper()
	r := httptest.NewRequestWithContext(context.Background(), method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("User-Agent", "Test\xff Browser")
	if v.cookie != "" {
		r.AddCookie(&http.Cookie{Name: SessionCookie, Value: v.cookie})
	}
	for _, e := range edit {
		e(r)
	}
	w := httptest.NewRecorder()
	v.handler.ServeHTTP(w, r)
	res := w.Result()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	out := reply{status: res.StatusCode, header: res.Header, text: string(text)}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out.body); err != nil {
			v.t.Fatalf("%s %s answers %q", method, path, text)
		}
	}
	for _, c := range res.Cookies() {
		if c.Name == SessionCookie {
			out.cookie = c
			v.cookie = c.Value
		}
	}
	return out
}

const adaForm = `{"name":"Ada","email":"ada@example.com","password":"` + goodPassword + `"}`
const adaLogin = `{"email":"ada@example.com","password":"` + goodPassword + `"}`

func TestAuthEndpoints(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		v := newSite(t, d, true)
		guest := v.send("GET", "/api/auth/session", "")
		if diff := cmp.Diff(map[string]any{"authenticated": false, "roles": []any{"anonymous"}, "rules": []any{"catalog.system.read"}}, guest.body); diff != "" {
			t.Error(diff)
		}
		in := v.send("POST", "/api/auth/onboarding", adaForm)
		if in.status != 200 || in.cookie == nil {
			t.Fatalf("onboarding: %d %s", in.status, in.text)
		}
		if c := in.cookie; !c.HttpOnly || !c.Secure || c.SameSite != http.SameSiteLaxMode || c.Path != "/" || c.Domain != "" || c.MaxAge != int(SessionMax.Seconds()) {
			t.Errorf("cookie %+v", c)
		}
		if strings.Contains(in.text, in.cookie.Value) {
			t.Error("the token is in the body, where scripts can read it")
		}
		if in.header.Get("Cache-Control") != "no-store" {
			t.Error("the answer may be cached")
		}
		user := map[string]any{"id": in.body["user"].(map[string]any)["id"], "name": "Ada", "email": "ada@example.com"}
		want := map[string]any{"authenticated": true, "user": user, "roles": []any{"admin"}, "rules": []any{"*"}}
		if diff := cmp.Diff(want, in.body); diff != "" {
			t.Error(diff)
		}
		if again := v.send("POST", "/api/auth/onboarding", adaForm); again.status != 403 || again.body["message"] != "Onboarding has already been completed." {
			t.Errorf("second onboarding: %d %s", again.status, again.text)
		}
		if me := v.send("GET", "/api/auth/session", ""); !cmp.Equal(me.body, want) {
			t.Errorf("session: %v", me.body)
		}

		// Sign in again: another token, and the old one is dead.
		old := v.cookie
		login := v.send("POST", "/api/auth/login", adaLogin)
		if login.status != 200 || !cmp.Equal(login.body, want) || v.cookie == old {
			t.Fatalf("login: %d %s", login.status, login.text)
		}
		fresh := v.cookie
		v.cookie = old
		if me := v.send("GET", "/api/auth/session", ""); me.body["authenticated"] != false {
			t.Error("the token before the sign-in still works")
		}

		// Sign out: the cookie goes, and so does the session behind it.
		v.cookie = fresh
		out := v.send("POST", "/api/auth/logout", "")
		if out.status != 204 || out.text != "" || out.cookie == nil || out.cookie.MaxAge >= 0 || out.cookie.Value != "" {
			t.Errorf("logout: %d %+v", out.status, out.cookie)
		}
		v.cookie = fresh
		if me := v.send("GET", "/api/auth/session", ""); me.body["authenticated"] != false {
			t.Error("the signed-out token still works")
		}
		v.cookie = ""
		if out := v.send("POST", "/api/auth/logout", ""); out.status != 204 {
			t.Errorf("logout of a guest: %d", out.status)
		}

		// Session fixation: a cookie somebody planted is not adopted.
		planted := strings.Repeat("A", tokenTextLen)
		v.cookie = planted
		if login := v.send("POST", "/api/auth/login", adaLogin); login.status != 200 || v.cookie == planted {
			t.Errorf("planted cookie: %d", login.status)
		}
		v.cookie = planted
		if me := v.send("GET", "/api/auth/session", ""); me.body["authenticated"] != false {
			t.Error("the planted token became a session")
		}

		reg := v.send("POST", "/api/auth/register", `{"name":"Bob","email":"bob@example.com","password":"Matrix-1999"}`)
		if reg.status != 200 || !cmp.Equal(reg.body["roles"], any([]any{"users"})) {
			t.Errorf("register: %d %s", reg.status, reg.text)
		}
		var agents []string
		if err := d.Read.NewRaw("SELECT DISTINCT user_agent FROM sessions").Scan(t.Context(), &agents); err != nil || !cmp.Equal(agents, []string{"Test Browser"}) {
			t.Errorf("stored user agents %q, %v", agents, err)
		}
	})
}

func TestAuthEndpointRefusals(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		v := newSite(t, d, false)
		for _, tc := range []struct {
			path, body string
			status     int
			issues     []string
		}{
			{"onboarding", `{}`, 400, []string{"email", "name", "password"}},
			{"onboarding", ``, 400, []string{"email", "name", "password"}},
			{"onboarding", `{"name":"","password":"canary-secret","extra":1}`, 400, []string{"email", "extra", "name", "password", "password"}},
			{"onboarding", `{"name":"A","email":"no","password":"canary"}`, 400, []string{"email", "password", "password", "password"}},
			{"onboarding", `{"name":"A","email":"a@b","password":null}`, 400, []string{"password"}},
			{"onboarding", `{"name":"a\u0000","email":"a@b","password":"Matrix-1999"}`, 400, []string{"name", "name"}},
			{"onboarding", `{"name":`, 400, []string{""}},
			{"onboarding", `{"name":"` + strings.Repeat("a", maxAuthBody) + `"}`, 413, nil},
			{"register", adaForm, 403, nil},
			{"login", `{"email":5}`, 400, []string{"email", "password"}},
			{"login", `{"email":"ada@example.com","password":"canary-secret"}`, 401, nil},
			{"nothing", `{}`, 404, nil},
		} {
			got := v.send("POST", "/api/auth/"+tc.path, tc.body)
			var paths []string
			if list, ok := got.body["issues"].([]any); ok {
				for _, is := range list {
					paths = append(paths, is.(map[string]any)["path"].(string))
				}
			}
			if got.status != tc.status || !cmp.Equal(paths, tc.issues) {
				t.Errorf("%s %.60s: %d %s", tc.path, tc.body, got.status, got.text)
			}
			if got.body["code"] == "" || got.body["message"] == "" || strings.Contains(got.text, "canary") || got.cookie != nil {
				t.Errorf("%s %.60s: %s", tc.path, tc.body, got.text)
			}
		}
		onlyPassword := v.send("POST", "/api/auth/onboarding", `{"name":"A","email":"a@b","password":"short"}`)
		want := "Password must be at least 8 characters, Password must contain at least one uppercase letter, Password must contain at least one number"
		if onlyPassword.body["message"] != want {
			t.Errorf("message %q", onlyPassword.body["message"])
		}
		// A form of another site cannot send JSON.
		form := v.send("POST", "/api/auth/login", adaLogin, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") })
		if form.status != 400 {
			t.Errorf("text/plain: %d", form.status)
		}
		if get := v.send("GET", "/api/auth/login", ""); get.status != 404 {
			t.Errorf("GET login: %d", get.status)
		}

		if in := v.send("POST", "/api/auth/onboarding", adaForm); in.status != 200 || in.cookie.Secure {
			t.Fatalf("onboarding over http: %d, secure %v", in.status, in.cookie.Secure)
		}
		v.cookie, v.address = "", "192.0.2.77"
		for range 10 {
			wrong := v.send("POST", "/api/auth/login", `{"email":"ada@example.com","password":"wrong"}`)
			if wrong.status != 401 || wrong.body["message"] != "Invalid email or password" {
				t.Fatalf("wrong password: %d %s", wrong.status, wrong.text)
			}
		}
		held := v.send("POST", "/api/auth/login", adaLogin)
		if held.status != 429 || held.header.Get("Retry-After") == "" || held.cookie != nil {
			t.Errorf("eleventh attempt: %d, Retry-After %q", held.status, held.header.Get("Retry-After"))
		}
	})
}

func TestSessionOfAnApplicationAndOfADeadDatabase(t *testing.T) {
	t.Parallel()
	d := dbtest.SQLite(t)
	s := replica(t, d, newClock(), discard())
	h := s.AuthHandler(HTTPConfig{ClientAddress: func(*http.Request) string { return "" }})
	ask := func(p authz.Principal, method, path string) (int, string) {
		r := httptest.NewRequestWithContext(authz.With(t.Context(), p), method, path, strings.NewReader(adaLogin))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	status, body := ask(authz.Principal{Kind: authz.Application, ID: nowhere, Rules: []string{"a.b.read"}}, "GET", "/api/auth/session")
	if want := `{"authenticated":true,"roles":[],"rules":["a.b.read"]}`; status != 200 || strings.TrimSpace(body) != want {
		t.Errorf("application: %d %s", status, body)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	status, body = ask(authz.Principal{}, "POST", "/api/auth/login")
	if status != 500 || strings.Contains(body, "sql") || !strings.Contains(body, "INTERNAL_SERVER_ERROR") {
		t.Errorf("without a database: %d %s", status, body)
	}
}
