// Package zone reads names of time zones, and wall clock times in them.
//
// A name is one of the IANA time zone database's, in any spelling of upper and
// lower case. The list of names (names.txt) and the rules of the zones (the
// import of time/tzdata) are both part of the binary, so that an image without
// /usr/share/zoneinfo knows the same zones as any other host. Where the host
// has a database of its own, Go prefers its rules: they may be newer.
//
// A name that is not known is refused, never read as UTC.
package zone
