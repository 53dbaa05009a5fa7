package oauth

import (
	"net"
	"net/netip"
	"net/url"
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

// redirectMatches compares a presented redirect address with a registered one:
// character by character, except that the port of a loopback IP address may
// differ, since a desktop client cannot know which one is free.
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
	if ip := net.ParseIP(r.Hostname()); ip == nil || !ip.IsLoopback() {
		return false
	}
	return afterHost(registered, r) == afterHost(presented, p)
}

// afterHost gives what follows the host and port, as it was written.
func afterHost(text string, u *url.URL) string {
	return strings.TrimPrefix(text, u.Scheme+"://"+u.Host)
}
