package agent

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// BenchmarkGatewayTurn plays a turn of one answer with guard, spend cap and
// forty tools, in one process with a provider that answers at once.
func BenchmarkGatewayTurn(b *testing.B) {
	chunk := func(delta string) string {
		return `data: {"choices":[{"index":0,"delta":{"content":"` + delta + `"}}]}` + "\n\n"
	}
	tail := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1200,"completion_tokens":9,"total_tokens":1209}}` + "\n\ndata: [DONE]\n\n"
	gateway := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		if bytes.Contains(body, []byte("You sort messages")) {
			_, _ = io.WriteString(w, chunk("ON_TOPIC")+tail)
			return
		}
		_, _ = io.WriteString(w, chunk("All ")+chunk("is ")+chunk("well.")+tail)
	}))
	defer gateway.Close()
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		f := setup(b, d)
		var more []tool.Tool
		for i := range 35 {
			more = append(more, named("bench.tool"+string(rune('a'+i%26))+string(rune('a'+i/26))))
		}
		f.withTools(more...)
		f.s.http = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
		defer f.s.http.CloseIdleConnections()
		connection := f.must(f.ada0(), "ai.createConnection", obj{"name": "bench", "baseUrl": gateway.URL + "/v1", "apiKey": apiKey, "defaultModel": "m",
			"spendCap": obj{"tokenBudget": 1_000_000_000, "windowMinutes": 1}})["id"].(string)
		conv := f.must(f.ada, "ai.createConversation", obj{"title": "t"})["id"].(string)
		body := []byte(`{"conversationId":"` + conv + `","connectionId":"` + connection + `","message":"is everything healthy?"}`)
		n := 0
		b.ReportAllocs()
		for b.Loop() {
			if n++; n%10 == 0 {
				if _, err := d.Write.NewRaw("DELETE FROM ai_messages").Exec(context.Background()); err != nil {
					b.Fatal(err)
				}
				if _, err := d.Write.NewRaw("DELETE FROM ai_spend").Exec(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
			rec := newRecorder()
			r, _ := http.NewRequestWithContext(authz.With(context.Background(), f.ada), http.MethodPost, "/api/ai/chat", bytes.NewReader(body))
			f.s.ChatHandler().ServeHTTP(rec, r)
			if rec.code != http.StatusOK {
				b.Fatal(rec.body.String())
			}
		}
	})
}
