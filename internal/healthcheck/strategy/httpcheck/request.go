package httpcheck

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/problem"
)

// request is the collector that makes one request.
type request struct{}

var (
	_ strategy.Collector = request{}
	_ strategy.Validator = request{}
)

// requestConfig is the collector's config.
type requestConfig struct {
	URL             string   `json:"url"`
	Method          string   `json:"method"`
	Headers         []header `json:"headers"`
	Body            string   `json:"body"`
	Timeout         int      `json:"timeout"`
	FollowRedirects bool     `json:"followRedirects"`
}

type header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

var requestSchema = &strategy.Schema{Type: "object", Properties: []strategy.Property{
	{Name: "url", Required: true, Schema: strategy.Schema{
		Type: "string", Title: "URL", MinLength: 1, MaxLength: 8192, Templatable: true,
		Description: "What to request, such as https://example.com/health.",
	}},
	{Name: "method", Schema: strategy.Schema{
		Type: "string", Title: "Method", Enum: []string{"GET", "POST", "PUT", "DELETE", "HEAD"}, Default: "GET",
	}},
	{Name: "headers", Schema: strategy.Schema{
		Type: "array", Title: "Headers", MaxItems: 50,
		Items: &strategy.Schema{Type: "object", Properties: []strategy.Property{
			{Name: "name", Required: true, Schema: strategy.Schema{Type: "string", Title: "Name", MinLength: 1, MaxLength: 256}},
			{Name: "value", Required: true, Schema: strategy.Schema{Type: "string", Title: "Value", MaxLength: 8192, Templatable: true}},
		}},
	}},
	{Name: "body", Schema: strategy.Schema{
		Type: "string", Title: "Body", MaxLength: 262144, Templatable: true,
		EditorTypes: []string{"none", "raw", "json", "yaml", "xml", "formdata"},
	}},
	strategy.Timeout("How long the request may take until the last byte of the answer, in milliseconds."),
	{Name: "followRedirects", Schema: strategy.Schema{
		Type: "boolean", Title: "Follow redirects", Default: true,
		Description: "Follows up to 10 redirects, never from https to http. Headers of this request are not sent to another host. When off, the redirect itself is the answer.",
	}},
}}

var requestResult = &strategy.Schema{Type: "object", Open: true, Properties: []strategy.Property{
	{Name: "statusCode", Schema: strategy.Schema{
		Type: "integer", Chart: &strategy.Chart{Type: "counter", Label: "Status Code", Priority: 10},
	}},
	{Name: "responseTimeMs", Schema: strategy.Schema{
		Type: "number", Chart: &strategy.Chart{Type: "line", Label: "Response Time", Unit: "ms", Priority: 20, GoodDirection: "down"},
	}},
	{Name: "success", Schema: strategy.Schema{
		Type: "boolean", Description: "The status is 2xx or 3xx.",
		Chart: &strategy.Chart{Type: "boolean", Label: "HTTP Success", Priority: 30, TrueLabel: "2xx or 3xx", FalseLabel: "4xx or 5xx"},
	}},
	{Name: "statusText", Schema: strategy.Schema{
		Type: "string", Chart: &strategy.Chart{Type: "text", Label: "Status", Priority: 40},
	}},
	{Name: "body", Schema: strategy.Schema{Type: "string", Title: "Body", Ephemeral: true, JSONPath: true}},
	{Name: "bodyLength", Schema: strategy.Schema{
		Type: "integer", Description: "Characters of the body, of which at most 1 MiB is read.",
		Chart: &strategy.Chart{Type: "counter", Label: "Body Length", Unit: "bytes", Priority: 50},
	}},
	{Name: "bodyTruncated", Schema: strategy.Schema{
		Type: "boolean", Title: "Body Truncated", Description: "The body was longer than the 1 MiB that is read.",
	}},
	{Name: "contentType", Schema: strategy.Schema{Type: "string", Title: "Content Type"}},
	{Name: "redirects", Schema: strategy.Schema{Type: "integer", Title: "Redirects Followed"}},
	{Name: "protocol", Schema: strategy.Schema{Type: "string", Title: "HTTP Version"}},
	{Name: "remoteAddress", Schema: strategy.Schema{
		Type: "string", Title: "Remote Address", Description: "The address and port that answered; absent behind a proxy.",
	}},
}}

// Kind describes the collector.
func (request) Kind() strategy.CollectorKind {
	return strategy.CollectorKind{
		ID:            CollectorID,
		DisplayName:   "HTTP Request",
		Description:   "Makes one request and reports status, response time and body.",
		AllowMultiple: true,
		Config:        strategy.Config{Schema: requestSchema, Version: 1, Decode: strategy.DecodeTo[requestConfig]()},
		Result:        requestResult,
	}
}

// framing are headers that describe the connection, which is ours to manage.
var framing = map[string]bool{
	"Connection": true, "Content-Length": true, "Transfer-Encoding": true, "Trailer": true, "Te": true,
	"Upgrade": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authorization": true, "Expect": true,
}

// Validate checks what the schema cannot say.
func (request) Validate(cfg any) []problem.Issue {
	conf := cfg.(*requestConfig)
	var out []problem.Issue
	add := func(path, message string) { out = append(out, problem.Issue{Path: path, Message: message}) }
	if !strategy.HasTemplate(conf.URL) {
		if fault := urlFault(conf.URL); fault != "" {
			add("url", fault)
		}
	}
	for i, h := range conf.Headers {
		path := "headers[" + itoa(i) + "]"
		switch {
		case !validHeaderName(h.Name):
			add(path+".name", "must be a header name such as X-Request-Id")
		case framing[http.CanonicalHeaderKey(h.Name)]:
			add(path+".name", "is set by Checkstack and cannot be changed")
		}
		if !strategy.HasTemplate(h.Value) && !validHeaderValue(h.Value) {
			add(path+".value", "must not contain line breaks or control characters")
		}
	}
	return out
}

const refusedHost = "must name a host that checks may reach: link-local, unique-local and metadata addresses are refused"

func urlFault(text string) string {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Opaque != "":
		return "must be a valid URL, such as https://example.com/health"
	case u.Scheme != "http" && u.Scheme != "https":
		return "must start with http:// or https://"
	case u.Hostname() == "" || !validPort(u.Port()):
		return "must name a host, such as https://example.com/health"
	case u.User != nil:
		return "must not contain a user name or password; use the authentication settings"
	case !isASCII(u.Hostname()):
		// net/http converts an international name; the dialer judges the result.
		return ""
	case !netguard.HealthCheck.AllowsHost(u.Hostname()):
		return refusedHost
	}
	return ""
}

func validPort(port string) bool {
	if port == "" {
		return true
	}
	n, err := strconv.ParseUint(port, 10, 16)
	return err == nil && n > 0
}

// validHeaderName says whether name is a token, RFC 9110 5.6.2.
func validHeaderName(name string) bool {
	return name != "" && strings.IndexFunc(name, func(r rune) bool {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		return !letter && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
	}) < 0
}

// validHeaderValue refuses control characters other than a tab, RFC 9110 5.5.
func validHeaderValue(v string) bool {
	return strings.IndexFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

func itoa(i int) string { return strconv.Itoa(i) }

// Collect makes the request and follows its redirects.
func (request) Collect(ctx context.Context, c strategy.Connection, cfg any) (strategy.Measurement, error) {
	conf := cfg.(*requestConfig)
	conn := c.(*connection)
	text := strings.TrimSpace(conf.URL)
	target, err := url.Parse(text)
	// A refused host is a fault of its own, which the dialer reports.
	if fault := urlFault(text); err != nil || fault != "" && fault != refusedHost {
		return strategy.Measurement{}, strategy.Failure("Rendered URL is invalid")
	}
	for _, h := range conf.Headers {
		if !validHeaderValue(h.Value) {
			return strategy.Measurement{}, strategy.Failure("Rendered value of header " + h.Name + " is invalid")
		}
	}
	timeout := time.Duration(conf.Timeout) * time.Millisecond
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	r := &exchange{conf: conf, conn: conn, timeout: timeout, method: conf.Method, start: time.Now()}
	return r.run(ctx, target)
}
