// Package llm is the door to language models: one streaming interface,
// messages that no provider owns, and a client for OpenAI-compatible
// endpoints. Package builtin implements the same interface without any model.
//
// The package decides nothing about tools. It reports which calls a model
// asked for, and only calls that arrived whole: a round that was cut off, by
// an output limit, a content filter or a broken connection, never yields a
// call that could be run (Round.Truncated, or an error).
//
// Invariants:
//   - A round is complete only when Stream returns a nil error.
//   - Reasoning, whether in fields of its own or in <think> tags, is never
//     part of the answer text.
//   - Usage is always set, whole and never negative; when the provider
//     reported none it is an estimate and says so.
//   - No error text holds the API key, the endpoint's URL or a header.
//   - A request is repeated only before its first event, so a retry never
//     shows text twice.
//
// Read model.go first, then openai.go for one round and calls.go for how
// streamed fragments become calls.
package llm
