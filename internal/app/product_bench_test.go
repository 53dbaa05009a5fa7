package app

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/config"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/healthcheck"
)

// These benchmarks measure the product from outside, as a process of its own,
// on both databases; docs/performance.md says how to read them.

// eachDatabase runs fn with the settings of a fresh SQLite and a fresh
// PostgreSQL installation.
func eachDatabase(b *testing.B, fn func(b *testing.B, env []string)) {
	b.Run("sqlite", func(b *testing.B) { fn(b, []string{"DATABASE_URL="}) })
	b.Run("postgres", func(b *testing.B) { fn(b, []string{"DATABASE_URL=" + dbtest.PostgresURL(b)}) })
}

type process struct {
	cmd    *exec.Cmd
	url    string
	client *http.Client
	ready  time.Duration
	logs   *lockedBuffer // what it wrote to stderr
}

// builtIn is where buildOnce left the product; empty when nobody needed it.
var builtIn string

func TestMain(m *testing.M) {
	if os.Getenv(bareEnv) != "" {
		if err := serveBare(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	if builtIn != "" {
		_ = os.RemoveAll(builtIn)
	}
	os.Exit(code)
}

var buildOnce = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "checkstack-test-")
	if err != nil {
		return "", err
	}
	builtIn = dir
	bin := filepath.Join(dir, "checkstack")
	cmd := exec.Command("go", "build", "-tags", "noweb", "-ldflags", "-s -w", "-o", bin, "github.com/checkstack/checkstack/cmd/checkstack")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return bin, nil
})

var runningAt = regexp.MustCompile(`running at (\S+)`)

// launch starts the product and waits until it is ready.
func launch(b testing.TB, dir string, env []string) *process {
	b.Helper()
	bin, err := buildOnce()
	if err != nil {
		b.Fatal(err)
	}
	jar, _ := cookiejar.New(nil)
	p := &process{cmd: exec.Command(bin), logs: &lockedBuffer{},
		client: &http.Client{Jar: jar, Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	p.cmd.Env = append(os.Environ(), append([]string{"LISTEN_ADDR=127.0.0.1:0", "CHECKSTACK_DATA_DIR=" + dir}, env...)...)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	p.cmd.Stderr = p.logs
	start := time.Now()
	if err := p.cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { p.stop() })
	buf := make([]byte, 4096)
	n, err := out.Read(buf)
	m := runningAt.FindSubmatch(buf[:n])
	if err != nil || m == nil {
		b.Fatalf("did not start: %v %s", err, p.logs)
	}
	p.url = string(m[1])
	for _, e := range env { // a public address is not where the process is reached
		if addr, ok := strings.CutPrefix(e, "LISTEN_ADDR="); ok {
			p.url = "http://" + addr
		}
	}
	for {
		resp, err := p.client.Get(p.url + "/.checkstack/ready")
		if err == nil {
			_ = resp.Body.Close()
			if resp.StatusCode == 200 {
				break
			}
		}
		if time.Since(start) > time.Minute {
			b.Fatalf("not ready: %v", err)
		}
	}
	p.ready = time.Since(start)
	go func() { _, _ = io.Copy(io.Discard, out) }()
	return p
}

func (p *process) stop() {
	_ = p.cmd.Process.Signal(os.Interrupt)
	_ = p.cmd.Wait()
}

func (p *process) post(b testing.TB, path, body string) []byte {
	b.Helper()
	resp, err := p.client.Post(p.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	out, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != 200 {
		b.Fatalf("%s: %d %s", path, resp.StatusCode, out)
	}
	return out
}

func (p *process) signUp(b testing.TB) {
	p.post(b, "/api/auth/onboarding", `{"name":"Ann","email":"ann@example.com","password":"Passw0rd1"}`)
}

// residentMB is the memory of the process as the system counts it.
func (p *process) residentMB(b *testing.B) float64 {
	b.Helper()
	status, err := os.ReadFile("/proc/" + strconv.Itoa(p.cmd.Process.Pid) + "/status")
	if err != nil {
		b.Skip("no /proc on this system")
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(status)
	kb, _ := strconv.ParseFloat(string(m[1]), 64)
	return kb / 1024
}

// load sends requests over conns connections for d and reports rate and p99.
func load(b *testing.B, conns int, d time.Duration, one func(worker int) error) {
	b.Helper()
	var wg sync.WaitGroup
	var mu sync.Mutex
	var all []time.Duration
	end := time.Now().Add(d)
	start := time.Now()
	for w := range conns {
		wg.Go(func() {
			var mine []time.Duration
			for time.Now().Before(end) {
				t := time.Now()
				if err := one(w); err != nil {
					b.Error(err)
					return
				}
				mine = append(mine, time.Since(t))
			}
			mu.Lock()
			all = append(all, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	took := time.Since(start)
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	b.ReportMetric(float64(len(all))/took.Seconds(), "requests/s")
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(0, "ns/op")
}

const loadTime = 5 * time.Second

// BenchmarkProductStart starts the product on a database that exists and
// measures until it is ready, and its memory when nothing happens.
func BenchmarkProductStart(b *testing.B) {
	eachDatabase(b, func(b *testing.B, env []string) {
		dir := b.TempDir()
		p := launch(b, dir, env)
		p.signUp(b)
		p.stop()
		var times []time.Duration
		for range 5 {
			p := launch(b, dir, env)
			times = append(times, p.ready)
			if len(times) == 5 {
				time.Sleep(3 * time.Second) // let start-up work end: this is the memory at rest
				b.ReportMetric(p.residentMB(b), "MB-idle")
			}
			p.stop()
		}
		slices.Sort(times)
		b.ReportMetric(float64(times[2].Milliseconds()), "ready-ms")
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkProductList lists 200 systems with a session over 8 connections.
func BenchmarkProductList(b *testing.B) {
	eachDatabase(b, func(b *testing.B, env []string) {
		p := launch(b, b.TempDir(), env)
		p.signUp(b)
		for i := range 200 {
			p.post(b, "/rest/catalog/createSystem", fmt.Sprintf(`{"name":"System %03d","description":"The system with the number %d","metadata":{"tier":%d}}`, i, i, i%3))
		}
		load(b, 8, loadTime, func(int) error {
			resp, err := p.client.Get(p.url + "/rest/catalog/getSystems")
			if err != nil {
				return err
			}
			n, err := io.Copy(io.Discard, resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != 200 || n < 1000 {
				return fmt.Errorf("status %d, %d bytes", resp.StatusCode, n)
			}
			return err
		})
	})
}

// BenchmarkProductWrite creates systems one by one over 8 connections.
func BenchmarkProductWrite(b *testing.B) {
	eachDatabase(b, func(b *testing.B, env []string) {
		p := launch(b, b.TempDir(), env)
		p.signUp(b)
		load(b, 8, loadTime, func(w int) error {
			resp, err := p.client.Post(p.url+"/rest/catalog/createSystem", "application/json", strings.NewReader(`{"name":"System `+strconv.Itoa(w)+`","description":"written by the benchmark"}`))
			if err != nil {
				return err
			}
			body, err := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != 200 {
				return fmt.Errorf("status %d: %s", resp.StatusCode, body)
			}
			return err
		})
	})
}

// BenchmarkProductChecks keeps real HTTP checks running once a second each
// against a server in this process and reports how many were kept and how late
// they began. CHECKSTACK_BENCH_CHECKS sets how many; 2000 by default.
func BenchmarkProductChecks(b *testing.B) {
	checks := 2000
	if n, err := strconv.Atoi(os.Getenv("CHECKSTACK_BENCH_CHECKS")); err == nil {
		checks = n
	}
	eachDatabase(b, func(b *testing.B, env []string) {
		var hits atomic.Int64
		target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			hits.Add(1)
			_, _ = io.WriteString(w, `{"status":"ok"}`)
		}))
		b.Cleanup(target.Close)
		cfg := config.Config{DataDir: b.TempDir(), BaseURL: "http://localhost:3000", CheckWorkers: 512, DatabasePoolMax: 20,
			DatabaseURL: strings.TrimPrefix(env[0], "DATABASE_URL="), EncryptionMasterKey: strings.Repeat("0", 64)}
		a, err := build(b.Context(), cfg, "bench", slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})))
		if err != nil {
			b.Fatal(err)
		}
		ctx := authz.With(b.Context(), authz.Principal{Kind: authz.User, ID: "bench", Rules: []string{authz.Wildcard}})
		raw := func(v any) json.RawMessage { r, _ := json.Marshal(v); return r }
		for i := range checks {
			sys, err := a.domains.catalog.CreateSystem(ctx, catalog.Fields{Name: fmt.Sprintf("System %d", i)})
			if err != nil {
				b.Fatal(err)
			}
			var d healthcheck.Draft
			d.Name, d.StrategyID, d.IntervalSeconds = "Check", "healthcheck-http.http", 1
			d.Config = raw(map[string]any{})
			if err := json.Unmarshal(raw([]any{map[string]any{"collectorId": "healthcheck-http.request",
				"config":     map[string]any{"url": fmt.Sprintf("%s/%d", target.URL, i)},
				"assertions": []any{map[string]any{"field": "statusCode", "operator": "equals", "value": 200}}}}), &d.Collectors); err != nil {
				b.Fatal(err)
			}
			if _, err := a.domains.healthcheck.Create(ctx, d, []string{sys.ID}); err != nil {
				b.Fatal(err)
			}
		}
		if err := a.start(b.Context()); err != nil {
			b.Fatal(err)
		}
		time.Sleep(5 * time.Second) // the start itself is not what is measured
		a.domains.healthcheck.ResetStats()
		before, start := hits.Load(), time.Now()
		const window = 15 * time.Second
		time.Sleep(window)
		s := a.domains.healthcheck.Stats()
		took := time.Since(start).Seconds()
		b.ReportMetric(float64(hits.Load()-before)/took, "checks/s")
		b.ReportMetric(float64(s.Stored)/took, "stored/s")
		b.ReportMetric(float64(s.Lateness.P99.Milliseconds()), "late-p99-ms")
		b.ReportMetric(0, "ns/op")
		if err := a.stop(20 * time.Second); err != nil {
			b.Error(err)
		}
	})
}
