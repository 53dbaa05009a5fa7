// Package incident keeps incidents: what a team tells itself and others while
// something is broken. An incident concerns systems of the catalog, has a
// severity and a status, and grows a timeline of updates and a list of links.
//
// The status moves in any direction, and so back from resolved:
//
//	                  ┌───────────── active ─────────────┐
//	create ──────────►│ investigating ◄──► identified    │   resolve   ┌──────────┐
//	                  │       ▲   ▲           ▲          │────────────►│ resolved │
//	                  │       │   └───────────┼────┐     │◄────────────│          │
//	                  │       ▼               ▼    ▼     │   reopen    └──────────┘
//	                  │   monitoring ◄────► fixing       │
//	                  └──────────────────────────────────┘
//
// Invariants:
//   - it is created with one to a hundred systems that exist; deleting a system
//     takes it out, and an incident that has lost all of them stays readable;
//   - resolvedAt is set exactly while the status is resolved;
//   - a change of its own fields raises the version, and an update that names an
//     older one is refused, so nobody overwrites what he has not seen. Updates
//     and links are only added and removed, and leave the version alone;
//   - it is resolved once: a second resolve is refused and leaves no trace, so a
//     person and an automation cannot announce the same end twice;
//   - a health override makes its systems look worse while it is active, never
//     better; what the systems show is changed in the same transaction;
//   - what is not for the reader never leaves the package: updates by audience,
//     authors for managers, names of systems for those who may see systems;
//   - checks never open incidents.
//
// All changes of one incident run one after another (Service.change), and tell
// others in two ways: an event of events.go inside the transaction for the
// product, a signal after it for browsers.
//
// Read incident.go for the types and rules, service.go for the use cases,
// store.go for the SQL, api.go and tools.go for what people and the assistant
// can ask.
package incident
