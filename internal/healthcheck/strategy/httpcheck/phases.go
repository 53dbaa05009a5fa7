package httpcheck

import (
	"context"
	"crypto/tls"
	"net/http/httptrace"
	"sync"
	"time"
)

// phases measures the parts of a request on the monotonic clock. With
// redirects they add up. The dialer calls back from several goroutines when it
// races addresses, also after the request is over.
type phases struct {
	mu                              sync.Mutex
	dnsStart, connectStart          time.Time
	tlsStart, wrote, first          time.Time
	dns, connect, tls, wait, moving time.Duration
	hasDNS, hasConnect, hasTLS      bool
	remote                          string
}

func (p *phases) trace(ctx context.Context) context.Context {
	p.mu.Lock()
	p.dnsStart, p.connectStart, p.tlsStart, p.wrote, p.first = time.Time{}, time.Time{}, time.Time{}, time.Time{}, time.Time{}
	p.mu.Unlock()
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { p.begin(&p.dnsStart) },
		DNSDone:  func(httptrace.DNSDoneInfo) { p.end(&p.dnsStart, &p.dns, &p.hasDNS) },
		ConnectStart: func(string, string) {
			// Raced addresses count from the first attempt.
			p.begin(&p.connectStart)
		},
		ConnectDone: func(_, _ string, err error) {
			if err == nil {
				p.end(&p.connectStart, &p.connect, &p.hasConnect)
			}
		},
		TLSHandshakeStart: func() { p.begin(&p.tlsStart) },
		TLSHandshakeDone:  func(_ tls.ConnectionState, _ error) { p.end(&p.tlsStart, &p.tls, &p.hasTLS) },
		GotConn: func(info httptrace.GotConnInfo) {
			p.mu.Lock()
			p.remote = info.Conn.RemoteAddr().String()
			p.mu.Unlock()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			p.mu.Lock()
			p.wrote = time.Now()
			p.mu.Unlock()
		},
		GotFirstResponseByte: func() {
			p.mu.Lock()
			p.first = time.Now()
			p.mu.Unlock()
		},
	})
}

func (p *phases) begin(at *time.Time) {
	p.mu.Lock()
	if at.IsZero() {
		*at = time.Now()
	}
	p.mu.Unlock()
}

func (p *phases) end(from *time.Time, sum *time.Duration, has *bool) {
	p.mu.Lock()
	if !from.IsZero() {
		*sum += time.Since(*from)
		*from, *has = time.Time{}, true
	}
	p.mu.Unlock()
}

// answered is called when the header of an answer has arrived.
func (p *phases) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.first.IsZero() {
		p.first = time.Now()
	}
	// A server may answer before it has read the whole request.
	if !p.wrote.IsZero() && p.first.After(p.wrote) {
		p.wait += p.first.Sub(p.wrote)
	}
}

// transferred is called when the body has arrived.
func (p *phases) transferred() {
	p.mu.Lock()
	p.moving += time.Since(p.first)
	p.mu.Unlock()
}

func (p *phases) timings() map[string]int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := map[string]int64{"waitMs": ms(p.wait), "transferMs": ms(p.moving)}
	if p.hasDNS {
		out["dnsMs"] = ms(p.dns)
	}
	if p.hasConnect {
		out["connectMs"] = ms(p.connect)
	}
	if p.hasTLS {
		out["tlsMs"] = ms(p.tls)
	}
	return out
}

func ms(d time.Duration) int64 { return max(d, 0).Round(time.Millisecond).Milliseconds() }
