package mcp

import (
	"encoding/json"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/oauth"
)

// TestEveryRefusalIsAnAnswer: whatever is wrong with a message, the answer is
// JSON-RPC with a code, words and, where it can be read, the id.
func TestEveryRefusalIsAnAnswer(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	newest := func(method string) []string {
		return []string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method}
	}
	for name, c := range map[string]struct {
		message string
		headers []string
		status  int
		id      string
		code    int // 0: no body
		says    string
	}{
		"unknown method":               {`{"jsonrpc":"2.0","id":7,"method":"nope"}`, nil, 200, "7", codeNoMethod, "no such method"},
		"unknown method, 2025-11-25":   {`{"jsonrpc":"2.0","id":"a","method":"nope","params":{}}`, []string{"Mcp-Protocol-Version", "2025-11-25"}, 200, `"a"`, codeNoMethod, "no such method"},
		"unknown method, 2026-07-28":   {`{"jsonrpc":"2.0","id":7,"method":"nope","params":{` + meta + `}}`, newest("nope"), 404, "7", codeNoMethod, "nope"},
		"sampling of the server":       {`{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":{}}`, nil, 200, "7", codeNoMethod, "no such method"},
		"unknown notification":         {`{"jsonrpc":"2.0","method":"notifications/nope"}`, nil, 202, "", 0, ""},
		"answer to nobody's question":  {`{"jsonrpc":"2.0","id":1,"result":{}}`, nil, 202, "", 0, ""},
		"a notification with an id":    {`{"jsonrpc":"2.0","id":7,"method":"notifications/initialized"}`, nil, 400, "7", codeInvalidRequest, "unexpected id"},
		"a request without an id":      {`{"jsonrpc":"2.0","method":"ping"}`, nil, 400, "null", codeInvalidRequest, "missing id"},
		"an id of null":                {`{"jsonrpc":"2.0","id":null,"method":"ping"}`, nil, 400, "null", codeInvalidRequest, "missing id"},
		"an object as id":              {`{"jsonrpc":"2.0","id":{"a":1},"method":"ping"}`, nil, 400, "null", codeInvalidRequest, "no message"},
		"a call without params":        {`{"jsonrpc":"2.0","id":7,"method":"tools/call"}`, nil, 400, "7", codeInvalidRequest, "params"},
		"not JSON":                     {`{"jsonrpc"`, nil, 400, "null", codeParse, "not JSON"},
		"two messages":                 {ping + ping, nil, 400, "null", codeParse, "not JSON"},
		"nothing":                      {``, nil, 400, "null", codeParse, "not JSON"},
		"only spaces":                  {" \n ", nil, 400, "null", codeParse, "not JSON"},
		"a number":                     {`5`, nil, 400, "null", codeInvalidRequest, "no message"},
		"null":                         {`null`, nil, 400, "null", codeInvalidRequest, "no message"},
		"no method":                    {`{"jsonrpc":"2.0","id":7}`, nil, 400, "7", codeInvalidRequest, "no message"},
		"a number as method":           {`{"jsonrpc":"2.0","id":7,"method":7}`, nil, 400, "7", codeInvalidRequest, "no message"},
		"JSON-RPC 1.0":                 {`{"jsonrpc":"canary-1.0","id":7,"method":"ping"}`, nil, 400, "7", codeInvalidRequest, "no message"},
		"unsupported version":          {ping, []string{"Mcp-Protocol-Version", "2020-01-01"}, 400, "1", codeVersion, "2025-11-25"},
		"no version":                   {ping, []string{"Mcp-Protocol-Version", "banana"}, 400, "1", codeVersion, `"supported":["2026-07-28","2025-11-25"`},
		"a version to come":            {ping, []string{"Mcp-Protocol-Version", "2099-01-01"}, 400, "1", codeVersion, `"requested":"2099-01-01"`},
		"the newest without its data":  {ping, newest("ping"), 400, "1", codeInvalidParams, "protocolVersion"},
		"two versions":                 {`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + meta + `}}`, []string{"Mcp-Protocol-Version", "2025-11-25"}, 400, "7", -32020, "does not match"},
		"no header for the version":    {`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + meta + `}}`, nil, 400, "7", -32020, "header is required"},
		"another method in the header": {`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{` + meta + `}}`, newest("ping"), 400, "7", -32020, "tools/list"},
		"listening":                    {`{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`, newest("subscriptions/listen"), 404, "7", codeNoMethod, "nothing to listen to"},
		"listening, spelled oddly":     {`{"jsonrpc":"2.0","id":7,"METHOD":"ping","method":"subscriptions\/list\u0065n","params":{}}`, nil, 404, "7", codeNoMethod, "nothing to listen to"},
		"only JSON accepted":           {ping, []string{"Accept", "application/json"}, 400, "1", codeInvalidRequest, "Accept must contain"},
		"nothing accepted":             {ping, []string{"Accept", ""}, 400, "1", codeInvalidRequest, "Accept must contain"},
		"anything accepted":            {ping, []string{"Accept", "*/*"}, 200, "1", 0, `"result":{}`},
		"text as content":              {ping, []string{"Content-Type", "text/plain"}, 415, "1", codeInvalidRequest, "Content-Type must be"},
		"no content type":              {ping, []string{"Content-Type", ""}, 415, "1", codeInvalidRequest, "Content-Type must be"},
		"a charset":                    {ping, []string{"Content-Type", "application/json; charset=utf-8"}, 200, "1", 0, `"result":{}`},
		"a resumed stream":             {ping, []string{"Last-Event-Id", "1"}, 400, "1", codeInvalidRequest, "Last-Event-ID"},
		"too large":                    {`{"pad":"` + strings.Repeat("x", maxBody) + `"}`, nil, 413, "null", codeInvalidRequest, "larger than 1 MiB"},
		"a batch of the newest":        {`[` + ping + `]`, []string{"Mcp-Protocol-Version", "2025-06-18"}, 400, "null", codeInvalidRequest, "no batches"},
		"a batch of no version":        {`[` + ping + `]`, []string{"Mcp-Protocol-Version", "banana"}, 400, "null", codeVersion, "does not speak"},
		"an empty batch":               {` []`, nil, 400, "null", codeInvalidRequest, "1 to 100 messages"},
		"a long batch":                 {`[` + strings.Repeat(ping+",", 100) + ping + `]`, nil, 400, "null", codeInvalidRequest, "1 to 100 messages"},
		"half a batch":                 {`[` + ping, nil, 400, "null", codeParse, "not JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			r := f.replaced(t, c.message, c.headers...)
			var got struct {
				JSONRPC string
				ID      json.RawMessage
			}
			_ = json.Unmarshal([]byte(r.text), &got)
			if r.status != c.status || !strings.Contains(r.text, c.says) || strings.Contains(r.text, "canary") {
				t.Errorf("%d %s", r.status, r.text)
			}
			if c.status == 202 {
				if r.text != "" {
					t.Errorf("a notification got %s", r.text)
				}
				return
			}
			code := 0
			if r.Error != nil {
				code = r.Error.Code
			}
			if got.JSONRPC != "2.0" || string(got.ID) != c.id || code != c.code || !strings.HasPrefix(r.header.Get("Content-Type"), "application/json") {
				t.Errorf("id %s, code %d, %s: %s", got.ID, code, r.header.Get("Content-Type"), r.text)
			}
		})
	}
}

// replaced sends a message of ck_reader whose headers replace the usual ones;
// an empty value leaves one out.
func (f *fixture) replaced(t *testing.T, message string, headers ...string) reply {
	t.Helper()
	req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, f.web.URL+oauth.MCPPath, strings.NewReader(message))
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer ck_reader")
	for i := 0; i < len(headers); i += 2 {
		if req.Header.Set(headers[i], headers[i+1]); headers[i+1] == "" {
			req.Header.Del(headers[i])
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	r := reply{status: resp.StatusCode, header: resp.Header, text: string(raw)}
	_ = json.Unmarshal(raw, &r)
	return r
}

// TestBatch: revision 2025-03-26 has batches; each message is answered by
// itself, and what goes wrong with one does not touch the others.
func TestBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	r := f.post(t, "ck_reader", `[
		{"jsonrpc":"2.0","id":1,"method":"ping"},
		{"jsonrpc":"2.0","method":"notifications/initialized"},
		`+strings.Replace(toolCall("test_getThing", `{}`), `"id":7`, `"id":"read"`, 1)+`,
		`+strings.Replace(toolCall("test_set", `{"name":"x"}`), `"id":7`, `"id":"change"`, 1)+`,
		{"jsonrpc":"2.0","id":4,"method":"nope"},
		{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{}},
		17]`)
	var got []struct {
		ID     json.RawMessage
		Result json.RawMessage
		Error  *struct{ Code int }
	}
	if err := json.Unmarshal([]byte(r.text), &got); err != nil || r.status != 200 || len(got) != 6 {
		t.Fatalf("%d %s", r.status, r.text)
	}
	for i, want := range []struct {
		id   string
		code int
	}{{"1", 0}, {`"read"`, 0}, {`"change"`, codeForbidden}, {"4", codeNoMethod}, {"5", codeNoMethod}, {"null", codeInvalidRequest}} {
		code := 0
		if got[i].Error != nil {
			code = got[i].Error.Code
		}
		if string(got[i].ID) != want.id || code != want.code || (code == 0) == (got[i].Result == nil) {
			t.Errorf("answer %d: id %s, code %d", i, got[i].ID, code)
		}
	}
	if f.ran["test.getThing"] != 1 || f.ran["test.set"] != 0 {
		t.Errorf("ran %v", f.ran)
	}
	if r := f.post(t, "ck_reader", `[{"jsonrpc":"2.0","method":"notifications/initialized"}]`); r.status != 202 || r.text != "" {
		t.Errorf("only notifications: %d %s", r.status, r.text)
	}
	// A batch is no way around the budget.
	calls := strings.Repeat(toolCall("test_getThing", `{}`)+",", proposal.BudgetCalls)
	if r := f.post(t, "ck_admin", "["+calls+toolCall("test_getThing", `{}`)+"]"); strings.Count(r.text, `"code":-32010`) != 1 || f.ran["test.getThing"] != 1+proposal.BudgetCalls {
		t.Errorf("ran %v, %d refused", f.ran, strings.Count(r.text, `"code":-32010`))
	}
}

// TestOtherMethods: nothing but POST is served, and that is said without words.
func TestOtherMethods(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	for _, method := range []string{"GET", "DELETE", "PUT", "PATCH"} {
		req, _ := http.NewRequestWithContext(t.Context(), method, f.web.URL+oauth.MCPPath, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"ping"}`))
		req.Header.Set("Authorization", "Bearer ck_reader")
		req.Header.Set("Accept", "text/event-stream")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		raw, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if resp.StatusCode != http.StatusMethodNotAllowed || len(raw) != 0 || !strings.Contains(resp.Header.Get("Allow"), "POST") {
			t.Errorf("%s: %d %s", method, resp.StatusCode, raw)
		}
	}
}

// TestSlowBody: who sends a message drop by drop is cut off by the server's
// deadline, with an answer; a call that takes longer than the deadline is not.
func TestSlowBody(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	web := httptest.NewUnstartedServer(f.web.Config.Handler)
	web.Config.ReadTimeout = 300 * time.Millisecond
	web.Start()
	t.Cleanup(web.Close)
	send := func(body string, length string) string {
		conn, err := net.Dial("tcp", web.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, "POST "+oauth.MCPPath+" HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ck_reader\r\nContent-Type: application/json\r\n"+
			"Accept: application/json, text/event-stream\r\nContent-Length: "+length+"\r\nConnection: close\r\n\r\n"+body)
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		raw, err := io.ReadAll(conn) // ends when the server hangs up
		if err != nil {
			t.Fatalf("the server holds on: %v, %s", err, raw)
		}
		return string(raw)
	}
	if got := send(`{"jsonrpc":`, "1000"); !strings.HasPrefix(got, "HTTP/1.1 408 ") || !strings.Contains(got, "did not arrive") {
		t.Errorf("a slow body: %s", got)
	}
	slow := toolCall("test_getThing", `{"name":"slow"}`)
	if got := send(slow+strings.Repeat(" ", 200-len(slow)), "200"); !strings.HasPrefix(got, "HTTP/1.1 200 ") || !strings.Contains(got, `\"name\":\"it\"`) {
		t.Errorf("a slow call: %s", got)
	}
}

// FuzzMessage: whatever is posted, the answer is one of the protocol, never
// plain text and never a fault of the server.
func FuzzMessage(f *testing.F) {
	x := setup(f, dbtest.SQLite(f))
	x.mu.Lock()
	x.keys["ck_idle"] = authz.Principal{Kind: authz.Application, ID: "idle"}
	x.mu.Unlock()
	for _, version := range []string{"", "2025-03-26", "2025-11-25", "2026-07-28", "x"} {
		for _, m := range []string{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, `[{"jsonrpc":"2.0","id":1,"method":"nope"},1]`, `{"id":{},"method":[]}`, "\x00", `{"jsonrpc":"2.0","method":"x"}`,
			toolCall("test_set", `{"name":7}`), `{"jsonrpc":"2.0","id":1.5e300,"method":"initialize","params":null}`} {
			f.Add(m, version)
		}
	}
	f.Fuzz(func(t *testing.T, message, version string) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, x.web.URL+oauth.MCPPath, strings.NewReader(message))
		r.Header = http.Header{"Content-Type": {"application/json"}, "Accept": {"application/json, text/event-stream"}, "Authorization": {"Bearer ck_idle"}}
		if version != "" {
			r.Header["Mcp-Protocol-Version"] = []string{version}
		}
		w := httptest.NewRecorder()
		x.Handler().ServeHTTP(w, r)
		if w.Code >= 500 {
			t.Fatalf("%d %s", w.Code, w.Body)
		}
		if w.Body.Len() == 0 {
			if w.Code != http.StatusAccepted {
				t.Fatalf("%d and nothing else", w.Code)
			}
			return
		}
		var one, many any = &struct{ JSONRPC string }{}, &[]struct{ JSONRPC string }{}
		if json.Unmarshal(w.Body.Bytes(), one) != nil && json.Unmarshal(w.Body.Bytes(), many) != nil {
			t.Fatalf("%d %q", w.Code, w.Body)
		}
	})
}
