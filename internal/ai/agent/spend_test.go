package agent

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// TestTwoReplicasKeepACapTogether has one person send twenty messages at once,
// half to each replica. Each turn really uses 18 tokens and reserves 4,096.
func TestTwoReplicasKeepACapTogether(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		const turns = 20
		hold := make(chan struct{})
		gateway := llmtest.NewServer(t)
		for range turns {
			gateway.Push(llmtest.Turn{Text: "Hello.", Wait: hold})
		}
		connection := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 10_000, "windowMinutes": 60}, "disableTopicalClassifier": true})
		other := f.replica()
		f.s.idle, other.idle = time.Hour, time.Hour // the provider is held, not silent
		var admitted, refused atomic.Int64
		var wg sync.WaitGroup
		for i := range turns {
			conv := f.conversation("approve")
			s := []*Service{f.s, other}[i%2]
			wg.Go(func() {
				rec := newRecorder()
				body := fmt.Sprintf(`{"conversationId":%q,"connectionId":%q,"message":"hi"}`, conv, connection)
				r, _ := http.NewRequestWithContext(authz.With(context.Background(), f.ada), http.MethodPost, "/api/ai/chat", strings.NewReader(body))
				s.ChatHandler().ServeHTTP(rec, r)
				switch rec.code {
				case http.StatusOK:
					admitted.Add(1)
				case http.StatusTooManyRequests:
					// Nothing is used yet: the others have reserved it.
					if got := rec.body.String(); !strings.Contains(got, "exceeded: 0 of 10000 tokens used") || !strings.Contains(got, "reserved for answers that are being written now") {
						t.Errorf("refused with %s", got)
					}
					refused.Add(1)
				default:
					t.Errorf("answered %d %s", rec.code, rec.body.String())
				}
			})
		}
		for refused.Load()+int64(len(gateway.Requests())) < turns {
			<-time.After(5 * time.Millisecond)
		}
		// 10,000 of budget hold two reservations and begin a third.
		if n := len(gateway.Requests()); n < 1 || n > 3 {
			t.Errorf("%d turns run at once, want at most 3", n)
		}
		line := f.must(f.ada0(), "ai.getSpend", obj{})["lines"].([]any)[0].(obj)
		if line["windowTokens"].(float64) < 10_000 || line["reservedTokens"] != line["windowTokens"] {
			t.Errorf("while they run: %v", line)
		}
		close(hold)
		wg.Wait()
		line = f.must(f.ada0(), "ai.getSpend", obj{})["lines"].([]any)[0].(obj)
		if line["reservedTokens"].(float64) != 0 {
			t.Errorf("afterwards: %v", line)
		}
		f.s.background.Wait()
		other.background.Wait()
		var used, rows int64
		if err := d.Read.NewRaw("SELECT CAST(sum(total_tokens) AS BIGINT), count(*) FROM ai_spend").Scan(t.Context(), &used, &rows); err != nil {
			t.Fatal(err)
		}
		if rows != admitted.Load() || used != 18*rows {
			t.Errorf("%d tokens in %d rows after %d turns: reservations must give way to what was used", used, rows, admitted.Load())
		}
	})
}

type recorder struct {
	code   int
	header http.Header
	body   strings.Builder
}

func newRecorder() *recorder                    { return &recorder{header: http.Header{}} }
func (r *recorder) Header() http.Header         { return r.header }
func (r *recorder) WriteHeader(code int)        { r.code = code }
func (r *recorder) Write(p []byte) (int, error) { return r.body.Write(p) }
func (r *recorder) Flush()                      {}

// TestTheCapEndsALongTurn spends the budget within one turn: the next round is
// not asked for, what was shown stays.
func TestTheCapEndsALongTurn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t,
			llmtest.Turn{Text: "Looking. ", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{})}}, llmtest.Turn{Text: "Never asked."})
		connection := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 18, "windowMinutes": 60}, "disableTopicalClassifier": true})
		conv := f.conversation("approve")
		frames := f.turn(conv, connection, "go")
		if fr := find(t, frames, "error"); !strings.Contains(fr.ErrorText, "LLM spend/budget exceeded: 18 of 18") {
			t.Errorf("error %q", fr.ErrorText)
		}
		if text(frames) != "Looking. " || len(gateway.Requests()) != 1 {
			t.Errorf("text %q, %d rounds", text(frames), len(gateway.Requests()))
		}
		if m := f.stored(conv); len(m) != 2 || !strings.Contains(m[1].Metadata.Error, "LLM spend/budget exceeded") {
			t.Errorf("stored %+v", m)
		}
	})
}

func TestARefusedOrFailedTurnLeavesNoReservation(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	gateway := llmtest.NewServer(t, llmtest.Turn{Status: http.StatusBadRequest, Body: "no"})
	connection := f.connection(gateway, obj{"spendCap": obj{"tokenBudget": 1000, "windowMinutes": 60}, "disableTopicalClassifier": true})
	conv := f.conversation("approve")
	f.turn(conv, connection, "go")
	// The conversation is busy, so the turn never begins.
	f.abandoned(conv, BuiltinID, "go")
	f.s.takeOver = 20 * time.Millisecond
	resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": connection, "message": "again"})
	if resp.Body.Close(); resp.StatusCode != http.StatusConflict {
		t.Errorf("answered %d", resp.StatusCode)
	}
	f.s.background.Wait()
	var rows int
	if err := f.d.Read.NewRaw("SELECT count(*) FROM ai_spend").Scan(t.Context(), &rows); err != nil || rows != 0 {
		t.Errorf("%d rows of spend, %v", rows, err)
	}
}

// What a killed turn has reserved may have been used: it counts as that.
func TestAKilledTurnsReservationIsKept(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		connection := f.connection(llmtest.NewServer(t), obj{"spendCap": obj{"tokenBudget": 4000, "windowMinutes": 60}, "disableTopicalClassifier": true})
		f.abandoned(f.conversation("approve"), connection, "go")
		refusal := func() string {
			resp := f.request(context.Background(), "ada", obj{"conversationId": f.conversation("approve"), "connectionId": connection, "message": "hi"})
			defer resp.Body.Close()
			raw, err := io.ReadAll(resp.Body)
			if err != nil || resp.StatusCode != http.StatusTooManyRequests {
				t.Fatalf("answered %d %s, %v", resp.StatusCode, raw, err)
			}
			return string(raw)
		}
		if got := refusal(); !strings.Contains(got, "exceeded: 0 of 4000 tokens used") || !strings.Contains(got, "reserved") {
			t.Errorf("while it may live: %s", got)
		}
		f.skew.Store(int64(turnLease + time.Second))
		if err := f.s.Sweep(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := refusal(); strings.Contains(got, "exceeded: 0 of 4000 tokens used") || strings.Contains(got, "reserved") {
			t.Errorf("after its process died: %s", got)
		}
	})
}

func TestGetSpend(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.s.names = func(context.Context, []string) (map[string]string, error) {
			return map[string]string{"ada": "Ada L."}, nil
		}
		gateway := llmtest.NewServer(t)
		capped := f.connection(gateway, obj{"name": "capped", "spendCap": obj{"tokenBudget": 100_000, "windowMinutes": 60}, "disableTopicalClassifier": true})
		free := f.connection(gateway, obj{"name": "free", "disableTopicalClassifier": true})
		for _, c := range []string{capped, capped, free} {
			conv := f.must(f.ada, "ai.createConversation", obj{"title": "t"})["id"].(string)
			gateway.Push(llmtest.Turn{Text: "Ok."})
			f.turn(conv, c, "go")
		}
		conv := f.must(f.bob, "ai.createConversation", obj{"title": "t"})["id"].(string)
		gateway.Push(llmtest.Turn{Text: "Ok.", Quirks: []llmtest.Quirk{llmtest.UsageNever}})
		resp := f.request(context.Background(), "bob", obj{"conversationId": conv, "connectionId": free, "message": "go"})
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()

		out := f.must(f.ada0(), "ai.getSpend", obj{})
		lines := out["lines"].([]any)
		if len(lines) != 3 {
			t.Fatalf("lines %v", lines)
		}
		var seen []string
		for _, l := range lines {
			l := l.(obj)
			seen = append(seen, fmt.Sprint(l["connectionName"], " ", l["principalName"], " ", l["entries"], " ", l["windowTokens"] != nil, " ", l["estimatedTokens"].(float64) > 0))
		}
		got := strings.Join(seen, "\n")
		for _, want := range []string{"capped Ada L. 2 true false", "free Ada L. 1 false false", "free <nil> 1 false true"} {
			if !strings.Contains(got, want) {
				t.Errorf("lines\n%s\nlack %q", got, want)
			}
		}
		total := out["total"].(obj)["totalTokens"].(float64)
		days := out["days"].([]any)
		if len(days) != 1 || days[0].(obj)["totalTokens"].(float64) != total || days[0].(obj)["date"] != time.Now().UTC().Format("2006-01-02") {
			t.Errorf("days %v, total %v", days, total)
		}
		out = f.must(f.ada0(), "ai.getSpend", obj{"connectionId": capped})
		if got := out["total"].(obj); got["totalTokens"] != 36.0 || got["entries"] != 2.0 {
			t.Errorf("of one connection %v", got)
		}
		out = f.must(f.ada0(), "ai.getSpend", obj{"principalId": "bob", "from": "2020-01-01T00:00:00Z", "to": "2020-06-01T00:00:00Z"})
		if len(out["lines"].([]any)) != 0 || len(out["days"].([]any)) != 0 {
			t.Errorf("of another time %v", out)
		}
		f.must(f.ada0(), "ai.deleteConnection", obj{"id": free})
		for _, l := range f.must(f.ada0(), "ai.getSpend", obj{})["lines"].([]any) {
			if l := l.(obj); l["connectionId"] == free && l["connectionName"] != nil {
				t.Errorf("a deleted connection has a name: %v", l)
			}
		}
		for _, in := range []obj{{"from": "2026-01-02T00:00:00Z", "to": "2026-01-01T00:00:00Z"}, {"from": "2020-01-01T00:00:00Z"}} {
			if _, err := f.call(f.ada0(), "ai.getSpend", in); err == nil {
				t.Errorf("%v is accepted", in)
			}
		}
		if _, err := f.call(f.ada, "ai.getSpend", obj{}); err == nil {
			t.Error("anybody sees what others use")
		}
	})
}
