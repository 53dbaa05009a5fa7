// Package proposal is the one gate of every tool call, whoever makes it: the
// chat, MCP, an automation or the API. It decides from the tool's declared
// effect what happens, keeps the record of every call, holds the budget, and
// stores changes until a person approves them.
//
//	propose ──▶ proposed ──apply──▶ applied ──work fails──▶ failed
//	                │ ├──time runs out──▶ expired
//	                │ └──declined──▶ rejected
//	                └──apply, but the dry run refuses──▶ proposed (unchanged)
//	read    ──▶ executed | failed
//
// Between "applied" and the end of the work finished_at is null, and Record
// calls the state "applying". A process that dies there leaves it so; Sweep
// turns it into failed with an honest text.
//
// Invariants:
//   - A change runs only in Apply, with the stored payload, once: the status is
//     moved by one conditional UPDATE before the work begins.
//   - Applying without a click is reachable from one cell of the table only:
//     effect mutate in mode auto, see decideMutate.
//   - The rules of the caller are checked when proposing and when applying.
//   - The row of a change, and of a read that others outside notice, is written
//     before the work starts. A process killed in between leaves "failed,
//     interrupted".
//   - The row of any other read is written when it is over, with its outcome.
//     Nothing it found is given out before the row is committed, or when there
//     is no budget for the row.
//   - Calls share transactions (ledger.go), but none is answered before its own
//     row stands. A row holds a hash of the arguments, never the arguments. The
//     payload of a proposal is encrypted; what leaves this package of it is
//     redacted.
//
// Read gate.go for effect and mode, apply.go for the re-checks, store.go for
// the rows, ledger.go for how many calls are written at once, budget.go for the
// refusal of calls above the budget.
package proposal
