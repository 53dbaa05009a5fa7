// Package healthcheck watches systems: what is probed, when, what came out, and
// what it says about a system. How one probe works is package strategy.
//
// A configuration says what to probe. It runs only where it is assigned to a
// system; the pair is a slice, the unit that is scheduled and judged.
//
//	            claim                    result                   worst of all
//	slice due ────────► run (strategy) ──────────► slice status ──────────────► system status
//	    ▲                                  │
//	    └──── next slot, set by the claim ─┘ stored runs
//
// Scheduling (schedule.go, claim.go, scheduler.go): each slice has a phase, which
// spreads checks over their interval, and a next due time. Every replica claims
// what is due in one statement that also moves the slice to its next slot. So a
// slot is run at most once, even when the process is killed in the middle; a lease
// keeps a slow run from overlapping itself and lets another replica go on after
// the owner died. Slots that were missed are not made up for: after a stop, a
// suspend or a jump of the clock, what is overdue is spread out again.
//
// Results (recorder.go) are written in batches: the runs, the state of their
// slices, the rollup of systems whose slices changed, and the transitions are one
// transaction. A batch that cannot be written is tried again; a result is never
// invented because the database was away.
//
// State (evaluate.go) follows from the newest 100 outcomes, which the slice's row
// carries as text, so its cost does not depend on stored history. Thresholds only
// debounce the state: every run is stored.
//
// People can force the health of systems (override.go): what a source such as an
// incident says is one more voice in the rollup, and can only worsen it. Changes
// of a rollup, whatever caused them, are transitions, events and signals.
//
// Invariants:
//   - secrets of a configuration are in secret.Store under "healthcheck:<id>", never
//     in the configuration's row, an answer, a signal or a log line;
//   - a slice that never ran is Unknown, not healthy;
//   - a transaction locks slices in the order of their id, then systems in the
//     order of theirs.
//
// Read healthcheck.go for the nouns, evaluate.go and schedule.go for the rules,
// then service.go.
package healthcheck
