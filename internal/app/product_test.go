package app

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/config"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// product is the whole application in this process, behind a real socket.
type product struct {
	*application
	server *httptest.Server
	client *http.Client
	logs   *lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func eachProduct(t *testing.T, fn func(t *testing.T, p *product)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, newProduct(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, newProduct(t, dbtest.PostgresURL(t)))
	})
}

func newProduct(t *testing.T, databaseURL string) *product {
	t.Helper()
	return newProductAt(t, databaseURL, "")
}

// newProductAt makes a product whose public address is baseURL, that of its own
// socket when empty.
func newProductAt(t *testing.T, databaseURL, baseURL string) *product {
	t.Helper()
	logs := &lockedBuffer{}
	server := httptest.NewUnstartedServer(nil)
	if baseURL == "" {
		baseURL = "http://" + server.Listener.Addr().String()
	}
	cfg := config.Config{DataDir: t.TempDir(), BaseURL: baseURL, DatabaseURL: databaseURL, DatabasePoolMax: 8,
		CheckWorkers: 16, EncryptionMasterKey: strings.Repeat("c3", 32), TrustedProxies: "127.0.0.0/8"}
	a, err := build(t.Context(), cfg, "test", slog.New(slog.NewTextHandler(logs, &slog.HandlerOptions{Level: slog.LevelDebug})))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.start(t.Context()); err != nil {
		t.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	server.Config.Handler = a.server.Handler()
	server.Start()
	p := &product{application: a, server: server, client: &http.Client{Jar: jar}, logs: logs}
	t.Cleanup(func() {
		a.signals.Stop()
		p.server.CloseClientConnections()
		p.server.Close()
		if err := a.stop(20 * time.Second); err != nil {
			t.Error(err)
		}
	})
	return p
}

// call sends a request and gives status and body.
func (p *product) call(t *testing.T, client *http.Client, method, path, body string) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, p.server.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if method != http.MethodGet {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(out)
}

func (p *product) must(t *testing.T, path, body string) map[string]any {
	t.Helper()
	status, out := p.call(t, p.client, http.MethodPost, path, body)
	if status != 200 {
		t.Fatalf("%s: %d %s", path, status, out)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(out), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

const adminPassword = "Canary-Pw-4711"

func (p *product) signUp(t *testing.T) {
	t.Helper()
	p.must(t, "/api/auth/onboarding", `{"name":"Ann","email":"ann@example.com","password":"`+adminPassword+`"}`)
}

// TestEveryOperationJudgesItsCaller walks all operations as a guest, as someone
// without any rule and as an administrator, with an empty and with a hostile
// input: the verdict follows the declaration, and nothing is a fault of ours.
func TestEveryOperationJudgesItsCaller(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		p.signUp(t)
		guest, err := p.domains.identity.Guest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		nobody := authz.Principal{Kind: authz.User, ID: "018f0000-0000-7000-8000-000000000000"}
		admin := authz.Principal{Kind: authz.User, ID: nobody.ID, Rules: []string{authz.Wildcard}}
		robot := authz.Principal{Kind: authz.Application, ID: nobody.ID, Rules: []string{authz.Wildcard}}
		inputs := []string{`{}`, `null`, `[]`, `"x"`, `{"id":"\u0000","systemId":{"$gt":""},"limit":-1,"offset":1e308,"__proto__":{}}`,
			`{"id":"018f0000-0000-7000-8000-000000000000","systemId":"018f0000-0000-7000-8000-000000000000"}`}
		for _, op := range p.domains.operations.All() {
			d := op.Declaration()
			for _, who := range []authz.Principal{guest, nobody, robot, admin} {
				for _, in := range inputs {
					ctx, cancel := context.WithTimeout(authz.With(t.Context(), who), 20*time.Second)
					_, err := op.CallJSON(ctx, json.RawMessage(in))
					cancel()
					e, isProblem := problem.As(err)
					if err != nil && !isProblem {
						t.Errorf("%s as %s%v with %s: %v", d.ID, who.Kind, who.Rules, in, err)
						continue
					}
					verdict := d.Authorize(who)
					if verdict != nil && (err == nil || e.Message != verdict.Error()) {
						t.Errorf("%s as %q with %s: got %v, want %v", d.ID, who.Kind, in, err, verdict)
					}
				}
			}
			if d.Caller == operation.Authenticated || d.Caller == operation.UserOnly {
				status, body := p.call(t, http.DefaultClient, d.Method, d.Path(), "{}")
				if status != 401 || !strings.Contains(body, "UNAUTHORIZED") {
					t.Errorf("%s over HTTP without credentials: %d %s", d.ID, status, body)
				}
			}
		}
	})
}

// TestNoSecretLeavesTheProduct plants credentials everywhere one can be kept,
// makes them be used and fail, and looks for them in every answer, every event,
// the log and every table.
func TestNoSecretLeavesTheProduct(t *testing.T) {
	t.Parallel()
	eachProduct(t, func(t *testing.T, p *product) {
		canaries := map[string]string{"user password": adminPassword, "model key": "canary-model-key-81", "basic password": "canary-basic-pw-82",
			"token": "canary-token-83", "second password": "Canary-Second-84"}
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			// A provider that repeats the credential in its error.
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = fmt.Fprintf(w, `{"error":{"message":"bad key %s"}}`, r.Header.Get("Authorization"))
		}))
		t.Cleanup(model.Close)
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(http.StatusUnauthorized)
			user, pw, _ := r.BasicAuth()
			_, _ = fmt.Fprintf(w, "denied %s %s %s", user, pw, r.Header.Get("Authorization"))
		}))
		t.Cleanup(target.Close)

		var answers strings.Builder
		record := func(method, path, body string) string {
			_, out := p.call(t, p.client, method, path, body)
			fmt.Fprintf(&answers, "%s %s → %s\n", method, path, out)
			return out
		}
		p.signUp(t)
		stream, err := p.client.Get(p.server.URL + "/api/events")
		if err != nil {
			t.Fatal(err)
		}
		events := &lockedBuffer{}
		go func() { _, _ = io.Copy(events, stream.Body) }()

		key := p.must(t, "/rest/auth/createApplication", `{"name":"Robot"}`)["key"].(string)
		canaries["application secret"] = key[strings.LastIndex(key, "_")+1:]
		record("POST", "/rest/auth/createCredentialUser", `{"name":"Bob","email":"bob@example.com","password":"Canary-Second-84"}`)
		record("POST", "/api/auth/login", `{"email":"ann@example.com","password":"`+canaries["second password"]+`"}`)
		connection := p.must(t, "/rest/ai/createConnection", `{"name":"Model","baseUrl":"`+model.URL+`/v1","apiKey":"canary-model-key-81","defaultModel":"m"}`)
		record("POST", "/rest/ai/testConnection", `{"id":"`+connection["id"].(string)+`"}`)
		sys := p.must(t, "/rest/catalog/createSystem", `{"name":"S"}`)["id"].(string)
		checks := map[string]string{
			"basic": `{"authScheme":"basic","username":"u","password":"canary-basic-pw-82"}`,
			"token": `{"authScheme":"token","token":"canary-token-83"}`,
		}
		for name, cfg := range checks {
			draft := `"name":"` + name + `","strategyId":"healthcheck-http.http","config":` + cfg + `,"intervalSeconds":1,"collectors":[{"collectorId":"healthcheck-http.request","config":{"url":"` + target.URL + `"},"assertions":[{"field":"body","operator":"equals","value":"x"}]}]`
			record("POST", "/rest/healthcheck/createAndAssign", `{`+draft+`,"systemIds":["`+sys+`"]}`)
			record("POST", "/rest/healthcheck/testConfiguration", `{"draft":{`+draft+`}}`)
			record("POST", "/rest/healthcheck/validateConfiguration", `{"draft":{`+draft+`,"extra":1}}`)
			record("POST", "/rest/ai/proposeTool", `{"toolName":"healthcheck.propose","input":{`+draft+`,"assignToSystemId":"`+sys+`"}}`)
		}
		waitFor(t, "a stored run", func() bool {
			_, out := p.call(t, p.client, "GET", "/rest/healthcheck/getDetailedHistory?sortOrder=desc&systemId="+sys, "")
			return strings.Contains(out, "unhealthy")
		})
		conversation := p.must(t, "/rest/ai/createConversation", `{}`)["id"].(string)
		for _, c := range []string{connection["id"].(string), "builtin"} {
			record("POST", "/api/ai/chat", `{"conversationId":"`+conversation+`","connectionId":"`+c+`","message":"what is down?"}`)
		}
		record("GET", "/rest/ai/getConversation?id="+conversation, "")
		record("GET", "/api/openapi.json", "")
		ids := map[string]string{"systemId": sys, "id": conversation, "sortOrder": "desc", "strategyId": "healthcheck-http.http",
			"startDate": "2026-01-01T00:00:00Z", "endDate": "2100-01-01T00:00:00Z"}
		for _, op := range p.domains.operations.All() {
			if d := op.Declaration(); d.Kind == operation.Query && d.Method == http.MethodGet {
				q := url.Values{}
				for k, v := range ids {
					q.Set(k, v)
				}
				record("GET", d.Path(), "")
				record("GET", d.Path()+"?"+q.Encode(), "")
				for k, v := range ids {
					record("GET", d.Path()+"?"+url.Values{k: {v}, "sortOrder": {"desc"}}.Encode(), "")
				}
			}
		}
		if !strings.Contains(answers.String(), "unhealthy") || !strings.Contains(answers.String(), "Robot") {
			t.Fatal("the walk saw none of what it planted")
		}
		places := map[string]string{"an answer": answers.String(), "the log": p.logs.String(), "an event": events.String(), "the database": p.dump(t)}
		for what, canary := range canaries {
			for _, form := range []string{canary, base64.StdEncoding.EncodeToString([]byte(canary)), base64.StdEncoding.EncodeToString([]byte("u:" + canary)), url.QueryEscape(canary)} {
				for place, text := range places {
					if i := strings.Index(text, form); i >= 0 {
						t.Errorf("the %s is in %s: …%s…", what, place, text[max(0, i-200):min(len(text), i+40)])
					}
				}
			}
		}
	})
}

// dump gives every text and blob of every table.
func (p *product) dump(t *testing.T) string {
	t.Helper()
	query := "SELECT name FROM sqlite_master WHERE type = 'table'"
	if p.db.Postgres() {
		query = "SELECT table_name FROM information_schema.tables WHERE table_schema = current_schema()"
	}
	var tables []string
	if err := p.db.Read.NewRaw(query).Scan(t.Context(), &tables); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, table := range tables {
		rows, err := p.db.Read.QueryContext(t.Context(), `SELECT * FROM "`+table+`"`)
		if err != nil {
			t.Fatal(err)
		}
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns))
			for i := range values {
				values[i] = new(any)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				switch v := (*v.(*any)).(type) {
				case []byte:
					out.Write(v)
				default:
					fmt.Fprint(&out, v)
				}
				out.WriteByte('\n')
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		_ = rows.Close()
	}
	return out.String()
}

// waitFor asks until cond holds. It is for what other goroutines finish.
func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	deadline := time.After(2 * time.Minute)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-deadline:
			t.Fatalf("waited two minutes for %s", what)
		case <-tick.C:
		}
	}
}
