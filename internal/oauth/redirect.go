package oauth

import (
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

const (
	maxRedirects   = 10
	maxRedirectLen = 2000
)

// checkRedirect says what is wrong with a redirect address that a client wants
// to register; "" means nothing. https anywhere, http on this machine only
// (RFC 8252 7.3); private schemes are refused, since any app can claim one.
func checkRedirect(text string) string {
	u, why := parseRedirect(text)
	if why != "" {
		return why
	}
	if u.Scheme == "http" && !loopback(u.Hostname()) {
		return "http is only for this machine (127.0.0.1, [::1] or localhost); use https"
	}
	return ""
}

func parseRedirect(text string) (*url.URL, string) {
	if text == "" || len(text) > maxRedirectLen {
		return nil, "must have 1 to 2000 characters"
	}
	if strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }) {
		return nil, "must be plain ASCII without spaces, control characters or backslashes"
	}
	u, err := url.Parse(text)
	switch {
	case err != nil || !u.IsAbs() || u.Opaque != "":
		return nil, "must be an absolute address such as https://app.example.com/callback"
	case u.Scheme != "https" && u.Scheme != "http":
		return nil, "must begin with https:// (or http:// on this machine)"
	case u.Hostname() == "":
		return nil, "must name a host"
	case u.User != nil:
		return nil, "must not hold a user name or password"
	case u.Fragment != "" || strings.Contains(text, "#"):
		return nil, "must not have a fragment"
	case strings.Contains(u.Host, "*"):
		return nil, "must not have a wildcard"
	case u.Port() != "":
		if n, err := strconv.ParseUint(u.Port(), 10, 16); err != nil || n == 0 {
			return nil, "must have a port from 1 to 65535"
		}
	}
	return u, ""
}

// loopback says that a host is this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}

// withoutPrivate leaves out addresses of private schemes, such as cursor://,
// that clients register beside those that serve here: they are never answered
// there, so the rest need not suffer for it (RFC 7591 3.2.1 lets a server
// replace what a client asks for). A list of nothing else stays as it is.
func withoutPrivate(addresses []string) []string {
	kept := slices.DeleteFunc(slices.Clone(addresses), func(a string) bool {
		scheme, rest, _ := strings.Cut(a, ":")
		return len(a) <= maxRedirectLen && strings.HasPrefix(rest, "/") && scheme != "" && !slices.Contains(webSchemes, strings.ToLower(scheme)) &&
			!strings.ContainsFunc(scheme, func(r rune) bool {
				return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("+.-", r))
			})
	})
	if len(kept) == 0 {
		return addresses
	}
	return kept
}

// webSchemes mean something to a browser by themselves; a client that registers
// one of them that is not allowed is wrong, or worse.
var webSchemes = []string{"http", "https", "ws", "wss", "ftp", "file", "data", "javascript", "vbscript", "blob", "filesystem", "about", "view-source", "chrome"}

// redirectMatches compares a presented redirect address with a registered one:
// character by character, except that the port on this machine may differ,
// since a desktop client cannot know which one is free. RFC 8252 7.3 says so for
// loopback IP addresses; common clients publish http://localhost/callback and
// mean the same, and browsers take localhost nowhere else.
func redirectMatches(registered, presented string) bool {
	if registered == presented {
		return true
	}
	r, why := parseRedirect(registered)
	if why != "" {
		return false
	}
	p, why := parseRedirect(presented)
	if why != "" || r.Scheme != "http" || p.Scheme != "http" || r.Hostname() != p.Hostname() {
		return false
	}
	return loopback(r.Hostname()) && afterHost(registered, r) == afterHost(presented, p)
}

// afterHost gives what follows the host and port, as it was written.
func afterHost(text string, u *url.URL) string {
	return strings.TrimPrefix(text, u.Scheme+"://"+u.Host)
}
