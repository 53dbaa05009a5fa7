package httpcheck

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/checkstack/checkstack/internal/healthcheck/strategy"
)

// environmentProxy counts what a proxy named by the environment sees; net/http
// reads the environment once, so it is set for the whole test binary (FC-019).
var environmentProxy atomic.Int32

func TestMain(m *testing.M) {
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { environmentProxy.Add(1) }))
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"} {
		os.Setenv(name, proxy.URL)
	}
	code := m.Run()
	proxy.Close()
	if environmentProxy.Load() > 0 {
		fmt.Println("FC-019: the proxy of the environment was used")
		code = 1
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Println(err)
		code = 1
	}
	os.Exit(code)
}

const collectorUUID = "0190a5a0-0000-7000-8000-000000000001"

type names map[string][]string

func (n names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	var out []netip.Addr
	for _, a := range n[host] {
		out = append(out, netip.MustParseAddr(a))
	}
	if out == nil {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return out, nil
}

func registry(t testing.TB, c *Check) *strategy.Registry {
	t.Helper()
	r, err := strategy.NewRegistry(c)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// obj is a config written in a test.
type obj map[string]any

func raw(t testing.TB, v any) json.RawMessage {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func check(t testing.TB, conf, req obj, assertions ...strategy.Assertion) strategy.Check {
	t.Helper()
	return strategy.Check{Draft: strategy.Draft{
		StrategyID: StrategyID, Config: raw(t, conf),
		Collectors: []strategy.CollectorConfig{{
			ID: collectorUUID, CollectorID: CollectorID, Config: raw(t, req), Assertions: assertions,
		}},
	}}
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

func runOne(t testing.TB, conf, req obj, assertions ...strategy.Assertion) strategy.Result {
	t.Helper()
	return registry(t, newCheck(nil, nil)).Run(t.Context(), check(t, conf, req, assertions...))
}

func assertion(field, op, value string) strategy.Assertion {
	return strategy.Assertion{Field: field, Operator: op, Value: json.RawMessage(value)}
}

// spec/monitoring.md 20, item 1.
func TestAnsweredIsHealthyUnlessAsserted(t *testing.T) {
	t.Parallel()
	srv := serve(t, status(404))
	res := runOne(t, obj{}, obj{"url": srv.URL})
	if res.Status != strategy.Healthy || res.LatencyMs == nil || !strings.HasPrefix(res.Message, "Completed in ") {
		t.Errorf("404 without assertions: %+v", res)
	}
	res = runOne(t, obj{}, obj{"url": srv.URL}, assertion("statusCode", "equals", "200"))
	if want := "Check failed: Assertion failed: statusCode equals 200 (got 404)"; res.Status != strategy.Unhealthy || res.Message != want {
		t.Errorf("404 with an assertion: %s %q, want %q", res.Status, res.Message, want)
	}
	col := res.Metadata.Collectors[collectorUUID]
	if want := "statusCode: expected to equal 200, got 404"; col["_assertionFailed"] != want {
		t.Errorf("_assertionFailed %v, want %q", col["_assertionFailed"], want)
	}
	srv.Close()
	res = runOne(t, obj{}, obj{"url": srv.URL}, assertion("statusCode", "equals", "404"))
	host := strings.TrimPrefix(srv.URL, "http://")
	if want := "Check failed: " + host + ": connection refused"; res.Status != strategy.Unhealthy || res.Message != want || res.LatencyMs != nil {
		t.Errorf("refused: %s %q, want %q", res.Status, res.Message, want)
	}
	if _, ok := res.Metadata.Collectors[collectorUUID]["_assertions"]; ok {
		t.Error("assertions were evaluated although nothing was measured")
	}
}

// spec/monitoring.md 20, item 2.
func TestTemplatedURLThatRendersEmpty(t *testing.T) {
	t.Parallel()
	res := runOne(t, obj{}, obj{"url": "{{ environment.baseUrl }}"})
	if want := "Check failed: Rendered URL is invalid"; res.Status != strategy.Unhealthy || res.Message != want {
		t.Errorf("%s %q, want %q", res.Status, res.Message, want)
	}
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.URL.Path, r.Header.Get("X-Env")) })
	c := check(t, obj{}, obj{
		"url": "{{ environment.baseUrl }}/{{ system.name }}", "headers": []obj{{"name": "X-Env", "value": "{{environment.name}}"}},
	}, assertion("body", "equals", `"/paymentsprod"`))
	c.Template = strategy.TemplateContext{SystemName: "payments", Environment: map[string]any{"baseUrl": srv.URL, "name": "prod"}}
	r := registry(t, newCheck(nil, nil))
	if res := r.Run(t.Context(), c); res.Status != strategy.Healthy {
		t.Errorf("rendered: %q", res.Message)
	}
	c.Template.Environment["name"] = "a\r\nX-Evil: 1"
	if res := r.Run(t.Context(), c); res.Message != "Check failed: Rendered value of header X-Env is invalid" {
		t.Errorf("header injection: %q", res.Message)
	}
}

func TestResultFields(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Content-Type", "text/x-test")
		w.WriteHeader(201)
		fmt.Fprintf(w, "%s %s é", r.Method, body)
	})
	res := runOne(t, obj{}, obj{"url": srv.URL, "method": "POST", "body": "hi"},
		assertion("body", "equals", `"POST hi é"`), assertion("success", "isTrue", ""), assertion("bodyLength", "equals", "9"))
	if res.Status != strategy.Healthy {
		t.Fatal(res.Message)
	}
	col := res.Metadata.Collectors[collectorUUID]
	if _, ok := col["body"]; ok {
		t.Error("the body was stored")
	}
	for name, want := range map[string]any{
		"statusCode": 201, "statusText": "Created", "success": true, "bodyTruncated": false, "redirects": 0,
		"contentType": "text/x-test", "protocol": "HTTP/1.1", "remoteAddress": strings.TrimPrefix(srv.URL, "http://"),
		"_collectorId": CollectorID,
	} {
		if col[name] != want {
			t.Errorf("%s = %v, want %v", name, col[name], want)
		}
	}
	for _, phase := range []string{"connectMs", "waitMs", "transferMs"} {
		if _, ok := res.Metadata.Timings[phase]; !ok {
			t.Errorf("no %s in %v", phase, res.Metadata.Timings)
		}
	}
	for _, phase := range []string{"dnsMs", "tlsMs"} {
		if _, ok := res.Metadata.Timings[phase]; ok {
			t.Errorf("%s was not measured but is in %v", phase, res.Metadata.Timings)
		}
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	srv := httptest.NewTLSServer(status(200))
	defer srv.Close()
	res := runOne(t, obj{}, obj{"url": srv.URL})
	if !strings.HasSuffix(res.Message, ": TLS certificate is not signed by a trusted authority") {
		t.Errorf("untrusted: %q", res.Message)
	}
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	r := registry(t, newCheck(names{"other.example": {"127.0.0.1"}}, roots))
	res = r.Run(t.Context(), check(t, obj{}, obj{"url": srv.URL}))
	if _, ok := res.Metadata.Timings["tlsMs"]; res.Status != strategy.Healthy || !ok {
		t.Errorf("trusted: %q %v", res.Message, res.Metadata.Timings)
	}
	other := strings.Replace(srv.URL, "127.0.0.1", "other.example", 1)
	res = r.Run(t.Context(), check(t, obj{}, obj{"url": other}))
	if !strings.HasSuffix(res.Message, ": TLS certificate is for another host name") {
		t.Errorf("wrong name: %q", res.Message)
	}
	plainSrv := serve(t, status(200))
	res = runOne(t, obj{}, obj{"url": strings.Replace(plainSrv.URL, "http:", "https:", 1)})
	if !strings.HasSuffix(res.Message, ": server does not speak TLS on this port") {
		t.Errorf("no TLS: %q", res.Message)
	}
}

func TestAuthentication(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, r.Header.Get("Authorization")) })
	basic := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:pass-word"))
	for name, row := range map[string]struct {
		conf obj
		own  string
		want string
	}{
		"none":     {obj{"password": "unused"}, "", ""},
		"basic":    {obj{"authScheme": "basic", "username": "me", "password": "pass-word"}, "", basic},
		"token":    {obj{"authScheme": "token", "token": "tok-en"}, "", "Bearer tok-en"},
		"own wins": {obj{"authScheme": "token", "token": "tok-en"}, "Custom x", "Custom x"},
	} {
		req := obj{"url": srv.URL}
		if row.own != "" {
			req["headers"] = []obj{{"name": "authorization", "value": row.own}}
		}
		res := runOne(t, row.conf, req, strategy.Assertion{Field: "body", Operator: "equals", Value: raw(t, row.want+"")})
		if row.want == "" {
			res = runOne(t, row.conf, req, strategy.Assertion{Field: "body", Operator: "isEmpty"})
		}
		if res.Status != strategy.Healthy {
			t.Errorf("%s: %s", name, res.Message)
		}
	}
}

func TestFC016_Redirects(t *testing.T) {
	t.Parallel()
	var seen sync.Map
	target := serve(t, func(_ http.ResponseWriter, r *http.Request) { seen.Store(r.URL.Path, r.Header.Clone()) })
	// The same server under another host name is another host.
	_, port, _ := net.SplitHostPort(target.Listener.Addr().String())
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Host+r.URL.Path, r.Header.Clone())
		switch p := r.URL.Path; {
		case p == "/loop/a":
			http.Redirect(w, r, "/loop/b?token=hidden", 302)
		case p == "/loop/b":
			http.Redirect(w, r, "/loop/a", 302)
		case strings.HasPrefix(p, "/hop/"):
			var n int
			fmt.Sscanf(p, "/hop/%d", &n)
			if n == 0 {
				w.WriteHeader(200)
				return
			}
			http.Redirect(w, r, fmt.Sprintf("/hop/%d", n-1), 302)
		case p == "/away":
			http.Redirect(w, r, "http://other.example:"+port+"/landed", 302)
		case p == "/away307":
			http.Redirect(w, r, "http://other.example:"+port+"/landed307", 307)
		case p == "/bounce":
			http.Redirect(w, r, "http://back.example:"+port+"/x", 302)
		case p == "/nolocation":
			w.WriteHeader(302)
		case p == "/same":
			http.Redirect(w, r, "/home", 302)
		case p == "/metadata":
			http.Redirect(w, r, "http://169.254.169.254/latest", 302)
		case p == "/ftp":
			http.Redirect(w, r, "ftp://other.example/", 302)
		}
	})
	r := registry(t, newCheck(names{"other.example": {"127.0.0.1"}}, nil))
	headers := []obj{{"name": "Authorization", "value": "a"}, {"name": "Cookie", "value": "b=c"}, {"name": "X-Api-Key", "value": "key"}}
	run := func(path string, extra obj, as ...strategy.Assertion) strategy.Result {
		req := obj{"url": srv.URL + path, "headers": headers}
		for k, v := range extra {
			req[k] = v
		}
		return r.Run(t.Context(), check(t, obj{}, req, as...))
	}
	if res := run("/loop/a", nil); !strings.Contains(res.Message, "stopped after 10 redirects, the last one to "+srv.URL) || strings.Contains(res.Message, "hidden") {
		t.Errorf("(a) loop: %q", res.Message)
	}
	if res := run("/hop/12", nil); !strings.Contains(res.Message, "stopped after 10 redirects") {
		t.Errorf("(b) 12 hops: %q", res.Message)
	}
	if res := run("/hop/10", nil, assertion("redirects", "equals", "10"), assertion("statusCode", "equals", "200")); res.Status != strategy.Healthy {
		t.Errorf("10 hops: %q", res.Message)
	}
	if res := run("/away", nil); res.Status != strategy.Healthy {
		t.Errorf("(c) other host: %q", res.Message)
	}
	got, _ := seen.Load("/landed")
	for _, name := range []string{"Authorization", "Cookie", "X-Api-Key"} {
		if v := got.(http.Header).Get(name); v != "" {
			t.Errorf("(c) %s reached the other host", name)
		}
	}
	run("/same", nil)
	got, _ = seen.Load(strings.TrimPrefix(srv.URL, "http://") + "/home")
	if got.(http.Header).Get("X-Api-Key") != "key" {
		t.Error("the header was lost on the same host")
	}
	if res := run("/hop/1", obj{"followRedirects": false}, assertion("statusCode", "equals", "302")); res.Status != strategy.Healthy {
		t.Errorf("(d) not followed: %q", res.Message)
	}
	if res := run("/nolocation", nil, assertion("statusCode", "equals", "302")); res.Status != strategy.Healthy {
		t.Errorf("(e) no location: %q", res.Message)
	}
	if res := run("/away307", obj{"method": "POST", "body": "secret=1"}); !strings.Contains(res.Message, "to which the request body is not sent") {
		t.Errorf("body to another host: %q", res.Message)
	}
	if _, ok := seen.Load("/landed307"); ok {
		t.Error("the body went to another host")
	}
	if res := run("/ftp", nil); !strings.Contains(res.Message, "not an http or https URL") {
		t.Errorf("ftp: %q", res.Message)
	}
	// FC-040: each hop is judged.
	if res := run("/metadata", nil); res.Message != "Check failed: 169.254.169.254: address is not allowed by the egress rules" {
		t.Errorf("hop to metadata: %q", res.Message)
	}
}

func TestFC016_NeverFromHTTPSToHTTP(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	plain := serve(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) })
	srv := httptest.NewTLSServer(http.RedirectHandler(plain.URL, 302))
	defer srv.Close()
	roots := srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
	res := registry(t, newCheck(nil, roots)).Run(t.Context(), check(t, obj{}, obj{"url": srv.URL}))
	if !strings.Contains(res.Message, "from https to http") || hits.Load() != 0 {
		t.Errorf("%q, %d requests over http", res.Message, hits.Load())
	}
}

func TestFC017_BodiesWithoutEnd(t *testing.T) {
	t.Parallel()
	stop := make(chan struct{})
	defer close(stop)
	zeros := make([]byte, 64<<10)
	bomb := gzipBomb(t, zeros)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			w.(http.Flusher).Flush()
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
					if _, err := w.Write([]byte("x")); err != nil {
						return
					}
					w.(http.Flusher).Flush()
				case <-r.Context().Done():
					return
				case <-stop:
					return
				}
			}
		case "/zeros":
			for {
				if _, err := w.Write(zeros); err != nil {
					return
				}
			}
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb)
		case "/chunk", "/short":
			conn, buf, _ := w.(http.Hijacker).Hijack()
			if r.URL.Path == "/chunk" {
				buf.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n")
			} else {
				buf.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n" + strings.Repeat("a", 60))
			}
			buf.Flush()
			conn.Close()
		case "/204":
			conn, buf, _ := w.(http.Hijacker).Hijack()
			buf.WriteString("HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello")
			buf.Flush()
			conn.Close()
		}
	})
	host := strings.TrimPrefix(srv.URL, "http://")
	if res := runOne(t, obj{}, obj{"url": srv.URL + "/slow", "timeout": 300}); res.Message != "Check failed: "+host+": timed out after 300 ms" {
		t.Errorf("(a) slow: %q", res.Message)
	}
	for _, path := range []string{"/zeros", "/bomb"} {
		res := runOne(t, obj{}, obj{"url": srv.URL + path})
		if col := res.Metadata.Collectors[collectorUUID]; res.Status != strategy.Healthy || col["bodyTruncated"] != true {
			t.Errorf("%s: %q %v", path, res.Message, col["bodyTruncated"])
		}
		for _, a := range []strategy.Assertion{
			assertion("body", "startsWith", `"x"`), assertion("bodyLength", "lessThan", "2000000"),
			{Field: "body.$", JSONPath: "$.a", Operator: "notExists"},
		} {
			res = runOne(t, obj{}, obj{"url": srv.URL + path}, a)
			got, _ := res.Metadata.Collectors[collectorUUID]["_assertionFailed"].(string)
			if res.Status != strategy.Unhealthy || !strings.Contains(got, "the body is longer than") {
				t.Errorf("%s %s on a cut body: %s %q", path, a.Field, res.Status, got)
			}
		}
	}
	for _, path := range []string{"/chunk", "/short"} {
		if res := runOne(t, obj{}, obj{"url": srv.URL + path}); res.Message != "Check failed: "+host+": connection closed before the whole answer had arrived" {
			t.Errorf("%s: %q", path, res.Message)
		}
	}
	if res := runOne(t, obj{}, obj{"url": srv.URL + "/204"}, assertion("statusCode", "equals", "204")); res.Status != strategy.Healthy {
		t.Errorf("(f) 204 with a body: %q", res.Message)
	}
}

// gzipBomb is 8 KiB that unpack to 8 MiB.
func gzipBomb(t *testing.T, zeros []byte) []byte {
	t.Helper()
	var buf bytes.Buffer
	gz := gzip.NewWriter(&buf)
	for range 128 {
		if _, err := gz.Write(zeros); err != nil {
			t.Fatal(err)
		}
	}
	if err := gz.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// 50 at once: memory may grow by 20 MiB each, we need far less.
func TestFC017_MemoryIsBounded(t *testing.T) {
	zeros := make([]byte, 64<<10)
	srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(zeros); err != nil {
				return
			}
		}
	})
	r := registry(t, newCheck(nil, nil))
	c := check(t, obj{}, obj{"url": srv.URL})
	var before, peak runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if res := r.Run(t.Context(), c); res.Status != strategy.Healthy {
				t.Error(res.Message)
			}
		})
	}
	wg.Wait()
	runtime.ReadMemStats(&peak)
	if grown := int64(peak.Sys) - int64(before.Sys); grown > 50*20<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if perRun := (peak.TotalAlloc - before.TotalAlloc) / 50; perRun > 20<<20 {
		t.Errorf("%d MiB allocated per run", perRun>>20)
	}
}

func TestFC018_DeadFirstAddress(t *testing.T) {
	t.Parallel()
	srv := serve(t, status(200))
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	r := registry(t, newCheck(names{"dual.example": {"2001:db8::1", "127.0.0.1"}, "six.example": {"2001:db8::1"}}, nil))
	res := r.Run(t.Context(), check(t, obj{}, obj{"url": "http://dual.example:" + port, "timeout": 5000}))
	if res.Status != strategy.Healthy || *res.LatencyMs > 2000 {
		t.Errorf("dual: %q", res.Message)
	}
	if got := res.Metadata.Collectors[collectorUUID]["remoteAddress"]; got != "127.0.0.1:"+port {
		t.Errorf("remoteAddress %v", got)
	}
	if res := r.Run(t.Context(), check(t, obj{}, obj{"url": "http://six.example:" + port, "timeout": 300})); res.Status != strategy.Unhealthy {
		t.Error("IPv6 only: healthy")
	}
}

func TestFC019_OwnProxyOnly(t *testing.T) {
	t.Parallel()
	var hits atomic.Int32
	var auth atomic.Value
	proxy := serve(t, func(w http.ResponseWriter, r *http.Request) {
		hits.Add(1)
		auth.Store(r.Header.Get("Proxy-Authorization"))
		if r.Method == http.MethodConnect {
			w.WriteHeader(407)
			return
		}
		w.WriteHeader(502)
	})
	srv := serve(t, status(200))
	run := func(conf obj, target string, code string) {
		t.Helper()
		res := runOne(t, conf, obj{"url": target}, assertion("statusCode", "equals", code))
		if res.Status != strategy.Healthy {
			t.Errorf("%v: %q", conf, res.Message)
		}
		if _, ok := conf["proxyUrl"]; ok && conf["proxyUrl"] == proxy.URL && res.Metadata.Timings != nil {
			t.Error("timings through a proxy")
		}
	}
	run(obj{}, srv.URL, "200")
	run(obj{"proxyUrl": "{{ environment.proxy }}"}, srv.URL, "200")
	if hits.Load() != 0 {
		t.Fatal("a proxy was used that the check does not name")
	}
	run(obj{"proxyUrl": proxy.URL, "proxyUsername": "u", "proxyPassword": "pw"}, srv.URL, "502")
	if want := "Basic " + base64.StdEncoding.EncodeToString([]byte("u:pw")); auth.Load() != want {
		t.Errorf("proxy authorization %v", auth.Load())
	}
	run(obj{"proxyUrl": proxy.URL}, "https://target.example/", "407")
	if hits.Load() != 2 {
		t.Errorf("the proxy saw %d requests", hits.Load())
	}
	res := runOne(t, obj{"proxyUrl": "http://169.254.169.254:3128"}, obj{"url": srv.URL})
	if !strings.HasSuffix(res.Message, "address is not allowed by the egress rules") {
		t.Errorf("guard and proxy host: %q", res.Message)
	}
	if res := runOne(t, obj{"proxyUrl": "{{ system.name }}"}, obj{"url": srv.URL}); res.Status != strategy.Healthy {
		t.Errorf("proxy rendered empty: %q", res.Message)
	}
}

func TestEgressDenyCIDRs(t *testing.T) {
	t.Parallel()
	srv := serve(t, status(200))
	res := runOne(t, obj{"egressDenyCidrs": []string{"127.0.0.0/8"}}, obj{"url": srv.URL})
	if !strings.HasSuffix(res.Message, "address is not allowed by the egress rules") {
		t.Errorf("denied range: %q", res.Message)
	}
	if res := runOne(t, obj{"egressDenyCidrs": []string{"10.0.0.0/8"}}, obj{"url": srv.URL}); res.Status != strategy.Healthy {
		t.Errorf("other range: %q", res.Message)
	}
}

// FC-041: whatever fails, and whatever the server echoes, no secret comes out.
func TestFC041_NoSecretInAnyResult(t *testing.T) {
	t.Parallel()
	const secret = "s3cr3t/päss word"
	echo := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, pw, _ := r.BasicAuth()
		w.Header().Set("Content-Type", "x/"+url.PathEscape(pw))
		fmt.Fprintf(w, `{"auth":%q,"pw":%q}`, r.Header.Get("Authorization"), pw)
	})
	closed := serve(t, status(200))
	closed.Close()
	panics := serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	basic := obj{"authScheme": "basic", "username": "admin", "password": secret}
	token := obj{"authScheme": "token", "token": "s3cr3t-token-value"}
	query := "/bot-s3cr3t-token-value/send?key=s3cr3t-token-value"
	forms := []string{
		secret, "s3cr3t", url.QueryEscape(secret), url.PathEscape(secret), base64.StdEncoding.EncodeToString([]byte(secret)),
		base64.StdEncoding.EncodeToString([]byte("admin:" + secret)), "s3cr3t-token-value",
	}
	for name, c := range map[string]strategy.Check{
		"echoed body": check(t, basic, obj{"url": echo.URL}, assertion("body", "equals", `"x"`),
			strategy.Assertion{Field: "body.$", JSONPath: "$.auth", Operator: "equals", Value: json.RawMessage(`"x"`)}, strategy.Assertion{Field: "body.$", JSONPath: "$", Operator: "equals", Value: json.RawMessage(`"x"`)}),
		"echoed token":  check(t, token, obj{"url": echo.URL}, assertion("body", "matches", `"^nope$"`)),
		"refused":       check(t, token, obj{"url": closed.URL + query}),
		"aborted":       check(t, token, obj{"url": panics.URL + query}),
		"no such host":  check(t, token, obj{"url": "http://nowhere.invalid" + query}),
		"tls":           check(t, token, obj{"url": strings.Replace(echo.URL, "http:", "https:", 1) + query}),
		"proxy":         check(t, obj{"proxyUrl": closed.URL, "proxyUsername": "admin", "proxyPassword": secret}, obj{"url": echo.URL + query}),
		"userinfo":      check(t, obj{}, obj{"url": "http://admin:s3cr3t-token-value@" + strings.TrimPrefix(echo.URL, "http://")}),
		"bad reference": check(t, obj{"authScheme": "token", "token": "${{ secrets.s3cr3t }}"}, obj{"url": echo.URL}),
	} {
		res := registry(t, newCheck(names{}, nil)).Run(t.Context(), c)
		if res.Status != strategy.Unhealthy {
			t.Errorf("%s: %s", name, res.Status)
		}
		text := string(raw(t, res))
		for _, form := range forms {
			if strings.Contains(text, form) {
				t.Errorf("%s: %q is in %s", name, form, text)
			}
		}
	}
}

func TestHardTimeoutCoversTheWholeRun(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	srv := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	})
	defer close(release)
	res := runOne(t, obj{"timeout": 200}, obj{"url": srv.URL})
	if want := "Execution timeout after 200ms"; res.Status != strategy.Unhealthy || res.Message != want || res.Metadata.Error != want || res.LatencyMs != nil {
		t.Errorf("%+v", res)
	}
}

func TestHEADAndBodyEncodings(t *testing.T) {
	t.Parallel()
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Accept-Encoding") == "gzip" {
			w.Header().Set("Content-Encoding", "gzip")
			gz := gzip.NewWriter(w)
			fmt.Fprint(gz, `{"items":[1,2,3]}`)
			gz.Close()
		}
	})
	res := runOne(t, obj{}, obj{"url": srv.URL}, strategy.Assertion{Field: "body.$", JSONPath: "$.items.length", Operator: "equals", Value: json.RawMessage("3")})
	if res.Status != strategy.Healthy {
		t.Error(res.Message)
	}
	if res := runOne(t, obj{}, obj{"url": srv.URL, "method": "HEAD"}, assertion("bodyLength", "equals", "0")); res.Status != strategy.Healthy {
		t.Error(res.Message)
	}
}
