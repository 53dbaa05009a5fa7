// Package llmtest has two stand-ins for a model. Script is a Model in process
// that plays rounds and records what it was offered. Server is an
// OpenAI-compatible endpoint over HTTP that plays turns, well behaved or with
// the quirks that real gateways have, and records the requests it got.
package llmtest
