package identity

import (
	"time"

	"github.com/checkstack/checkstack/internal/secret"
)

// The system roles. They always exist and cannot be deleted.
const (
	RoleAdmin        = "admin"        // for people, the wildcard; for an application, every rule there is
	RoleUsers        = "users"        // every new account; starts with the default rules
	RoleAnonymous    = "anonymous"    // callers nobody knows; starts with the public rules; never assigned
	RoleApplications = "applications" // every new application
)

// How long a session lives.
const (
	// SessionIdle is how long a session lives after it was last used.
	SessionIdle = 7 * 24 * time.Hour
	// SessionMax is how long a session lives at most, however much it is used.
	SessionMax = 30 * 24 * time.Hour

	// seenEvery bounds how often the use of a session or key is written down.
	seenEvery = time.Minute
)

// User is a person with an account.
type User struct {
	ID          string
	Name        string
	Email       string
	Roles       []string // role ids, sorted
	HasPassword bool
	CreatedAt   time.Time
	LastLoginAt *time.Time // nil: never signed in
}

// Session is one sign-in of a user on one device.
type Session struct {
	ID         string
	UserID     string
	CreatedAt  time.Time
	LastSeenAt time.Time
	ExpiresAt  time.Time
	IPAddress  string
	UserAgent  string
}

// SignedIn is a session that was just made, with the token that only its
// browser ever gets.
type SignedIn struct {
	Token   secret.String
	Session Session
}

// Client is what is known about the browser that signs in.
type Client struct {
	// Address is the client's address without port, as the edge determined it.
	Address   string
	UserAgent string
	// Previous is the session token the browser presented, if any. It ends with
	// the sign-in, so that a planted token is worth nothing.
	Previous secret.String
}

// NewAccount is what it takes to create a person's account.
type NewAccount struct {
	Name     string
	Email    string
	Password secret.String
}

// Role is a named set of access rules.
type Role struct {
	ID          string
	Name        string
	Description string
	System      bool
	Rules       []string // rule ids, sorted
	Members     int      // users and applications that have the role
}

// Application is a caller that is a program. It signs in with its key.
type Application struct {
	ID          string
	Name        string
	Description string
	Roles       []string // role ids, sorted
	CreatedAt   time.Time
	LastUsedAt  *time.Time // nil: never used
}
