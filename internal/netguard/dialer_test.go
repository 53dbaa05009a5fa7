package netguard_test

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/checkstack/checkstack/internal/netguard"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// listen opens a port that accepts connections and does nothing with them.
func listen(t *testing.T) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// hole opens a port whose queue is full, so that the kernel drops what else
// comes, as a dead route does.
func hole(t *testing.T, ip string, at int) (port string) {
	t.Helper()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Close(fd) })
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: netip.MustParseAddr(ip).As4(), Port: at}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, err := syscall.Getsockname(fd)
	if err != nil {
		t.Fatal(err)
	}
	port = strconv.Itoa(name.(*syscall.SockaddrInet4).Port)
	for range 10 {
		conn, err := net.DialTimeout("tcp", net.JoinHostPort(ip, port), 200*time.Millisecond)
		if err != nil {
			return port
		}
		t.Cleanup(func() { conn.Close() })
	}
	t.Fatal("the queue does not fill up")
	return ""
}

func TestFC018_DeadAddressesFallBack(t *testing.T) {
	t.Parallel()
	port := listen(t)
	number, err := strconv.Atoi(port)
	if err != nil {
		t.Fatal(err)
	}
	hole(t, "127.0.0.7", number)
	for name, addrs := range map[string][]string{
		"first A dropped":       {"127.0.0.7", "127.0.0.1"},
		"dead IPv6 first":       {"2001:db8::1", "127.0.0.1"},
		"first A refused":       {"127.0.0.9", "127.0.0.1"},
		"first A without route": {"192.0.2.1", "127.0.0.1"},
		"several dead":          {"2001:db8::1", "127.0.0.9", "2001:db8::2", "127.0.0.1"},
	} {
		d := &netguard.Dialer{Policy: netguard.HealthCheck, Resolver: dns("host.example", addrs...)}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		start := time.Now()
		conn, err := d.DialContext(ctx, "tcp", "host.example:"+port)
		cancel()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := conn.RemoteAddr().String(); got != "127.0.0.1:"+port {
			t.Errorf("%s: connected to %s", name, got)
		}
		conn.Close()
		if took := time.Since(start); took > 3*time.Second {
			t.Errorf("%s: took %s", name, took)
		}
	}
	d := &netguard.Dialer{Policy: netguard.HealthCheck, Resolver: dns("host.example", "127.0.0.9", "127.0.0.8")}
	if _, err := d.DialContext(t.Context(), "tcp", "host.example:"+port); netguard.Cause(err) != "connection refused" {
		t.Errorf("all refused: %v", err)
	}
}

func TestRaceStopsWithItsContext(t *testing.T) {
	t.Parallel()
	d := &netguard.Dialer{Policy: netguard.HealthCheck, Resolver: dns("host.example", "127.0.0.9", "127.0.0.1")}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if conn, err := d.DialContext(ctx, "tcp", "host.example:1"); err == nil {
		conn.Close()
		t.Error("dialled with a context that had ended")
	}
}

// A server that accepts and says nothing: neither the dial nor the TLS
// handshake may outlive the request. goleak in TestMain sees what stays.
func TestNothingOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	silent, dead := listen(t), hole(t, "127.0.0.1", 0)
	for _, url := range []string{
		"https://127.0.0.1:" + silent, "http://127.0.0.1:" + silent, "https://127.0.0.1:" + dead, "http://127.0.0.1:" + dead,
	} {
		tr := netguard.NewTransport(netguard.HealthCheck, netguard.Options{FreshConnections: true})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		req, err := http.NewRequestWithContext(ctx, "GET", url, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := tr.RoundTrip(req)
		cancel()
		if err == nil {
			res.Body.Close()
			t.Errorf("%s answered", url)
		}
	}
}

func TestFC040_CheckedHereConnectedThere(t *testing.T) {
	t.Parallel()
	port := listen(t)
	resolver := &fakeDNS{answers: map[string][][]string{"rebind.example": {{"192.0.2.10"}, {"127.0.0.1"}}}}
	d := &netguard.Dialer{Policy: netguard.Outbound, Resolver: resolver}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	conn, err := d.DialContext(ctx, "tcp", "rebind.example:"+port)
	if err == nil {
		t.Errorf("connected to %s", conn.RemoteAddr())
		conn.Close()
	}
	if resolver.lookups != 1 {
		t.Errorf("looked up %d times for one connection", resolver.lookups)
	}
	if _, err := d.DialContext(t.Context(), "tcp", "rebind.example:"+port); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("second answer: %v, want refused", err)
	}
}

func TestFC040_ClientDoesNotFollowInside(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.RedirectHandler("http://169.254.169.254/", http.StatusFound))
	defer srv.Close()
	client := netguard.NewClient(netguard.Trusted, 5*time.Second)
	defer client.CloseIdleConnections()
	res, err := client.Get(srv.URL)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if res.StatusCode != http.StatusFound {
		t.Errorf("status %d, want the redirect itself", res.StatusCode)
	}
	if _, err := client.Get("http://169.254.169.254/"); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("metadata: %v, want refused", err)
	}
}

func TestFC019_EnvironmentProxyIsIgnored(t *testing.T) {
	// net/http reads these once per process, so they are set before the first use.
	var hits atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hits.Add(1) }))
	defer proxy.Close()
	t.Setenv("HTTP_PROXY", proxy.URL)
	t.Setenv("HTTPS_PROXY", proxy.URL)
	tr := netguard.NewTransport(netguard.HealthCheck, netguard.Options{
		Resolver: dns("host.example", "127.0.0.1"), FreshConnections: true,
	})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer srv.Close()
	_, serverPort, _ := net.SplitHostPort(srv.Listener.Addr().String())
	req, _ := http.NewRequestWithContext(t.Context(), "GET", "http://host.example:"+serverPort+"/", nil)
	res, err := tr.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	if hits.Load() != 0 {
		t.Error("the proxy of the environment was used")
	}
}

// h2Refuser is a TLS server that speaks HTTP/2 only to refuse every request.
func h2Refuser(t *testing.T, refuse func(io.Writer, uint32)) (url string, cert *tls.Config, requests *atomic.Int32) {
	t.Helper()
	base := httptest.NewUnstartedServer(nil)
	base.StartTLS()
	t.Cleanup(base.Close)
	cfg := &tls.Config{Certificates: base.TLS.Certificates, NextProtos: []string{"h2"}}
	l, err := tls.Listen("tcp", "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	requests = new(atomic.Int32)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				serveRefusal(conn, requests, refuse)
			}()
		}
	}()
	t.Cleanup(func() { l.Close() })
	pool := base.Client().Transport.(*http.Transport).TLSClientConfig
	return "https://" + l.Addr().String(), pool, requests
}

// The frame types of RFC 9113 that the refusing servers need.
const (
	frameHeaders  = 0x1
	frameReset    = 0x3
	frameSettings = 0x4
	frameGoAway   = 0x7
)

func writeFrame(w io.Writer, kind, flags byte, stream uint32, payload []byte) {
	head := make([]byte, 9, 9+len(payload))
	head[2], head[3], head[4] = byte(len(payload)), kind, flags
	binary.BigEndian.PutUint32(head[5:], stream)
	_, _ = w.Write(append(head, payload...))
}

func serveRefusal(conn net.Conn, requests *atomic.Int32, refuse func(io.Writer, uint32)) {
	const prefaceLength = 24
	if _, err := io.CopyN(io.Discard, conn, prefaceLength); err != nil {
		return
	}
	writeFrame(conn, frameSettings, 0, 0, nil)
	head := make([]byte, 9)
	for {
		if _, err := io.ReadFull(conn, head); err != nil {
			return
		}
		length := int64(head[0])<<16 | int64(head[1])<<8 | int64(head[2])
		if _, err := io.CopyN(io.Discard, conn, length); err != nil {
			return
		}
		switch {
		case head[3] == frameHeaders:
			requests.Add(1)
			refuse(conn, binary.BigEndian.Uint32(head[5:]))
		case head[3] == frameSettings && head[4] == 0:
			writeFrame(conn, frameSettings, 1, 0, nil)
		}
	}
}

func TestFC015_RefusedStreamsAreNotRetriedForEver(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(io.Writer, uint32){
		"goaway": func(w io.Writer, _ uint32) { writeFrame(w, frameGoAway, 0, 0, make([]byte, 8)) },
		"refused stream": func(w io.Writer, id uint32) {
			const refusedStream = 7
			writeFrame(w, frameReset, 0, id, []byte{0, 0, 0, refusedStream})
		},
	} {
		for _, fresh := range []bool{true, false} {
			url, cert, requests := h2Refuser(t, refuse)
			tr := netguard.NewTransport(netguard.HealthCheck, netguard.Options{RootCAs: cert.RootCAs, FreshConnections: fresh})
			ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
			req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
			res, err := tr.RoundTrip(req)
			cancel()
			tr.CloseIdleConnections()
			if err == nil {
				res.Body.Close()
				t.Fatalf("%s: no error", name)
			}
			if n := requests.Load(); n < 1 || n > 3 {
				t.Errorf("%s, fresh %v: %d requests, want at most 3", name, fresh, n)
			}
			if fresh && !strings.Contains(netguard.Cause(err), "refused") {
				t.Errorf("%s: cause %q (%v) does not name the refusal", name, netguard.Cause(err), err)
			}
		}
	}
}

func TestCauseIsPlain(t *testing.T) {
	t.Parallel()
	for want, err := range map[string]error{
		"":                    nil,
		"connection failed":   errors.New("https://user:pw@host/secret"),
		"timed out":           context.DeadlineExceeded,
		"host name not found": &net.DNSError{IsNotFound: true, Name: "secret.example"},
		"address is not allowed by the egress rules": netguard.ErrRefused,
		"server does not speak TLS on this port":     tls.RecordHeaderError{Msg: "x"},
	} {
		if got := netguard.Cause(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
	if _, err := (&netguard.Dialer{Policy: netguard.HealthCheck}).Lookup(t.Context(), "tcp", "a/b"); !errors.Is(err, netguard.ErrBadHost) {
		t.Errorf("odd host: %v", err)
	}
	if got := netguard.HealthCheck.Allows(netip.Addr{}); got {
		t.Error("no address is allowed")
	}
}
