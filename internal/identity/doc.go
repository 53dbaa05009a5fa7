// Package identity knows who calls: people with their passwords and sessions,
// applications with their keys, and the roles that give both their access
// rules. The HTTP edge asks it for the authz.Principal of a request
// (principal.go); deciding what a principal may do is operation's work.
//
// What holds:
//   - Nothing that decides access is kept in memory. Every request reads its
//     session or key together with the roles and rules in one query, so a
//     deleted user, a changed role or a signed-out session counts from the next
//     request on, on every replica.
//   - Session tokens and key secrets are stored as SHA-256 only; passwords as
//     argon2id. None of them leaves the package but once, to the person who
//     signs in or creates a key.
//   - The first account is made by exactly one caller (onboarding); until then
//     nobody can register. At least one administrator always remains.
//   - Nobody hands out more than they hold: a caller without the wildcard can
//     give a role, or put a rule into one, only if it holds those rules itself
//     (grant.go).
//   - A rule an administrator took from "users" or "anonymous" never comes back
//     by itself; rules nobody declares any more vanish (rules.go).
//   - Guessing passwords is bounded in the database, for all replicas together,
//     always: 10 wrong passwords per account and client address and 50 per
//     address in 15 minutes, 20 registrations per address in an hour, 10 wrong
//     current passwords per person in 15 minutes. An IPv6 /64 is one address
//     (throttle.go).
//
// A session lives seven days from its last use and thirty days at most:
//
//	login/onboarding/register ──► live ──(used)──► live, +7 days, at most created+30 days
//	                               │
//	                               ├─ sign-out, deleteSession, deleteUser ──► gone
//	                               ├─ password changed in another session ──► gone
//	                               └─ expires_at passed ──► refused, then swept
//
// Read identity.go for the nouns, principal.go for the hot path, login.go for
// the ways in.
package identity
