package strategy

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/problem"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fake is a kind whose behaviour a test writes down.
type fake struct {
	kind      Kind
	connect   func(ctx context.Context, cfg map[string]any) error
	collect   func(ctx context.Context, cfg map[string]any) (Measurement, error)
	collector CollectorKind
	closed    atomic.Int32
	onClose   func()
}

func (f *fake) Kind() Kind              { return f.kind }
func (f *fake) Collectors() []Collector { return []Collector{fakeCollector{f}} }
func (f *fake) Connect(ctx context.Context, cfg any) (Connection, error) {
	if f.connect != nil {
		if err := f.connect(ctx, *cfg.(*map[string]any)); err != nil {
			return nil, err
		}
	}
	return fakeConn{f}, nil
}

type fakeConn struct{ f *fake }

func (c fakeConn) Close() error {
	c.f.closed.Add(1)
	if c.f.onClose != nil {
		c.f.onClose()
	}
	return nil
}

type fakeCollector struct{ f *fake }

func (c fakeCollector) Kind() CollectorKind { return c.f.collector }
func (c fakeCollector) Collect(ctx context.Context, _ Connection, cfg any) (Measurement, error) {
	return c.f.collect(ctx, *cfg.(*map[string]any))
}

func newFake(collect func(ctx context.Context, cfg map[string]any) (Measurement, error)) *fake {
	return &fake{
		kind: Kind{
			ID: "test-kind.kind", DisplayName: "Test", Result: &Schema{Type: "object", Open: true},
			Config: Config{Version: 1, Decode: DecodeTo[map[string]any](), Schema: &Schema{Type: "object", Properties: []Property{
				Timeout("t"), {Name: "password", Schema: Schema{Type: "string", SecretID: "pw"}},
				{Name: "host", Schema: Schema{Type: "string", Templatable: true}},
			}}},
		},
		collector: CollectorKind{
			ID: "test-kind.c", DisplayName: "C", AllowMultiple: true, Result: bodyResult,
			Config: Config{Version: 1, Decode: DecodeTo[map[string]any](), Schema: &Schema{Type: "object", Properties: []Property{
				{Name: "name", Schema: Schema{Type: "string", Templatable: true}}, {Name: "literal", Schema: Schema{Type: "string"}},
				{Name: "key", Schema: Schema{Type: "string", SecretID: "key"}},
			}}},
		},
		collect: collect,
	}
}

func newRegistry(t testing.TB, kinds ...Strategy) *Registry {
	t.Helper()
	r, err := NewRegistry(kinds...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func fakeCheck(config string, collectors ...CollectorConfig) Check {
	if len(collectors) == 0 {
		collectors = []CollectorConfig{{ID: "one", CollectorID: "test-kind.c"}}
	}
	return Check{Draft: Draft{StrategyID: "test-kind.kind", Config: json.RawMessage(config), Collectors: collectors}}
}

func TestRunStoresWhatTheSpecSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(context.Context, map[string]any) (Measurement, error) {
			<-time.After(200 * time.Millisecond)
			return Measurement{Fields: map[string]any{"code": 200, "body": "hidden"}, Timings: map[string]int64{"waitMs": 200}}, nil
		})
		f.connect = func(context.Context, map[string]any) error { <-time.After(50 * time.Millisecond); return nil }
		got := newRegistry(t, f).Run(t.Context(), fakeCheck(`{}`, CollectorConfig{
			ID: "one", CollectorID: "test-kind.c", Assertions: []Assertion{{Field: "code", Operator: "equals", Value: json.RawMessage("200")}},
		}))
		latency := int64(250)
		want := Result{
			Status: Healthy, LatencyMs: &latency, Message: "Completed in 250ms",
			Metadata: Metadata{
				Connected: true, ConnectionTimeMs: 50, Timings: map[string]int64{"waitMs": 200},
				Collectors: map[string]CollectorResult{"one": {
					"_collectorId": "test-kind.c", "code": 200, "_assertions": []Outcome{{
						Key: `["code",null,"equals",200]`, Field: "code", Operator: "equals", Value: json.RawMessage("200"), Passed: true, Actual: "200",
					}},
				}},
			},
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Error(d)
		}
		if f.closed.Load() != 1 {
			t.Errorf("closed %d times", f.closed.Load())
		}
	})
}

func TestCollectorsRunInParallelAndAllAreReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(_ context.Context, cfg map[string]any) (Measurement, error) {
			switch cfg["name"] {
			case "slow":
				<-time.After(300 * time.Millisecond)
				return Measurement{Fields: map[string]any{"code": 1}, Timings: map[string]int64{"waitMs": 300}}, nil
			case "broken":
				return Measurement{}, Failure("host.example: connection refused")
			case "panics":
				panic("top secret")
			}
			<-time.After(100 * time.Millisecond)
			return Measurement{Fields: map[string]any{"code": 2}, Timings: map[string]int64{"waitMs": 100}}, nil
		})
		r := newRegistry(t, f)
		col := func(id, name string) CollectorConfig {
			return CollectorConfig{ID: id, CollectorID: "test-kind.c", Config: json.RawMessage(`{"name":"` + name + `"}`)}
		}
		res := r.Run(t.Context(), fakeCheck(`{}`, col("a", "slow"), col("b", "fast")))
		if res.Status != Healthy || *res.LatencyMs != 300 || res.Metadata.Timings["waitMs"] != 300 {
			t.Errorf("two: %+v", res)
		}
		res = r.Run(t.Context(), fakeCheck(`{}`, col("a", "slow"), col("b", "broken"), CollectorConfig{ID: "c", CollectorID: "gone.x"}))
		if res.Message != "Check failed: host.example: connection refused" || res.LatencyMs == nil || len(res.Warnings) != 1 {
			t.Errorf("one broken: %+v", res)
		}
		if res.Metadata.Collectors["b"]["error"] != "host.example: connection refused" || res.Metadata.Collectors["a"]["code"] != 1 {
			t.Errorf("stored: %v", res.Metadata.Collectors)
		}
		res = r.Run(t.Context(), fakeCheck(`{}`, col("a", "panics"), col("b", "fast")))
		if res.Status != Unhealthy || res.LatencyMs != nil || res.Message != "Check failed: "+kindPanicked {
			t.Errorf("panic: %+v", res)
		}
		if res.Fault == nil || !strings.Contains(res.Fault.Error(), "run_test.go") {
			t.Errorf("the log would not know the panic: %v", res.Fault)
		}
		if raw, _ := json.Marshal(res.Metadata); strings.Contains(string(raw), "top secret") {
			t.Error("the panic is stored")
		}
		res = r.Run(t.Context(), fakeCheck(`{"password":"top secret"}`, col("a", "panics")))
		if res.Fault == nil || strings.Contains(res.Fault.Error(), "top secret") {
			t.Errorf("the secret is in the log: %v", res.Fault)
		}
		if f.closed.Load() != 4 {
			t.Errorf("closed %d times", f.closed.Load())
		}
	})
}

func TestConnectionFailure(t *testing.T) {
	t.Parallel()
	f := newFake(func(context.Context, map[string]any) (Measurement, error) {
		t.Error("collected without a connection")
		return Measurement{}, nil
	})
	for want, fail := range map[string]func() error{
		"db.example: connection refused": func() error { return Failure("db.example: connection refused") },
		"timed out":                      func() error { return errors.Join(errors.New("https://secret"), context.DeadlineExceeded) },
		"connection failed":              func() error { return errors.New("pq: password hunter2 is wrong") },
		kindPanicked:                     func() error { panic("x") },
	} {
		f.connect = func(context.Context, map[string]any) error { return fail() }
		res := newRegistry(t, f).Run(t.Context(), fakeCheck(`{}`))
		if res.Status != Unhealthy || res.Message != want || res.Metadata.Error != want || res.Metadata.Connected || res.LatencyMs != nil {
			t.Errorf("%+v, want %q", res, want)
		}
	}
}

func TestHardTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for name, collect := range map[string]func(context.Context, map[string]any) (Measurement, error){
			"deaf": func(context.Context, map[string]any) (Measurement, error) {
				<-time.After(time.Hour)
				return Measurement{}, nil
			},
			"obeying": func(ctx context.Context, _ map[string]any) (Measurement, error) {
				<-ctx.Done()
				return Measurement{}, ctx.Err()
			},
		} {
			f := newFake(collect)
			start := time.Now()
			res := newRegistry(t, f).Run(t.Context(), fakeCheck(`{"timeout":2000}`))
			if took := time.Since(start); took != 2*time.Second {
				t.Errorf("%s: took %s", name, took)
			}
			if want := "Execution timeout after 2000ms"; res.Status != Unhealthy || res.Message != want || res.Metadata.Error != want || !res.Metadata.Connected || res.LatencyMs != nil {
				t.Errorf("%s: %+v", name, res)
			}
			<-time.After(2 * time.Hour)
			if f.closed.Load() != 1 {
				t.Errorf("%s: closed %d times", name, f.closed.Load())
			}
		}
	})
}

func TestCancelledRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		f := newFake(func(ctx context.Context, _ map[string]any) (Measurement, error) {
			<-ctx.Done()
			return Measurement{}, ctx.Err()
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		res := newRegistry(t, f).Run(ctx, fakeCheck(`{}`))
		if ctx.Err() == nil || res.Message != cancelled || res.LatencyMs != nil {
			t.Errorf("%+v", res)
		}
	})
}

// A stored time that the wall clock has overtaken must not matter: durations
// come from the monotonic clock.
func TestFC008_DurationsAreNeverNegative(t *testing.T) {
	t.Parallel()
	if d := since(time.Now().Add(time.Hour)); d != 0 {
		t.Errorf("%s", d)
	}
}

func TestBrokenStoredCheck(t *testing.T) {
	t.Parallel()
	f := newFake(func(context.Context, map[string]any) (Measurement, error) { return Measurement{}, nil })
	f.kind.NeedsCollector = true
	r := newRegistry(t, f)
	for name, c := range map[string]Check{
		"The strategy of this check is not available":                                   {Draft: Draft{StrategyID: "gone.gone"}},
		"The configuration of this check is not valid: config.timeout: must be a whole": fakeCheck(`{"timeout":"x"}`),
		"The configuration of this check is not valid: config: is not valid JSON":       fakeCheck(`{`),
		"This check has no collector, so nothing was measured":                          fakeCheck(`{}`, CollectorConfig{ID: "a", CollectorID: "gone.x"}),
		"The secret that config.password refers to could not be resolved":               fakeCheck(`{"password":"${{ secrets.X }}"}`),
	} {
		if res := r.Run(t.Context(), c); res.Status != Unhealthy || !strings.HasPrefix(res.Message, name) || res.LatencyMs != nil {
			t.Errorf("%+v, want %q", res, name)
		}
	}
	// A key of a newer version is dropped, not refused.
	if res := r.Run(t.Context(), fakeCheck(`{"newer":1}`)); res.Status != Healthy {
		t.Errorf("unknown key: %+v", res)
	}
}

func TestTemplates(t *testing.T) {
	t.Parallel()
	var got map[string]any
	f := newFake(func(_ context.Context, cfg map[string]any) (Measurement, error) { got = cfg; return Measurement{}, nil })
	c := fakeCheck(`{"host":"{{system.id}}"}`, CollectorConfig{ID: "a", CollectorID: "test-kind.c", Config: json.RawMessage(
		`{"name":"{{ system.metadata.owner.name }}|{{system.metadata.a.b}}|{{ environment.n }}|{{check.id}}|{{check.name}}|{{check.intervalSeconds}}|{{ nope }}|{{ system.metadata.obj }}|{{unclosed","literal":"{{ system.name }}","key":"{{ system.name }}"}`)})
	c.Template = TemplateContext{
		CheckID: "id", CheckName: "{{ system.name }}", IntervalSeconds: 30, SystemID: "sys", SystemName: "name",
		SystemMetadata: map[string]any{"owner": map[string]any{"name": "jo"}, "a.b": true, "obj": map[string]any{"k": 1}},
		Environment:    map[string]any{"n": 1.5},
	}
	f.connect = func(_ context.Context, cfg map[string]any) error {
		if cfg["host"] != "sys" {
			t.Errorf("host %v", cfg["host"])
		}
		return nil
	}
	if res := newRegistry(t, f).Run(t.Context(), c); res.Status != Healthy {
		t.Fatal(res.Message)
	}
	want := map[string]any{
		"name":    `jo|true|1.5|id|{{ system.name }}|30||{"k":1}|{{unclosed`,
		"literal": "{{ system.name }}", "key": "{{ system.name }}",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestSecretsAreMaskedAndTextIsStorable(t *testing.T) {
	t.Parallel()
	const secret = `p/w "ö" & more`
	f := newFake(func(context.Context, map[string]any) (Measurement, error) {
		return Measurement{Fields: map[string]any{
			"mode": "x" + secret + base64.StdEncoding.EncodeToString([]byte(secret)), "tags": []string{url.QueryEscape(secret), "on"},
			"disk": map[string]any{"note": "collector-key", "bytes": "a\x00b\xff"}, "body": secret,
		}}, nil
	})
	pw, _ := json.Marshal(map[string]string{"password": secret})
	res := newRegistry(t, f).Run(t.Context(), fakeCheck(string(pw), CollectorConfig{
		ID: "a", CollectorID: "test-kind.c", Config: json.RawMessage(`{"key":"collector-key"}`),
		Assertions: []Assertion{{Field: "body", Operator: "equals", Value: json.RawMessage(`"x"`)}},
	}))
	got := res.Metadata.Collectors["a"]
	outcomes := got["_assertions"].([]Outcome)
	if outcomes[0].Actual != mask || outcomes[0].Message != `body: expected to equal "x", got "****"` {
		t.Errorf("%+v", outcomes[0])
	}
	if res.Message != "Check failed: Assertion failed: body equals x" {
		t.Errorf("message %q", res.Message)
	}
	want := map[string]any{"mode": "x" + mask + mask, "tags": []any{mask, "on"}, "disk": map[string]any{"note": mask, "bytes": "ab\uFFFD"}}
	for name, v := range want {
		if d := cmp.Diff(v, got[name]); d != "" {
			t.Error(d)
		}
	}
}

// FC-042: a short secret does not shred text, one inside another is masked whole.
func TestFC042_ShortAndNestedSecrets(t *testing.T) {
	t.Parallel()
	s := newScrubber([]string{"on", "", "abcd", "xxabcdxx", "line\nbreak"})
	for in, want := range map[string]string{
		"connection": "connection", "xxabcdxx": mask, "abcd": mask, "a line\nbreak.": "a " + mask + ".",
		`a line\nbreak.`: "a " + mask + ".", "ab\x00cd": mask,
	} {
		if got := s.text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestSecretsOfTheWrongType(t *testing.T) {
	t.Parallel()
	r := newRegistry(t, newFake(nil))
	d := fakeCheck(`{"password":123456}`, CollectorConfig{CollectorID: "test-kind.c"}).Draft
	if issues := r.Validate(r.WithSecrets(d, map[string]*string{"pw": nil})); len(issues) != 1 || issues[0].Path != "config.password" {
		t.Errorf("a number as password: %v", issues)
	}
	if red, _ := r.Redact(d); strings.Contains(string(red.Config), "123456") {
		t.Errorf("redacted: %s", red.Config)
	}
	key := "k"
	set := r.WithSecrets(fakeCheck(`{}`).Draft, map[string]*string{"pw": &key, "one/key": &key})
	if string(set.Config) != `{"password":"k"}` || string(set.Collectors[0].Config) != `{"key":"k"}` {
		t.Errorf("set: %s %s", set.Config, set.Collectors[0].Config)
	}
}

func TestPlanCache(t *testing.T) {
	t.Parallel()
	c := newPlanCache(2)
	compiled := 0
	get := func(config string) {
		c.get(fakeCheck(config).Draft, func(Draft) *plan { compiled++; return &plan{} })
	}
	get("1")
	get("1")
	if compiled != 1 {
		t.Errorf("compiled %d times", compiled)
	}
	for _, k := range []string{"2", "3", "1"} {
		get(k)
	}
	if compiled != 3 {
		t.Errorf("a used plan was lost: compiled %d times", compiled)
	}
	for _, k := range []string{"4", "5", "6", "7", "8"} {
		get(k)
	}
	if n := len(c.young) + len(c.old); n > 4 {
		t.Errorf("%d plans kept", n)
	}
	a := draftKey(Draft{StrategyID: "a", Config: json.RawMessage("bc")})
	b := draftKey(Draft{StrategyID: "ab", Config: json.RawMessage("c")})
	if a == b {
		t.Error("two drafts have one key")
	}
}

func TestUpgrades(t *testing.T) {
	t.Parallel()
	f := newFake(func(_ context.Context, cfg map[string]any) (Measurement, error) {
		return Measurement{Fields: map[string]any{"mode": cfg["name"]}}, nil
	})
	f.collector.Config.Version = 2
	f.collector.Config.Upgrades = []Upgrade{{From: 1, Description: "label is called name", Apply: func(c map[string]any) {
		if v, ok := c["label"]; ok {
			c["name"] = v
			delete(c, "label")
		}
	}}}
	r := newRegistry(t, f)
	c := fakeCheck(`{}`, CollectorConfig{CollectorID: "test-kind.c", Config: json.RawMessage(`{"label":"old"}`)})
	if issues := r.Validate(c.Draft); len(issues) > 0 {
		t.Errorf("%v", issues)
	}
	n := r.Normalize(c.Draft)
	if string(n.Collectors[0].Config) != `{"name":"old"}` {
		t.Errorf("normalised %s", n.Collectors[0].Config)
	}
	res := r.Run(t.Context(), c)
	if res.Metadata.Collectors[""]["mode"] != "old" {
		t.Errorf("%+v", res)
	}
}

func TestNewRegistryRefuses(t *testing.T) {
	t.Parallel()
	for want, change := range map[string]func(*fake){
		"not qualified":                     func(f *fake) { f.kind.ID = "kind" },
		"both secret and templatable":       func(f *fake) { f.kind.Config.Schema.Properties[1].Templatable = true },
		"needs exactly 1 upgrades":          func(f *fake) { f.kind.Config.Version = 2 },
		"must lead from version 1":          func(f *fake) { f.kind.Config.Version = 2; f.kind.Config.Upgrades = []Upgrade{{From: 2}} },
		"config has no timeout":             func(f *fake) { f.kind.Config.Schema.Properties = f.kind.Config.Schema.Properties[1:] },
		"unknown type":                      func(f *fake) { f.kind.Config.Schema.Properties[1].Type = "text" },
		"bad default":                       func(f *fake) { f.kind.Config.Schema.Properties[0].Default = 1 },
		"is used twice":                     func(f *fake) { f.kind.Config.Schema.Properties[2].Schema = Schema{Type: "string", SecretID: "pw"} },
		"result schema is not":              func(f *fake) { f.collector.Result = nil },
		"only a top-level":                  func(f *fake) { f.kind.Result = nestedEphemeral() },
		"secret inside an array":            func(f *fake) { f.kind.Config.Schema.Properties[2].Schema = secretList() },
		"is empty or declared twice":        func(f *fake) { f.kind.Config.Schema.Properties[2].Name = "password" },
		"needs an object schema and Decode": func(f *fake) { f.kind.Config.Decode = nil },
		"depends on an unknown field":       func(f *fake) { f.kind.Config.Schema.Properties[2].VisibleWhen = &Condition{Field: "zzz"} },
	} {
		f := newFake(nil)
		change(f)
		if _, err := NewRegistry(f); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if _, err := NewRegistry(newFake(nil), newFake(nil)); err == nil || strings.Count(err.Error(), "registered twice") != 2 {
		t.Errorf("twice: %v", err)
	}
}

func nestedEphemeral() *Schema {
	return &Schema{Type: "object", Properties: []Property{{Name: "a", Schema: Schema{Type: "object", Properties: []Property{
		{Name: "b", Schema: Schema{Type: "string", Ephemeral: true}},
	}}}}}
}

func secretList() Schema {
	return Schema{Type: "array", Items: &Schema{Type: "object", Properties: []Property{
		{Name: "b", Schema: Schema{Type: "string", SecretID: "b"}},
	}}}
}

func TestSchemaJSON(t *testing.T) {
	t.Parallel()
	s := &Schema{Type: "object", Properties: []Property{
		{Name: "z", Required: true, Schema: Schema{Type: "string", Title: "Z", Templatable: true, EditorTypes: []string{"raw"}, MaxLength: 3}},
		{Name: "a", Schema: Schema{Type: "string", SecretID: "s", VisibleWhen: &Condition{"z", []string{"x"}}}},
		{Name: "n", Schema: Schema{Type: "integer", Minimum: Limit(0), Default: 0, Chart: &Chart{Type: "line", Label: "N", Unit: "ms", Priority: 5, GoodDirection: "down"}}},
		{Name: "b", Schema: Schema{Type: "string", Ephemeral: true, JSONPath: true}},
		{Name: "l", Schema: Schema{Type: "array", Items: &Schema{Type: "string", Enum: []string{"x"}}}},
	}}
	got, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"z":{"type":"string","title":"Z","maxLength":3,"x-templatable":true,"x-editor-types":["raw"]},` +
		`"a":{"type":"string","x-secret":true,"x-visible-when":{"field":"z","values":["x"]}},` +
		`"n":{"type":"integer","default":0,"minimum":0,"x-chart-type":"line","x-chart-label":"N","x-chart-unit":"ms","x-chart-priority":5,"x-chart-good-direction":"down"},` +
		`"b":{"type":"string","x-ephemeral":true,"x-jsonpath":true},` +
		`"l":{"type":"array","items":{"type":"string","enum":["x"]}}},"required":["z"],"additionalProperties":false}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSingleUseCollector(t *testing.T) {
	t.Parallel()
	f := newFake(nil)
	f.collector.AllowMultiple = false
	one := CollectorConfig{CollectorID: "test-kind.c"}
	issues := newRegistry(t, f).Validate(fakeCheck(`{}`, one, one).Draft)
	want := []problem.Issue{{Path: "collectors[1].collectorId", Message: "can be used only once in a check"}}
	if d := cmp.Diff(want, issues); d != "" {
		t.Error(d)
	}
	one.ID = "0190A5A0-0000-7000-8000-000000000001"
	f.collector.AllowMultiple = true
	issues = newRegistry(t, f).Validate(fakeCheck(`{}`, one, one).Draft)
	if len(issues) != 1 || issues[0].Path != "collectors[1].id" {
		t.Errorf("same id twice: %v", issues)
	}
}

func FuzzValidate(f *testing.F) {
	f.Add(`{"timeout":1.0,"host":"{{"}`, `{"name":null}`)
	f.Add(`{"timeout":1e400}`, `[]`)
	f.Add(`{"a\u0000":{"b":[{}]}}`, `{"name":"\u0000"}`)
	r, err := NewRegistry(newFake(func(context.Context, map[string]any) (Measurement, error) { return Measurement{}, nil }))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, config, collector string) {
		c := fakeCheck(config, CollectorConfig{CollectorID: "test-kind.c", Config: json.RawMessage(collector)})
		if len(r.Validate(c.Draft)) > 0 {
			return
		}
		n := r.Normalize(c.Draft)
		if issues := r.Validate(n); len(issues) > 0 {
			t.Errorf("valid, but not after Normalize: %v", issues)
		}
		if again := r.Normalize(n); string(again.Config) != string(n.Config) {
			t.Errorf("Normalize is not stable: %s, %s", n.Config, again.Config)
		}
		res := r.Run(t.Context(), Check{Draft: n})
		if res.Status != Healthy && !strings.Contains(res.Message, "secret") {
			t.Errorf("valid, but does not run: %s", res.Message)
		}
	})
}
