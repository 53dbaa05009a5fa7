package agent

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// refuseWriting makes the database refuse what is written to a table while
// condition, on the new row, holds. It gives what ends that.
func refuseWriting(t *testing.T, d *db.DB, when, table, condition string) (end func()) {
	t.Helper()
	name := "refuse_" + strings.ToLower(strings.Fields(when)[0]) + "_" + table
	run := func(statements ...string) {
		t.Helper()
		for _, s := range statements {
			if _, err := d.Write.ExecContext(context.Background(), s); err != nil {
				t.Fatal(err)
			}
		}
	}
	if d.Postgres() {
		run("CREATE OR REPLACE FUNCTION "+name+"() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'injected'; END $$",
			"CREATE TRIGGER "+name+" BEFORE "+when+" ON "+table+" FOR EACH ROW WHEN ("+condition+") EXECUTE FUNCTION "+name+"()")
		return func() { run("DROP TRIGGER " + name + " ON " + table) }
	}
	run("CREATE TRIGGER " + name + " BEFORE " + when + " ON " + table + " WHEN " + condition + " BEGIN SELECT RAISE(ABORT, 'injected'); END")
	return func() { run("DROP TRIGGER " + name) }
}

// TestBeginningATurnIsOneTransaction fails each write of a turn's beginning in
// turn: the claim, the message, the answer's place, the time of the last
// activity and the reservation all stand, or none does.
func TestBeginningATurnIsOneTransaction(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		gateway := llmtest.NewServer(t)
		for _, tc := range []struct {
			name                   string
			when, table, condition string
			budget                 int64
		}{
			{"the person's message", "INSERT", "ai_messages", "NEW.role = 'user'", 1 << 40},
			{"the answer's place", "INSERT", "ai_messages", "NEW.role = 'assistant'", 1 << 40},
			{"the answer's place, near the cap", "INSERT", "ai_messages", "NEW.role = 'assistant'", 20_000},
			{"the reservation", "INSERT", "ai_spend", "NEW.reserved > 0", 1 << 40},
			{"the claim", "UPDATE", "ai_conversations", "NEW.turn_id IS NOT NULL", 1 << 40},
		} {
			connection := f.connection(gateway, obj{"disableTopicalClassifier": true, "spendCap": obj{"tokenBudget": tc.budget, "windowMinutes": 60}})
			conv := f.conversation("approve")
			look := func() string {
				t.Helper()
				var rows []string
				err := d.Read.NewRaw(`SELECT coalesce(turn_id, '-') || ' ' || coalesce(title, '-') || ' ' || coalesce(integration_id, '-') || ' ' || CAST(updated_at AS TEXT) || ' ' ||
					CAST((SELECT count(*) FROM ai_messages m WHERE m.conversation_id = c.id) AS TEXT) || ' messages ' ||
					CAST((SELECT count(*) FROM ai_spend s WHERE s.integration_id = ?) AS TEXT) || ' reservations' FROM ai_conversations c WHERE id = ?`, connection, conv).Scan(t.Context(), &rows)
				if err != nil || len(rows) != 1 {
					t.Fatal(rows, err)
				}
				return rows[0]
			}
			before := look()
			f.skew.Add(int64(time.Minute)) // what the turn wrote would show in updated_at
			end := refuseWriting(t, d, tc.when, tc.table, tc.condition)
			resp := f.request(context.Background(), "ada", obj{"conversationId": conv, "connectionId": connection, "message": "hello"})
			raw, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != http.StatusInternalServerError || strings.Contains(string(raw), "injected") {
				t.Errorf("%s: answered %d %s", tc.name, resp.StatusCode, raw)
			}
			if after := look(); after != before {
				t.Errorf("%s failed, yet\n%s\nbecame\n%s", tc.name, before, after)
			}
			end()
			gateway.Push(llmtest.Turn{Text: "Hello."})
			if got := text(f.turn(conv, connection, "hello")); got != "Hello." {
				t.Errorf("%s: afterwards %q", tc.name, got)
			}
			if after := look(); after == before || !strings.Contains(after, " 2 messages 1 reservations") {
				t.Errorf("%s: afterwards %s", tc.name, after)
			}
			f.s.background.Wait()
		}
	})
}
