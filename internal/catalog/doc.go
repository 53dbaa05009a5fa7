// Package catalog keeps the nouns that every other domain speaks about:
// systems, the smallest unit that is watched, and groups, flat labels that
// bundle systems (a system may be in many).
//
// Invariants:
//   - a name is not blank; it need not be unique, so ids are what is passed
//     around and names are looked up;
//   - every change raises the row's version; an update that names an older one
//     is refused, so nobody overwrites what he has not seen;
//   - deleting a system takes its links, memberships and, through foreign keys
//     of the other domains, its check assignments with it.
//
// Read catalog.go for the types and rules, service.go for the use cases.
package catalog
