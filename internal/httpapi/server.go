package httpapi

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"runtime/debug"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/logging"
	"github.com/checkstack/checkstack/internal/problem"
)

// newHandler builds the chain. From the outside in: correlation id and access
// log, panic guard, security headers, body limit, cross-origin check,
// credentials, routes.
func newHandler(d Deps) http.Handler {
	api := http.NewServeMux()
	if d.Mount != nil {
		d.Mount(api)
	}
	api.HandleFunc("GET /api/config", func(w http.ResponseWriter, r *http.Request) {
		body, err := d.Config(r.Context())
		if err != nil {
			if problem.Write(w, err) {
				d.Log.ErrorContext(r.Context(), "config failed", "error", err)
			}
			return
		}
		writeJSON(w, http.StatusOK, body)
	})

	root := http.NewServeMux()
	probes(root, d)
	guarded := open(d, crossOrigin(d, authenticate(d, unknownAPI(api))))
	for _, prefix := range apiPrefixes {
		root.Handle(prefix, guarded)
	}
	root.Handle("/", ui(d))
	return correlate(d, recovery(d, secure(d, limit(root))))
}

// open lets the paths of MountOpen past the layers behind it.
func open(d Deps, guarded http.Handler) http.Handler {
	if d.MountOpen == nil {
		return guarded
	}
	mux := http.NewServeMux()
	d.MountOpen(mux)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, pattern := mux.Handler(r); pattern != "" {
			h.ServeHTTP(w, r)
			return
		}
		guarded.ServeHTTP(w, r)
	})
}

// apiPrefixes never fall back to the web application.
var apiPrefixes = []string{"/api/", "/rest/", "/.well-known/", "/mcp", "/oauth/"}

// unknownAPI answers paths that nobody serves with JSON, and a known path with
// the wrong method with the methods it has.
func unknownAPI(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		var allowed []string
		for _, m := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
			probe := &http.Request{Method: m, URL: r.URL, Host: r.Host}
			if _, pattern := mux.Handler(probe); pattern != "" {
				allowed = append(allowed, m)
			}
		}
		if len(allowed) > 0 {
			w.Header().Set("Allow", strings.Join(allowed, ", "))
			writeJSON(w, http.StatusMethodNotAllowed, problem.Body{Code: "METHOD_NOT_ALLOWED",
				Message: "This path takes " + strings.Join(allowed, ", ") + ", not " + r.Method})
			return
		}
		problem.Write(w, problem.NotFound("There is nothing at this address"))
	})
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body)
}

// CorrelationHeader names the header that carries a request's id both ways.
const CorrelationHeader = "x-correlation-id"

// correlate gives every request an id, taken from the caller when it is a
// plain one, and logs how the request ended.
func correlate(d Deps, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(CorrelationHeader)
		if !plainID(id) {
			id = uuid.NewString()
		}
		w.Header().Set(CorrelationHeader, id)
		ctx := logging.WithCorrelation(r.Context(), id)
		if !d.Log.Enabled(ctx, slog.LevelDebug) {
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		sw := &statusWriter{ResponseWriter: w, status: http.StatusOK}
		start := time.Now()
		next.ServeHTTP(sw, r.WithContext(ctx))
		d.Log.DebugContext(ctx, "request", "method", r.Method, "path", r.URL.Path, "status", sw.status,
			"duration_ms", time.Since(start).Milliseconds())
	})
}

// plainID keeps what a caller sends from writing into logs what it likes.
func plainID(s string) bool {
	return s != "" && len(s) <= 128 && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.' || r == ':')
	})
}

type statusWriter struct {
	http.ResponseWriter
	status int
}

func (w *statusWriter) WriteHeader(code int) {
	w.status = code
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach the connection.
func (w *statusWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func recovery(d Deps, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			v := recover()
			if v == nil {
				return
			}
			if err, ok := v.(error); ok && errors.Is(err, http.ErrAbortHandler) {
				panic(v)
			}
			d.Log.ErrorContext(r.Context(), "request panicked", "path", r.URL.Path, "panic", v, "stack", string(debug.Stack()))
			problem.Write(w, errPanic)
		}()
		next.ServeHTTP(w, r)
	})
}

type panicError struct{}

func (panicError) Error() string { return "panic" }

var errPanic error = panicError{}

// contentPolicy allows the application's own files and nothing else: no inline
// script, no foreign image (a model's answer could leak through its address).
const contentPolicy = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func secure(d Deps, next http.Handler) http.Handler {
	https := strings.HasPrefix(d.BaseURL, "https://")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Security-Policy", contentPolicy)
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("X-Frame-Options", "DENY")
		h.Set("Referrer-Policy", "same-origin")
		h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		if https {
			h.Set("Strict-Transport-Security", "max-age=31536000")
		}
		next.ServeHTTP(w, r)
	})
}

func limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		next.ServeHTTP(w, r)
	})
}

// crossOrigin refuses state-changing requests that a foreign page makes with
// the browser's cookie. Requests without a cookie carry no one's rights.
func crossOrigin(d Deps, next http.Handler) http.Handler {
	guard := http.NewCrossOriginProtection()
	if u, err := url.Parse(d.BaseURL); err == nil && u.Host != "" {
		_ = guard.AddTrustedOrigin(d.BaseURL) // behind a proxy Host may differ
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "" {
			if err := guard.Check(r); err != nil {
				problem.Write(w, problem.Forbidden("This request came from another site and was refused"))
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// authenticate puts the caller into the context. A bearer value is never
// passed over in favour of a cookie; a bad one is refused, while a stale
// cookie makes a guest, so that the login page still loads.
func authenticate(d Deps, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p, err := principal(d, r)
		if err != nil {
			if problem.Is(err, problem.KindUnauthenticated) {
				w.Header().Set("WWW-Authenticate", "Bearer")
			}
			if problem.Write(w, err) {
				d.Log.ErrorContext(r.Context(), "caller could not be identified", "error", err)
			}
			return
		}
		next.ServeHTTP(w, r.WithContext(authz.With(r.Context(), p)))
	})
}

func principal(d Deps, r *http.Request) (authz.Principal, error) {
	if header := r.Header.Get("Authorization"); header != "" {
		scheme, value, _ := strings.Cut(header, " ")
		if !strings.EqualFold(scheme, "Bearer") || value == "" {
			return authz.Principal{}, problem.Unauthenticated("Authorization must be: Bearer ck_…")
		}
		return d.Auth.PrincipalForKey(r.Context(), strings.TrimSpace(value))
	}
	if c, err := r.Cookie(d.SessionCookie); err == nil {
		p, err := d.Auth.PrincipalForSession(r.Context(), c.Value)
		if err == nil || !problem.Is(err, problem.KindUnauthenticated) {
			return p, err
		}
	}
	return d.Auth.Guest(r.Context())
}

// Principal gives the caller of a request anew, for streams that outlive the
// first look.
func Principal(auth Authenticator, sessionCookie string) func(*http.Request) (authz.Principal, error) {
	return func(r *http.Request) (authz.Principal, error) {
		return principal(Deps{Auth: auth, SessionCookie: sessionCookie}, r)
	}
}
