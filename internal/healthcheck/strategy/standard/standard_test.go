package standard_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy/httpcheck"
	"github.com/checkstack/checkstack/internal/healthcheck/strategy/standard"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const instance = "0190a5a0-0000-7000-8000-000000000001"

// drafts gives, for every kind, a valid check of a target at host:port. A new
// kind adds its line here, or the test below fails.
var drafts = map[string]func(addr string) strategy.Draft{
	httpcheck.StrategyID: func(addr string) strategy.Draft {
		return strategy.Draft{
			StrategyID: httpcheck.StrategyID,
			Collectors: []strategy.CollectorConfig{{
				ID: instance, CollectorID: httpcheck.CollectorID,
				Config:     json.RawMessage(fmt.Sprintf(`{"url":"http://%s/","body":"x","method":"POST"}`, addr)),
				Assertions: []strategy.Assertion{{Field: "body", Operator: "equals", Value: json.RawMessage(`"never"`)}},
			}},
		}
	},
}

func registry(t *testing.T) *strategy.Registry {
	t.Helper()
	r, err := standard.NewRegistry()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func draft(t *testing.T, id, addr string) strategy.Draft {
	t.Helper()
	build, ok := drafts[id]
	if !ok {
		t.Fatalf("no draft for %s: add one to this test", id)
	}
	return build(addr)
}

func TestKindsAreDescribed(t *testing.T) {
	t.Parallel()
	r := registry(t)
	if len(r.List()) != len(standard.Strategies()) {
		t.Errorf("%d kinds listed", len(r.List()))
	}
	for _, info := range r.List() {
		if info.DisplayName == "" || info.Description == "" || info.Category == "" {
			t.Errorf("%s lacks a name, description or category", info.ID)
		}
		cols := r.Collectors(info.ID)
		if len(cols) == 0 {
			t.Errorf("%s has no collector", info.ID)
		}
		for _, c := range cols {
			if c.DisplayName == "" || c.Description == "" || len(c.AssertionFields) == 0 {
				t.Errorf("%s lacks a name, description or fields", c.ID)
			}
		}
		raw, err := json.Marshal(struct {
			I strategy.Info
			C []strategy.CollectorInfo
		}{info, cols})
		if err != nil || !json.Valid(raw) {
			t.Errorf("%s: %v", info.ID, err)
		}
		if got, ok := r.Get(info.ID); !ok || got.ID != info.ID {
			t.Errorf("Get(%s) = %v", info.ID, got.ID)
		}
	}
}

// The schema and the type it is decoded to name the same fields.
func TestSchemasMatchTheirTypes(t *testing.T) {
	t.Parallel()
	for _, s := range standard.Strategies() {
		sameFields(t, s.Kind().ID, s.Kind().Config)
		for _, c := range s.Collectors() {
			sameFields(t, c.Kind().ID, c.Kind().Config)
		}
	}
}

func sameFields(t *testing.T, id string, c strategy.Config) {
	t.Helper()
	raw, err := json.Marshal(sample(c.Schema))
	if err != nil {
		t.Fatal(err)
	}
	v, err := c.Decode(raw)
	if err != nil {
		t.Errorf("%s: the schema has a field that the type does not take: %v", id, err)
		return
	}
	inSchema := map[string]bool{}
	for _, p := range c.Schema.Properties {
		inSchema[p.Name] = true
	}
	typ := reflect.TypeOf(v).Elem()
	for i := range typ.NumField() {
		name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if !inSchema[name] {
			t.Errorf("%s: field %q of the type is not in the schema", id, name)
		}
	}
}

func sample(s *strategy.Schema) any {
	switch s.Type {
	case "object":
		out := map[string]any{}
		for i := range s.Properties {
			out[s.Properties[i].Name] = sample(&s.Properties[i].Schema)
		}
		return out
	case "array":
		return []any{sample(s.Items)}
	case "string":
		return "x"
	case "boolean":
		return true
	}
	return 1
}

// An empty object is a config unless a field is required, and then exactly the
// required fields are reported. Defaults are valid.
func TestEmptyObjectRule(t *testing.T) {
	t.Parallel()
	r := registry(t)
	for _, s := range standard.Strategies() {
		k := s.Kind()
		d := strategy.Draft{StrategyID: k.ID, Config: json.RawMessage(`{}`)}
		want := map[string]bool{}
		addRequired(want, "config", k.Config.Schema)
		for i, c := range s.Collectors() {
			d.Collectors = append(d.Collectors, strategy.CollectorConfig{CollectorID: c.Kind().ID, Config: json.RawMessage(`{}`)})
			addRequired(want, fmt.Sprintf("collectors[%d].config", i), c.Kind().Config.Schema)
		}
		for _, d := range []strategy.Draft{d, r.Normalize(d)} {
			issues := r.Validate(d)
			for _, is := range issues {
				if !want[is.Path] || is.Message != "is required" {
					t.Errorf("%s: unexpected issue %v", k.ID, is)
				}
			}
			if len(issues) != len(want) {
				t.Errorf("%s: %v, want issues at %v", k.ID, issues, want)
			}
		}
	}
}

func addRequired(into map[string]bool, path string, s *strategy.Schema) {
	for _, p := range s.Properties {
		if p.Required {
			into[path+"."+p.Name] = true
		}
	}
}

func TestKindsObeyCancellation(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r := registry(t)
	for _, info := range r.List() {
		d := draft(t, info.ID, l.Addr().String())
		if issues := r.Validate(d); len(issues) > 0 {
			t.Fatalf("%s: %v", info.ID, issues)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		start := time.Now()
		res := r.Run(ctx, strategy.Check{Draft: d})
		cancel()
		if took := time.Since(start); took > 5*time.Second || res.Status != strategy.Unhealthy {
			t.Errorf("%s: %s after %s", info.ID, res.Status, took)
		}
	}
}

// Every secret field holds a canary; the target refuses, breaks off, or sends
// everything back.
func TestNoSecretInResults(t *testing.T) {
	t.Parallel()
	const canary = "CANARY-7f3a9c"
	echo := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", r.Header.Get("Authorization"))
		_ = r.Write(w)
	}))
	defer echo.Close()
	abort := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }))
	defer abort.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	r := registry(t)
	for _, info := range r.List() {
		for _, srv := range []*httptest.Server{echo, abort, closed} {
			base := r.Normalize(draft(t, info.ID, srv.Listener.Addr().String()))
			secrets := map[string]*string{}
			for _, f := range r.SecretFields(base) {
				value := canary + f.Key
				secrets[f.Key] = &value
			}
			full := r.WithSecrets(base, secrets)
			for _, variant := range variants(info.ID, full) {
				res := r.Run(t.Context(), strategy.Check{Draft: variant})
				raw, err := json.Marshal(res)
				if err != nil {
					t.Fatal(err)
				}
				if strings.Contains(string(raw), canary) {
					t.Errorf("%s: a secret is in %s", info.ID, raw)
				}
			}
			red, _ := r.Redact(full)
			if raw, _ := json.Marshal(red); strings.Contains(string(raw), canary) {
				t.Errorf("%s: a secret survived Redact: %s", info.ID, raw)
			}
		}
	}
}

// variants switches a kind to each way of using its secrets.
func variants(id string, d strategy.Draft) []strategy.Draft {
	out := []strategy.Draft{d}
	if id == httpcheck.StrategyID {
		for _, scheme := range []string{"basic", "token"} {
			var config map[string]any
			if json.Unmarshal(d.Config, &config) == nil {
				config["authScheme"], config["username"] = scheme, "user"
				v := d
				v.Config, _ = json.Marshal(config)
				out = append(out, v)
			}
		}
	}
	return out
}
