package app

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// BenchmarkMCP calls a cheap read tool over 16 kept connections: on a bare
// server of the same SDK, stateless, without any check, and on the product with
// authentication, audit row and budget. Each server is a process of its own and
// is called by the same client, in turns of half a second, so that whatever else
// the machine does meets both. The calls are spread over applications, each
// within its budget. The ratio is the figure; the rest explains it.
func BenchmarkMCP(b *testing.B) {
	eachDatabase(b, func(b *testing.B, env []string) {
		client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		url, pid := launchBare(b)
		bare := &mcpSide{pid: pid, call: func() error { return mcpOnce(client, url, "none") }}

		p := launch(b, b.TempDir(), env)
		p.signUp(b)
		p.post(b, "/rest/auth/setMcpOAuthSettings", `{"enabled":true}`)
		keys := make([]string, 500)
		var wg sync.WaitGroup
		for w := range 8 {
			wg.Go(func() {
				for n := w; n < len(keys); n += 8 {
					var made struct{ Key string }
					if err := json.Unmarshal(p.post(b, "/rest/auth/createApplication", fmt.Sprintf(`{"name":"Agent %d","roleIds":["users"]}`, n)), &made); err != nil {
						b.Error(err)
					}
					keys[n] = made.Key
					if err := mcpOnce(client, p.url, made.Key); err != nil { // notes the first use
						b.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var next atomic.Int64
		product := &mcpSide{pid: p.cmd.Process.Pid, call: func() error { return mcpOnce(client, p.url, keys[int(next.Add(1))%len(keys)]) }}

		for range 10 {
			bare.turn(b)
			product.turn(b)
		}
		b.ReportMetric(product.rate()/bare.rate(), "ratio")
		b.ReportMetric(bare.rate(), "bare/s")
		b.ReportMetric(product.rate(), "product/s")
		b.ReportMetric(bare.cost(), "bare-cpu-us/call")
		b.ReportMetric(product.cost(), "product-cpu-us/call")
		b.ReportMetric(0, "ns/op")
	})
}

// mcpSide is one of two servers that are compared.
type mcpSide struct {
	pid   int
	call  func() error
	calls atomic.Int64
	took  time.Duration
	used  time.Duration // of the processor
}

// turn calls the server over 16 connections for half a second.
func (m *mcpSide) turn(b *testing.B) {
	b.Helper()
	used, start := processorTime(b, m.pid), time.Now()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for time.Since(start) < 500*time.Millisecond {
				if err := m.call(); err != nil {
					b.Error(err)
					return
				}
				m.calls.Add(1)
			}
		})
	}
	wg.Wait()
	m.took += time.Since(start)
	m.used += processorTime(b, m.pid) - used
}

func (m *mcpSide) rate() float64 { return float64(m.calls.Load()) / m.took.Seconds() }

func (m *mcpSide) cost() float64 { return float64(m.used.Microseconds()) / float64(m.calls.Load()) }

// processorTime is what a process has used so far.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0 // not Linux
	}
	// proc_pid_stat(5): fields 14 and 15 are user and system time in hundredths of
	// a second; the second, the name, may hold blanks.
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// mcpOnce is process.mcp on a client that keeps its connections.
func mcpOnce(client *http.Client, url, key string) error {
	req, err := http.NewRequest(http.MethodPost, url+"/api/ai/mcp", strings.NewReader(mcpCall("catalog_listGroups", `{}`)))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set("Authorization", "Bearer "+key)
	resp, err := client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %d: %s", resp.StatusCode, body)
	}
	return err
}

// bareEnv makes the test binary serve the SDK alone, see TestMain.
const bareEnv = "CHECKSTACK_TEST_BARE_MCP"

// launchBare starts serveBare as a process and gives its address.
func launchBare(b *testing.B) (url string, pid int) {
	b.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), bareEnv+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	stop, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stop.Close(); _ = cmd.Wait() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(line), cmd.Process.Pid
}

// serveBare is a server of the SDK and nothing else, until standard input ends.
func serveBare() error {
	server := mcp.NewServer(&mcp.Implementation{Name: "bare", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "catalog_listGroups", InputSchema: json.RawMessage(`{"type":"object","properties":{}}`)},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"groups":[]}`}}}, nil
		})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	web := &http.Server{Handler: mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server },
		&mcp.StreamableHTTPOptions{Stateless: true, JSONResponse: true})}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = web.Close()
	}()
	fmt.Println("http://" + l.Addr().String())
	if err := web.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}
