// Package maintenance keeps planned work on systems: windows of time with a
// timeline, links, and the wish that health notifications about the systems stay
// quiet while the work goes on.
//
//	            startAt or by hand            endAt or by hand
//	scheduled ──────────────────► in_progress ────────────────► completed
//	    │  │                           │                            ▲
//	    │  └───────────── by hand ─────┼────────────────────────────┘
//	    └──────── by hand ─────────────┴──────► cancelled
//
// Completed and cancelled are final, and what has started is not scheduled
// again: who needs the window once more plans a new one.
//
// The clock moves a row when its next_transition_at has come (jobs.go). Each
// replica looks at what is due every two seconds or at the very moment; the row
// is locked and looked at again, so each step happens once, with its update row
// and its event in the same transaction.
//
// A series (series.go) is a recurrence rule in a named time zone. It makes
// ordinary maintenances ninety days ahead, each named by its local date
// (occurrence_key), so that no replica makes one twice. rule.go turns a rule into
// days without knowing of zones, recurrence.go turns days into instants.
//
// Invariants:
//   - the end is after the start, by at most 366 days;
//   - once started the start does not move, once over neither does the end;
//   - next_transition_at is the start of what is scheduled, the end of what is in
//     progress, and null for the rest;
//   - a change raises the version; an update that names an older one is refused;
//   - a change of a series passes over occurrences that have begun or that
//     somebody changed by hand (fields, updates, links), and an occurrence that
//     was deleted or skipped does not come back;
//   - only what is in progress suppresses.
package maintenance
