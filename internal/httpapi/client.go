package httpapi

import (
	"net"
	"net/http"
	"net/netip"
	"strings"
)

// ClientAddress tells where a request came from. The X-Forwarded-For of a
// trusted proxy is read from its end, up to the first address that is not one
// of the proxies: what stands before it the client may have invented.
func ClientAddress(proxies []netip.Prefix) func(*http.Request) string {
	trusted := func(a netip.Addr) bool {
		for _, p := range proxies {
			if p.Contains(a.Unmap()) {
				return true
			}
		}
		return false
	}
	return func(r *http.Request) string {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		addr, err := netip.ParseAddr(host)
		if err != nil {
			return host
		}
		if trusted(addr) {
			hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
			for i := len(hops) - 1; i >= 0; i-- {
				hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
				if err != nil {
					break
				}
				addr = hop
				if !trusted(hop) {
					break
				}
			}
		}
		return addr.Unmap().String()
	}
}
