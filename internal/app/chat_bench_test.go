package app

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// benchGateway is a provider that answers at once: the guard with its verdict,
// everything else with a short text in five pieces and a usage report.
func benchGateway(b *testing.B) string {
	chunk := func(delta string) string {
		return `data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"` + delta + `"},"finish_reason":null}]}` + "\n\n"
	}
	tail := `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
		`data: {"choices":[],"usage":{"prompt_tokens":1200,"completion_tokens":9,"total_tokens":1209}}` + "\n\ndata: [DONE]\n\n"
	answer := []byte(chunk("All ") + chunk("systems ") + chunk("are ") + chunk("healthy ") + chunk("now.") + tail)
	verdict := []byte(chunk("ON_TOPIC") + tail)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		if bytes.Contains(body[:min(len(body), 400)], []byte("You sort messages")) {
			_, _ = w.Write(verdict)
			return
		}
		_, _ = w.Write(answer)
	}))
	b.Cleanup(server.Close)
	return server.URL + "/v1"
}

// firstDelta posts and measures until a line holds mark; it reads on to the end.
func firstDelta(client *http.Client, url, body, mark string) (time.Duration, error) {
	start := time.Now()
	resp, err := client.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		return 0, fmt.Errorf("status %d: %s", resp.StatusCode, text)
	}
	var took time.Duration
	lines := bufio.NewScanner(resp.Body)
	for lines.Scan() {
		if took == 0 && strings.Contains(lines.Text(), mark) {
			took = time.Since(start)
		}
	}
	if took == 0 {
		return 0, fmt.Errorf("no %s came", mark)
	}
	return took, lines.Err()
}

// BenchmarkChatOverhead measures the time to the first piece of text through
// the product, with everything on (session, stored history, spend cap, topic
// guard, scrubbing, a turn that is kept), against asking the provider directly
// from the same load generator. The turns are spread over 32 people with several
// conversations each, whose history grows to some ten messages; a worker speaks
// for one person after another, so that nobody has sent thousands of messages
// within the window of the cap.
func BenchmarkChatOverhead(b *testing.B) {
	gateway := benchGateway(b)
	for _, workers := range []int{1, 32} {
		b.Run(fmt.Sprintf("direct/c=%d", workers), func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: workers}}
			body := `{"model":"m","stream":true,"messages":[{"role":"system","content":"Be brief."},{"role":"user","content":"is everything healthy?"}]}`
			measureDeltas(b, workers, func(int, int) (time.Duration, error) {
				return firstDelta(client, gateway+"/chat/completions", body, "All ")
			})
		})
		b.Run(fmt.Sprintf("product/c=%d", workers), func(b *testing.B) {
			eachDatabase(b, func(b *testing.B, env []string) {
				p := launch(b, b.TempDir(), env)
				p.signUp(b)
				connection := decode[struct{ ID string }](b, p.post(b, "/rest/ai/createConnection", `{"name":"Fake","apiKey":"k-123456","defaultModel":"m","baseUrl":"`+gateway+
					`","spendCap":{"tokenBudget":1000000000,"windowMinutes":1}}`)).ID
				people, talks := make([]*process, 32), make([][]string, 32)
				for w := range people {
					email := fmt.Sprintf("p%d@example.com", w)
					p.post(b, "/rest/auth/createCredentialUser", `{"name":"P","email":"`+email+`","password":"Passw0rd1","roleIds":["users"]}`)
					jar, _ := cookiejar.New(nil)
					people[w] = &process{url: p.url, client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
					people[w].post(b, "/api/auth/login", `{"email":"`+email+`","password":"Passw0rd1"}`)
					for range 12 {
						talks[w] = append(talks[w], people[w].converse(b))
					}
				}
				measureDeltas(b, workers, func(w, n int) (time.Duration, error) {
					each := len(people) / workers
					person := w*each + n%each
					body := chatBody(talks[person][n/each%len(talks[person])], connection, "is everything healthy?")
					return firstDelta(people[person].client, p.url+"/api/ai/chat", body, `"text-delta"`)
				})
			})
		})
	}
}

func measureDeltas(b *testing.B, workers int, one func(worker, n int) (time.Duration, error)) {
	for w := range workers { // connections and caches are warm
		if _, err := one(w, 0); err != nil {
			b.Fatal(err)
		}
	}
	var mu sync.Mutex
	var all []time.Duration
	var wg sync.WaitGroup
	start := time.Now()
	end := start.Add(loadTime)
	for w := range workers {
		wg.Go(func() {
			var mine []time.Duration
			for n := 0; time.Now().Before(end); n++ {
				took, err := one(w, n)
				if err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, took)
			}
			mu.Lock()
			defer mu.Unlock()
			all = append(all, mine...)
		})
	}
	wg.Wait()
	if len(all) == 0 {
		return
	}
	total := time.Since(start)
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "first-p50-ms")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "first-p99-ms")
	b.ReportMetric(float64(len(all))/total.Seconds(), "turns/s")
	b.ReportMetric(0, "ns/op")
}
