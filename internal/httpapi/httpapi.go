// Package httpapi is the HTTP server: it turns a request's credentials into a
// principal, guards every answer with the same headers and limits, and mounts
// what the rest of the product serves. It knows no domain; identity gives it
// an Authenticator.
//
// Read server.go for the order of the layers.
package httpapi

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
)

// Authenticator turns credentials into principals. An unknown or expired
// credential is problem.Unauthenticated.
type Authenticator interface {
	// PrincipalForSession looks a session cookie's value up.
	PrincipalForSession(ctx context.Context, token string) (authz.Principal, error)
	// PrincipalForKey looks an application key up.
	PrincipalForKey(ctx context.Context, key string) (authz.Principal, error)
	// Guest gives the principal of a caller without credentials.
	Guest(ctx context.Context) (authz.Principal, error)
}

const (
	// maxBody bounds every request body, in bytes.
	maxBody = 1 << 20
	// maxHeader bounds request headers, in bytes.
	maxHeader = 64 << 10
)

// Probe is one thing that must work before the process is ready.
type Probe struct {
	Name string
	// Check says what is wrong, in words for an operator; it gets a second.
	Check func(context.Context) error
}

// Deps are what the server serves.
type Deps struct {
	Log  *slog.Logger
	Auth Authenticator
	// SessionCookie is the name of the cookie whose value Auth understands.
	SessionCookie string
	BaseURL       string // as in BASE_URL
	Version       string
	// Proxies are the networks whose X-Forwarded-For is believed.
	Proxies []netip.Prefix
	Probes  []Probe
	// Mount registers handlers on the mux; they run behind authentication.
	Mount func(*http.ServeMux)
	// MountOpen registers handlers that identify their callers themselves and
	// give a cookie no power: they run before authentication and the cross-origin
	// check. May be nil.
	MountOpen func(*http.ServeMux)
	// Config gives the body of /api/config.
	Config func(context.Context) (any, error)
	// UI is the built web application, nil when the binary has none.
	UI fs.FS
}

// Server listens on one address.
type Server struct {
	http     *http.Server
	listener net.Listener
	handler  http.Handler
	log      *slog.Logger
}

// New builds the server without listening.
func New(d Deps) *Server {
	h := newHandler(d)
	return &Server{handler: h, log: d.Log, http: &http.Server{
		Handler:           h,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      60 * time.Second, // streams lift it for themselves
		IdleTimeout:       120 * time.Second,
		MaxHeaderBytes:    maxHeader,
		ErrorLog:          slog.NewLogLogger(d.Log.Handler(), slog.LevelDebug),
	}}
}

// Handler gives the whole chain, for tests that need no socket.
func (s *Server) Handler() http.Handler { return s.handler }

// Listen takes the address; it fails when another process has it.
func (s *Server) Listen(addr string) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	s.listener = l
	return nil
}

// Addr gives the address taken by Listen.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Serve answers until Shutdown. base is the context of every request, ended
// when the process stops for good.
func (s *Server) Serve(base context.Context) error {
	s.http.BaseContext = func(net.Listener) context.Context { return base }
	if err := s.http.Serve(s.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// lastWords is how long requests have to answer after they were cancelled.
const lastWords = time.Second

// Shutdown stops listening and lets running requests finish until ctx ends.
// Then cancel ends the context of those that still run, and they have a moment
// to say so before their connections are closed.
func (s *Server) Shutdown(ctx context.Context, cancel context.CancelFunc) error {
	defer cancel()
	if s.http.Shutdown(ctx) == nil {
		return nil
	}
	cancel()
	last, done := context.WithTimeout(context.WithoutCancel(ctx), lastWords)
	defer done()
	if s.http.Shutdown(last) == nil {
		return nil
	}
	return s.http.Close()
}
