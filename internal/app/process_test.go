package app

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// These tests run the product as processes of its own, because what they do to
// it (kill it, stop it, run two of it) cannot be done to a part of the test.

// installation is a data directory and a database that processes share.
type installation struct {
	dir, databaseURL string
	env              []string
}

func newInstallation(t *testing.T, databaseURL string) *installation {
	return &installation{dir: t.TempDir(), databaseURL: databaseURL, env: []string{"DATABASE_URL=" + databaseURL,
		"ENCRYPTION_MASTER_KEY=" + strings.Repeat("c3", 32), "CHECKSTACK_SHUTDOWN_GRACE=3s"}}
}

func eachInstallation(t *testing.T, fn func(t *testing.T, i *installation)) {
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		fn(t, newInstallation(t, ""))
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		fn(t, newInstallation(t, dbtest.PostgresURL(t)))
	})
}

// query asks the database of a stopped installation.
func (i *installation) query(t *testing.T, into any, sql string) {
	t.Helper()
	d, err := db.Open(t.Context(), db.Options{URL: i.databaseURL, DataDir: i.dir})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if err := d.Read.NewRaw(sql).Scan(t.Context(), into); err != nil {
		t.Fatal(err)
	}
}

// kill is kill -9.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// as signs in with the session of another process's client.
func (p *process) as(t *testing.T, other *process) {
	t.Helper()
	from, errFrom := url.Parse(other.url)
	to, errTo := url.Parse(p.url)
	if err := errors.Join(errFrom, errTo); err != nil {
		t.Fatal(err)
	}
	p.client.Jar.SetCookies(to, other.client.Jar.Cookies(from))
}

func (p *process) get(t *testing.T, path string) string {
	t.Helper()
	resp, err := p.client.Get(p.url + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// visits is a target that notes when each of its paths was asked for.
type visits struct {
	*httptest.Server
	mu sync.Mutex
	at map[string][]time.Time
}

func newVisits(t *testing.T) *visits {
	v := &visits{at: map[string][]time.Time{}}
	v.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.at[r.URL.Path] = append(v.at[r.URL.Path], time.Now())
	}))
	t.Cleanup(v.Close)
	return v
}

// since says for how many paths n visits came after at.
func (v *visits) since(at time.Time, n int) (paths int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, times := range v.at {
		later := 0
		for _, t := range times {
			if t.After(at) {
				later++
			}
		}
		if later >= n {
			paths++
		}
	}
	return paths
}

// watch creates a system and n checks on the target, one a second each, which
// give up after timeout.
func (p *process) watch(t *testing.T, target string, n int, timeout time.Duration) {
	t.Helper()
	var sys struct{ ID string }
	if err := json.Unmarshal(p.post(t, "/rest/catalog/createSystem", `{"name":"Watched"}`), &sys); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		p.post(t, "/rest/healthcheck/createAndAssign", fmt.Sprintf(`{"name":"%d","strategyId":"healthcheck-http.http","config":{"timeout":%d},
			"intervalSeconds":1,"collectors":[{"collectorId":"healthcheck-http.request","config":{"url":"%s/%d"}}],"systemIds":["%s"]}`, i, timeout.Milliseconds(), target, i, sys.ID))
	}
}

// assertNoSlotTwice compares the visits with the schedule in the database. Two
// visits in one slot that are far apart are none: the first was on its way when
// its slot ended.
func (i *installation) assertNoSlotTwice(t *testing.T, v *visits) {
	t.Helper()
	var schedule []struct {
		Name                string
		PhaseMs, IntervalMs int64
	}
	i.query(t, &schedule, `SELECT c.name, a.phase_ms, a.interval_ms FROM health_check_assignments a
		JOIN health_check_configurations c ON c.id = a.configuration_id`)
	if len(schedule) == 0 {
		t.Fatal("there is no schedule")
	}
	for _, s := range schedule {
		times := v.at["/"+s.Name]
		for n := 1; n < len(times); n++ {
			slot := func(at time.Time) int64 { return (at.UnixMilli() - s.PhaseMs) / s.IntervalMs }
			if gap := times[n].Sub(times[n-1]); slot(times[n]) == slot(times[n-1]) && gap < time.Duration(s.IntervalMs)*time.Millisecond/2 {
				t.Errorf("check %s ran twice in a slot: at %s and %s later", s.Name, times[n-1].Format("05.000"), gap)
			}
		}
	}
}

// TestKill9LosesNothingAcknowledged kills the process at random moments while
// four clients write and checks run every second.
func TestKill9LosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	eachInstallation(t, func(t *testing.T, i *installation) {
		p := launch(t, i.dir, i.env)
		p.signUp(t)
		v := newVisits(t)
		p.watch(t, v.URL, 10, time.Second)
		session := p

		var mu sync.Mutex
		acknowledged := map[string]string{} // id: name
		for round := range 8 {
			var writers sync.WaitGroup
			var written atomic.Int64
			for w := range 4 {
				writers.Go(func() {
					for n := 0; ; n++ {
						name := fmt.Sprintf("%d-%d-%d", round, w, n)
						resp, err := p.client.Post(p.url+"/rest/catalog/createSystem", "application/json", strings.NewReader(`{"name":"`+name+`"}`))
						if err != nil {
							return // the process is gone
						}
						var made struct{ ID string }
						err = json.NewDecoder(resp.Body).Decode(&made)
						_ = resp.Body.Close()
						if err != nil {
							return // gone in the middle of the answer
						}
						if resp.StatusCode != 200 {
							t.Errorf("a write was answered %d", resp.StatusCode)
							return
						}
						mu.Lock()
						acknowledged[made.ID] = name
						mu.Unlock()
						written.Add(1)
					}
				})
			}
			enough := rand.Int64N(150)
			waitFor(t, "writes", func() bool { return written.Load() >= enough })
			p.kill()
			writers.Wait()
			p = launch(t, i.dir, i.env)
			p.as(t, session)
		}
		restarted := time.Now()
		// What ran on PostgreSQL while the process died waits for its lease, 21 s.
		waitFor(t, "checks after the last restart", func() bool { return v.since(restarted, 1) >= 5 })

		var entities struct {
			Systems []struct{ ID, Name string }
		}
		resp, err := p.client.Get(p.url + "/rest/catalog/getEntities")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		if err := json.NewDecoder(resp.Body).Decode(&entities); err != nil {
			t.Fatal(err)
		}
		for _, s := range entities.Systems {
			if acknowledged[s.ID] == s.Name {
				delete(acknowledged, s.ID)
			}
		}
		if len(acknowledged) > 0 {
			t.Errorf("%d acknowledged writes are lost: %v", len(acknowledged), acknowledged)
		}
		p.kill()
		i.assertNoSlotTwice(t, v)
		if i.databaseURL == "" {
			var verdict []string
			i.query(t, &verdict, "PRAGMA integrity_check")
			if len(verdict) != 1 || verdict[0] != "ok" {
				t.Errorf("the database is damaged: %v", verdict)
			}
		}
	})
}

// TestTwoReplicasShareTheWork starts two processes at once on an empty database.
func TestTwoReplicasShareTheWork(t *testing.T) {
	t.Parallel()
	i := newInstallation(t, dbtest.PostgresURL(t))
	replicas := make([]*process, 2)
	var wg sync.WaitGroup
	for n := range replicas {
		wg.Go(func() { replicas[n] = launch(t, t.TempDir(), i.env) })
	}
	wg.Wait()
	a, b := replicas[0], replicas[1]
	if a == nil || b == nil {
		t.Fatal("a replica did not start")
	}

	// Of many who set the installation up, on both, one becomes administrator.
	var won atomic.Int64
	for n := range 20 {
		wg.Go(func() {
			resp, err := http.Post(replicas[n%2].url+"/api/auth/onboarding", "application/json",
				strings.NewReader(fmt.Sprintf(`{"name":"Ann","email":"ann%d@example.com","password":"Passw0rd1"}`, n)))
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			if resp.StatusCode == 200 {
				won.Add(1)
				a.client.Jar.SetCookies(resp.Request.URL, resp.Cookies())
			} else if resp.StatusCode != 403 {
				t.Errorf("onboarding was answered %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if won.Load() != 1 {
		t.Fatalf("%d callers became the first administrator", won.Load())
	}
	b.as(t, a)

	// A proposal is applied once, wherever it is clicked.
	var proposed struct{ Token string }
	if err := json.Unmarshal(a.post(t, "/rest/ai/proposeTool", `{"toolName":"catalog.createSystem","input":{"name":"Once"}}`), &proposed); err != nil {
		t.Fatal(err)
	}
	var applied atomic.Int64
	for n := range 20 {
		wg.Go(func() {
			resp, err := replicas[n%2].client.Post(replicas[n%2].url+"/rest/ai/applyTool", "application/json", strings.NewReader(`{"token":"`+proposed.Token+`"}`))
			if err != nil {
				t.Error(err)
				return
			}
			_ = resp.Body.Close()
			if resp.StatusCode == 200 {
				applied.Add(1)
			} else if resp.StatusCode != 409 {
				t.Errorf("applying was answered %d", resp.StatusCode)
			}
		})
	}
	wg.Wait()
	if applied.Load() != 1 {
		t.Errorf("one proposal was applied %d times", applied.Load())
	}

	const checks = 30
	v := newVisits(t)
	a.watch(t, v.URL, checks, time.Second)
	start := time.Now()
	waitFor(t, "three runs of every check", func() bool { return v.since(start, 3) == checks })
	a.kill()
	killed := time.Now()
	// What ran on the killed one waits for its lease; everything else goes on.
	waitFor(t, "the other replica to go on alone", func() bool { return v.since(killed, 3) >= checks/2 })

	// A session that ends on one replica has ended on the other.
	a = launch(t, t.TempDir(), i.env)
	a.as(t, b)
	if out := a.get(t, "/api/auth/session"); !strings.Contains(out, `"authenticated":true`) {
		t.Errorf("the session is not known on the new replica: %s", out)
	}
	resp, err := a.client.Post(a.url+"/api/auth/logout", "application/json", nil)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if out := b.get(t, "/api/auth/session"); !strings.Contains(out, `"authenticated":false`) {
		t.Errorf("signed out on one replica, on the other: %s", out)
	}
	a.kill()
	b.kill()
	i.assertNoSlotTwice(t, v)
}

// TestStopFinishesWhatRuns asks the process to stop while one probe answers
// late, another never does, and a chat and a page's events are open.
func TestStopFinishesWhatRuns(t *testing.T) {
	t.Parallel()
	eachInstallation(t, func(t *testing.T, i *installation) {
		p := launch(t, i.dir, i.env)
		p.signUp(t)
		late := make(chan struct{})
		var asked atomic.Int64
		target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			if r.URL.Path == "/0" {
				<-late
				return
			}
			<-r.Context().Done()
		}))
		t.Cleanup(target.Close)
		model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"Half an answer"}}]}`+"\n\n")
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		}))
		t.Cleanup(model.Close)
		p.watch(t, target.URL, 2, time.Minute)
		var conversation, connection struct{ ID string }
		if err := errors.Join(json.Unmarshal(p.post(t, "/rest/ai/createConversation", "{}"), &conversation),
			json.Unmarshal(p.post(t, "/rest/ai/createConnection", `{"name":"M","baseUrl":"`+model.URL+`/v1","apiKey":"k","defaultModel":"m"}`), &connection)); err != nil {
			t.Fatal(err)
		}
		events := p.stream(t, http.MethodGet, "/api/events", "")
		chat := p.stream(t, http.MethodPost, "/api/ai/chat", `{"conversationId":"`+conversation.ID+`","connectionId":"`+connection.ID+`","message":"hello"}`)
		waitFor(t, "both probes and half an answer", func() bool { return asked.Load() == 2 && strings.Contains(chat.text(), "Half an answer") })

		begin := time.Now()
		if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		<-events.ended
		close(late)
		exit := p.cmd.Wait()
		took := time.Since(begin)
		<-chat.ended
		if exit != nil {
			t.Errorf("exit: %v\n%s", exit, p.logs)
		}
		if took < 3*time.Second || took > 6*time.Second {
			t.Errorf("the stop took %s, with a grace of 3 s", took)
		}
		if !strings.Contains(chat.text(), `"type":"error"`) || !strings.Contains(chat.text(), "[DONE]") {
			t.Errorf("the chat broke off without a word: %s", chat.text())
		}
		var runs, parts, claims []string
		i.query(t, &runs, "SELECT c.name FROM health_check_runs r JOIN health_check_configurations c ON c.id = r.configuration_id WHERE r.status = 'healthy'")
		i.query(t, &parts, "SELECT parts FROM ai_messages WHERE role = 'assistant'")
		i.query(t, &claims, "SELECT claimed_by FROM health_check_assignments WHERE claimed_by <> ''")
		if len(runs) != 1 || runs[0] != "0" {
			t.Errorf("stored runs: %v, want that of the late probe and none of the one that was cut off", runs)
		}
		if len(parts) != 1 || !strings.Contains(parts[0], "Half an answer") {
			t.Errorf("stored answers: %v", parts)
		}
		if len(claims) != 0 {
			t.Error("a claim is kept, which delays the check after the next start")
		}
	})
}

// openStream is an answer that is still being written.
type openStream struct {
	leave context.CancelFunc
	ended chan struct{}
	got   lockedBuffer
}

func (s *openStream) text() string { return s.got.String() }

func (p *process) stream(t *testing.T, method, path, body string) *openStream {
	t.Helper()
	ctx, leave := context.WithCancel(t.Context())
	t.Cleanup(leave)
	req, err := http.NewRequestWithContext(ctx, method, p.url+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := p.client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	s := &openStream{leave: leave, ended: make(chan struct{})}
	go func() {
		defer close(s.ended)
		defer func() { _ = resp.Body.Close() }()
		_, _ = io.Copy(&s.got, resp.Body)
	}()
	return s
}
