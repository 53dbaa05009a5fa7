package proposal

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

type people map[string]string

func (p people) Names(_ context.Context, ids []string) (map[string]string, error) {
	out := map[string]string{}
	for _, id := range ids {
		if n, ok := p[id]; ok {
			out[id] = n
		}
	}
	return out, nil
}

// call runs an operation of the gate by its id and gives its JSON answer.
func (f *fixture) call(ctx context.Context, id, input string) (string, error) {
	for _, op := range f.g.Operations() {
		if op.Declaration().ID == id {
			out, err := op.CallJSON(ctx, json.RawMessage(input))
			if err != nil {
				return "", err
			}
			raw, err := json.Marshal(out)
			return string(raw), err
		}
	}
	return "", errors.New("no operation " + id)
}

func (f *fixture) from(t *testing.T, who authz.Principal, tr Transport, name, args string) *Proposal {
	t.Helper()
	p, err := f.g.Propose(authz.With(t.Context(), who), name, []byte(args), Origin{Transport: tr})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func kindOf(err error) problem.Kind {
	if p, ok := problem.As(err); ok {
		return p.Kind
	}
	return 0
}

// TestAPrivateProposalIsItsProposersAlone: whoever holds the rules and the audit
// log, and even the token, learns that there is one and nothing else.
func TestAPrivateProposalIsItsProposersAlone(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ada := authz.From(f.ctx)
		made := f.from(t, ada, API, "test.set", `{"value":"secret plan"}`)
		open := f.from(t, ada, API, "test.set", `{"value":"new"}`)
		eve := as("eve", ruleRead.ID, ruleManage.ID, RuleAudit.ID)

		list, err := f.g.Waiting(eve)
		if err != nil || len(list) != 1 || list[0].ID != open.ID {
			t.Fatalf("others wait for %+v, %v", list, err)
		}
		id := `{"toolCallId":"` + made.ID + `"}`
		for what, err := range map[string]error{
			"approve": second(f.call(eve, "ai.approveCall", id)),
			"reject":  second(f.call(eve, "ai.rejectCall", id)),
			"apply":   second(f.g.Apply(eve, made.Token)),
			"decline": f.g.Decline(eve, made.Token),
			"lookup":  second(f.g.Lookup(eve, made.Token)),
		} {
			if kindOf(err) != problem.KindNotFound {
				t.Errorf("%s by somebody else: %v", what, err)
			}
		}
		for _, op := range []string{"ai.listToolCalls", "ai.getToolCall"} {
			input := "{}"
			if op == "ai.getToolCall" {
				input = id
			}
			out, err := f.call(eve, op, input)
			if err != nil || strings.Contains(out, "secret plan") || !strings.Contains(out, made.ID) {
				t.Errorf("%s of an auditor: %v %s", op, err, out)
			}
			if own, err := f.call(f.ctx, op, input); err != nil || !strings.Contains(own, "secret plan") {
				t.Errorf("%s of the proposer: %v %s", op, err, own)
			}
		}
		if list, err = f.g.Waiting(f.ctx); err != nil || len(list) != 2 {
			t.Fatalf("the proposer waits for %+v, %v", list, err)
		}
		if _, err := f.g.Apply(f.ctx, made.Token); err != nil {
			t.Error(err)
		}
		if out, err := f.call(eve, "ai.getToolCall", id); err != nil || strings.Contains(out, "secret plan") || !strings.Contains(out, `"applied"`) {
			t.Errorf("afterwards an auditor sees %v %s", err, out)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// TestNobodyFillsTheInboxOfEverybody: who proposes from outside has room for a
// hundred changes that wait, and gets room again when some are decided.
func TestNobodyFillsTheInboxOfEverybody(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		ada := authz.From(f.ctx)
		var last *Proposal
		for i := range maxOwn {
			if i == BudgetCalls {
				f.clock.add(BudgetWindow)
			}
			last = f.from(t, ada, MCP, "test.set", `{"value":"new"}`)
		}
		f.clock.add(BudgetWindow)
		propose := func(tr Transport, who context.Context) error {
			_, err := f.g.Propose(who, "test.set", []byte(`{"value":"new"}`), Origin{Transport: tr})
			return err
		}
		for range BudgetCalls + 1 { // a refusal costs no budget
			if err := propose(MCP, f.ctx); kindOf(err) != problem.KindConflict || !strings.Contains(err.Error(), "At most 100 changes") {
				t.Fatalf("one more: %v", err)
			}
		}
		if err := propose(Chat, f.ctx); err != nil {
			t.Errorf("in a chat: %v", err)
		}
		if err := propose(MCP, as("bob", ruleManage.ID)); err != nil {
			t.Errorf("somebody else: %v", err)
		}
		if err := f.g.Reject(f.ctx, last.ID); err != nil {
			t.Fatal(err)
		}
		if err := propose(MCP, f.ctx); err != nil {
			t.Errorf("after a decision: %v", err)
		}
	})
}

func TestInboxShowsWhatThePersonMayDecide(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.g.people = people{"ada": "Ada", "bot": "Deploy robot", "bob": "Bob"}
		robot := authz.Principal{Kind: authz.Application, ID: "bot", Rules: []string{ruleManage.ID}}
		ada := authz.Principal{Kind: authz.User, ID: "ada", Rules: []string{ruleManage.ID}}
		bob := as("bob", ruleManage.ID)
		weak := as("weak", ruleRead.ID)

		chat := f.from(t, ada, Chat, "test.set", `{"value":"chat"}`)
		mcp := f.from(t, robot, MCP, "test.wipe", `{"value":"mcp"}`)
		api := f.from(t, robot, API, "test.set", `{"value":"api"}`)

		seen := func(ctx context.Context) (ids []string) {
			list, err := f.g.Waiting(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range list {
				ids = append(ids, r.ID)
			}
			return ids
		}
		if got := strings.Join(seen(f.ctx), " "); got != chat.ID+" "+mcp.ID+" "+api.ID {
			t.Errorf("ada sees %s", got)
		}
		if got := strings.Join(seen(bob), " "); got != mcp.ID+" "+api.ID {
			t.Errorf("bob sees %s: a chat is its owner's alone", got)
		}
		if got := seen(weak); len(got) != 0 {
			t.Errorf("somebody without the rule sees %v", got)
		}

		raw, err := f.call(bob, "ai.listApprovals", "{}")
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"name":"Deploy robot"`, `"summary":"Wipe mcp"`, `"transport":"mcp"`, `"diff":[{"path":"value"`, `"mine":false`} {
			if !strings.Contains(raw, want) {
				t.Errorf("the inbox lacks %s: %s", want, raw)
			}
		}
		if strings.Contains(raw, "propose:") || strings.Contains(raw, strings.SplitN(mcp.Token, ".", 2)[1]) {
			t.Error("the inbox tells a token")
		}

		for name, refused := range map[string]struct {
			ctx  context.Context
			id   string
			want problem.Kind
		}{
			"somebody else's chat": {bob, chat.ID, problem.KindNotFound},
			"without the rule":     {weak, mcp.ID, problem.KindNotFound},
			"unknown":              {bob, "0190b1c0-0000-7000-8000-000000000000", problem.KindNotFound},
			"an application":       {authz.With(t.Context(), robot), mcp.ID, problem.KindForbidden},
			"a guest":              {authz.With(t.Context(), authz.Principal{Kind: authz.Guest}), mcp.ID, problem.KindUnauthenticated},
		} {
			for _, op := range []string{"ai.approveCall", "ai.rejectCall"} {
				if _, err := f.call(refused.ctx, op, `{"toolCallId":"`+refused.id+`"}`); kindOf(err) != refused.want {
					t.Errorf("%s %s: %v, want %d", op, name, err, refused.want)
				}
			}
		}
		if f.things.effects.Load() != 0 {
			t.Fatal("something was applied")
		}

		raw, err = f.call(bob, "ai.approveCall", `{"toolCallId":"`+mcp.ID+`"}`)
		if err != nil || !strings.Contains(raw, `"value":"mcp"`) {
			t.Fatalf("approve: %s, %v", raw, err)
		}
		rec, err := f.g.loadRecord(t.Context(), mcp.ID)
		if err != nil || rec.AppliedBy != (Who{authz.User, "bob"}) || rec.ProposedBy != (Who{authz.Application, "bot"}) {
			t.Errorf("applied by %+v for %+v, %v", rec.AppliedBy, rec.ProposedBy, err)
		}
		if _, err := f.call(f.ctx, "ai.approveCall", `{"toolCallId":"`+mcp.ID+`"}`); !errors.Is(err, ErrConsumed) {
			t.Errorf("second approval: %v", err)
		}
		// The other change was computed against the version before.
		if _, err := f.call(f.ctx, "ai.approveCall", `{"toolCallId":"`+api.ID+`"}`); kindOf(err) != problem.KindConflict {
			t.Errorf("approval of a stale change: %v, want a conflict", err)
		}
		if _, err := f.call(f.ctx, "ai.rejectCall", `{"toolCallId":"`+api.ID+`"}`); !errors.Is(err, ErrConsumed) {
			t.Errorf("reject of a stale change: %v", err)
		}
		again := f.from(t, robot, API, "test.set", `{"value":"again"}`)
		if _, err := f.call(f.ctx, "ai.rejectCall", `{"toolCallId":"`+again.ID+`"}`); err != nil {
			t.Errorf("reject: %v", err)
		}
		if got := seen(bob); len(got) != 0 {
			t.Errorf("decided changes still wait: %v", got)
		}
	})
}

func TestInboxWaitsLongerThanAChat(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		me := authz.Principal{Kind: authz.User, ID: "ada", Rules: []string{ruleManage.ID}}
		chat := f.from(t, me, Chat, "test.set", `{"value":"chat"}`)
		mcp := f.from(t, me, MCP, "test.set", `{"value":"mcp"}`)
		f.clock.add(TTL)
		if _, err := f.g.Approve(f.ctx, chat.ID); !errors.Is(err, ErrExpired) {
			t.Errorf("chat after ten minutes: %v", err)
		}
		f.clock.add(InboxTTL - TTL - time.Second)
		if list, err := f.g.Waiting(f.ctx); err != nil || len(list) != 1 || list[0].ID != mcp.ID {
			t.Errorf("waiting: %+v, %v", list, err)
		}
		f.clock.add(time.Second)
		if list, err := f.g.Waiting(f.ctx); err != nil || len(list) != 0 {
			t.Errorf("after a day: %+v, %v", list, err)
		}
	})
}

func TestAuditLog(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.g.people = people{"ada": "Ada"}
		run := func(ctx context.Context, tool, args string, tr Transport) {
			c, err := f.g.Prepare(ctx, tool, json.RawMessage(args), Approve)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = f.g.Execute(ctx, c, Origin{Transport: tr})
			f.clock.add(time.Minute)
		}
		run(f.ctx, "test.get", `{}`, Chat)
		run(f.ctx, "test.get", `{"id":"missing"}`, MCP)
		run(f.ctx, "test.set", `{"value":"x"}`, Chat)
		bob := as("bob", ruleRead.ID)
		run(bob, "test.get", `{}`, Automation)
		auditor := as("eve", RuleAudit.ID)

		type page struct {
			Calls      []callView
			NextCursor *string
			Everybody  bool
			Tools      []string
		}
		list := func(ctx context.Context, input string) page {
			t.Helper()
			raw, err := f.call(ctx, "ai.listToolCalls", input)
			var p page
			if err == nil {
				err = json.Unmarshal([]byte(raw), &p)
			}
			if err != nil {
				t.Fatalf("%s: %v", input, err)
			}
			return p
		}
		for _, c := range []struct {
			ctx   context.Context
			input string
			want  int
		}{
			{f.ctx, `{}`, 3}, {bob, `{}`, 1}, {auditor, `{}`, 4}, {auditor, `{"mine":true}`, 0},
			{auditor, `{"principalKind":"user","principalId":"ada"}`, 3},
			{f.ctx, `{"principalKind":"user","principalId":"ada"}`, 3},
			{auditor, `{"toolName":"test.get"}`, 3}, {auditor, `{"status":"failed"}`, 1}, {auditor, `{"status":"executed"}`, 2},
			{auditor, `{"status":"proposed"}`, 1}, {auditor, `{"effect":"mutate"}`, 1}, {auditor, `{"transport":"automation"}`, 1},
			{auditor, `{"from":"2026-06-07T08:31:00Z","to":"2026-06-07T08:33:00Z"}`, 2},
			{auditor, `{"from":"2030-01-01T00:00:00Z"}`, 0},
		} {
			if got := list(c.ctx, c.input); len(got.Calls) != c.want {
				t.Errorf("%s: %d calls, want %d", c.input, len(got.Calls), c.want)
			}
		}
		if got := list(auditor, `{}`); !got.Everybody || got.Calls[1].RequestedBy.Name != "Ada" || got.Calls[1].Status != Proposed || len(got.Tools) == 0 {
			t.Errorf("the log: %+v", got)
		}
		f.clock.add(TTL)
		if got := list(auditor, `{"status":"expired"}`); len(got.Calls) != 1 {
			t.Errorf("an overdue proposal is not listed as expired: %+v", got)
		}
		var seen []string
		for cursor, pages := "", 0; pages < 10; pages++ {
			input := `{"limit":1}`
			if cursor != "" {
				input = `{"limit":1,"cursor":"` + cursor + `"}`
			}
			p := list(auditor, input)
			seen = append(seen, p.Calls[0].ToolCallID)
			if p.NextCursor == nil {
				break
			}
			cursor = *p.NextCursor
		}
		if len(seen) != 4 {
			t.Errorf("paging gave %v", seen)
		}
		for input, want := range map[string]problem.Kind{
			`{"principalKind":"user","principalId":"ada"}`: problem.KindForbidden,
			`{"principalId":"bob"}`:                        problem.KindInvalid,
			`{"limit":101}`:                                problem.KindInvalid,
			`{"cursor":"x"}`:                               problem.KindInvalid,
			`{"from":"yesterday"}`:                         problem.KindInvalid,
		} {
			if _, err := f.call(bob, "ai.listToolCalls", input); kindOf(err) != want {
				t.Errorf("%s: %v, want %d", input, err, want)
			}
		}
		one := `{"toolCallId":"` + seen[1] + `"}`
		if raw, err := f.call(auditor, "ai.getToolCall", one); err != nil || !strings.Contains(raw, `"payload":{"value":"x"`) {
			t.Errorf("getToolCall: %s, %v", raw, err)
		}
		if _, err := f.call(bob, "ai.getToolCall", one); kindOf(err) != problem.KindNotFound {
			t.Errorf("somebody else's call: %v", err)
		}

		if err := f.g.Retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := list(auditor, `{}`); len(got.Calls) != 4 {
			t.Errorf("retention deleted young calls: %d left", len(got.Calls))
		}
		f.clock.add(Retention)
		if err := f.g.Retain(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := list(auditor, `{}`); len(got.Calls) != 0 {
			t.Errorf("%d old calls are left", len(got.Calls))
		}
	})
}
