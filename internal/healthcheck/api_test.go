package healthcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// as gives a context of a caller with exactly these rules; none means a guest
// with the rules of the role "anonymous".
func as(ctx context.Context, rules ...string) context.Context {
	if rules == nil {
		return authz.With(ctx, authz.Principal{Rules: []string{RuleStatus.ID}})
	}
	return authz.With(ctx, authz.Principal{Kind: authz.User, ID: "u", Rules: rules})
}

// code is the code that a caller would see.
func code(err error) string {
	if err == nil {
		return "OK"
	}
	_, body := problem.BodyOf(err)
	return body.Code
}

func TestEveryOperation(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		sys := b.system("S")
		c := b.check(Draft{Name: "x", StrategyID: kindID, Config: json.RawMessage(`{"target":"x","password":"canary-secret"}`), IntervalSeconds: 60}, sys)
		b.tick(b.svc)
		runs, _, err := b.svc.History(t.Context(), HistoryQuery{Limit: 1})
		if err != nil || len(runs) != 1 {
			t.Fatal(runs, err)
		}
		unknown := "00000000-0000-7000-8000-000000000000"
		body := `"name":"n","strategyId":"` + kindID + `","config":{"target":"t"},"intervalSeconds":30`
		pair := func(s, c string) string { return fmt.Sprintf(`{"systemId":%q,"configurationId":%q}`, s, c) }
		id := func(id string) string { return fmt.Sprintf(`{"id":%q}`, id) }
		chart := func(s, c string) string {
			return strings.TrimSuffix(pair(s, c), "}") + `,"startDate":"2026-07-01T00:00:00Z","endDate":"2026-07-02T00:00:00+02:00"}`
		}
		// The deletions come last.
		rows := []struct {
			op      string
			rule    authz.Rule
			public  bool
			valid   string
			invalid map[string]string // input to the path that must be named
			missing string            // input that is not found; empty when nothing can be missing
		}{
			{op: "getStrategies", rule: RuleRead, valid: `{}`, invalid: map[string]string{`{"x":1}`: "x"}},
			{op: "getCollectors", rule: RuleRead, valid: `{"strategyId":"` + kindID + `"}`, invalid: map[string]string{`{}`: "strategyId"}},
			{op: "getConfigurations", rule: RuleRead, valid: `{}`, invalid: map[string]string{`{"x":1}`: "x"}},
			{op: "getConfiguration", rule: RuleRead, valid: id(c.ID), invalid: map[string]string{`{"id":"x"}`: "id"}, missing: id(unknown)},
			{op: "createConfiguration", rule: RuleManage, valid: `{` + body + `}`, invalid: map[string]string{
				`{}`: "strategyId", `{` + body + `,"x":1}`: "x",
				`{"name":"","strategyId":"` + kindID + `","config":{},"intervalSeconds":0}`:            "config.target",
				`{"name":"n","strategyId":"` + kindID + `","config":[],"intervalSeconds":30}`:          "config",
				`{"name":"n","strategyId":"nope","config":{},"intervalSeconds":30}`:                    "strategyId",
				`{"name":5,"strategyId":"` + kindID + `","config":{"target":"x"},"intervalSeconds":1}`: "name",
				`{` + body + `,"collectors":[{"collectorId":"nope"}]}`:                                 "collectors[0].collectorId",
			}},
			{op: "createAndAssign", rule: RuleManage, valid: `{` + body + `,"systemIds":["` + sys + `"]}`, invalid: map[string]string{
				`{` + body + `,"systemIds":[]}`: "systemIds", `{` + body + `,"systemIds":["` + unknown + `"]}`: "systemIds[0]"}},
			{op: "updateConfiguration", rule: RuleManage, valid: `{"id":"` + c.ID + `","body":{"name":"y"}}`, missing: `{"id":"` + unknown + `","body":{}}`,
				invalid: map[string]string{`{"id":"` + c.ID + `","body":{"intervalSeconds":-1}}`: "intervalSeconds", `{"id":"` + c.ID + `","body":{"nope":1}}`: "body.nope"}},
			{op: "pauseConfiguration", rule: RuleManage, valid: id(c.ID), missing: id(unknown), invalid: map[string]string{`{}`: "id"}},
			{op: "resumeConfiguration", rule: RuleManage, valid: id(c.ID), missing: id(unknown), invalid: map[string]string{`{}`: "id"}},
			{op: "validateConfiguration", rule: RuleManage, valid: `{"draft":{}}`, missing: `{"draft":{"id":"` + unknown + `"}}`, invalid: map[string]string{`{}`: "draft"}},
			{op: "testConfiguration", rule: RuleManage, valid: `{"draft":{` + body + `},"systemId":"` + sys + `"}`,
				missing: `{"draft":{` + body + `},"systemId":"` + unknown + `"}`, invalid: map[string]string{`{"draft":{` + strings.Replace(body, `"t"`, `""`, 1) + `}}`: "config.target"}},
			{op: "getSystemAssociations", rule: RuleRead, valid: `{"systemId":"` + sys + `"}`, missing: `{"systemId":"` + unknown + `"}`, invalid: map[string]string{`{}`: "systemId"}},
			{op: "associateSystem", rule: RuleManage, valid: `{"systemId":"` + sys + `","body":{"configurationId":"` + c.ID + `","stateThresholds":{"mode":"window","windowSize":5}}}`,
				missing: `{"systemId":"` + sys + `","body":{"configurationId":"` + unknown + `"}}`, invalid: map[string]string{
					`{"systemId":"` + sys + `","body":{"configurationId":"` + c.ID + `","stateThresholds":{"mode":"window","windowSize":2}}}`:                         "body.stateThresholds.windowSize",
					`{"systemId":"` + sys + `","body":{"configurationId":"` + c.ID + `","stateThresholds":{"mode":"consecutive","unhealthy":{"minFailureCount":0}}}}`: "body.stateThresholds.unhealthy.minFailureCount"}},
			{op: "runNow", rule: RuleManage, valid: pair(sys, c.ID), missing: pair(sys, unknown), invalid: map[string]string{`{}`: "configurationId"}},
			{op: "getSystemHealthStatus", rule: RuleStatus, public: true, valid: `{"systemId":"` + sys + `"}`, missing: `{"systemId":"` + unknown + `"}`, invalid: map[string]string{`{}`: "systemId"}},
			{op: "getBulkSystemHealthStatus", rule: RuleStatus, public: true, valid: `{"systemIds":["` + sys + `","` + unknown + `"]}`, invalid: map[string]string{`{}`: "systemIds"}},
			{op: "getSystemHealthOverview", rule: RuleStatus, public: true, valid: `{"systemId":"` + sys + `"}`, missing: `{"systemId":"` + unknown + `"}`, invalid: map[string]string{`{}`: "systemId"}},
			{op: "getHistory", rule: RuleStatus, public: true, valid: `{"systemId":"` + sys + `","status":"healthy"}`, invalid: map[string]string{
				`{"limit":0}`: "limit", `{"limit":101}`: "limit", `{"startDate":"2026-07-01"}`: "startDate", `{"status":"bad"}`: "status", `{"offset":-1}`: "offset"}},
			{op: "getDetailedHistory", rule: RuleDetails, valid: `{}`, invalid: map[string]string{`{"sortOrder":"x"}`: "sortOrder"}},
			{op: "getRunById", rule: RuleDetails, valid: `{"runId":"` + runs[0].ID + `"}`, missing: `{"runId":"` + unknown + `"}`, invalid: map[string]string{`{"runId":"x"}`: "runId"}},
			{op: "getAggregatedHistory", rule: RuleStatus, public: true, valid: chart(sys, c.ID), invalid: map[string]string{
				pair(sys, c.ID): "startDate", strings.TrimSuffix(chart(sys, c.ID), "}") + `,"targetPoints":9}`: "targetPoints"}},
			{op: "disassociateSystem", rule: RuleManage, valid: pair(sys, c.ID), missing: pair(unknown, c.ID), invalid: map[string]string{`{}`: "systemId"}},
			{op: "deleteConfiguration", rule: RuleManage, valid: id(c.ID), missing: id(unknown), invalid: map[string]string{`{}`: "id"}},
		}
		ops := map[string]operation.Operation{}
		for _, op := range b.svc.Operations() {
			ops[op.Declaration().Procedure()] = op
		}
		for _, r := range rows {
			op := ops[r.op]
			if op == nil {
				t.Fatalf("%s is not declared", r.op)
			}
			delete(ops, r.op)
			call := func(ctx context.Context, input string) (string, string) {
				out, err := op.CallJSON(ctx, json.RawMessage(input))
				raw, merr := json.Marshal(out)
				if merr != nil {
					t.Errorf("%s: answer: %v", r.op, merr)
				}
				text := string(raw)
				if err != nil {
					text = err.Error()
				}
				if strings.Contains(text, "canary-secret") {
					t.Errorf("%s shows a secret: %s", r.op, text)
				}
				return code(err), text
			}
			ctx := t.Context()
			wrong := []string{"catalog.system.manage"}
			if got, text := call(as(ctx, wrong...), r.valid); got != "FORBIDDEN" || !strings.Contains(text, r.rule.ID) {
				t.Errorf("%s with another role: %s %s", r.op, got, text)
			}
			if got, _ := call(authz.With(ctx, authz.Principal{}), r.valid); got != "UNAUTHORIZED" && (!r.public || got != "FORBIDDEN") {
				t.Errorf("%s without any rule: %s", r.op, got)
			}
			for input, path := range r.invalid {
				_, err := op.CallJSON(as(ctx, r.rule.ID), json.RawMessage(input))
				p, ok := problem.As(err)
				if !ok || p.Kind != problem.KindInvalid || !slices.ContainsFunc(p.Issues, func(i problem.Issue) bool { return i.Path == path }) {
					t.Errorf("%s of %s: got %v, want an issue at %s", r.op, input, err, path)
				}
			}
			if r.missing != "" {
				if got, text := call(as(ctx, r.rule.ID), r.missing); got != "NOT_FOUND" {
					t.Errorf("%s of something unknown: %s %s", r.op, got, text)
				}
			}
			if r.public {
				if got, text := call(as(ctx), r.valid); got != "OK" {
					t.Errorf("%s as a guest: %s %s", r.op, got, text)
				}
			}
			if got, text := call(as(ctx, r.rule.ID), r.valid); got != "OK" {
				t.Errorf("%s: %s %s", r.op, got, text)
			}
		}
		for name := range ops {
			t.Errorf("%s has no row in this test", name)
		}
	})
}

func TestGuestsAreNotToldWhy(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	sys := b.system("S")
	b.check(draft("x", 60), sys)
	b.play(sys, "FF", time.Minute)
	read := func(ctx context.Context) string {
		t.Helper()
		for _, op := range b.svc.Operations() {
			if op.Declaration().Procedure() == "getSystemHealthStatus" {
				out, err := op.CallJSON(ctx, json.RawMessage(`{"systemId":"`+sys+`"}`))
				if err != nil {
					t.Fatal(err)
				}
				raw, _ := json.Marshal(out)
				return string(raw)
			}
		}
		return ""
	}
	if got := read(as(t.Context())); strings.Contains(got, "refused") {
		t.Errorf("a guest reads %s", got)
	}
	if got := read(as(t.Context(), RuleStatus.ID)); !strings.Contains(got, "connection refused") {
		t.Errorf("a user reads %s", got)
	}
}

func TestAnswersHaveTheContractsForm(t *testing.T) {
	t.Parallel()
	b := setup(t, dbtest.SQLite(t))
	sys := b.system("S")
	c := b.check(draft("x", 60), sys)
	b.tick(b.svc)
	call := func(name, input string) map[string]any {
		t.Helper()
		for _, op := range b.svc.Operations() {
			if op.Declaration().Procedure() != name {
				continue
			}
			out, err := op.CallJSON(admin(t.Context()), json.RawMessage(input))
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(out)
			if err != nil {
				t.Fatal(err)
			}
			var m map[string]any
			if err := json.Unmarshal(raw, &m); err != nil {
				t.Fatal(err)
			}
			return m
		}
		t.Fatal(name)
		return nil
	}
	keys := func(v any) string {
		m, _ := v.(map[string]any)
		var out []string
		for k := range m {
			out = append(out, k)
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	over := call("getSystemHealthOverview", `{"systemId":"`+sys+`"}`)
	check := over["checks"].([]any)[0].(map[string]any)
	if got, want := keys(check), "configurationId configurationName enabled intervalSeconds lastRunAt nextRunAt paused recentRuns since stale stateThresholds status strategyId"; got != want {
		t.Errorf("overview: got %s", got)
	}
	if check["stateThresholds"] != nil || check["status"] != "healthy" || len(check["recentRuns"].([]any)) != 1 {
		t.Errorf("overview: %v", check)
	}
	conf := call("getConfiguration", `{"id":"`+c.ID+`"}`)
	if got, want := keys(conf), "collectors config configuredSecrets createdAt id intervalSeconds name paused strategyId systemIds updatedAt version"; got != want {
		t.Errorf("configuration: got %s", got)
	}
	run := call("getRunById", `{"runId":"`+check["recentRuns"].([]any)[0].(map[string]any)["id"].(string)+`"}`)
	if got, want := keys(run), "configurationId id latencyMs message result status systemId timestamp"; got != want {
		t.Errorf("run: got %s", got)
	}
	if run["timestamp"] != "2026-07-01T12:00:00Z" || run["result"].(map[string]any)["connected"] != true {
		t.Errorf("run: %v", run)
	}
	agg := call("getAggregatedHistory", `{"systemId":"`+sys+`","configurationId":"`+c.ID+`","startDate":"2026-07-01T11:00:00Z","endDate":"2026-07-01T13:00:00Z","targetPoints":10}`)
	if agg["bucketIntervalSeconds"] != 720.0 || len(agg["buckets"].([]any)) != 1 {
		t.Errorf("chart: %v", agg)
	}
	status := call("getSystemHealthStatus", `{"systemId":"`+b.system("empty")+`"}`)
	if status["status"] != "unknown" || status["since"] != nil || len(status["checkStatuses"].([]any)) != 0 {
		t.Errorf("a system without checks: %v", status)
	}
	kinds := call("getStrategies", `{}`)
	if got := keys(kinds["strategies"].([]any)[0]); got != "category configSchema description displayName id resultSchema" {
		t.Errorf("strategies: got %s", got)
	}
}
