package app

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// These tests talk to the assistant of real processes, with a fake provider.

type chatMessage struct {
	ID, Role string
	Parts    []struct {
		Type, Text, State string
		Output            json.RawMessage
	}
	Metadata struct {
		Stopped, Running bool
		Error            string
	}
}

func (m chatMessage) text() string {
	var b strings.Builder
	for _, p := range m.Parts {
		b.WriteString(p.Text)
	}
	return b.String()
}

// decode reads an answer.
func decode[T any](t testing.TB, raw []byte) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return out
}

func (p *process) connect(t testing.TB, gateway *llmtest.Server, more string) string {
	t.Helper()
	return decode[struct{ ID string }](t, p.post(t, "/rest/ai/createConnection",
		`{"name":"Fake","apiKey":"k-123456","defaultModel":"fake-small","baseUrl":"`+gateway.BaseURL()+`"`+more+`}`)).ID
}

func (p *process) converse(t testing.TB) string {
	t.Helper()
	return decode[struct{ ID string }](t, p.post(t, "/rest/ai/createConversation", `{"title":"t"}`)).ID
}

func (p *process) messages(t *testing.T, conversation string) []chatMessage {
	t.Helper()
	return decode[struct{ Messages []chatMessage }](t, []byte(p.get(t, "/rest/ai/getConversation?id="+conversation))).Messages
}

func chatBody(conversation, connection, message string) string {
	return fmt.Sprintf(`{"conversationId":%q,"connectionId":%q,"message":%q}`, conversation, connection, message)
}

// TestKill9InTheMiddleOfAnAnswer kills the process while the model writes.
func TestKill9InTheMiddleOfAnAnswer(t *testing.T) {
	t.Parallel()
	eachInstallation(t, func(t *testing.T, i *installation) {
		gateway := llmtest.NewServer(t, llmtest.Turn{Text: "The first half of it", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
		p := launch(t, i.dir, i.env)
		p.signUp(t)
		session := p
		connection, conv := p.connect(t, gateway, ""), p.converse(t)
		s := p.stream(t, http.MethodPost, "/api/ai/chat", chatBody(conv, connection, "tell me all"))
		waitFor(t, "the first half to be saved", func() bool {
			m := p.messages(t, conv)
			return len(m) == 2 && m[1].text() == "The first half of it"
		})
		if m := p.messages(t, conv); !m[1].Metadata.Running {
			t.Errorf("message %+v", m[1])
		}
		p.kill()
		<-s.ended
		p = launch(t, i.dir, i.env)
		p.as(t, session)
		// SQLite's only process knows at once, PostgreSQL's when the claim has run out.
		waitFor(t, "the answer to count as interrupted", func() bool {
			m := p.messages(t, conv)
			return len(m) == 2 && m[1].text() == "The first half of it" && !m[1].Metadata.Running && strings.Contains(m[1].Metadata.Error, "broke off")
		})
		gateway.Push(llmtest.Turn{Text: "Here is all."})
		if out := p.post(t, "/api/ai/chat", chatBody(conv, connection, "go on")); !strings.Contains(string(out), `"finish"`) {
			t.Errorf("afterwards %s", out)
		}
		if m := p.messages(t, conv); len(m) != 4 || m[3].text() != "Here is all." {
			t.Errorf("messages %+v", m)
		}
		if raw := string(gateway.Requests()[1].Body); !strings.Contains(raw, "The first half of it") {
			t.Errorf("the model does not know what it said: %s", raw)
		}
		var used float64
		for _, l := range decode[struct {
			Lines []struct{ TotalTokens, EstimatedTokens float64 }
		}](t, []byte(p.get(t, "/rest/ai/getSpend"))).Lines {
			used += l.EstimatedTokens
		}
		if used <= 0 {
			t.Error("what the killed turn used is not counted")
		}
		p.stop()
	})
}

// TestTwoReplicasShareTheAssistant has two processes on one database.
func TestTwoReplicasShareTheAssistant(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, dbtest.PostgresURL(t))
	a := launch(t, t.TempDir(), i.env)
	a.signUp(t)
	b := launch(t, t.TempDir(), i.env)
	b.as(t, a)
	gateway := llmtest.NewServer(t)
	connection := a.connect(t, gateway, `,"disableTopicalClassifier":true`)
	conv := a.converse(t)

	// Begun on one, continued on the other; proposed on one, applied on the other.
	gateway.Push(llmtest.Turn{Calls: []llm.ToolCall{llmtest.Call("1", "catalog_createSystem", map[string]string{"name": "Shop"})}}, llmtest.Turn{Text: "It waits."})
	a.post(t, "/api/ai/chat", chatBody(conv, connection, "create Shop"))
	var card struct{ Token, Status string }
	for _, p := range b.messages(t, conv)[1].Parts {
		if strings.Contains(string(p.Output), "__confirm") {
			card = decode[struct{ Token, Status string }](t, p.Output)
		}
	}
	b.post(t, "/rest/ai/applyTool", `{"token":"`+card.Token+`"}`)
	if out := a.get(t, "/rest/catalog/getEntities"); strings.Count(out, `"Shop"`) != 1 {
		t.Errorf("entities %s", out)
	}
	gateway.Push(llmtest.Turn{Text: "Shop is there."})
	b.post(t, "/api/ai/chat", fmt.Sprintf(`{"conversationId":%q,"connectionId":%q,"decision":{"token":%q,"kind":"apply"}}`, conv, connection, card.Token))
	reqs := gateway.Requests()
	if raw := string(reqs[len(reqs)-1].Body); !strings.Contains(raw, "create Shop") || !strings.Contains(raw, "APPLIED") {
		t.Errorf("the other replica told the model %s", raw)
	}

	// A turn on one is followed and stopped on the other.
	gateway.Push(llmtest.Turn{Text: "Half of it", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
	running := a.stream(t, http.MethodPost, "/api/ai/chat", chatBody(conv, connection, "and now?"))
	waitFor(t, "the turn to run", func() bool { return strings.Contains(running.text(), "text-delta") })
	followed := b.stream(t, http.MethodGet, "/api/ai/chat/"+conv+"/stream", "")
	waitFor(t, "the other replica to show it", func() bool { return strings.Contains(followed.text(), "Half of it") })
	b.post(t, "/rest/ai/stopTurn", `{"id":"`+conv+`"}`)
	<-running.ended
	<-followed.ended
	for _, s := range []*openStream{running, followed} {
		if !strings.Contains(s.text(), `"abort"`) || !strings.HasSuffix(s.text(), "data: [DONE]\n\n") {
			t.Errorf("stream %s", s.text())
		}
	}
	if m := a.messages(t, conv); !m[len(m)-1].Metadata.Stopped || m[len(m)-1].text() != "Half of it" {
		t.Errorf("stored %+v", m[len(m)-1])
	}

	// Together they keep the cap: of twenty turns at once, each reserving about
	// 4,100 tokens and more for prompt and tools, few begin.
	hold := make(chan struct{})
	capped := decode[struct{ ID string }](t, a.post(t, "/rest/ai/createConnection", `{"name":"Capped","defaultModel":"m","baseUrl":"`+gateway.BaseURL()+
		`","disableTopicalClassifier":true,"spendCap":{"tokenBudget":12000,"windowMinutes":60}}`)).ID
	before := len(gateway.Requests())
	var refused, admitted atomic.Int64
	var wg sync.WaitGroup
	for n := range 20 {
		p := []*process{a, b}[n%2]
		id := p.converse(t)
		gateway.Push(llmtest.Turn{Text: "Hello.", Wait: hold})
		wg.Go(func() {
			resp, err := p.client.Post(p.url+"/api/ai/chat", "application/json", strings.NewReader(chatBody(id, capped, "hi")))
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = resp.Body.Close() }()
			switch resp.StatusCode {
			case http.StatusOK:
				admitted.Add(1)
				_, _ = io.Copy(io.Discard, resp.Body) // leaving would end the turn
			case http.StatusTooManyRequests:
				refused.Add(1)
			default:
				t.Errorf("a turn was answered %d", resp.StatusCode)
			}
		})
	}
	waitFor(t, "every turn to be let in or refused", func() bool { return refused.Load()+int64(len(gateway.Requests())-before) >= 20 })
	close(hold)
	wg.Wait()
	if n := admitted.Load(); n < 1 || n > 3 {
		t.Errorf("%d turns were let in at once", n)
	}
	a.stop()
	b.stop()
}

// TestTwoReplicasOutliveAReloadAndAKill has a page whose requests are answered
// by one process and then by the other, with the real times.
func TestTwoReplicasOutliveAReloadAndAKill(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, dbtest.PostgresURL(t))
	a := launch(t, t.TempDir(), i.env)
	a.signUp(t)
	b := launch(t, t.TempDir(), i.env)
	b.as(t, a)
	gateway := llmtest.NewServer(t)
	connection := a.connect(t, gateway, `,"disableTopicalClassifier":true`)
	last := func(p *process, conv string) chatMessage {
		t.Helper()
		m := p.messages(t, conv)
		return m[len(m)-1]
	}

	// What is noted on one is told to the model by the other.
	a.post(t, "/rest/ai/saveMemory", `{"scope":"user","recallHint":"how I like reports","content":"Reports begin with the worst system.","alwaysInject":true}`)
	skill := decode[struct{ ID string }](t, a.post(t, "/rest/ai/createSkill", `{"name":"Night watch","description":"For the night","targets":["chat"],"systemPrompt":"Speak softly, people sleep."}`)).ID
	conv := a.converse(t)
	gateway.Push(llmtest.Turn{Text: "Softly."})
	b.post(t, "/api/ai/chat", fmt.Sprintf(`{"conversationId":%q,"connectionId":%q,"message":"hi","skillId":%q}`, conv, connection, skill))
	if sent := string(gateway.Requests()[0].Body); !strings.Contains(sent, "the worst system") || !strings.Contains(sent, "people sleep") {
		t.Errorf("the model was told %s", sent)
	}

	// The page is reloaded, and its next request comes to the other replica: the
	// turn goes on past the grace, and is stopped once nobody listens any more.
	half := llmtest.Turn{Text: "Half of it", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}}
	gateway.Push(half)
	sender := a.stream(t, http.MethodPost, "/api/ai/chat", chatBody(conv, connection, "and now?"))
	waitFor(t, "the turn to run", func() bool { return strings.Contains(sender.text(), "text-delta") })
	sender.leave()
	<-sender.ended
	page := b.stream(t, http.MethodGet, "/api/ai/chat/"+conv+"/stream", "")
	waitFor(t, "the reloaded page to show it", func() bool { return strings.Contains(page.text(), "Half of it") })
	<-time.After(13 * time.Second)
	if m := last(b, conv); !m.Metadata.Running || strings.Contains(page.text(), `"abort"`) {
		t.Fatalf("after 13 seconds: %+v, %s", m, page.text())
	}
	page.leave()
	<-page.ended
	left := time.Now()
	waitFor(t, "the turn to be stopped", func() bool { return !last(b, conv).Metadata.Running })
	if took := time.Since(left); took < 5*time.Second || took > 20*time.Second {
		t.Errorf("it was stopped %s after the last listener had left", took)
	}
	if m := last(a, conv); !m.Metadata.Stopped || m.text() != "Half of it" {
		t.Errorf("stored %+v", m)
	}

	// The process that writes is killed while the page follows on the other.
	gateway.Push(half)
	sender = a.stream(t, http.MethodPost, "/api/ai/chat", chatBody(conv, connection, "once more"))
	waitFor(t, "the turn to run", func() bool { return strings.Contains(sender.text(), "text-delta") })
	page = b.stream(t, http.MethodGet, "/api/ai/chat/"+conv+"/stream", "")
	waitFor(t, "the page to show it", func() bool { return strings.Contains(page.text(), "Half of it") })
	a.kill()
	<-sender.ended
	<-page.ended
	if !strings.Contains(page.text(), "broke off") || !strings.HasSuffix(page.text(), "data: [DONE]\n\n") {
		t.Errorf("the page was told %s", page.text())
	}
	gateway.Push(llmtest.Turn{Text: "Here is all."})
	if out := b.post(t, "/api/ai/chat", chatBody(conv, connection, "go on")); !strings.Contains(string(out), `"finish"`) {
		t.Errorf("afterwards %s", out)
	}
	if m := b.messages(t, conv); m[len(m)-3].text() != "Half of it" || !strings.Contains(m[len(m)-3].Metadata.Error, "broke off") {
		t.Errorf("messages %+v", m)
	}
	b.stop()
}

// TestStoppingTheProcessEndsATurnWhoseSenderHasGone asks a process to stop while
// it waits for a sender to come back: the turn is ended and stored, not broken off.
func TestStoppingTheProcessEndsATurnWhoseSenderHasGone(t *testing.T) {
	t.Parallel()
	eachInstallation(t, func(t *testing.T, i *installation) {
		gateway := llmtest.NewServer(t, llmtest.Turn{Text: "Half of it", Quirks: []llmtest.Quirk{llmtest.SilenceMidText}})
		env := append(slices.Clone(i.env), "CHECKSTACK_SHUTDOWN_GRACE=2s")
		p := launch(t, i.dir, env)
		p.signUp(t)
		session := p
		connection, conv := p.connect(t, gateway, ""), p.converse(t)
		s := p.stream(t, http.MethodPost, "/api/ai/chat", chatBody(conv, connection, "tell me all"))
		waitFor(t, "the turn to run", func() bool { return strings.Contains(s.text(), "text-delta") })
		s.leave()
		<-s.ended
		asked := time.Now()
		p.stop()
		if took := time.Since(asked); took > 8*time.Second {
			t.Errorf("the process took %s to stop", took)
		}
		p = launch(t, i.dir, env)
		p.as(t, session)
		if m := p.messages(t, conv); len(m) != 2 || m[1].Metadata.Stopped || m[1].Metadata.Running || !strings.Contains(m[1].Metadata.Error, "broke off") || m[1].text() != "Half of it" {
			t.Errorf("messages %+v", m)
		}
		p.stop()
	})
}
