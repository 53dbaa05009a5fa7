// Package agent is the operator a person talks to: it plays the rounds of a
// turn between a model and the tools, streams them to the browser, and keeps
// conversations, connections to model providers and the tokens spent.
//
// The model is an untrusted caller. What it may call is what the person may
// call; what happens with a call is decided by ai/proposal, not here. Nothing
// that must be right is in process memory: any replica can play any turn.
//
// A turn: refuse or accept (chat.go), store the person's message, read the
// history back from the store (history.go), then up to MaxSteps model rounds
// (loop.go), each followed by its tool calls (calls.go), and at last one stored
// assistant message that holds what was shown (parts) and what the next turn
// replays to the model (model messages).
//
// Invariants:
//   - Of what the browser sends only the new text, or the token and kind of a
//     decision, is used. History, cards and approvals come from the store.
//   - The model never sees a proposal's token or payload.
//   - Tool results reach a provider fenced as data, with a mark that is new in
//     each turn.
//   - What was shown is what is stored, also when the person stops the turn.
//     Credentials are scrubbed before both.
//   - Every call of the turn has one result in the history.
package agent
