package agent

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/ai/llm"
	"github.com/checkstack/checkstack/internal/ai/llm/llmtest"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// leave plays a turn that waits in its second round, and closes its sender's
// connection there. It gives what lets the turn go on.
func (f *fixture) leave(conversation string) (goOn func()) {
	f.t.Helper()
	wait, reached := make(chan struct{}), make(chan struct{})
	f.script.Push(llmtest.Round{Text: "Let me look. ", Calls: []llm.ToolCall{llmtest.Call("1", "test_list", obj{})}},
		llmtest.Round{Text: "So far so good", Wait: wait, Reached: reached, After: ", and done."})
	ctx, cancel := context.WithCancel(context.Background())
	resp := f.request(ctx, "ada", obj{"conversationId": conversation, "connectionId": BuiltinID, "message": "go"})
	<-reached
	cancel()
	_ = resp.Body.Close()
	return func() { close(wait) }
}

// listener follows a conversation until it leaves.
type listener struct {
	leave  context.CancelFunc
	frames chan []frameRead // nil when it left before the end
}

func (f *fixture) listener(s *Service, conversation string) *listener {
	ctx, cancel := context.WithCancel(authz.With(context.Background(), f.ada))
	l := &listener{leave: cancel, frames: make(chan []frameRead, 1)}
	go func() {
		rec := httptest.NewRecorder()
		r := httptest.NewRequest(http.MethodGet, "/api/ai/chat/"+conversation+"/stream", nil)
		r.SetPathValue("id", conversation)
		s.FollowHandler().ServeHTTP(rec, r.WithContext(ctx))
		if ctx.Err() != nil || rec.Code != http.StatusOK {
			l.frames <- nil
			return
		}
		l.frames <- parseStream(f.t, rec.Body.String())
	}()
	return l
}

// running says whether a turn runs in the conversation.
func (f *fixture) running(conversation string) bool {
	f.t.Helper()
	c, err := f.s.conversation(context.Background(), "ada", conversation)
	if err != nil {
		f.t.Fatal(err)
	}
	return c.TurnID != nil
}

func (f *fixture) waitEnded(conversation string, within time.Duration) {
	f.t.Helper()
	for end := time.Now().Add(within); f.running(conversation); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			f.t.Fatalf("the turn still runs after %s", within)
		}
	}
}

// TestFC051_AReloadKeepsTheTurn reloads the sender's page in the middle of a
// turn, with the page's next request answered by the other replica.
func TestFC051_AReloadKeepsTheTurn(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.s.listenGrace = 4 * followEvery
		conv := f.conversation("approve")
		goOn := f.leave(conv)
		l := f.listener(f.replica(), conv)
		// Well past the grace: the follower counts as present.
		<-time.After(2 * f.s.listenGrace)
		if !f.running(conv) {
			t.Fatal("the turn ended although somebody listens to it")
		}
		goOn()
		frames := <-l.frames
		shown := fold(t, frames)
		m := f.stored(conv)[1]
		if m.Metadata != nil || visibleText(m.Parts) != "Let me look. \n\nSo far so good, and done." {
			t.Errorf("stored %+v %q", m.Metadata, visibleText(m.Parts))
		}
		if got := plainParts(shown); !equalJSON(got, plainParts(m.Parts)) {
			t.Errorf("the reloaded page shows\n%v\nstored is\n%v", got, m.Parts)
		}
		if frames[0].MessageID != m.ID || count(frames, "finish") != 1 {
			t.Errorf("frames %+v", frames)
		}
	})
}

func TestFC050_ATurnThatNobodyListensToIsStopped(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.s.listenGrace = 600 * time.Millisecond
		conv := f.conversation("approve")
		goOn := f.leave(conv)
		defer goOn()
		began := time.Now()
		<-time.After(200 * time.Millisecond)
		if !f.running(conv) {
			t.Error("the turn ended within the grace")
		}
		f.waitEnded(conv, 10*time.Second)
		if d := time.Since(began); d < f.s.listenGrace {
			t.Errorf("the turn ended after %s, within the grace", d)
		}
		if m := f.stored(conv)[1]; m.Metadata == nil || !m.Metadata.Stopped || visibleText(m.Parts) != "Let me look. \n\nSo far so good" {
			t.Errorf("stored %+v %q", m.Metadata, visibleText(m.Parts))
		}
	})
}

func TestTheLastListenerStopsTheTurnByLeaving(t *testing.T) {
	t.Parallel()
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		f := setup(t, d)
		f.s.listenGrace = 4 * followEvery
		conv := f.conversation("approve")
		goOn := f.leave(conv)
		defer goOn()
		here, there := f.listener(f.s, conv), f.listener(f.replica(), conv)
		<-time.After(2 * f.s.listenGrace)
		here.leave()
		<-here.frames
		<-time.After(2 * f.s.listenGrace)
		if !f.running(conv) {
			t.Fatal("the turn ended although one listener is left")
		}
		there.leave()
		<-there.frames
		f.waitEnded(conv, 10*time.Second)
		if m := f.stored(conv)[1]; m.Metadata == nil || !m.Metadata.Stopped {
			t.Errorf("stored %+v", m.Metadata)
		}
	})
}

// A second tab that comes and goes has no say while the sender is there.
func TestAFollowerThatLeavesDoesNotStopTheSendersTurn(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	f.s.listenGrace = 4 * followEvery
	conv := f.conversation("approve")
	resp, goOn := f.held(conv)
	defer resp.Body.Close()
	l := f.listener(f.s, conv)
	<-time.After(f.s.listenGrace)
	l.leave()
	<-l.frames
	<-time.After(2 * f.s.listenGrace)
	goOn()
	raw, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(raw), `"finish"`) || strings.Contains(string(raw), `"abort"`) {
		t.Errorf("stream %s, %v", raw, err)
	}
}

// Somebody else can neither follow the turn nor keep it alive.
func TestAStrangerDoesNotCountAsListener(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	conv := f.conversation("approve")
	goOn := f.leave(conv)
	defer goOn()
	for end := time.Now().Add(10 * time.Second); f.running(conv); <-time.After(20 * time.Millisecond) {
		if code, _ := follow(t, f.s, f.bob, conv); code != http.StatusNotFound {
			t.Fatalf("a stranger was answered %d", code)
		}
		if time.Now().After(end) {
			t.Fatal("the turn still runs")
		}
	}
}

// The process ends, and with it turns whose sender's connection has gone.
func TestEndTurns(t *testing.T) {
	t.Parallel()
	f := setup(t, dbtest.SQLite(t))
	f.s.listenGrace = time.Hour
	away, here := f.conversation("approve"), f.conversation("approve")
	goOn := f.leave(away)
	defer goOn()
	resp, goOnHere := f.held(here)
	defer goOnHere()
	defer resp.Body.Close()
	f.s.EndTurns()
	f.waitEnded(away, 5*time.Second)
	f.waitEnded(here, 5*time.Second)
	// Nobody has stopped them, so they are not told as stopped.
	for _, conv := range []string{away, here} {
		if m := f.stored(conv)[1]; m.Metadata == nil || m.Metadata.Stopped || m.Metadata.Error != interruptedText || !strings.Contains(visibleText(m.Parts), "So far so good") {
			t.Errorf("stored %+v", m.Metadata)
		}
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil || find(t, parseStream(t, string(raw)), "error").ErrorText != interruptedText {
		t.Errorf("stream %s, %v", raw, err)
	}
}
