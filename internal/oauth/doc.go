// Package oauth is the OAuth 2.1 authorization server with which MCP clients
// get a person's permission. It is off until an administrator turns it on, and
// turning it off refuses every token at once.
//
//	client ──register──▶ client row (by hand, RFC 7591, or a metadata document)
//	       ──authorize─▶ request row ──person decides──▶ code ──token──▶ grant
//	                                                                     │ access token, 15 min
//	                                                                     └ refresh token, rotated
//
// Invariants:
//   - PKCE with S256 always; a code works once, for 60 s, for the client,
//     redirect address and challenge it was made for;
//   - a code or refresh token that comes a second time ends its grant and all
//     its tokens; within ten seconds the same client may repeat a refresh, since
//     an answer can be lost on the way;
//   - consuming a code or refresh token is one conditional UPDATE, so one of two
//     callers wins on any replica; a code is consumed and its tokens are stored
//     together, so exactly one does;
//   - only digests of codes, tokens and secrets are stored;
//   - a token is for one resource, the MCP endpoint, and accepted nowhere else;
//   - a token never allows more than its scopes and never more than its person
//     may at this moment (scope.go);
//   - nothing is redirected to before the redirect address was verified.
//
// The sources are OAuth 2.1, RFC 6749, 7009, 7591, 7636, 8252, 8414, 8707,
// 9207, 9700, 9728 and the Client ID Metadata Document draft.
//
// Read authorize.go, consent.go and token.go for the flow, clients.go and
// register.go for who may ask, verify.go and scope.go for what a token allows.
package oauth
