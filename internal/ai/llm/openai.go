package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// Defaults of an OpenAI client.
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultIdleTimeout = 2 * time.Minute
	DefaultRetries     = 2
)

// Key holds an API key. secret.String is one.
type Key interface{ Reveal() string }

// OpenAIConfig sets up a client of an OpenAI-compatible endpoint.
type OpenAIConfig struct {
	// BaseURL is the endpoint up to and including "/v1"; empty means
	// DefaultBaseURL. Trailing slashes do not matter.
	BaseURL string
	// APIKey is sent as a bearer token and nowhere else; nil or empty sends
	// no header, for local gateways.
	APIKey Key
	// HTTP does the calls: a client that guards what may be dialled. Its
	// Timeout and redirects are not used, see NewOpenAI.
	HTTP *http.Client
	// IdleTimeout is the silence that ends a stream, before the first event
	// and between two; zero means DefaultIdleTimeout. There is no limit on
	// the whole round but ctx.
	IdleTimeout time.Duration
	// Retries is how often a round is repeated after 429 or 5xx, before its
	// first event; zero means DefaultRetries, negative none.
	Retries int
}

// OpenAI speaks the chat-completions protocol, streaming. It is safe for
// concurrent use.
type OpenAI struct {
	base    *url.URL
	key     Key
	http    *http.Client
	idle    time.Duration
	retries int
	// What the endpoint turned out not to understand, see dialect.
	completionTokens atomic.Bool
	noStreamOptions  atomic.Bool
}

var _ Model = (*OpenAI)(nil)

// dialect is how one endpoint differs in what it accepts.
type dialect struct {
	completionTokens bool // wants max_completion_tokens
	noStreamOptions  bool // refuses stream_options
}

// NewOpenAI makes a client. The HTTP client is copied: without its total
// timeout, which would end long answers, and without following redirects, so
// that the key goes to the configured host only.
func NewOpenAI(cfg OpenAIConfig) (*OpenAI, error) {
	if cfg.HTTP == nil {
		return nil, errors.New("new model client: no HTTP client")
	}
	raw := strings.TrimSpace(cfg.BaseURL)
	if raw == "" {
		raw = DefaultBaseURL
	}
	u, err := url.Parse(raw)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" {
		return nil, &problem.Error{Kind: problem.KindInvalid, Message: "The model connection is not valid",
			Issues: []problem.Issue{{Path: "baseUrl", Message: "must be an http or https URL with a host"}}}
	}
	for strings.HasSuffix(u.Path, "/") {
		u.Path = u.Path[:len(u.Path)-1]
	}
	u.RawPath, u.Fragment = "", ""
	hc := *cfg.HTTP
	hc.Timeout = 0
	hc.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	c := &OpenAI{base: u, key: cfg.APIKey, http: &hc, idle: cfg.IdleTimeout, retries: cfg.Retries}
	if c.idle <= 0 {
		c.idle = DefaultIdleTimeout
	}
	switch {
	case c.retries == 0:
		c.retries = DefaultRetries
	case c.retries < 0:
		c.retries = 0
	}
	return c, nil
}

// Stream runs one round, see Model. Errors are *HTTPError, *ReportedError,
// *IdleError, *EmptyError, *ConnectError, ErrCutStream, or the context's.
func (c *OpenAI) Stream(ctx context.Context, req Request, yield func(Event) error) (Round, error) {
	w := newWatch(ctx, c.idle)
	defer w.stop()
	resp, err := c.open(w, req)
	if err != nil {
		return Round{Truncated: true, Usage: abandoned(req, err)}, err
	}
	defer resp.Body.Close()
	r := newReader(req, yield)
	err = r.read(newSSEReader(watchedBody{resp.Body, w}), w)
	round, err := r.finish(err)
	if err != nil {
		err = c.clean(w.explain(err))
	}
	return round, err
}

// abandoned is what a request costs that was not answered. A refusal costs
// nothing; one that was given up while the provider worked on it is paid for,
// or else whoever leaves early would never reach a cap.
func abandoned(req Request, err error) Usage {
	var idle *IdleError
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.As(err, &idle) {
		return Usage{}
	}
	in := EstimateRequest(req)
	return Usage{InputTokens: in, TotalTokens: in, Estimated: true}
}

// open sends the request until it is answered with a stream, and adapts it
// once to what the endpoint says it does not understand.
func (c *OpenAI) open(w *watch, req Request) (*http.Response, error) {
	for attempt := 0; ; {
		d := dialect{completionTokens: c.completionTokens.Load(), noStreamOptions: c.noStreamOptions.Load()}
		body, err := encodeRequest(req, d)
		if err != nil {
			return nil, fmt.Errorf("encode model request: %w", err)
		}
		resp, err := c.do(w, http.MethodPost, "/chat/completions", body)
		if err != nil {
			return nil, err
		}
		if resp.StatusCode == http.StatusOK && isEventStream(resp) {
			return resp, nil
		}
		h := c.httpError(w, resp)
		switch {
		case (h.Status == http.StatusBadRequest || h.Status == http.StatusUnprocessableEntity) && c.adapt(h.Body, d):
			continue
		case h.Retryable() && attempt < c.retries:
			if wait, ok := backoff(attempt, h.RetryAfter); ok {
				attempt++
				if err := w.sleep(wait); err != nil {
					return nil, err
				}
				continue
			}
		}
		return nil, h
	}
}

// adapt remembers what a 400 or 422 complains about; true means that the request is
// worth another try.
func (c *OpenAI) adapt(body string, d dialect) bool {
	switch {
	case !d.completionTokens && strings.Contains(body, "max_completion_tokens"):
		c.completionTokens.Store(true)
	case !d.noStreamOptions && strings.Contains(body, "stream_options"):
		c.noStreamOptions.Store(true)
	default:
		return false
	}
	return true
}

func (c *OpenAI) do(w *watch, method, path string, body []byte) (*http.Response, error) {
	u := *c.base
	u.Path += path
	req, err := http.NewRequestWithContext(w.ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, &ConnectError{cause: err, where: c.where()}
	}
	req.Header.Set("Accept", "application/json")
	if method == http.MethodPost {
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Content-Type", "application/json")
	}
	if key := c.reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	w.arm()
	resp, err := c.http.Do(req)
	w.disarm()
	if err != nil {
		if reason := w.reason(); reason != nil {
			return nil, reason
		}
		return nil, &ConnectError{cause: err, where: c.where()}
	}
	return resp, nil
}

func isEventStream(resp *http.Response) bool {
	t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	return err == nil && t == "text/event-stream"
}

// httpError reads and closes an answer that is no stream.
func (c *OpenAI) httpError(w *watch, resp *http.Response) *HTTPError {
	defer resp.Body.Close()
	// What could be read is shown; why the rest could not is beside the point.
	body, _ := io.ReadAll(io.LimitReader(watchedBody{resp.Body, w}, 64<<10))
	text := string(body)
	if strings.Contains(resp.Header.Get("Content-Type"), "html") || looksLikeHTML(text) {
		text = htmlText(text)
	}
	return &HTTPError{Status: resp.StatusCode, Body: c.scrub(text), RetryAfter: retryAfter(resp.Header), where: c.where()}
}

// Models asks the endpoint for its models, which is also the connection test,
// spec/ai-platform.md 11.3. It fails with *HTTPError, *ConnectError or
// *IdleError; an endpoint that answers well but in another shape gives none.
func (c *OpenAI) Models(ctx context.Context) ([]string, error) {
	w := newWatch(ctx, min(c.idle, 15*time.Second))
	defer w.stop()
	resp, err := c.do(w, http.MethodGet, "/models", nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, c.httpError(w, resp)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(watchedBody{resp.Body, w}, maxEventBytes))
	if err != nil {
		return nil, w.explain(&ConnectError{cause: err, where: c.where()})
	}
	if strings.HasPrefix(strings.TrimSpace(string(body)), "<") {
		return nil, &HTTPError{Status: resp.StatusCode, Body: c.scrub(htmlText(string(body))), where: c.where()}
	}
	var list struct {
		Data []struct {
			ID flexText `json:"id"`
		} `json:"data"`
	}
	var ids []string
	if json.Unmarshal(body, &list) == nil {
		for _, m := range list.Data {
			if m.ID != "" {
				ids = append(ids, string(m.ID))
			}
		}
	}
	return ids, nil
}

func (c *OpenAI) reveal() string {
	if c.key == nil {
		return ""
	}
	return c.key.Reveal()
}

// where is the endpoint for the log: no user, no query.
func (c *OpenAI) where() string {
	return c.base.Scheme + "://" + c.base.Host + c.base.Path
}

// scrub makes a provider's text fit to show: gateways like to echo the key.
func (c *OpenAI) scrub(s string) string {
	if key := c.reveal(); len(key) >= 4 {
		s = strings.ReplaceAll(s, key, "[redacted]")
	}
	for _, where := range []string{c.where(), c.base.Scheme + "://" + c.base.Host} {
		s = strings.ReplaceAll(s, where, "[endpoint]")
	}
	return cut(s)
}

// clean scrubs an error that carries a provider's text.
func (c *OpenAI) clean(err error) error {
	var r *ReportedError
	if errors.As(err, &r) {
		return &ReportedError{Message: c.scrub(r.Message)}
	}
	return err
}
