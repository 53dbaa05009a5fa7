package netguard

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// Resolver looks up the addresses of a name; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// ErrRefused is the policy's no. Its text does not tell what a name resolved to.
var ErrRefused = errors.New("address is not allowed")

// ErrBadHost is a host that is neither a name nor an address in plain spelling.
var ErrBadHost = errors.New("not a valid host name or IP address")

// stagger is how long an attempt has before the next address is tried beside
// it (RFC 8305, section 5, recommends 250 ms).
const stagger = 250 * time.Millisecond

// Dialer dials what its policy allows. It is safe for concurrent use.
type Dialer struct {
	Policy Policy
	// Resolver is nil for the system's.
	Resolver Resolver
}

// DialContext connects to address, "host:port", and has the signature that
// http.Transport wants. Network is tcp, tcp4 or tcp6. The errors wrap
// ErrRefused, ErrBadHost, a *net.DNSError or the error of the last connection
// attempt; show Cause(err) to people, not the error's own text.
func (d *Dialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", ErrBadHost)
	}
	addrs, err := d.Lookup(ctx, network, host)
	if err != nil {
		return nil, fmt.Errorf("dial: %w", err)
	}
	return d.race(ctx, network, addrs, port)
}

// Lookup resolves host and judges every address. It gives all of them,
// alternating between families in the resolver's order, or an error when one
// of them is refused.
func (d *Dialer) Lookup(ctx context.Context, network, host string) ([]netip.Addr, error) {
	host, ok := cleanHost(host)
	if !ok {
		return nil, ErrBadHost
	}
	if d.Policy.deniesName(host) {
		return nil, ErrRefused
	}
	addrs, err := d.resolve(ctx, network, host)
	if err != nil {
		return nil, err
	}
	for _, a := range addrs {
		if !d.Policy.Allows(a) {
			return nil, ErrRefused
		}
	}
	return alternate(addrs), nil
}

func (d *Dialer) resolve(ctx context.Context, network, host string) ([]netip.Addr, error) {
	if addr, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{addr}, nil
	}
	var r Resolver = net.DefaultResolver
	if d.Resolver != nil {
		r = d.Resolver
	}
	ipNetwork := "ip"
	switch network {
	case "tcp4":
		ipNetwork = "ip4"
	case "tcp6":
		ipNetwork = "ip6"
	}
	addrs, err := r.LookupNetIP(ctx, ipNetwork, host)
	if err != nil {
		return nil, err
	}
	if len(addrs) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	return addrs, nil
}

// alternate mixes the two families, the resolver's first choice first, so that
// one dead family costs one stagger (RFC 8305, section 4).
func alternate(addrs []netip.Addr) []netip.Addr {
	if len(addrs) < 2 {
		return addrs
	}
	var same, other []netip.Addr
	first := addrs[0].Unmap().Is4()
	for _, a := range addrs {
		if a.Unmap().Is4() == first {
			same = append(same, a)
		} else {
			other = append(other, a)
		}
	}
	out := make([]netip.Addr, 0, len(addrs))
	for i := range max(len(same), len(other)) {
		if i < len(same) {
			out = append(out, same[i])
		}
		if i < len(other) {
			out = append(out, other[i])
		}
	}
	return out
}

type attempt struct {
	conn net.Conn
	err  error
}

// race tries the addresses in order: the next one starts when the one before
// has failed or has been silent for a stagger. The first connection wins.
func (d *Dialer) race(ctx context.Context, network string, addrs []netip.Addr, port string) (net.Conn, error) {
	if len(addrs) == 1 {
		return d.dialOne(ctx, network, addrs[0], port)
	}
	raceCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	results := make(chan attempt, len(addrs))
	start := func(a netip.Addr) {
		go func() {
			conn, err := d.dialOne(raceCtx, network, a, port)
			results <- attempt{conn, err}
		}()
	}
	start(addrs[0])
	next, pending := 1, 1
	timer := time.NewTimer(stagger)
	defer timer.Stop()
	var firstErr error
	for {
		select {
		case <-timer.C:
		case res := <-results:
			pending--
			if res.err == nil {
				cancel()
				go closeLosers(results, pending)
				return res.conn, nil
			}
			if firstErr == nil {
				firstErr = res.err
			}
			if pending == 0 && next == len(addrs) {
				return nil, firstErr
			}
		}
		if next < len(addrs) && ctx.Err() == nil {
			start(addrs[next])
			next, pending = next+1, pending+1
			timer.Reset(stagger)
		} else if pending == 0 {
			return nil, firstErr
		}
	}
}

// closeLosers waits for the attempts that were cancelled; one of them may have
// connected in the same moment.
func closeLosers(results <-chan attempt, pending int) {
	for range pending {
		if res := <-results; res.conn != nil {
			res.conn.Close()
		}
	}
}

func (d *Dialer) dialOne(ctx context.Context, network string, addr netip.Addr, port string) (net.Conn, error) {
	nd := net.Dialer{
		// The address was judged already; this looks at what the socket is
		// really told to connect to, so that no path around Lookup exists.
		ControlContext: func(_ context.Context, _, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil || !d.Policy.Allows(ap.Addr()) {
				return ErrRefused
			}
			return nil
		},
	}
	return nd.DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
}
