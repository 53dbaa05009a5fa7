package httpcheck

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/problem"
)

// The ids of the kinds.
const (
	StrategyID  = "healthcheck-http.http"
	CollectorID = "healthcheck-http.request"
)

// The values of authScheme.
const (
	authNone  = "none"
	authBasic = "basic"
	authToken = "token"
)

// Check is the HTTP strategy.
type Check struct {
	resolver netguard.Resolver
	roots    *x509.CertPool
	// direct serves every check without a proxy or ranges of its own.
	direct *netguard.Transport
}

var (
	_ strategy.Strategy  = (*Check)(nil)
	_ strategy.Validator = (*Check)(nil)
	_ strategy.Masker    = (*Check)(nil)
)

// New gives the HTTP strategy.
func New() strategy.Strategy { return newCheck(nil, nil) }

func newCheck(resolver netguard.Resolver, roots *x509.CertPool) *Check {
	c := &Check{resolver: resolver, roots: roots}
	c.direct = netguard.NewTransport(netguard.HealthCheck, c.options())
	return c
}

func (c *Check) options() netguard.Options {
	return netguard.Options{Resolver: c.resolver, RootCAs: c.roots, FreshConnections: true}
}

// config is the strategy's config.
type config struct {
	Timeout         int      `json:"timeout"`
	AuthScheme      string   `json:"authScheme"`
	Username        string   `json:"username"`
	Password        string   `json:"password"`
	Token           string   `json:"token"`
	ProxyURL        string   `json:"proxyUrl"`
	ProxyUsername   string   `json:"proxyUsername"`
	ProxyPassword   string   `json:"proxyPassword"`
	EgressDenyCIDRs []string `json:"egressDenyCidrs"`
}

var configSchema = &strategy.Schema{Type: "object", Properties: []strategy.Property{
	strategy.Timeout("How long the whole check may take, in milliseconds."),
	{Name: "authScheme", Schema: strategy.Schema{
		Type: "string", Title: "Authentication", Enum: []string{authNone, authBasic, authToken}, Default: authNone,
		Description: "none, basic (user name and password) or token (sent as a bearer token). An Authorization header of the request wins.",
	}},
	{Name: "username", Schema: strategy.Schema{
		Type: "string", Title: "User name", MaxLength: 255,
		VisibleWhen: &strategy.Condition{Field: "authScheme", Values: []string{authBasic}},
	}},
	{Name: "password", Schema: strategy.Schema{
		Type: "string", Title: "Password", MaxLength: 4096, SecretID: "password",
		VisibleWhen: &strategy.Condition{Field: "authScheme", Values: []string{authBasic}},
	}},
	{Name: "token", Schema: strategy.Schema{
		Type: "string", Title: "Token", MaxLength: 8192, SecretID: "token",
		VisibleWhen: &strategy.Condition{Field: "authScheme", Values: []string{authToken}},
	}},
	{Name: "proxyUrl", Schema: strategy.Schema{
		Type: "string", Title: "Proxy URL", MaxLength: 2048, Templatable: true,
		Description: "Such as http://proxy.example:3128. Empty, also after rendering, means a direct connection.",
	}},
	{Name: "proxyUsername", Schema: strategy.Schema{Type: "string", Title: "Proxy user name", MaxLength: 255}},
	{Name: "proxyPassword", Schema: strategy.Schema{
		Type: "string", Title: "Proxy password", MaxLength: 4096, SecretID: "proxyPassword",
	}},
	{Name: "egressDenyCidrs", Schema: strategy.Schema{
		Type: "array", Title: "Refused address ranges", MaxItems: 100,
		Description: "Address ranges such as 10.0.0.0/8 that this check must not reach, besides those that are always refused.",
		Items:       &strategy.Schema{Type: "string", MinLength: 1, MaxLength: 64},
	}},
}}

var resultSchema = &strategy.Schema{Type: "object", Open: true, Properties: []strategy.Property{
	{Name: "error", Schema: strategy.Schema{
		Type: "string", Title: "Error", Chart: &strategy.Chart{Type: "status", Label: "Error"},
	}},
}}

// Kind describes the strategy.
func (c *Check) Kind() strategy.Kind {
	return strategy.Kind{
		ID:             StrategyID,
		DisplayName:    "HTTP/HTTPS Health Check",
		Description:    "Sends HTTP requests and checks the answers: status, response time, body.",
		Category:       "networking",
		NeedsCollector: true,
		Config:         strategy.Config{Schema: configSchema, Version: 1, Decode: strategy.DecodeTo[config]()},
		Result:         resultSchema,
	}
}

// Collectors gives the one collector.
func (c *Check) Collectors() []strategy.Collector { return []strategy.Collector{request{}} }

// Validate checks what the schema cannot say.
func (c *Check) Validate(cfg any) []problem.Issue {
	conf := cfg.(*config)
	var out []problem.Issue
	add := func(path, message string) { out = append(out, problem.Issue{Path: path, Message: message}) }
	switch {
	case conf.AuthScheme == authBasic && conf.Username == "":
		add("username", "is required for basic authentication")
	case conf.AuthScheme == authBasic && strings.Contains(conf.Username, ":"):
		add("username", "must not contain a colon (RFC 7617)")
	case conf.AuthScheme == authToken && conf.Token == "":
		add("token", "is required for token authentication")
	case conf.AuthScheme == authToken && !validHeaderValue(conf.Token):
		add("token", "must not contain line breaks or control characters")
	}
	if conf.ProxyURL != "" && !strategy.HasTemplate(conf.ProxyURL) {
		if _, ok := parseProxy(conf.ProxyURL); !ok {
			add("proxyUrl", "must be an http or https URL of a host without user name, such as http://proxy.example:3128")
		}
	}
	for i, text := range conf.EgressDenyCIDRs {
		if _, err := netip.ParsePrefix(text); err != nil {
			add("egressDenyCidrs["+itoa(i)+"]", "must be an address range such as 10.0.0.0/8")
		}
	}
	return out
}

// SecretForms gives the base64 forms that basic authentication sends.
func (c *Check) SecretForms(cfg any) []string {
	conf := cfg.(*config)
	var out []string
	for _, pair := range [][2]string{{conf.Username, conf.Password}, {conf.ProxyUsername, conf.ProxyPassword}} {
		if pair[1] != "" {
			out = append(out, base64.StdEncoding.EncodeToString([]byte(pair[0]+":"+pair[1])))
		}
	}
	return out
}

// connection is what a request is made over. There is nothing to open before
// the request names its host.
type connection struct {
	transport     http.RoundTripper
	authorization string
	proxied       bool
}

// Close has nothing to close: the connection of a request ends with it.
func (*connection) Close() error { return nil }

// Connect prepares the transport.
func (c *Check) Connect(_ context.Context, cfg any) (strategy.Connection, error) {
	conf := cfg.(*config)
	conn := &connection{transport: c.direct}
	switch conf.AuthScheme {
	case authBasic:
		conn.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(conf.Username+":"+conf.Password))
	case authToken:
		conn.authorization = "Bearer " + conf.Token
	}
	proxyText := strings.TrimSpace(conf.ProxyURL)
	if proxyText == "" && len(conf.EgressDenyCIDRs) == 0 {
		return conn, nil
	}
	options := c.options()
	if proxyText != "" {
		proxy, ok := parseProxy(proxyText)
		if !ok {
			return nil, strategy.Failure("Rendered proxy URL is invalid")
		}
		if conf.ProxyUsername != "" || conf.ProxyPassword != "" {
			proxy.User = url.UserPassword(conf.ProxyUsername, conf.ProxyPassword)
		}
		conn.proxied = true
		options.Proxy = proxy
		options.OnProxyAnswer = proxyAnswered
	}
	policy := netguard.HealthCheck
	for _, text := range conf.EgressDenyCIDRs {
		prefix, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, strategy.Failure("A refused address range of this check is invalid")
		}
		policy = policy.Deny(prefix)
	}
	conn.transport = netguard.NewTransport(policy, options)
	return conn, nil
}

func parseProxy(text string) (*url.URL, bool) {
	u, err := url.Parse(text)
	if err != nil || u.User != nil || u.Hostname() == "" || (u.Scheme != "http" && u.Scheme != "https") {
		return nil, false
	}
	return u, true
}

// proxyAnswer is a proxy that answered a CONNECT itself.
type proxyAnswer struct {
	code int
	text string
}

func (*proxyAnswer) Error() string { return "proxy refused the connection" }

func proxyAnswered(_ context.Context, _ *url.URL, _ *http.Request, res *http.Response) error {
	if res.StatusCode == http.StatusOK {
		return nil
	}
	return &proxyAnswer{res.StatusCode, statusText(res)}
}
