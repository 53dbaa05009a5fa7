// Package netguard dials addresses that a user or a model gave. Nothing else in
// the module opens such a connection.
//
// The caller states a Policy. The guard resolves the host itself, judges every
// address of the answer, and dials only the addresses it judged, so that a
// second DNS answer, a disguised spelling or an IPv6 form that carries an IPv4
// address cannot lead elsewhere. When one address of an answer is refused, the
// whole host is refused: an attacker who controls a name must not be able to
// mix a harmless address with an internal one.
//
//	Policy       loopback  private  metadata, link-local, ULA, 6to4, Teredo  documentation, CGNAT
//	HealthCheck  yes       yes      no                                       yes
//	Trusted      yes       yes      no                                       yes
//	Outbound     no        yes      no                                       yes
//	Probe        no        no       no                                       no
//
// The dialer keeps Go's habit of trying several addresses: the whole judged
// list is raced with a short stagger, so that a dead IPv6 route or a dead first
// A record does not make a healthy host look down.
//
// Environment proxies are never used. Errors and Cause never contain a resolved
// address, a URL, a query or credentials.
//
// Read policy.go first, then dialer.go and transport.go.
package netguard
