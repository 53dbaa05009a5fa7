package healthcheck

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

func tools(t *testing.T, b *bundle) *tool.Registry {
	t.Helper()
	r, err := tool.NewRegistry(b.svc.Tools())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestProposeForASystemThatDoesNotExistYet(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := admin(t.Context())
		propose, _ := tools(t, b).Get("healthcheck.propose")
		input := func(rest string) json.RawMessage {
			return json.RawMessage(`{"name":"HTTP","strategyId":"` + kindID + `","config":{"target":"x","password":"canary-secret"},"intervalSeconds":30` + rest + `}`)
		}
		dry, err := propose.Preview(ctx, input(`,"assignToSystemName":"Payments API"`))
		if err != nil || !strings.Contains(dry.Blocked, `The system "Payments API" does not exist yet`) || strings.Contains(dry.Summary, "canary") {
			t.Fatalf("%s, %v", dry.Summary, err)
		}
		if b.count("health_check_configurations") != 0 {
			t.Error("the dry run created something")
		}
		if _, err := propose.Run(ctx, dry.Payload); !problem.Is(err, problem.KindConflict) || !strings.Contains(err.Error(), "Payments API") {
			t.Errorf("without the system: %v", err)
		}
		sys := b.system("Payments API")
		out, err := propose.Run(ctx, dry.Payload)
		if err != nil {
			t.Fatal(err)
		}
		if got := out.(proposeOutput); got.SystemID != sys || got.Name != "HTTP" {
			t.Errorf("got %+v", got)
		}
		if n := b.tick(b.svc); n != 1 {
			t.Errorf("%d runs at once, want 1", n)
		}
		b.system("payments api")
		if _, err := propose.Preview(ctx, input(`,"assignToSystemName":"PAYMENTS API"`)); !problem.Is(err, problem.KindInvalid) || !strings.Contains(err.Error(), sys) {
			t.Errorf("an ambiguous name: %v", err)
		}
		if _, err := propose.Preview(ctx, input(`,"assignToSystemId":"nope"`)); !problem.Is(err, problem.KindInvalid) {
			t.Errorf("an unknown id: %v", err)
		}
		if dry, err := propose.Preview(ctx, input("")); err != nil || dry.Blocked != "" || !strings.Contains(dry.Summary, "only once it is assigned") {
			t.Errorf("%s, %v", dry.Summary, err)
		}
		_, err = propose.Preview(ctx, json.RawMessage(`{"name":"","strategyId":"`+kindID+`","config":{},"intervalSeconds":0,"assignToSystemId":"nope"}`))
		if p, ok := problem.As(err); !ok || len(p.Issues) != 4 {
			t.Errorf("every fault at once: %v", err)
		}
		if _, err := propose.Preview(as(t.Context(), RuleRead.ID), input("")); !problem.Is(err, problem.KindForbidden) {
			t.Errorf("without the rule: %v", err)
		}
	})
}

func TestUpdateToolMergesAndRefusesWhatMoved(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := admin(t.Context())
		update, _ := tools(t, b).Get("healthcheck.update")
		c := b.check(Draft{Name: "x", StrategyID: kindID, Config: json.RawMessage(`{"target":"old","password":"canary-secret"}`), IntervalSeconds: 60}, b.system("S"))
		input := func(body string) json.RawMessage { return json.RawMessage(`{"id":"` + c.ID + `","body":` + body + `}`) }
		dry, err := update.Preview(ctx, input(`{"config":{"target":"new"},"intervalSeconds":30}`))
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(changes(dry)); got != `[config.target: "old" > "new" intervalSeconds: 60 > 30]` {
			t.Errorf("diff %s", got)
		}
		stale := dry.Payload
		if _, err := update.Run(ctx, dry.Payload); err != nil {
			t.Fatal(err)
		}
		now, err := b.svc.Configuration(t.Context(), c.ID)
		if err != nil || !strings.Contains(string(now.Config), `"new"`) || now.IntervalSeconds != 30 || len(now.ConfiguredSecrets) != 1 {
			t.Errorf("got %+v, %v", now, err)
		}
		if _, err := update.Run(ctx, stale); !problem.Is(err, problem.KindConflict) {
			t.Errorf("a payload of an old version: %v", err)
		}
		dry, err = update.Preview(ctx, input(`{"config":{"password":"canary-secret-2"}}`))
		if err != nil {
			t.Fatal(err)
		}
		diff, _ := json.Marshal(dry.Diff)
		if strings.Contains(string(diff), "canary") || !strings.Contains(string(diff), "config.password") {
			t.Errorf("diff of a secret: %s", diff)
		}
		if dry, err = update.Preview(ctx, input(`{"paused":true}`)); err != nil || !strings.HasPrefix(dry.Summary, `Pause health check "x"`) {
			t.Errorf("%s, %v", dry.Summary, err)
		}
		if _, err := update.Run(ctx, dry.Payload); err != nil {
			t.Fatal(err)
		}
		if n := b.tick(b.svc); n != 0 {
			t.Errorf("%d runs while paused", n)
		}
		if _, err := update.Preview(ctx, input(`{"intervalSeconds":0,"config":{"nope":1}}`)); err == nil || !strings.Contains(err.Error(), "body.intervalSeconds") || !strings.Contains(err.Error(), "body.config.nope") {
			t.Errorf("got %v", err)
		}
		if _, err := update.Preview(ctx, json.RawMessage(`{"id":"`+newID()+`","body":{}}`)); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("got %v", err)
		}
	})
}

func changes(dry tool.Dry) []string {
	var out []string
	for _, c := range dry.Diff {
		out = append(out, fmt.Sprintf("%s: %s > %s", c.Path, c.Before, c.After))
	}
	return out
}

func TestDeleteAndStatusTools(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		b := setup(t, d)
		ctx := admin(t.Context())
		r := tools(t, b)
		sys := b.system("Payments API")
		c := b.check(draft("HTTP", 60), sys)
		b.check(draft("idle", 60))
		b.play(sys, "FF", time.Minute)
		status, _ := r.Get("healthcheck.status")
		out, err := status.Run(ctx, json.RawMessage(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		list := out.(statusOutput).Checks
		if len(list) != 2 || list[0].SystemName != "Payments API" || list[0].Status != "degraded" || list[0].Reason != "connection refused" ||
			list[0].Since == nil || list[1].Name != "idle" || list[1].Status != "unknown" || list[1].Note == "" {
			t.Errorf("got %+v", list)
		}
		if out, err = status.Run(as(t.Context(), RuleStatus.ID), json.RawMessage(`{}`)); err != nil || len(out.(statusOutput).Checks) != 1 {
			t.Errorf("a viewer sees %+v, %v", out, err)
		}
		if _, err := status.Run(ctx, json.RawMessage(`{"systemId":"nope"}`)); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("got %v", err)
		}
		remove, _ := r.Get("healthcheck.delete")
		if remove.Effect() != tool.Destructive {
			t.Errorf("effect %s", remove.Effect())
		}
		dry, err := remove.Preview(ctx, json.RawMessage(`{"id":"`+c.ID+`"}`))
		if err != nil || !strings.Contains(dry.Summary, `"HTTP", which watches "Payments API", with its run history`) {
			t.Errorf("%s, %v", dry.Summary, err)
		}
		if _, err := remove.Run(ctx, dry.Payload); err != nil {
			t.Fatal(err)
		}
		if _, err := remove.Run(ctx, dry.Payload); !problem.Is(err, problem.KindNotFound) {
			t.Errorf("a second time: %v", err)
		}
	})
}
