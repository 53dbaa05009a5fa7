package agent

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/builtin"
	"github.com/checkstack/checkstack/internal/problem"
)

// BuiltinID is the connection that always exists: the built-in assistant, no
// language model and no cost.
const BuiltinID = "builtin"

const builtinName = "Built-in assistant"

// SpendCap bounds the tokens of one person within a rolling window.
type SpendCap struct {
	TokenBudget   int64
	WindowMinutes int64
}

// Connection is an endpoint that speaks the chat-completions protocol. Its key
// is in the secret store and never part of it.
type Connection struct {
	ID            string
	Name          string
	BaseURL       string
	DefaultModel  string
	Models        []string // the allowlist; empty allows every model
	Cap           *SpendCap
	ContextTokens int64 // 0 when unknown
	Family        string
	// NoGuard leaves out the topic guard.
	NoGuard   bool
	HasKey    bool
	CreatedAt time.Time
	UpdatedAt time.Time
}

// The model families; generic is the default and nothing is guessed.
const (
	familyGeneric   = "generic"
	familyAnthropic = "anthropic"
	familyOpenAI    = "openai"
)

// builtinContext gives the built-in assistant the largest tool results: it
// pays nothing for reading, and must see a list whole to find a name in it.
const builtinContext = 1 << 20

func builtinConnection() *Connection {
	return &Connection{ID: BuiltinID, Name: builtinName, DefaultModel: builtin.ModelName, Models: []string{builtin.ModelName},
		Family: familyGeneric, ContextTokens: builtinContext}
}

func (c *Connection) builtin() bool { return c.ID == BuiltinID }

// resolveModel is the allowlist, spec/ai-platform.md 12: a model that may not
// be used becomes the default.
func (c *Connection) resolveModel(requested string) string {
	if requested == "" || (len(c.Models) > 0 && !slices.Contains(c.Models, requested)) {
		return c.DefaultModel
	}
	return requested
}

// validate brings c into its stored form and gives every fault.
func (c *Connection) validate() error {
	var issues []problem.Issue
	c.Name = strings.TrimSpace(c.Name)
	if c.Name == "" {
		issues = append(issues, problem.Issue{Path: "name", Message: "must not be blank"})
	}
	c.BaseURL = strings.TrimSpace(c.BaseURL)
	if c.BaseURL == "" {
		c.BaseURL = llm.DefaultBaseURL
	}
	for strings.HasSuffix(c.BaseURL, "/") {
		c.BaseURL = c.BaseURL[:len(c.BaseURL)-1]
	}
	if u, err := url.Parse(c.BaseURL); err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		issues = append(issues, problem.Issue{Path: "baseUrl", Message: "must be an http or https URL with a host"})
	} else {
		if u.User != nil {
			issues = append(issues, problem.Issue{Path: "baseUrl", Message: "must not hold a user or password; use the API key"})
		}
		if u.RawQuery != "" || u.Fragment != "" {
			issues = append(issues, problem.Issue{Path: "baseUrl", Message: "must end before the query"})
		}
	}
	c.DefaultModel = strings.TrimSpace(c.DefaultModel)
	if c.DefaultModel == "" {
		issues = append(issues, problem.Issue{Path: "defaultModel", Message: "must not be blank"})
	}
	models := []string{}
	for _, m := range c.Models {
		if m = strings.TrimSpace(m); m != "" && !slices.Contains(models, m) {
			models = append(models, m)
		}
	}
	// The default is always allowed; an allowlist without it would be a trap.
	if len(models) > 0 && c.DefaultModel != "" && !slices.Contains(models, c.DefaultModel) {
		models = append([]string{c.DefaultModel}, models...)
	}
	c.Models = models
	if c.ContextTokens < 0 {
		issues = append(issues, problem.Issue{Path: "contextWindowTokens", Message: "must be above 0"})
	}
	switch c.Family {
	case "":
		c.Family = familyGeneric
	case familyGeneric, familyAnthropic, familyOpenAI:
	default:
		issues = append(issues, problem.Issue{Path: "modelFamily", Message: "must be one of generic, anthropic, openai"})
	}
	return problem.InputIssues(issues)
}

// readCap reads a spend cap as forms send it: absent, null, blank or
// incomplete means none, spec/ai-platform.md 11.2.
func readCap(raw json.RawMessage) (*SpendCap, error) {
	var fields map[string]json.RawMessage
	text := strings.TrimSpace(string(raw))
	if text == "" || text == "null" || text == `""` {
		return nil, nil
	}
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, problem.Field("spendCap", "must be an object with tokenBudget and windowMinutes").Because(err)
	}
	const budget, window = "tokenBudget", "windowMinutes"
	var issues []problem.Issue
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if key != budget && key != window {
			issues = append(issues, problem.Issue{Path: "spendCap." + shortName(key), Message: "unknown field; accepted are tokenBudget and windowMinutes"})
		}
	}
	if len(issues) == 0 && (blank(fields[budget]) || blank(fields[window])) {
		return nil, nil
	}
	c := &SpendCap{}
	for key, to := range map[string]*int64{budget: &c.TokenBudget, window: &c.WindowMinutes} {
		if raw := fields[key]; !blank(raw) && (json.Unmarshal(raw, to) != nil || *to <= 0 || *to > 1<<52) {
			issues = append(issues, problem.Issue{Path: "spendCap." + key, Message: "must be a whole number above 0"})
		}
	}
	if err := problem.InputIssues(issues); err != nil {
		return nil, err
	}
	// More than a century is no window; it would overflow the clock.
	c.WindowMinutes = min(c.WindowMinutes, 100*365*24*60)
	return c, nil
}

func blank(raw json.RawMessage) bool {
	return len(raw) == 0 || string(raw) == "null" || string(raw) == `""`
}

// sameOrigin says whether a stored key may be sent to the other address too.
func sameOrigin(a, b string) bool {
	ua, errA := url.Parse(a)
	ub, errB := url.Parse(b)
	return errA == nil && errB == nil && ua.Scheme == ub.Scheme && strings.EqualFold(ua.Host, ub.Host)
}
