package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/oauth"
)

// bridged runs a bridge over all of in and gives what it wrote.
func bridged(t *testing.T, url, key, in string) []reply {
	t.Helper()
	var out bytes.Buffer
	b := Bridge{URL: url, Key: key}
	if err := b.Run(t.Context(), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	var list []reply
	for line := range strings.Lines(out.String()) {
		r := reply{text: line}
		if err := json.Unmarshal([]byte(line), &r); err != nil && line[0] != '[' {
			t.Errorf("a line that is no JSON: %q", line)
		}
		list = append(list, r)
	}
	return list
}

func TestBridge(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	in := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}

` + toolCall("test_getThing", `{}`) // no line feed at the end
	got := bridged(t, f.web.URL, "ck_reader", in)
	if len(got) != 2 || !strings.Contains(got[0].text, `"protocolVersion":"2025-06-18"`) || !strings.Contains(got[1].text, `\"name\":\"it\"`) {
		t.Errorf("got %v", got)
	}
	for _, bad := range []string{"", "checkstack.example.com", "ftp://x"} {
		if err := (&Bridge{URL: bad, Key: "ck_x"}).Run(t.Context(), strings.NewReader(""), io.Discard); err == nil {
			t.Errorf("the address %q is accepted", bad)
		}
	}
	if err := (&Bridge{URL: f.web.URL}).Run(t.Context(), strings.NewReader(""), io.Discard); err == nil {
		t.Error("no key is accepted")
	}
}

// TestBridgeAlwaysAnswers: a request gets an answer with its id and with words
// that help, whatever is wrong.
func TestBridgeAlwaysAnswers(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	off := setup(t, dbtest.SQLite(t))
	off.set(t, oauth.Settings{})
	serve := func(h http.HandlerFunc) string {
		web := httptest.NewServer(h)
		t.Cleanup(web.Close)
		return web.URL
	}
	call := toolCall("test_getThing", `{}`)
	long := `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"test_getThing","arguments":{"name":"` + strings.Repeat("x", maxLine) + `"}},"id":7}`
	for name, c := range map[string]struct{ url, key, in, id, says string }{
		"rubbish":               {f.web.URL, "ck_reader", "rubbish", "null", "not JSON"},
		"a large id":            {f.web.URL, "ck_reader", `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`, "9007199254740993", `"result":{}`},
		"unknown method":        {f.web.URL, "ck_reader", `{"jsonrpc":"2.0","id":"x","method":"nope"}`, `"x"`, "no such method"},
		"a long line":           {f.web.URL, "ck_reader", long, "7", "larger than 1 MiB"},
		"an endless line":       {f.web.URL, "ck_reader", `{"id":7,"pad":"` + strings.Repeat("x", maxKept+1<<20) + `"}`, "null", "larger than 1 MiB"},
		"a wrong key":           {f.web.URL + oauth.MCPPath, "ck_wrong", call, "7", "does not accept the key"},
		"switched off":          {off.web.URL, "ck_reader", call, "7", "switched off"},
		"nobody there":          {"http://127.0.0.1:1", "ck_reader", call, "7", "cannot be reached"},
		"another website":       {serve(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>")) }), "ck_reader", call, "7", "is it a Checkstack?"},
		"a proxy without one":   {serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }), "ck_reader", call, "7", "try again in a moment"},
		"an address that moved": {serve(func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "https://new.example.com/x", 301) }), "ck_reader", call, "7", "set the address to https://new.example.com"},
		"a broken answer": {serve(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = w.Write([]byte("{"))
		}), "ck_reader", call, "7", "broke off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// What comes after it is answered too.
			got := bridged(t, c.url, c.key, c.in+"\n"+`{"jsonrpc":"2.0","id":"next","method":"ping"}`+"\n")
			var ids []string
			words := ""
			for _, r := range got {
				var m struct{ ID json.RawMessage }
				_ = json.Unmarshal([]byte(r.text), &m)
				ids = append(ids, string(m.ID))
				if string(m.ID) == c.id {
					words = r.text
				}
			}
			if len(got) != 2 || !slices.Contains(ids, c.id) || !slices.Contains(ids, `"next"`) || !strings.Contains(words, c.says) || strings.Contains(words, "ck_") {
				t.Errorf("answers to %v: %.500s", ids, words)
			}
		})
	}
}

// TestBridgeBatch: the requests of a batch are answered, by the server or, when
// it is away, each with an error.
func TestBridgeBatch(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":2,"method":"ping"}]`
	for url, want := range map[string]string{f.web.URL: `"result":{}`, "http://127.0.0.1:1": "cannot be reached"} {
		got := bridged(t, url, "ck_reader", batch+"\n"+`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n")
		var answers []struct{ ID int }
		if len(got) != 1 || json.Unmarshal([]byte(got[0].text), &answers) != nil || len(answers) != 2 || answers[0].ID != 1 || answers[1].ID != 2 || strings.Count(got[0].text, want) != 2 {
			t.Errorf("%s: %v", url, got)
		}
	}
}

// local is a client of a bridge that reads and writes as it goes.
type local struct {
	in    *io.PipeWriter
	lines *json.Decoder
	ended chan error
}

func newLocal(t *testing.T, b *Bridge) *local {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	l := &local{in: inW, lines: json.NewDecoder(outR), ended: make(chan error, 1)}
	go func() { l.ended <- b.Run(t.Context(), inR, outW); _ = outW.Close() }()
	t.Cleanup(func() { _ = inW.Close(); _ = outR.Close() })
	return l
}

func (l *local) send(t *testing.T, line string) {
	t.Helper()
	if _, err := io.WriteString(l.in, line+"\n"); err != nil {
		t.Fatal(err)
	}
}

func (l *local) next(t *testing.T) (id string, text string) {
	t.Helper()
	var raw json.RawMessage
	if err := l.lines.Decode(&raw); err != nil {
		t.Fatal(err)
	}
	var m struct{ ID json.RawMessage }
	_ = json.Unmarshal(raw, &m)
	return string(m.ID), string(raw)
}

// TestBridgeOutlivesTheServer: while the server is away requests are answered
// with an error, and when it is back they are served, with the revision that was
// agreed on before.
func TestBridgeOutlivesTheServer(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	address := f.web.Listener.Addr().String()
	l := newLocal(t, &Bridge{URL: f.web.URL, Key: "ck_reader"})
	l.send(t, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)
	if _, text := l.next(t); !strings.Contains(text, "2025-11-25") {
		t.Fatal(text)
	}
	const ping = `{"jsonrpc":"2.0","id":2,"method":"ping"}`
	f.web.Close()
	l.send(t, ping)
	if id, text := l.next(t); id != "2" || !strings.Contains(text, "cannot be reached") {
		t.Errorf("while away: %s", text)
	}
	var mu sync.Mutex
	version := ""
	again := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		version = r.Header.Get("Mcp-Protocol-Version")
		mu.Unlock()
		f.Handler().ServeHTTP(w, r)
	}))
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	_ = again.Listener.Close()
	again.Listener = listener
	again.Start()
	t.Cleanup(again.Close)
	l.send(t, ping)
	if id, text := l.next(t); id != "2" || !strings.Contains(text, `"result":{}`) {
		t.Errorf("back again: %s", text)
	}
	mu.Lock()
	defer mu.Unlock()
	if version != "2025-11-25" {
		t.Errorf("the revision was forgotten: %q", version)
	}
	_ = l.in.Close()
	if err := <-l.ended; err != nil {
		t.Errorf("at the end of the input: %v", err)
	}
}

// TestBridgeDoesNotQueue: a slow call holds up nobody, and a cancelled one gets
// no answer.
func TestBridgeDoesNotQueue(t *testing.T) {
	t.Parallel()
	began, release, cancelled := make(chan struct{}, 2), make(chan struct{}), make(chan struct{})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "application/json")
		if bytes.Contains(raw, []byte("slow")) {
			began <- struct{}{}
			select {
			case <-r.Context().Done():
				close(cancelled)
				return
			case <-release:
			}
		}
		_, _ = w.Write([]byte(`{"jsonrpc":"2.0","id":0,"result":{}}`))
	}))
	t.Cleanup(web.Close)
	l := newLocal(t, &Bridge{URL: web.URL, Key: "ck_reader"})
	l.send(t, `{"jsonrpc":"2.0","id":"a","method":"slow"}`)
	<-began
	for _, id := range []string{"1", "2", "3"} {
		l.send(t, `{"jsonrpc":"2.0","id":`+id+`,"method":"fast"}`)
		if got, text := l.next(t); got != id {
			t.Fatal(text)
		}
	}
	l.send(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}`)
	<-cancelled
	l.send(t, `{"jsonrpc":"2.0","id":"b","method":"slow"}`)
	<-began
	_ = l.in.Close() // what is under way is answered before the end
	close(release)
	if id, text := l.next(t); id != `"b"` {
		t.Errorf("after a cancelled request came %s", text)
	}
	if err := <-l.ended; err != nil {
		t.Error(err)
	}
}

// TestBridgeEndsWithItsClient: when the answers go nowhere, so does the bridge.
func TestBridgeEndsWithItsClient(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	inR, inW := io.Pipe()
	t.Cleanup(func() { _ = inW.Close() })
	outR, outW := io.Pipe()
	_ = outR.CloseWithError(errors.New("gone"))
	ended := make(chan error, 1)
	go func() { ended <- (&Bridge{URL: f.web.URL, Key: "ck_reader"}).Run(t.Context(), inR, outW) }()
	if _, err := io.WriteString(inW, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Error("it waits for further messages")
	}
}

// TestBridgeEndsWhenTold: a signal ends it although it waits for a message.
func TestBridgeEndsWhenTold(t *testing.T) {
	t.Parallel()
	inR, inW := io.Pipe()
	t.Cleanup(func() { _ = inW.Close() })
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- (&Bridge{URL: "http://127.0.0.1:1", Key: "ck_reader"}).Run(ctx, inR, io.Discard) }()
	stop()
	select {
	case err := <-ended:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Error("it goes on")
	}
}

// TestBridgeSpeaksTheNewestRevision: 2026-07-28 has no handshake; over HTTP its
// messages need headers that repeat them.
func TestBridgeSpeaksTheNewestRevision(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{` + meta + `}}`:                                                `"2026-07-28"`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"test_getThing","arguments":{},` + meta + `}}`:               `"structuredContent"`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"checkstack://docs/start",` + meta + `}}`:                 "# First steps",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"no\u0000such","arguments":{},` + meta + `}}`:                `"error"`,
		`{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` + meta + `}}`: "nothing to listen to",
	} {
		if got := bridged(t, f.web.URL, "ck_reader", in+"\n"); len(got) != 1 || !strings.Contains(got[0].text, want) {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func FuzzBridgeEvents(f *testing.F) {
	f.Add([]byte("event: message\ndata: {\"id\":1}\n\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, msg := range events(raw) {
			if !json.Valid(msg) {
				t.Fatalf("%q", msg)
			}
			_ = restoreID(msg, []byte("1"))
		}
	})
}
