package oauth

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// How long things live.
const (
	requestLife = 30 * time.Minute // includes signing in first
	codeLife    = time.Minute
	accessLife  = 15 * time.Minute
	refreshLife = 30 * 24 * time.Hour
	// refreshGrace is how long a used refresh token may be repeated.
	refreshGrace = 10 * time.Second
)

// MCPPath is the path of the one resource that tokens are for.
const MCPPath = "/api/ai/mcp"

const mount = "/api/auth/oauth2"

// people is what this package asks of identity.
type people interface {
	// PrincipalForUser gives a person with the rules of this moment; one that is
	// gone or may not sign in is an error.
	PrincipalForUser(ctx context.Context, userID string) (authz.Principal, error)
}

// Deps are the parts a Server is made of.
type Deps struct {
	DB     *db.DB
	People people
	// Rules gives every access rule that exists.
	Rules func() []authz.Rule
	// HTTP fetches metadata documents from addresses that strangers name; it
	// must refuse everything but public addresses and must not follow redirects.
	HTTP *http.Client
	// BaseURL is the public address, without a slash at the end.
	BaseURL string
	// ClientAddress gives the address a request came from.
	ClientAddress func(*http.Request) string
	Log           *slog.Logger
	Now           func() time.Time
}

// Server is the authorization server.
type Server struct {
	db      *db.DB
	people  people
	rules   func() []authz.Rule
	http    *http.Client
	base    string
	address func(*http.Request) string
	log     *slog.Logger
	now     func() time.Time

	settings shared[Settings]
}

// New makes a server. It does no I/O.
func New(d Deps) *Server {
	s := &Server{db: d.DB, people: d.People, rules: d.Rules, http: d.HTTP, base: strings.TrimSuffix(d.BaseURL, "/"),
		address: d.ClientAddress, log: d.Log, now: d.Now}
	if s.now == nil {
		s.now = time.Now
	}
	s.settings.read = s.readSettings
	return s
}

// ReadDocumentsWith replaces the client that reads metadata documents; call it
// before the server serves.
func (s *Server) ReadDocumentsWith(c *http.Client) { s.http = c }

func (s *Server) clock() time.Time { return db.Time(s.now()) }

// Resource gives the address of the MCP endpoint, the audience of every token.
func (s *Server) Resource() string { return s.base + MCPPath }

// Mount serves what clients call: no cookie gives these endpoints any power,
// so every origin may use them.
func (s *Server) Mount(mux *http.ServeMux) {
	for _, path := range []string{"/.well-known/oauth-authorization-server", mount + "/.well-known/oauth-authorization-server",
		"/api/auth/.well-known/oauth-authorization-server"} {
		s.open(mux, "GET", path, s.serverMetadata)
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource", "/.well-known/oauth-protected-resource" + MCPPath,
		"/.well-known/oauth-protected-resource" + MCPPath + "/{$}"} {
		s.open(mux, "GET", path, s.resourceMetadata)
	}
	s.open(mux, "POST", mount+"/register", s.enabled(s.register))
	s.open(mux, "POST", mount+"/token", s.enabled(s.token))
	s.open(mux, "POST", mount+"/revoke", s.enabled(s.revoke))
}

// MountBrowser serves what a person's browser visits, behind the session
// cookie and the cross-origin check.
func (s *Server) MountBrowser(mux *http.ServeMux) {
	mux.HandleFunc("GET "+mount+"/authorize", s.authorize)
	mux.HandleFunc("GET "+mount+"/consent", s.showConsent)
	mux.HandleFunc("POST "+mount+"/consent", s.decideConsent)
}

// open serves a path to every origin.
func (s *Server) open(mux *http.ServeMux, method, path string, h http.HandlerFunc) {
	mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
		allowOrigins(w)
		switch r.Method {
		case method:
			h(w, r)
		case http.MethodOptions:
			w.Header().Set("Access-Control-Allow-Methods", method+", OPTIONS")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization, Content-Type, MCP-Protocol-Version")
			w.Header().Set("Access-Control-Max-Age", "86400")
			w.WriteHeader(http.StatusNoContent)
		default:
			w.Header().Set("Allow", method+", OPTIONS")
			writeFault(w, &fault{http.StatusMethodNotAllowed, "invalid_request", "this address takes " + method})
		}
	})
}

func allowOrigins(w http.ResponseWriter) {
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Cross-Origin-Resource-Policy", "cross-origin")
}

// enabled refuses while the server is switched off.
func (s *Server) enabled(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		set, err := s.Settings(r.Context())
		switch {
		case err != nil:
			s.fail(w, r, err)
		case !set.Enabled:
			writeFault(w, &fault{http.StatusNotFound, "invalid_request", "access for outside agents is switched off on this installation"})
		default:
			h(w, r)
		}
	}
}

// fault is an error in the words of RFC 6749 5.2.
type fault struct {
	status      int
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func (f *fault) Error() string { return f.Code + ": " + f.Description }

func badRequest(code, description string) *fault {
	return &fault{http.StatusBadRequest, code, description}
}

func writeFault(w http.ResponseWriter, f *fault) {
	if f.status == http.StatusUnauthorized {
		w.Header().Set("WWW-Authenticate", `Basic realm="Checkstack"`)
	}
	writeJSON(w, f.status, f)
}

// fail answers an error of any kind.
func (s *Server) fail(w http.ResponseWriter, r *http.Request, err error) {
	if f, ok := err.(*fault); ok { //nolint:errorlint // faults are returned as they are
		writeFault(w, f)
		return
	}
	if p, ok := problem.As(err); ok && p.Kind == problem.KindUnavailable {
		writeFault(w, &fault{http.StatusServiceUnavailable, "temporarily_unavailable", p.Message})
		return
	}
	s.log.ErrorContext(r.Context(), "authorization server failed", "path", r.URL.Path, "error", err)
	writeFault(w, &fault{http.StatusInternalServerError, "server_error", "something went wrong; the server's log says what"})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	h := w.Header()
	h.Set("Content-Type", "application/json; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}
