package netguard_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/checkstack/checkstack/internal/netguard"
)

// fakeDNS answers from a table; each lookup of a name takes its next answer,
// the last one for ever.
type fakeDNS struct {
	mu      sync.Mutex
	answers map[string][][]string
	lookups int
}

func (f *fakeDNS) LookupNetIP(_ context.Context, network, host string) ([]netip.Addr, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lookups++
	rounds := f.answers[host]
	if len(rounds) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(rounds) > 1 {
		f.answers[host] = rounds[1:]
	}
	var out []netip.Addr
	for _, text := range rounds[0] {
		a := netip.MustParseAddr(text)
		if network == "ip4" && !a.Unmap().Is4() || network == "ip6" && a.Unmap().Is4() {
			continue
		}
		out = append(out, a)
	}
	return out, nil
}

func dns(name string, addrs ...string) *fakeDNS {
	return &fakeDNS{answers: map[string][][]string{name: {addrs}}}
}

func TestFC039_AddressesInDisguise(t *testing.T) {
	t.Parallel()
	const allow, deny = true, false
	for _, row := range []struct {
		hosts                          []string
		outbound, check, probe, truste bool
	}{
		{[]string{"127.0.0.1", "127.8.8.8", "[::1]", "::1", "localhost", "localhost.", "127.0.0.1."}, deny, allow, deny, allow},
		{[]string{"0.0.0.0", "[::]"}, deny, allow, deny, allow},
		{[]string{"0.1.2.3"}, deny, allow, deny, allow},
		{[]string{"[::ffff:127.0.0.1]", "[::ffff:7f00:1]"}, deny, allow, deny, allow},
		{[]string{"[::ffff:169.254.169.254]", "169.254.169.254", "169.254.0.1"}, deny, deny, deny, deny},
		{[]string{"[::127.0.0.1]"}, deny, allow, deny, allow},
		{[]string{"[::a9fe:a9fe]"}, deny, deny, deny, deny},
		{[]string{"[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]"}, deny, deny, deny, deny},
		{[]string{"[2002:a9fe:a9fe::1]", "[2002:7f00:1::1]"}, deny, deny, deny, deny},
		{[]string{"[2001:0:4136:e378:8000:63bf:5601:5601]"}, deny, deny, deny, deny},
		{[]string{"[fe80::1%25eth0]", "[fe80::1%eth0]", "[fd00:ec2::254]", "[fec0::1]"}, deny, deny, deny, deny},
		{[]string{"2130706433", "0x7f000001", "0177.0.0.1", "127.1", "0", "127.0.0.0x1", "0x7f.1"}, deny, deny, deny, deny},
		{[]string{"100.100.100.200", "192.0.0.192", "168.63.129.16"}, deny, deny, deny, deny},
		{[]string{"10.1.2.3", "192.168.1.1", "172.16.0.1"}, allow, allow, deny, allow},
		{[]string{"mixed.example"}, deny, deny, deny, deny},
		{[]string{"127.0.0.1.nip.example"}, deny, allow, deny, allow},
		{[]string{"metadata.google.internal", "METADATA.google.internal."}, deny, deny, deny, deny},
		{[]string{"224.0.0.1", "255.255.255.255", "[ff02::1]", "[fe80::5efe:7f00:1]"}, deny, deny, deny, deny},
		{[]string{"[2a00::5efe:a9fe:a9fe]"}, deny, deny, deny, deny},
		{[]string{"100.64.1.1", "198.18.0.1", "203.0.113.9", "192.0.2.10", "[2001:db8::1]"}, allow, allow, deny, allow},
		{[]string{"[64:ff9b::808:808]"}, allow, allow, deny, allow},
		{[]string{"[64:ff9b:3030::1]"}, deny, deny, deny, deny},
		{[]string{"[100::1]", "[5f00::1]", "[9000::1]"}, allow, allow, deny, allow},
		{[]string{"8.8.8.8", "[2606:4700::1111]", "public.example"}, allow, allow, allow, allow},
		// Not normalised: a caller that skips net/http gets nowhere.
		{[]string{"①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1", "①⑥⑨.254.169.254"}, deny, deny, deny, deny},
	} {
		for _, host := range row.hosts {
			for _, p := range []struct {
				name   string
				policy netguard.Policy
				want   bool
			}{
				{"outbound", netguard.Outbound, row.outbound}, {"check", netguard.HealthCheck, row.check},
				{"probe", netguard.Probe, row.probe}, {"trusted", netguard.Trusted, row.truste},
			} {
				d := &netguard.Dialer{Policy: p.policy, Resolver: &fakeDNS{answers: map[string][][]string{
					"localhost":                {{"127.0.0.1", "::1"}},
					"mixed.example":            {{"8.8.8.8", "169.254.169.254"}},
					"127.0.0.1.nip.example":    {{"127.0.0.1"}},
					"public.example":           {{"8.8.8.8", "2606:4700::1111"}},
					"metadata.google.internal": {{"8.8.8.8"}},
				}}}
				addrs, err := d.Lookup(t.Context(), "tcp", host)
				if got := err == nil; got != p.want {
					t.Errorf("%s %q: allowed %v (%v, %v), want %v", p.name, host, got, addrs, err, p.want)
				}
				if err != nil && (strings.Contains(err.Error(), "169.254") || strings.Contains(err.Error(), "127.0")) {
					t.Errorf("%s %q: the refusal tells the address: %v", p.name, host, err)
				}
			}
		}
	}
}

// Behind net/http the circled and full-width spellings become plain digits
// before they are dialled.
func TestFC039_NormalisedByHTTP(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	get := func(p netguard.Policy, host string) error {
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+host+":"+port+"/", nil)
		if err != nil {
			return err
		}
		res, err := netguard.NewTransport(p, netguard.Options{FreshConnections: true}).RoundTrip(req)
		if err == nil {
			res.Body.Close()
		}
		return err
	}
	for _, host := range []string{"①②⑦.⓪.⓪.①", "127。0。0。1", "１２７.0.0.1"} {
		if err := get(netguard.HealthCheck, host); err != nil {
			t.Errorf("check %q: %v", host, err)
		}
		for name, p := range map[string]netguard.Policy{"outbound": netguard.Outbound, "probe": netguard.Probe} {
			if err := get(p, host); !errors.Is(err, netguard.ErrRefused) {
				t.Errorf("%s %q: %v, want refused", name, host, err)
			}
		}
	}
	if err := get(netguard.HealthCheck, "①⑥⑨.254.169.254"); !errors.Is(err, netguard.ErrRefused) {
		t.Errorf("metadata in disguise: %v, want refused", err)
	}
}

func TestDenyCoversEmbeddedForms(t *testing.T) {
	t.Parallel()
	p := netguard.HealthCheck.Deny(netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::ffff:192.168.0.0/112"), netip.MustParsePrefix("2a00::/16"))
	for text, want := range map[string]bool{
		"10.1.1.1": false, "::ffff:10.1.1.1": false, "64:ff9b::a01:101": false, "::10.1.1.1": false,
		"192.168.3.4": false, "192.169.3.4": true, "2a00::1": false, "2a01::1": true, "127.0.0.1": true,
	} {
		if got := p.Allows(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
	if !netguard.HealthCheck.Allows(netip.MustParseAddr("10.1.1.1")) {
		t.Error("Deny changed the policy it was called on")
	}
	if (netguard.Policy{}).Allows(netip.MustParseAddr("8.8.8.8")) {
		t.Error("the zero policy allows something")
	}
}

func TestAllowsHost(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]bool{
		"example.com": true, "127.0.0.1": true, "localhost": true, "169.254.169.254": false, "[fd00::1]": false,
		"2130706433": false, "": false, "a b": false, "metadata.google.internal": false, "a:b": false,
	} {
		if got := netguard.HealthCheck.AllowsHost(host); got != want {
			t.Errorf("%q: %v, want %v", host, got, want)
		}
	}
	if netguard.Outbound.AllowsHost("foo.localhost") {
		t.Error("outbound allows foo.localhost")
	}
}

// FuzzNeverDialsDenied: whatever the host, and whatever its name resolves to,
// no address that the policy refuses is ever handed to a dial.
func FuzzNeverDialsDenied(f *testing.F) {
	for _, host := range []string{
		"127.0.0.1", "[::ffff:169.254.169.254]", "64:ff9b::a9fe:a9fe", "2130706433", "fe80::1%eth0", "a.example",
		"①②⑦.⓪.⓪.①", "0177.0.0.1", "localhost.", "[2002:a9fe:a9fe::1]", "::a9fe:a9fe", "",
	} {
		f.Add(host, []byte{169, 254, 169, 254})
		f.Add(host, []byte{8, 8, 8, 8})
		f.Add(host, netip.MustParseAddr("64:ff9b::7f00:1").AsSlice())
	}
	f.Fuzz(func(t *testing.T, host string, answer []byte) {
		addr, ok := netip.AddrFromSlice(answer)
		if !ok {
			addr = netip.MustParseAddr("127.0.0.1")
		}
		d := &netguard.Dialer{Policy: netguard.Probe, Resolver: answerAll{addr}}
		addrs, err := d.Lookup(t.Context(), "tcp", host)
		if err != nil {
			return
		}
		for _, a := range addrs {
			// Stated independently of the guard's own tables.
			plain := a.WithZone("").Unmap()
			if plain.IsLoopback() || plain.IsPrivate() || plain.IsLinkLocalUnicast() || plain.IsUnspecified() ||
				plain.IsMulticast() || plain.Is4() && plain.As4()[0] == 0 ||
				plain.Is6() && (strings.HasPrefix(plain.StringExpanded(), "0064:ff9b") ||
					strings.HasPrefix(plain.StringExpanded(), "2002:") ||
					strings.HasPrefix(plain.StringExpanded(), "0000:0000:0000:0000:0000:0000:")) {
				t.Fatalf("host %q would be dialled at %s", host, a)
			}
		}
	})
}

type answerAll struct{ addr netip.Addr }

func (a answerAll) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{a.addr}, nil
}
