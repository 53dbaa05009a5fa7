package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// ask is a checked request to authorize.
type ask struct {
	client    Client
	redirect  string
	scopes    []string
	state     string
	hasState  bool
	challenge string
	resource  string
}

const maxState = 2000

var challengePattern = regexp.MustCompile(`^[A-Za-z0-9_-]{43}$`)

// authorize is the authorization endpoint. Until the redirect address is known
// to be the client's, errors are shown on our own page; later ones go back to
// the client. A person who has not decided yet is sent to the consent page,
// which asks to sign in first if need be.
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) {
	ctx := r.Context()
	set, err := s.Settings(ctx)
	if err != nil {
		s.page(w, r, err)
		return
	}
	if !set.Enabled {
		s.page(w, r, &fault{http.StatusNotFound, "", "Access for outside agents is switched off on this installation. An administrator can turn it on in the settings."})
		return
	}
	if err := s.throttle(w, r); err != nil {
		s.page(w, r, err)
		return
	}
	a, late, early := s.readAsk(ctx, r.URL.RawQuery)
	if early != nil {
		s.page(w, r, early)
		return
	}
	if late != nil {
		s.sendBack(w, r, a, url.Values{"error": {late.Code}, "error_description": {late.Description}})
		return
	}
	if p := authz.From(ctx); p.Kind == authz.User && s.remembered(ctx, p.ID, a) {
		to, err := s.issueCode(ctx, p.ID, a)
		if err != nil {
			s.page(w, r, err)
			return
		}
		noStore(w)
		http.Redirect(w, r, to, http.StatusSeeOther)
		return
	}
	id, err := s.storeAsk(ctx, w, r, a)
	if err != nil {
		s.page(w, r, err)
		return
	}
	noStore(w)
	http.Redirect(w, r, s.base+"/auth/oauth-consent?request="+id, http.StatusSeeOther)
}

// How many requests to authorize may come from one address while nobody is
// signed in. Each keeps a row for a while and can have a metadata document read
// from wherever the sender likes, so they must not come without end.
const (
	askLimit  = 120
	askWindow = 10 * time.Minute
)

func (s *Server) throttle(w http.ResponseWriter, r *http.Request) error {
	if authz.From(r.Context()).Kind == authz.User {
		return nil
	}
	used, resets, err := s.count(r.Context(), "authorize:"+network(s.address(r)), askWindow)
	if err != nil || used <= askLimit {
		return err
	}
	w.Header().Set("Retry-After", strconv.Itoa(int(resets.Sub(s.now())/time.Second)+1))
	return &fault{http.StatusTooManyRequests, "", "Too many requests came from this address. Sign in to Checkstack first, or wait ten minutes, and start again from the client."}
}

func noStore(w http.ResponseWriter) { w.Header().Set("Cache-Control", "no-store") }

// readAsk checks a request to authorize. early is a fault that must not be
// redirected, late one that goes back to the client.
func (s *Server) readAsk(ctx context.Context, rawQuery string) (a ask, late *fault, early error) {
	q, err := url.ParseQuery(rawQuery)
	if err != nil {
		return a, nil, pageFault("The address is damaged: its query cannot be read.")
	}
	if name := repeated(q); name == "client_id" || name == "redirect_uri" {
		return a, nil, pageFault("The request gives " + name + " more than once.")
	}
	id := q.Get("client_id")
	if id == "" || len(id) > maxRedirectLen {
		return a, nil, pageFault("The request does not say which client it is for (client_id).")
	}
	a.client, err = s.lookup(ctx, id)
	if problem.Is(err, problem.KindNotFound) {
		return a, nil, pageFault("This installation does not know the client that sent you here. It may have been removed; the client must register again.")
	}
	if f, ok := err.(*fault); ok { //nolint:errorlint // faults are returned as they are
		return a, nil, pageFault("The client that sent you here cannot be identified: " + f.Description + ".")
	}
	if err != nil {
		return a, nil, err
	}
	a.redirect = q.Get("redirect_uri")
	if a.redirect == "" && len(a.client.RedirectURIs) == 1 && !q.Has("redirect_uri") {
		a.redirect = a.client.RedirectURIs[0]
	}
	if !a.client.allows(a.redirect) {
		return a, nil, pageFault("The client wants to be answered at an address that it did not register (redirect_uri). Nothing was sent there.")
	}
	a.state, a.hasState = q.Get("state"), q.Has("state")
	late = s.readRest(q, &a)
	return a, late, nil
}

// repeated gives the name of a parameter that comes more than once; RFC 6749
// 3.1 forbids it, and what reads the first and what reads the last would
// disagree. resource may be repeated by RFC 8707, but there is one resource.
func repeated(q url.Values) string {
	name := ""
	for k, v := range q {
		if len(v) > 1 && (name == "" || k == "client_id" || k == "redirect_uri") {
			name = k
		}
	}
	return name
}

func (s *Server) readRest(q url.Values, a *ask) *fault {
	if name := repeated(q); name != "" {
		return badRequest("invalid_request", short(name)+" is given more than once")
	}
	if len(a.state) > maxState {
		a.state, a.hasState = "", false
		return badRequest("invalid_request", "state is longer than 2000 characters")
	}
	if !storable(a.state) { // it has to come back exactly as it was
		a.state, a.hasState = "", false
		return badRequest("invalid_request", "state must be UTF-8 without NUL")
	}
	if t := q.Get("response_type"); t != "code" {
		return badRequest("unsupported_response_type", "response_type must be code")
	}
	if m := q.Get("response_mode"); m != "" && m != "query" {
		return badRequest("invalid_request", "response_mode must be query")
	}
	if m := q.Get("code_challenge_method"); m != "S256" {
		return badRequest("invalid_request", "code_challenge_method must be S256")
	}
	a.challenge = q.Get("code_challenge")
	if !challengePattern.MatchString(a.challenge) {
		return badRequest("invalid_request", "code_challenge must be the SHA-256 of the verifier in base64url, 43 characters")
	}
	a.resource = q.Get("resource")
	if a.resource == "" {
		a.resource = s.Resource()
	}
	if !s.ours(a.resource) {
		return badRequest("invalid_target", "resource must be "+s.Resource())
	}
	var unknown string
	if a.scopes, unknown = parseScopes(q.Get("scope"), s.rules()); unknown != "" {
		return badRequest("invalid_scope", "the scope "+short(unknown)+" does not exist here")
	}
	return nil
}

// ours says whether a resource is the MCP endpoint. Clients that have only the
// origin at hand name that.
func (s *Server) ours(resource string) bool {
	resource = strings.TrimSuffix(resource, "/")
	return resource == s.Resource() || resource == s.base
}

// short makes foreign text harmless in an error description, RFC 6749 5.2.
func short(v string) string {
	v = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || r == '"' || r == '\\' {
			return '?'
		}
		return r
	}, v)
	return v[:min(len(v), 60)]
}

// back gives the address to which a client is answered.
func (s *Server) back(a ask, answer url.Values) string {
	answer.Set("iss", s.base) // RFC 9207
	if a.hasState {
		answer.Set("state", a.state)
	}
	sep := "?"
	if strings.Contains(a.redirect, "?") {
		sep = "&"
	}
	return a.redirect + sep + answer.Encode()
}

func (s *Server) sendBack(w http.ResponseWriter, r *http.Request, a ask, answer url.Values) {
	noStore(w)
	http.Redirect(w, r, s.back(a, answer), http.StatusSeeOther)
}

func pageFault(text string) *fault { return &fault{http.StatusBadRequest, "", text} }

// page shows a person what went wrong, without sending the browser anywhere.
func (s *Server) page(w http.ResponseWriter, r *http.Request, err error) {
	f, ok := err.(*fault) //nolint:errorlint // faults are returned as they are
	if !ok {
		s.log.ErrorContext(r.Context(), "authorization failed", "error", err)
		f = &fault{http.StatusInternalServerError, "", "Something went wrong on this installation; its log says what. Try again in a moment."}
	}
	noStore(w)
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(f.status)
	_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><title>Cannot authorize · Checkstack</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:34rem;margin:15vh auto;padding:0 1.5rem}h1{font-size:1.25rem}</style></head>
<body><main><h1>This client cannot be let in</h1><p>%s</p><p><a href="/">Go to Checkstack</a></p></main></body></html>`, html.EscapeString(f.Description))
}

// browserCookie is the name of the cookie that ties a request to authorize to a
// browser. Over https the prefix keeps a neighbouring host from planting one.
func (s *Server) browserCookie() string {
	if s.secure() {
		return "__Host-checkstack_oauth"
	}
	return "checkstack_oauth"
}

func (s *Server) secure() bool { return strings.HasPrefix(s.base, "https://") }

// storeAsk keeps a request until the person has decided, tied to the browser
// that began it: a link to somebody else's request shows nothing.
func (s *Server) storeAsk(ctx context.Context, w http.ResponseWriter, r *http.Request, a ask) (string, error) {
	browser := ""
	if c, err := r.Cookie(s.browserCookie()); err == nil && len(c.Value) == len(digest("")) {
		browser = c.Value
	} else {
		browser = newSecret()
	}
	scopes, err := json.Marshal(a.scopes)
	if err != nil {
		return "", fmt.Errorf("encode scopes: %w", err)
	}
	id := uuid.Must(uuid.NewV7()).String()
	var state any
	if a.hasState {
		state = a.state
	}
	_, err = s.db.Write.NewRaw(`INSERT INTO oauth_requests (id, browser_hash, client_id, redirect_uri, scopes, state, challenge, resource, expires_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`, id, digest(browser), a.client.ID, a.redirect, string(scopes), state, a.challenge, a.resource,
		db.Time(s.now().Add(requestLife))).Exec(ctx)
	if err != nil {
		return "", fmt.Errorf("store request: %w", err)
	}
	http.SetCookie(w, &http.Cookie{Name: s.browserCookie(), Value: browser, Path: "/", MaxAge: int(requestLife / time.Second), HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: s.secure()})
	return id, nil
}

// remembered says whether the person allowed the client this much before and
// the client is who it says. A client that is answered on the person's machine
// could be any program there, so it asks every time (RFC 8252 8.6).
func (s *Server) remembered(ctx context.Context, userID string, a ask) bool {
	u, why := parseRedirect(a.redirect)
	if why != "" || u.Scheme != "https" {
		return false
	}
	allowed, err := s.allowed(ctx, userID, a.client.ID)
	return err == nil && allowed != nil && within(a.scopes, allowed, s.rules())
}
