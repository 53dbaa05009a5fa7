package netguard

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"strings"
)

// Policy says which addresses may be dialled. The zero value allows nothing.
type Policy struct {
	allowed     [numClasses]bool
	strictForms bool
	denied      []netip.Prefix
}

// The policies of this product. HealthCheck lets a monitor watch loopback and
// private networks. Trusted is for base URLs that an administrator set, such as
// a model server on the same machine. Outbound is for webhooks: private
// networks, but never this machine. Probe is for addresses a model chose:
// public unicast only.
var (
	HealthCheck = Policy{allowed: allow(classPublic, classLoopback, classPrivate, classSpecial)}
	Trusted     = Policy{allowed: allow(classPublic, classLoopback, classPrivate, classSpecial)}
	Outbound    = Policy{allowed: allow(classPublic, classPrivate, classSpecial)}
	Probe       = Policy{allowed: allow(classPublic), strictForms: true}
)

// Deny returns the policy with further refused prefixes. An IPv4 prefix also
// covers the IPv6 forms that carry such an address.
func (p Policy) Deny(prefixes ...netip.Prefix) Policy {
	if len(prefixes) == 0 {
		return p
	}
	denied := slices.Clone(p.denied)
	for _, prefix := range prefixes {
		if a := prefix.Addr(); a.Is4In6() && prefix.Bits() >= 96 {
			prefix = netip.PrefixFrom(a.Unmap(), prefix.Bits()-96)
		}
		denied = append(denied, prefix.Masked())
	}
	p.denied = denied
	return p
}

// Allows says whether the policy lets addr be dialled.
func (p Policy) Allows(addr netip.Addr) bool {
	if !addr.IsValid() {
		return false
	}
	addr = addr.WithZone("")
	if p.denies(addr) {
		return false
	}
	if addr.Is4In6() {
		return p.Allows(addr.Unmap())
	}
	if addr.Is4() {
		return p.allowed[classify4(addr)]
	}
	class := classify6(addr)
	if class != classCarrier {
		return p.allowed[class]
	}
	// Only the address that is really reached counts for the forms that stand
	// for an IPv4 address. A probe has no use for them at all.
	return !p.strictForms && p.Allows(embedded4(addr))
}

// AllowsHost says whether a host as written can be allowed: false for a literal
// address that the policy refuses and for a spelling that the guard never
// dials. A name is allowed here and judged by its addresses when dialled.
func (p Policy) AllowsHost(host string) bool {
	host, ok := cleanHost(host)
	if !ok || p.deniesName(host) {
		return false
	}
	if addr, err := netip.ParseAddr(host); err == nil {
		return p.Allows(addr)
	}
	return true
}

func (p Policy) denies(addr netip.Addr) bool {
	for _, prefix := range p.denied {
		if prefix.Contains(addr) {
			return true
		}
	}
	return false
}

// deniesName refuses names that stand for this machine or for a metadata
// service without asking a resolver that may be under foreign control.
func (p Policy) deniesName(host string) bool {
	host = strings.ToLower(host)
	if host == "metadata.google.internal" {
		return true
	}
	local := host == "localhost" || strings.HasSuffix(host, ".localhost")
	return local && !p.allowed[classLoopback]
}

type class uint8

const (
	classPublic    class = iota
	classLoopback        // this machine, including 0.0.0.0/8 and ::, which Linux takes for it
	classPrivate         // RFC 1918
	classSpecial         // CGNAT, documentation, benchmarking and other special-purpose blocks
	classForbidden       // metadata, link-local, unique-local, multicast, transition forms
	classCarrier         // an IPv6 form that stands for an IPv4 address
	numClasses
)

func allow(classes ...class) (a [numClasses]bool) {
	for _, c := range classes {
		a[c] = true
	}
	return a
}

type rule struct {
	prefix netip.Prefix
	class  class
}

func rules(c class, prefixes ...string) []rule {
	out := make([]rule, len(prefixes))
	for i, p := range prefixes {
		out[i] = rule{netip.MustParsePrefix(p), c}
	}
	return out
}

// The first match wins. Sources: IANA special-purpose address registries, and
// the metadata addresses of AWS, Alibaba Cloud (100.100.100.200), Oracle Cloud
// (192.0.0.192) and Azure (168.63.129.16).
var rules4 = slices.Concat(
	rules(classForbidden, "169.254.0.0/16", "100.100.100.200/32", "192.0.0.192/32", "168.63.129.16/32",
		"192.88.99.0/24", "224.0.0.0/4", "240.0.0.0/4"),
	rules(classLoopback, "127.0.0.0/8", "0.0.0.0/8"),
	rules(classPrivate, "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"),
	rules(classSpecial, "100.64.0.0/10", "192.0.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
)

// 64:ff9b:1::/48 (RFC 8215) is a translation prefix whose embedded position is
// local knowledge, so it and its neighbours are refused as a whole, like 6to4
// and Teredo. Global unicast is 2000::/3 (RFC 4291); nothing public is outside.
var rules6 = slices.Concat(
	rules(classLoopback, "::1/128", "::/128"),
	rules(classCarrier, "64:ff9b::/96", "::/96", "::ffff:0:0:0/96"),
	rules(classForbidden, "fe80::/10", "fc00::/7", "fec0::/10", "ff00::/8", "2002::/16", "2001::/32", "64:ff9b::/32"),
	rules(classSpecial, "2001:db8::/32", "3fff::/20", "2001::/23", "::/3", "4000::/2", "8000::/1"),
)

func classify4(addr netip.Addr) class { return match(rules4, addr) }

func classify6(addr netip.Addr) class {
	c := match(rules6, addr)
	if c == classPublic && isISATAP(addr) {
		return classCarrier
	}
	return c
}

func match(rs []rule, addr netip.Addr) class {
	for _, r := range rs {
		if r.prefix.Contains(addr) {
			return r.class
		}
	}
	return classPublic
}

// isISATAP says whether the interface id carries an IPv4 address, RFC 5214 6.1.
func isISATAP(addr netip.Addr) bool {
	b := addr.As16()
	id := binary.BigEndian.Uint32(b[8:12])
	return id == 0x00005efe || id == 0x02005efe
}

func embedded4(addr netip.Addr) netip.Addr {
	b := addr.As16()
	return netip.AddrFrom4([4]byte(b[12:16]))
}

// cleanHost removes what does not change where a host leads: brackets and one
// trailing dot. It refuses what resolvers disagree about: characters outside
// ASCII, and a last label that looks like a number but is no dotted IPv4
// address, such as 2130706433, 0x7f000001, 0177.0.0.1 or 127.1 (WHATWG URL,
// "ends in a number").
func cleanHost(host string) (string, bool) {
	if len(host) > 1 && host[0] == '[' && host[len(host)-1] == ']' {
		host = host[1 : len(host)-1]
	}
	host = strings.TrimSuffix(host, ".")
	if host == "" || len(host) > 253 {
		return "", false
	}
	for i := range len(host) {
		if c := host[i]; c <= ' ' || c >= 0x7f || strings.IndexByte(`/\?#@<>^|`, c) >= 0 {
			return "", false
		}
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return host, true
	}
	if strings.ContainsAny(host, ":%[]") {
		return "", false
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	return host, last != "" && !looksNumeric(last)
}

func looksNumeric(label string) bool {
	if rest, ok := strings.CutPrefix(strings.ToLower(label), "0x"); ok {
		return strings.Trim(rest, "0123456789abcdef") == ""
	}
	return strings.Trim(label, "0123456789") == ""
}
