// Package mcp is the door for outside agents: the tools of the one registry
// over the Model Context Protocol, Streamable HTTP, behind the tokens of
// internal/oauth or an application key.
//
// The server keeps nothing between two requests, so any replica answers any
// call and a restart between two calls is not noticed. The protocol work is the
// official SDK's; this package decides who is asking (server.go), what they see
// and what a call does (tools.go).
//
// Invariants:
//   - a caller sees and calls exactly the tools that the narrowed principal may
//     use, judged anew on every request;
//   - a tool that changes something never runs here. It is refused, or, when the
//     administrator allows it, stored as a proposal that a person decides in
//     Checkstack; no method of this package applies anything;
//   - every call goes through proposal.Gate: rules, schema, budget, audit row.
//
// Names on the wire are those that model providers accept, with underscores for
// dots; a call may use either form. Names with dots are legal by the newest
// revision, but clients hand them on to providers that refuse them.
package mcp
