package mcp

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/oauth"
	"github.com/checkstack/checkstack/internal/problem"
)

// The JSON-RPC error codes of this server, spec/ai-platform.md 30.
const (
	codeUnauthorized  = -32001
	codeForbidden     = -32003
	codeBudget        = -32010
	codeInvalidParams = -32602
)

const (
	maxBody = 1 << 20
	mcpPath = oauth.MCPPath
)

// keys is what this package asks of identity.
type keys interface {
	// PrincipalForKey gives the application of a key, else
	// problem.Unauthenticated.
	PrincipalForKey(ctx context.Context, key string) (authz.Principal, error)
}

// Document is a page that clients can read as a resource.
type Document struct {
	Slug, Title, Text string
}

// Prompt is a way of working that clients can offer to their person.
type Prompt struct {
	Name, Description, Text string
}

// Deps are the parts a Server is made of.
type Deps struct {
	Tools   *tool.Registry
	Gate    *proposal.Gate
	OAuth   *oauth.Server
	Keys    keys
	Docs    []Document
	Prompts []Prompt
	// BaseURL is the public address of the installation.
	BaseURL string
	Version string
	Log     *slog.Logger
}

// Server serves MCP.
type Server struct {
	gate    *proposal.Gate
	oauth   *oauth.Server
	keys    keys
	base    *url.URL
	log     *slog.Logger
	handler http.Handler
}

// New makes a server. It fails when a tool's schema cannot be read.
func New(d Deps) (*Server, error) {
	base, err := url.Parse(d.BaseURL)
	if err != nil {
		return nil, err
	}
	s := &Server{gate: d.Gate, oauth: d.OAuth, keys: d.Keys, base: base, log: d.Log}
	server := sdk.NewServer(&sdk.Implementation{Name: "checkstack", Title: "Checkstack", Version: d.Version}, &sdk.ServerOptions{
		Instructions: "Checkstack watches systems: health checks, incidents, maintenances. Begin with system_issues to see what needs attention. " +
			"Resolve names to ids with the list tools. Times need an explicit offset. " +
			"Tools that change something only store a proposal: a person approves it in Checkstack.",
		PageSize:     1000,
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{}, Resources: &sdk.ResourceCapabilities{}, Prompts: &sdk.PromptCapabilities{}},
		// What a caller may see is theirs alone.
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.CacheScope, c.TTLMs = "private", 0 },
		Logger:       slog.New(slog.DiscardHandler),
	})
	if err := s.addTools(server, d.Tools); err != nil {
		return nil, err
	}
	s.addDocs(server, d.Docs)
	s.addPrompts(server, d.Prompts)
	server.AddReceivingMiddleware(s.visible)
	s.handler = s.chain(stream(server, true))
	return s, nil
}

// stream speaks the protocol for a server. A tool of ours sends nothing before
// its result, so the answer is one JSON document; whole also lets the status
// wait for the outcome.
func stream(server *sdk.Server, whole bool) http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, &sdk.StreamableHTTPOptions{
		Stateless: true, JSONResponse: whole, PropagateRequestCancellation: true,
		// This server checks Host itself (host): behind a proxy on the same machine
		// a foreign one is right.
		DisableLocalhostProtection: true,
	})
}

// Handler serves MCP at oauth.MCPPath.
func (s *Server) Handler() http.Handler { return s.handler }

// chain is what a request goes through before the protocol: where it comes
// from, whether MCP is on, who asks.
func (s *Server) chain(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if why := s.foreign(r); why != "" {
			fail(w, http.StatusForbidden, codeForbidden, why)
			return
		}
		cors(w, r)
		if r.Method == http.MethodOptions {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		set, err := s.oauth.Settings(r.Context())
		if err != nil {
			s.broken(w, r, err)
			return
		}
		if !set.Enabled {
			fail(w, http.StatusNotFound, codeForbidden, "Access for outside agents is switched off on this installation; an administrator can turn it on in the settings")
			return
		}
		p, scopes, err := s.caller(r)
		if errors.Is(err, errCredentials) {
			header, says := s.challenge(r, set)
			w.Header().Set("WWW-Authenticate", header)
			fail(w, http.StatusUnauthorized, codeUnauthorized, says)
			return
		}
		if err != nil {
			s.broken(w, r, err)
			return
		}
		ctx := context.WithValue(authz.With(r.Context(), p), callKey{}, &call{proposals: set.AllowProposals, scopes: scopes})
		s.speak(w, r.WithContext(ctx), next)
	})
}

var errCredentials = errors.New("no acceptable credentials")

// caller finds out who asks, and with a token what it was given. A cookie means
// nothing here.
func (s *Server) caller(r *http.Request) (p authz.Principal, scopes []string, err error) {
	header := r.Header.Get("Authorization")
	scheme, token, _ := strings.Cut(header, " ")
	token = strings.TrimSpace(token)
	if !strings.EqualFold(scheme, "Bearer") || token == "" || len(r.Header.Values("Authorization")) > 1 {
		return authz.Principal{}, nil, errCredentials
	}
	if strings.HasPrefix(token, keyPrefix) {
		p, err := s.keys.PrincipalForKey(r.Context(), token)
		if problem.Is(err, problem.KindUnauthenticated) {
			return p, nil, errCredentials
		}
		return p, nil, err
	}
	access, err := s.oauth.Verify(r.Context(), token)
	if errors.Is(err, oauth.ErrToken) {
		return authz.Principal{}, nil, errCredentials
	}
	return access.Principal, access.Scopes, err
}

// keyPrefix begins the keys of applications.
const keyPrefix = "ck_"

// challenge gives the WWW-Authenticate header of a 401 and what its body says.
func (s *Server) challenge(r *http.Request, set oauth.Settings) (header, says string) {
	_, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	switch {
	case token == "":
		return s.oauth.Challenge("", "", set.Scope()), "Authentication required: sign in, or send the key of an application as Authorization: Bearer " + keyPrefix + "…"
	case strings.HasPrefix(strings.TrimSpace(token), keyPrefix):
		says = "The key is unknown or was replaced"
	default:
		says = "The token is unknown, expired or revoked"
	}
	return s.oauth.Challenge("invalid_token", says, set.Scope()), "Authentication required: " + strings.ToLower(says[:1]) + says[1:]
}

// foreign says why a request does not belong here. Host must be the public
// one, or this machine's, as it is when a proxy does not pass the name on; a
// browser's Origin must be the public one. That ends DNS rebinding.
func (s *Server) foreign(r *http.Request) string {
	if !strings.EqualFold(r.Host, s.base.Host) && !thisMachine(r.Host) {
		return "This address does not belong to the installation: its public address (BASE_URL) is " + s.base.String()
	}
	if origin := r.Header.Get("Origin"); origin != "" {
		u, err := url.Parse(origin)
		if err != nil || u.Host == "" || (!strings.EqualFold(u.Host, s.base.Host) && !thisMachine(u.Host)) {
			return "Pages of this origin may not call this server"
		}
	}
	return ""
}

// thisMachine says whether a host, with or without a port, is the machine
// itself.
func thisMachine(hostport string) bool {
	u, err := url.Parse("//" + hostport) // refuses a port that is no number
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return strings.EqualFold(u.Hostname(), "localhost") || (ip != nil && ip.IsLoopback())
}

// cors lets pages that foreign let through read the answer.
func cors(w http.ResponseWriter, r *http.Request) {
	origin := r.Header.Get("Origin")
	if origin == "" {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "WWW-Authenticate, Mcp-Session-Id")
	if r.Method == http.MethodOptions {
		h.Set("Access-Control-Allow-Methods", "POST, OPTIONS")
		h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Mcp-Protocol-Version, Mcp-Session-Id, Mcp-Method, Mcp-Name, Last-Event-ID")
		h.Set("Access-Control-Max-Age", "86400")
	}
}

func (s *Server) broken(w http.ResponseWriter, r *http.Request, err error) {
	if p, ok := problem.As(err); ok && p.Kind == problem.KindUnavailable {
		fail(w, http.StatusServiceUnavailable, codeInternal, p.Message)
		return
	}
	s.log.ErrorContext(r.Context(), "MCP request failed", "error", err)
	fail(w, http.StatusInternalServerError, codeInternal, "Something went wrong; the server's log says what")
}

type callKey struct{}

// call is what a request learns on its way: whether changes may be proposed,
// and what its tool call means for the HTTP status.
type call struct {
	proposals bool
	status    int
	scopes    []string      // what the caller's token was given
	scope     string        // with it, what a forbidden call lacked
	wait      time.Duration // until there is budget again
}

func callOf(ctx context.Context) *call {
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		return c
	}
	return &call{}
}
