package httpcheck

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/netguard"
	"github.com/checkstack/checkstack/internal/problem"
)

const (
	maxBody      = 1 << 20
	maxRedirects = 10
	userAgent    = "Checkstack"
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

// exchange is one request with its redirects.
type exchange struct {
	conf      *requestConfig
	conn      *connection
	timeout   time.Duration
	method    string
	dropBody  bool
	start     time.Time
	redirects int
	// away is set once another host was visited: from then on the configured
	// headers are not sent any more, not even back to the first host.
	away   bool
	phases phases
}

func (x *exchange) run(ctx context.Context, target *url.URL) (strategy.Measurement, error) {
	for {
		res, err := x.send(ctx, target)
		if answer, ok := errors.AsType[*proxyAnswer](err); ok {
			return x.proxyRefused(answer), nil
		}
		if err != nil {
			return strategy.Measurement{}, failure(target, err, x.timeout)
		}
		next, err := x.redirect(target, res)
		if err != nil {
			res.Body.Close()
			return strategy.Measurement{}, err
		}
		if next == nil {
			m, err := x.measure(res)
			if err != nil {
				return strategy.Measurement{}, failure(target, err, x.timeout)
			}
			return m, nil
		}
		res.Body.Close()
		target = next
	}
}

func (x *exchange) send(ctx context.Context, target *url.URL) (*http.Response, error) {
	var body io.Reader
	if x.conf.Body != "" && !x.dropBody {
		body = strings.NewReader(x.conf.Body)
	}
	if !x.conn.proxied {
		ctx = x.phases.trace(ctx)
	}
	req, err := http.NewRequestWithContext(ctx, x.method, target.String(), body)
	if err != nil {
		return nil, strategy.Failure("Rendered URL is invalid")
	}
	req.Header.Set("User-Agent", userAgent)
	if !x.away {
		x.addHeaders(req)
	}
	res, err := x.conn.transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	x.phases.answered()
	return res, nil
}

func (x *exchange) addHeaders(req *http.Request) {
	set := map[string]bool{}
	for _, h := range x.conf.Headers {
		name := http.CanonicalHeaderKey(h.Name)
		switch {
		case framing[name]:
		case x.dropBody && strings.HasPrefix(name, "Content-"):
		case name == "Host":
			req.Host = h.Value
		case set[name]:
			req.Header.Add(name, h.Value)
		default:
			set[name] = true
			req.Header.Set(name, h.Value)
		}
	}
	if x.conn.authorization != "" && !set["Authorization"] {
		req.Header.Set("Authorization", x.conn.authorization)
	}
}

// redirect gives where to go next, or nil when res is the answer.
func (x *exchange) redirect(from *url.URL, res *http.Response) (*url.URL, error) {
	switch res.StatusCode {
	case 301, 302, 303, 307, 308:
	default:
		return nil, nil
	}
	location := res.Header.Get("Location")
	if !x.conf.FollowRedirects || location == "" {
		return nil, nil
	}
	to, err := from.Parse(location)
	if err != nil {
		return nil, nil
	}
	switch {
	case x.redirects >= maxRedirects:
		return nil, strategy.Failure(fmt.Sprintf("%s: stopped after %d redirects, the last one to %s", from.Host, maxRedirects, origin(to)))
	case to.Scheme != "http" && to.Scheme != "https" || to.Hostname() == "":
		return nil, strategy.Failure(from.Host + ": redirects to something that is not an http or https URL")
	case from.Scheme == "https" && to.Scheme == "http":
		return nil, strategy.Failure(from.Host + ": redirects from https to http at " + to.Host + ", which is not followed")
	}
	to.User = nil
	x.redirects++
	if !sameHost(from, to) {
		x.away = true
	}
	if res.StatusCode == 303 && x.method != "HEAD" || res.StatusCode < 303 && x.method == "POST" {
		x.method, x.dropBody = "GET", true
	}
	if x.away && x.conf.Body != "" && !x.dropBody {
		return nil, strategy.Failure(from.Host + ": redirects to " + to.Host + ", another host, to which the request body is not sent")
	}
	return to, nil
}

// sameHost says whether configured headers may go along: the same origin, or
// the same host name's step from http to https on the default ports.
func sameHost(a, b *url.URL) bool {
	if !strings.EqualFold(a.Hostname(), b.Hostname()) {
		return false
	}
	pa, pb := port(a), port(b)
	return a.Scheme == b.Scheme && pa == pb || a.Scheme == "http" && b.Scheme == "https" && pa == "80" && pb == "443"
}

func port(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// origin is as much of a URL as an error may show.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

func (x *exchange) measure(res *http.Response) (strategy.Measurement, error) {
	body, cut, err := readBody(res.Body)
	if err != nil {
		return strategy.Measurement{}, err
	}
	x.phases.transferred()
	fields := x.fields(res.StatusCode, statusText(res))
	fields["body"] = body
	fields["bodyLength"] = utf8.RuneCountInString(body)
	fields["bodyTruncated"] = cut
	fields["protocol"] = res.Proto
	if ct := res.Header.Get("Content-Type"); ct != "" {
		fields["contentType"] = clip(ct, 200)
	}
	m := strategy.Measurement{Fields: fields}
	if !x.conn.proxied {
		m.Timings = x.phases.timings()
		if x.phases.remote != "" {
			fields["remoteAddress"] = x.phases.remote
		}
	}
	if cut {
		reason := fmt.Sprintf("the body is longer than the %d bytes that are read", maxBody)
		m.Unusable = map[string]string{"body": reason, "bodyLength": reason}
	}
	return m, nil
}

func (x *exchange) fields(code int, text string) map[string]any {
	return map[string]any{
		"statusCode":     code,
		"statusText":     text,
		"responseTimeMs": max(time.Since(x.start), 0).Round(time.Millisecond).Milliseconds(),
		"success":        code >= 200 && code < 400,
		"redirects":      x.redirects,
	}
}

// proxyRefused is a proxy's own answer to a CONNECT: an answer like any other.
func (x *exchange) proxyRefused(a *proxyAnswer) strategy.Measurement {
	fields := x.fields(a.code, a.text)
	fields["body"], fields["bodyLength"], fields["bodyTruncated"] = "", 0, false
	return strategy.Measurement{Fields: fields}
}

// statusText is the reason phrase: the server's own, else the usual one.
func statusText(res *http.Response) string {
	text := strings.TrimSpace(strings.TrimPrefix(res.Status, strconv.Itoa(res.StatusCode)))
	if text == "" {
		text = http.StatusText(res.StatusCode)
	}
	return clip(text, 200)
}

func clip(s string, n int) string {
	if len(s) > n {
		s = s[:n]
	}
	return s
}

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled keeps a rare large body from occupying memory for ever.
const maxPooled = 64 << 10

// readBody reads to the end or to the limit.
func readBody(r io.ReadCloser) (body string, cut bool, err error) {
	defer r.Close()
	buf := buffers.Get().(*bytes.Buffer)
	defer func() {
		if buf.Cap() <= maxPooled {
			buf.Reset()
			buffers.Put(buf)
		}
	}()
	n, err := buf.ReadFrom(io.LimitReader(r, maxBody+1))
	if err != nil {
		return "", false, err
	}
	if n > maxBody {
		return string(buf.Bytes()[:maxBody]), true, nil
	}
	return buf.String(), false, nil
}

// failure names the host and the cause, and nothing else of the request.
func failure(target *url.URL, err error, timeout time.Duration) error {
	if f, ok := errors.AsType[strategy.Failure](err); ok {
		return f
	}
	cause := netguard.Cause(err)
	if cause == "timed out" {
		cause += " after " + strconv.FormatInt(timeout.Milliseconds(), 10) + " ms"
	}
	return strategy.Failure(hostOf(target) + ": " + cause)
}

func hostOf(u *url.URL) string { return clip(u.Host, 300) }
