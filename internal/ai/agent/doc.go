// Package agent is the operator a person talks to: it plays the rounds of a
// turn between a model and the tools, streams them to the browser, and keeps
// conversations, connections to model providers and the tokens spent. Without
// a person it plays the same rounds for an automation (headless.go).
//
// The model is an untrusted caller. What it may call is what the person may
// call; what happens with a call is decided by ai/proposal, not here. Nothing
// that must be right is in process memory: any replica can play any turn, and
// follow, stop or close one that another replica plays or played (running.go,
// follow.go).
//
// A turn: refuse or accept (chat.go), claim the conversation, reserve tokens
// and store the person's message in one transaction (open), summarize what the
// model cannot hold (compact.go), let the topic guard look at the message
// beside the first round (guard.go), then up to maxSteps model rounds (loop.go)
// on the turn's state (turn.go), each followed by its tool calls (calls.go),
// and at last one stored assistant message that holds what was shown (parts)
// and what the next turn replays to the model (model messages).
//
// Invariants:
//   - Of what the browser sends only the new text, or the token and kind of a
//     decision, is used. History, cards and approvals come from the store.
//   - The model never sees a proposal's token or payload.
//   - What tools say, memories, skills, summaries and names in decisions reach
//     a provider fenced as data, with a mark that is new in each turn, and
//     never in the system prompt.
//   - Nothing of a turn is shown, run or kept before the topic guard's verdict.
//   - What was shown is what is stored, also when the person stops the turn or
//     the process dies, but for the last second. Credentials are scrubbed
//     before anything is stored.
//   - Every call of the turn has one result in the history.
//   - Tokens are written down whatever ends a turn; with a cap they are
//     reserved before they are used.
package agent
