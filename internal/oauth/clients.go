package oauth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// The ways a client comes to be known.
const (
	sourceManual   = "manual"
	sourceDynamic  = "dynamic"
	sourceDocument = "document"
)

// authMethods are the ways a client identifies itself at the token endpoint.
var authMethods = []string{"none", "client_secret_basic", "client_secret_post"}

const maxClientName = 200

// Client is an application that may ask people for permission.
type Client struct {
	ID           string
	Name         string
	RedirectURIs []string
	AuthMethod   string
	Source       string
	CreatedAt    time.Time
	LastUsedAt   time.Time // zero when never
	secretHash   string
	refreshAt    time.Time
}

// public says that a client has no secret to prove who it is.
func (c Client) public() bool { return c.AuthMethod == "none" }

// allows says whether a redirect address is one of the client's.
func (c Client) allows(redirect string) bool {
	return slices.ContainsFunc(c.RedirectURIs, func(r string) bool { return redirectMatches(r, redirect) })
}

// check lists what is wrong with a client's description.
func (c Client) check() []problem.Issue {
	issues := text.Line("name", c.Name, maxClientName)
	if len(c.RedirectURIs) == 0 || len(c.RedirectURIs) > maxRedirects {
		issues = append(issues, problem.Issue{Path: "redirectUris", Message: "must be 1 to 10 addresses"})
		return issues
	}
	for i, r := range c.RedirectURIs {
		if why := checkRedirect(r); why != "" {
			issues = append(issues, problem.Issue{Path: fmt.Sprintf("redirectUris[%d]", i), Message: why})
		}
	}
	if !slices.Contains(authMethods, c.AuthMethod) {
		issues = append(issues, problem.Issue{Path: "authMethod", Message: "must be one of " + strings.Join(authMethods, ", ")})
	}
	return issues
}

// newSecret gives 256 random bits as text.
func newSecret() string {
	var b [32]byte
	_, _ = rand.Read(b[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// digest is what is stored of a secret; the secrets are random, so no salt.
func digest(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

func sameDigest(stored, secret string) bool {
	return subtle.ConstantTimeCompare([]byte(stored), []byte(digest(secret))) == 1
}

var errNoClient = problem.NotFound("There is no such client")

// lookup finds a client by its id, reading its metadata document when the id
// is the address of one. Unknown is errNoClient.
func (s *Server) lookup(ctx context.Context, id string) (Client, error) {
	c, err := s.client(ctx, id)
	known := err == nil
	if err != nil && !problem.Is(err, problem.KindNotFound) {
		return Client{}, err
	}
	if !isDocument(id) {
		return c, err
	}
	set, serr := s.Settings(ctx)
	if serr != nil {
		return Client{}, serr
	}
	if set.NoDocuments {
		return Client{}, badRequest("invalid_client", "this installation does not read metadata documents of clients; the client has to register itself or be added in the settings")
	}
	if known && s.now().Before(c.refreshAt) {
		return c, nil
	}
	fresh, ferr := s.fetchDocument(ctx, id)
	if ferr != nil {
		return Client{}, ferr
	}
	return fresh, s.saveDocument(ctx, fresh)
}

// isDocument says whether a client id is the address of a metadata document.
func isDocument(id string) bool {
	u, err := url.Parse(id)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && u.Fragment == "" && !strings.Contains(id, "#") &&
		len(u.Path) > 1 && len(id) <= maxRedirectLen && !slices.ContainsFunc(strings.Split(u.Path, "/"), func(seg string) bool { return seg == "." || seg == ".." })
}

const (
	maxDocument     = 32 << 10
	documentTimeout = 5 * time.Second
	// How long a document is believed, whatever its server says.
	minDocumentAge = 5 * time.Minute
	maxDocumentAge = 24 * time.Hour
)

// clientMetadata is the part of RFC 7591 that is read, from a registration or a
// metadata document.
type clientMetadata struct {
	ClientID      string   `json:"client_id"`
	Name          string   `json:"client_name"`
	RedirectURIs  []string `json:"redirect_uris"`
	AuthMethod    string   `json:"token_endpoint_auth_method"`
	GrantTypes    []string `json:"grant_types"`
	ResponseTypes []string `json:"response_types"`
}

// fetchDocument reads a Client ID Metadata Document.
func (s *Server) fetchDocument(ctx context.Context, id string) (Client, error) {
	bad := func(why string) error { return badRequest("invalid_client", "the client's metadata document "+why) }
	ctx, cancel := context.WithTimeout(ctx, documentTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, id, nil)
	if err != nil {
		return Client{}, bad("has no usable address")
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "Checkstack")
	resp, err := s.http.Do(req)
	if err != nil {
		if errors.Is(err, netguard.ErrRefused) || errors.Is(err, netguard.ErrBadHost) {
			return Client{}, bad("is not at a public address, and others are not read")
		}
		return Client{}, bad("could not be read: " + netguard.Cause(err) +
			" (where this installation cannot reach the internet, an administrator can switch the documents off in the settings; clients then register themselves)")
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return Client{}, bad(fmt.Sprintf("answered with status %d", resp.StatusCode))
	}
	if mt, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || (mt != "application/json" && !strings.HasSuffix(mt, "+json")) {
		return Client{}, bad("is not JSON")
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err != nil {
		return Client{}, bad("could not be read to its end")
	}
	if len(raw) > maxDocument {
		return Client{}, bad("is larger than 32 KiB")
	}
	c, why := readDocument(id, raw)
	if why != "" {
		return Client{}, bad(why)
	}
	c.CreatedAt = s.clock()
	c.refreshAt = db.Time(s.now().Add(min(max(maxAge(resp.Header.Get("Cache-Control")), minDocumentAge), maxDocumentAge)))
	return c, nil
}

// readDocument makes a client of a metadata document, or says what is wrong.
func readDocument(id string, raw []byte) (Client, string) {
	var m clientMetadata
	if err := json.Unmarshal(raw, &m); err != nil {
		return Client{}, "is not a JSON object of client metadata"
	}
	if m.ClientID != id {
		return Client{}, "names another client_id than its own address"
	}
	if m.AuthMethod == "" {
		m.AuthMethod = "none"
	}
	if m.AuthMethod != "none" {
		return Client{}, "asks for client authentication, which a public document cannot have"
	}
	c := Client{ID: id, Name: m.Name, RedirectURIs: withoutPrivate(m.RedirectURIs), AuthMethod: m.AuthMethod, Source: sourceDocument}
	if issues := c.check(); len(issues) > 0 {
		return Client{}, "is not usable: " + issues[0].Path + " " + issues[0].Message
	}
	return c, ""
}

// maxAge reads how long an answer may be kept.
func maxAge(cacheControl string) time.Duration {
	for part := range strings.SplitSeq(cacheControl, ",") {
		if v, ok := strings.CutPrefix(strings.TrimSpace(strings.ToLower(part)), "max-age="); ok {
			if d, err := time.ParseDuration(v + "s"); err == nil {
				return d
			}
		}
	}
	return time.Hour
}

type clientRow struct {
	ID, Name, RedirectUris, AuthMethod, Source string
	SecretHash                                 *string
	CreatedAt                                  time.Time
	RefreshAt, LastUsedAt                      *time.Time
}

const clientColumns = "id, name, CAST(redirect_uris AS TEXT) AS redirect_uris, auth_method, source, secret_hash, created_at, refresh_at, last_used_at"

func (r clientRow) client() (Client, error) {
	c := Client{ID: r.ID, Name: r.Name, AuthMethod: r.AuthMethod, Source: r.Source, CreatedAt: r.CreatedAt.UTC()}
	if err := json.Unmarshal([]byte(r.RedirectUris), &c.RedirectURIs); err != nil {
		return Client{}, fmt.Errorf("read client %s: %w", r.ID, err)
	}
	if r.SecretHash != nil {
		c.secretHash = *r.SecretHash
	}
	if r.RefreshAt != nil {
		c.refreshAt = r.RefreshAt.UTC()
	}
	if r.LastUsedAt != nil {
		c.LastUsedAt = r.LastUsedAt.UTC()
	}
	return c, nil
}

// client reads a stored client.
func (s *Server) client(ctx context.Context, id string) (Client, error) {
	if !storable(id) {
		return Client{}, errNoClient
	}
	var r clientRow
	err := s.db.Read.NewRaw("SELECT "+clientColumns+" FROM oauth_clients WHERE id = ?", id).Scan(ctx, &r)
	if errors.Is(err, sql.ErrNoRows) {
		return Client{}, errNoClient
	}
	if err != nil {
		return Client{}, fmt.Errorf("read client: %w", err)
	}
	return r.client()
}

// storable says that a database can hold a text as it is: UTF-8 without NUL.
func storable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsRune(text, 0)
}

// insertClient stores a client that is new.
func (s *Server) insertClient(ctx context.Context, c Client, createdBy string) error {
	uris, err := json.Marshal(c.RedirectURIs)
	if err != nil {
		return fmt.Errorf("encode client: %w", err)
	}
	_, err = s.db.Write.NewRaw(`INSERT INTO oauth_clients (id, name, redirect_uris, auth_method, secret_hash, source, created_by, created_at)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`, c.ID, c.Name, string(uris), c.AuthMethod, null(c.secretHash), c.Source, null(createdBy), c.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store client: %w", err)
	}
	return nil
}

// saveDocument stores or renews a client known by its document.
func (s *Server) saveDocument(ctx context.Context, c Client) error {
	uris, err := json.Marshal(c.RedirectURIs)
	if err != nil {
		return fmt.Errorf("encode client: %w", err)
	}
	_, err = s.db.Write.NewRaw(`INSERT INTO oauth_clients (id, name, redirect_uris, auth_method, source, created_at, refresh_at) VALUES (?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET name = excluded.name, redirect_uris = excluded.redirect_uris, refresh_at = excluded.refresh_at`,
		c.ID, c.Name, string(uris), c.AuthMethod, c.Source, c.CreatedAt, c.refreshAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store client: %w", err)
	}
	return nil
}

func null(v string) any {
	if v == "" {
		return nil
	}
	return v
}
