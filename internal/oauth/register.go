package oauth

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// What one address may register, spec/ai-platform.md 31.7. Requests that are
// refused count by themselves: an honest client that gets something wrong, or a
// neighbour behind the same address, does not use up what others may register.
const (
	registerLimit  = 5
	faultLimit     = 60
	registerWindow = time.Hour
	maxRegister    = 16 << 10
)

// register is RFC 7591. It is off unless an administrator allows it.
func (s *Server) register(w http.ResponseWriter, r *http.Request) {
	set, err := s.Settings(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if !set.AllowRegistration {
		writeFault(w, &fault{http.StatusForbidden, "access_denied",
			"clients cannot register themselves here; ask an administrator to add the client, or use a client id metadata document"})
		return
	}
	var c Client
	raw, err := io.ReadAll(io.LimitReader(r.Body, maxRegister+1))
	f := badRequest("invalid_client_metadata", "the body must be at most 16 KiB")
	if err == nil && len(raw) <= maxRegister {
		c, f = readRegistration(raw)
	}
	counter, limit := "register:", registerLimit
	if f != nil {
		counter, limit = "register-faults:", faultLimit
	}
	used, resets, err := s.count(r.Context(), counter+network(s.address(r)), registerWindow)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	if used > int64(limit) {
		w.Header().Set("Retry-After", strconv.Itoa(int(resets.Sub(s.now())/time.Second)+1))
		f = &fault{http.StatusTooManyRequests, "temporarily_unavailable",
			fmt.Sprintf("at most %d clients per hour can be registered from one address, and %d requests be refused", registerLimit, faultLimit)}
	}
	if f != nil {
		writeFault(w, f)
		return
	}
	c.ID, c.Source, c.CreatedAt = uuid.Must(uuid.NewV7()).String(), sourceDynamic, s.clock()
	answer := map[string]any{"client_id": c.ID, "client_id_issued_at": c.CreatedAt.Unix(), "client_name": c.Name, "redirect_uris": c.RedirectURIs,
		"token_endpoint_auth_method": c.AuthMethod, "grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}}
	if !c.public() {
		secret := newSecret()
		c.secretHash = digest(secret)
		answer["client_secret"], answer["client_secret_expires_at"] = secret, 0
	}
	if err := s.insertClient(r.Context(), c, ""); err != nil {
		s.fail(w, r, err)
		return
	}
	writeJSON(w, http.StatusCreated, answer)
}

// network gives what counts as one address: with IPv6 a household has 2^64.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil || ip.Unmap().Is4() {
		return address
	}
	p, err := ip.WithZone("").Prefix(64)
	if err != nil {
		return address
	}
	return p.String()
}

// readRegistration makes a client of a registration request. A missing
// authentication method is client_secret_basic, RFC 7591 2. What a client asks
// for beyond what there is here is left out; the answer says what it got.
func readRegistration(raw []byte) (Client, *fault) {
	var m clientMetadata
	if err := json.Unmarshal(raw, &m); err != nil {
		return Client{}, badRequest("invalid_client_metadata", "the body must be a JSON object of client metadata")
	}
	if m.AuthMethod == "" {
		m.AuthMethod = "client_secret_basic"
	}
	if strings.TrimSpace(m.Name) == "" {
		m.Name = "Unnamed client"
	}
	if len(m.GrantTypes) > 0 && !slices.Contains(m.GrantTypes, "authorization_code") {
		return Client{}, badRequest("invalid_client_metadata", "grant_types must hold authorization_code")
	}
	if len(m.ResponseTypes) > 0 && !slices.Contains(m.ResponseTypes, "code") {
		return Client{}, badRequest("invalid_client_metadata", "response_types must hold code")
	}
	c := Client{Name: m.Name, RedirectURIs: withoutPrivate(m.RedirectURIs), AuthMethod: m.AuthMethod}
	if issues := c.check(); len(issues) > 0 {
		is := issues[0]
		path := strings.NewReplacer("redirectUris", "redirect_uris", "authMethod", "token_endpoint_auth_method", "name", "client_name").Replace(is.Path)
		code := "invalid_client_metadata"
		if strings.HasPrefix(is.Path, "redirectUris") {
			code = "invalid_redirect_uri"
		}
		return Client{}, badRequest(code, path+" "+is.Message)
	}
	return c, nil
}

// count adds one to a counter of a fixed window and gives how often it was used
// in the present one, which ends at resets. It is one statement, so replicas
// count together.
func (s *Server) count(ctx context.Context, id string, window time.Duration) (used int64, resets time.Time, err error) {
	now := s.clock()
	var row struct {
		Used        int64
		WindowStart time.Time
	}
	err = s.db.Write.NewRaw(`INSERT INTO oauth_counters (id, window_start, used) VALUES (?, ?, 1)
		ON CONFLICT (id) DO UPDATE SET
			used = CASE WHEN oauth_counters.window_start <= ? THEN 1 ELSE oauth_counters.used + 1 END,
			window_start = CASE WHEN oauth_counters.window_start <= ? THEN excluded.window_start ELSE oauth_counters.window_start END
		RETURNING used, window_start`, id, now, db.Time(now.Add(-window)), db.Time(now.Add(-window))).Scan(ctx, &row)
	if err != nil {
		return 0, time.Time{}, fmt.Errorf("count: %w", err)
	}
	return row.Used, row.WindowStart.Add(window), nil
}

// AddClient stores a client that an administrator describes, and gives its
// secret when it has one: it is shown this once.
func (s *Server) AddClient(ctx context.Context, c Client, createdBy string) (Client, string, error) {
	if err := problem.InputIssues(c.check()); err != nil {
		return Client{}, "", err
	}
	c.ID, c.Source, c.CreatedAt = uuid.Must(uuid.NewV7()).String(), sourceManual, s.clock()
	c.RedirectURIs = slices.Clone(c.RedirectURIs)
	secret := ""
	if !c.public() {
		secret = newSecret()
		c.secretHash = digest(secret)
	}
	return c, secret, s.insertClient(ctx, c, createdBy)
}
