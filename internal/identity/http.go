package identity

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"sort"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

// SessionCookie is the name of the cookie with the session token.
const SessionCookie = "checkstack_session"

// maxAuthBody bounds the body of a sign-in; everything in it is short.
const maxAuthBody = 16 << 10

// HTTPConfig is what the sign-in endpoints need to know about the server.
type HTTPConfig struct {
	// SecureCookie keeps the session cookie to https; set it when the base URL
	// is https.
	SecureCookie bool
	// ClientAddress gives the address of the client without port. Which proxy
	// headers may be believed is the server's business.
	ClientAddress func(*http.Request) string
}

type (
	accountInput struct {
		Name     string `json:"name"`
		Email    string `json:"email"`
		Password string `json:"password"`
	}
	loginInput struct {
		Email    string `json:"email" maxLength:"1024"`
		Password string `json:"password" maxLength:"1024"`
	}
	sessionUser struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Email string `json:"email"`
	}
	// sessionOutput says who the browser is. It is 200 for guests, too.
	sessionOutput struct {
		Authenticated bool         `json:"authenticated"`
		User          *sessionUser `json:"user,omitempty"`
		Roles         []string     `json:"roles"`
		Rules         []string     `json:"rules"`
	}
)

var (
	accountSchema = operation.SchemaOf[accountInput]()
	loginSchema   = operation.SchemaOf[loginInput]()
)

// SessionToken gives the session token of the request's cookie, empty without
// one.
func SessionToken(r *http.Request) secret.String {
	c, err := r.Cookie(SessionCookie)
	if err != nil {
		return secret.String{}
	}
	return secret.New(c.Value)
}

type authHandler struct {
	*Service
	cfg HTTPConfig
}

// AuthHandler serves the endpoints under /api/auth/ that deal with the session
// cookie: onboarding, login, register, logout and session. The principal must
// already be in the request's context, and requests from other origins refused.
func (s *Service) AuthHandler(cfg HTTPConfig) http.Handler {
	h := authHandler{Service: s, cfg: cfg}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/auth/onboarding", h.answer(h.signUp(s.Onboard)))
	mux.HandleFunc("POST /api/auth/register", h.answer(h.signUp(s.Register)))
	mux.HandleFunc("POST /api/auth/login", h.answer(h.login))
	mux.HandleFunc("POST /api/auth/logout", h.answer(h.logout))
	mux.HandleFunc("GET /api/auth/session", h.answer(h.session))
	mux.HandleFunc("/", h.answer(func(http.ResponseWriter, *http.Request) (*sessionOutput, error) {
		return nil, problem.NotFound("There is nothing at this address")
	}))
	return mux
}

// answer writes what the endpoint gives; nil without an error is 204.
func (h authHandler) answer(serve func(http.ResponseWriter, *http.Request) (*sessionOutput, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		out, err := serve(w, r)
		if err != nil {
			if cause := r.Context().Err(); cause != nil && errors.Is(err, cause) {
				err = problem.Unavailable("The request was cancelled before it finished").Because(err)
			}
			if problem.Write(w, err) {
				h.log.ErrorContext(r.Context(), "sign-in endpoint failed", "path", r.URL.Path, "error", err)
			}
			return
		}
		w.Header().Set("Cache-Control", "no-store")
		if out == nil {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(out)
	}
}

func (h authHandler) signUp(create func(context.Context, NewAccount, Client) (SignedIn, error)) func(http.ResponseWriter, *http.Request) (*sessionOutput, error) {
	return func(w http.ResponseWriter, r *http.Request) (*sessionOutput, error) {
		a, err := readAccount(w, r)
		if err != nil {
			return nil, err
		}
		in, err := create(r.Context(), a, h.client(r))
		if err != nil {
			return nil, err
		}
		return h.signedIn(w, r, in)
	}
}

// readAccount reads a sign-up form. Beside what the schema finds it lists what
// is wrong with the fields that could be read, so that the person sees
// everything at once.
func readAccount(w http.ResponseWriter, r *http.Request) (NewAccount, error) {
	body, err := readBody(w, r)
	if err != nil {
		return NewAccount{}, err
	}
	var in accountInput
	schemaErr := accountSchema.Decode(body, &in)
	if schemaErr == nil {
		return NewAccount{Name: in.Name, Email: in.Email, Password: secret.New(in.Password)}, nil
	}
	var fields map[string]json.RawMessage
	found, ok := problem.As(schemaErr)
	if !ok || json.Unmarshal(body, &fields) != nil {
		return NewAccount{}, schemaErr
	}
	all := found.Issues
	check := func(name string, rule func(is *issues, text string)) {
		var text *string
		if json.Unmarshal(fields[name], &text) != nil || text == nil {
			return // missing or not a text: the schema has said so
		}
		var is issues
		rule(&is, *text)
		all = append(all, is...)
	}
	check("name", func(is *issues, text string) { is.name("name", text) })
	check("email", func(is *issues, text string) { is.email("email", text) })
	check("password", func(is *issues, text string) { is.password("password", secret.New(text)) })
	sort.SliceStable(all, func(i, j int) bool { return all[i].Path < all[j].Path })
	return NewAccount{}, problem.Invalid(found.Message, all...)
}

func (h authHandler) login(w http.ResponseWriter, r *http.Request) (*sessionOutput, error) {
	body, err := readBody(w, r)
	if err != nil {
		return nil, err
	}
	var form loginInput
	if err := loginSchema.Decode(body, &form); err != nil {
		return nil, err
	}
	in, err := h.Login(r.Context(), form.Email, secret.New(form.Password), h.client(r))
	if err != nil {
		return nil, err
	}
	return h.signedIn(w, r, in)
}

func (h authHandler) logout(w http.ResponseWriter, r *http.Request) (*sessionOutput, error) {
	if token := SessionToken(r); !token.Empty() {
		if err := h.SignOut(r.Context(), token); err != nil {
			return nil, err
		}
	}
	h.setCookie(w, "", -1)
	return nil, nil
}

func (h authHandler) session(_ http.ResponseWriter, r *http.Request) (*sessionOutput, error) {
	return h.describe(r.Context(), authz.From(r.Context()))
}

// signedIn sets the cookie and tells who the browser is now.
func (h authHandler) signedIn(w http.ResponseWriter, r *http.Request, in SignedIn) (*sessionOutput, error) {
	p, err := h.PrincipalForSession(r.Context(), in.Token.Reveal())
	if err != nil {
		return nil, err
	}
	out, err := h.describe(r.Context(), p)
	if err != nil {
		return nil, err
	}
	h.setCookie(w, in.Token.Reveal(), int(SessionMax/time.Second))
	return out, nil
}

func (h authHandler) describe(ctx context.Context, p authz.Principal) (*sessionOutput, error) {
	out := &sessionOutput{Authenticated: !p.IsGuest(), Roles: list(p.Roles), Rules: list(p.Rules)}
	if p.Kind == authz.User {
		u, err := h.store.user(ctx, h.db.Read, p.ID)
		if err != nil {
			return nil, err
		}
		out.User = &sessionUser{ID: u.ID, Name: u.Name, Email: u.Email}
	}
	return out, nil
}

// setCookie writes the session cookie. It lives as long as a session can; when
// the session ends is decided here, not by the browser.
func (h authHandler) setCookie(w http.ResponseWriter, value string, maxAge int) {
	http.SetCookie(w, &http.Cookie{
		Name: SessionCookie, Value: value, Path: "/", MaxAge: maxAge,
		HttpOnly: true, SameSite: http.SameSiteLaxMode, Secure: h.cfg.SecureCookie,
	})
}

func (h authHandler) client(r *http.Request) Client {
	return Client{Address: h.cfg.ClientAddress(r), UserAgent: r.UserAgent(), Previous: SessionToken(r)}
}

// readBody reads a bounded JSON body. The content type is required: a form of
// another site can post text, but not JSON.
func readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/json" {
		return nil, problem.Invalid("The body must be JSON; send it with Content-Type: application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxAuthBody))
	if err != nil {
		var tooLarge *http.MaxBytesError
		if errors.As(err, &tooLarge) {
			return nil, problem.TooLarge("The request body is larger than the %d bytes accepted here", tooLarge.Limit)
		}
		return nil, problem.Invalid("The request body could not be read").Because(err)
	}
	return body, nil
}
