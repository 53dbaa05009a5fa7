package db_test

import (
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
	"github.com/checkstack/checkstack/internal/problem"
)

// TestServerAwayIsUnavailable: a request that comes while PostgreSQL is away is
// told to try again, not that Checkstack has a fault; the log has the cause.
func TestServerAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(dbtest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	away := wire(t, u)
	d, err := db.Open(t.Context(), db.Options{URL: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	away()
	// A connection that was open may break in the middle; then none is made.
	for range 25 {
		err = d.Ping(t.Context())
	}
	if err == nil {
		t.Fatal("the server is still reached")
	}
	e, ok := problem.As(err)
	if !ok || e.Status() != 503 || e.RetryAfter <= 0 {
		t.Fatalf("got %v, want an answer of 503 with a time to try again", err)
	}
	if strings.Contains(e.Message, "127.0.0.1") || strings.Contains(e.Message, "refused") {
		t.Errorf("the answer tells what only the log may: %s", e.Message)
	}
	if !strings.Contains(err.Error(), "refused") || strings.Contains(err.Error(), "user=") {
		t.Errorf("the log needs the cause and no user: %v", err)
	}
	if db.IsRefused(err) {
		t.Error("a server that is away has refused nothing for good")
	}
}

// TestStartWithoutAServerSaysSoInOneLine: pgx tries with and without TLS.
func TestStartWithoutAServerSaysSoInOneLine(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	_ = l.Close()
	_, err = db.Open(t.Context(), db.Options{URL: "postgres://ann:canary-pw@" + addr + "/x"})
	if err == nil || strings.Contains(err.Error(), "\n") || strings.Count(err.Error(), "refused") != 1 ||
		strings.Contains(err.Error(), "ann") || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v, want one line with the cause and without the account", err)
	}
}

// wire puts a cable between u and its server; away cuts it.
func wire(t *testing.T, u *url.URL) (away func()) {
	t.Helper()
	server := u.Host
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	u.Host = l.Addr().String()
	var mu sync.Mutex
	var conns []net.Conn
	go func() {
		for {
			near, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				_ = near.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, near, far)
			mu.Unlock()
			go func() { _, _ = io.Copy(near, far) }()
			go func() { _, _ = io.Copy(far, near) }()
		}
	}()
	away = func() {
		_ = l.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			_ = c.Close()
		}
	}
	t.Cleanup(away)
	return away
}
