// Package builtin is the built-in assistant: it plays the part of a model
// without one. A small grammar reads what a person wrote, plans ordinary tool
// calls and words the answer from their results. It is deterministic, costs
// nothing, and says what it is.
//
// How a turn works: the last user message is the command; what follows it in
// the history are the results so far. Each round the matching intent's plan
// runs again from the start and asks the turn for results. What is there is
// used, what is missing becomes this round's calls. So no state is kept, and
// any replica can play the next round.
//
// An intent is a row in a table: patterns and a plan (intents.go). The pattern
// notation is explained in pattern.go. A new domain adds a file with its rows
// and plans, and one line in intents.go.
//
// Invariants:
//   - Only tools offered in the request are called, with valid JSON objects.
//   - Tool results are data: they are shown, escaped, and never read as
//     commands. Only the person's own message is.
//   - A change is reported as done only when its result says so.
package builtin
