package identity

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"

	"github.com/google/uuid"

	"github.com/checkstack/checkstack/internal/secret"
)

const (
	keyPrefix    = "ck_"
	keySecretLen = 32
	keyAlphabet  = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	uuidLen      = 36
	keyLen       = len(keyPrefix) + uuidLen + 1 + keySecretLen
	tokenBytes   = 32
	tokenTextLen = 43 // base64 of 32 bytes without padding
	fairBytes    = 256 / len(keyAlphabet) * len(keyAlphabet)
)

// newID makes the id of a row. UUIDv7 sorts by time, which keeps indexes small.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// newToken makes a session token of 256 random bits.
func newToken() secret.String {
	b := make([]byte, tokenBytes)
	_, _ = rand.Read(b) // never fails, since Go 1.24
	return secret.New(base64.RawURLEncoding.EncodeToString(b))
}

// newKeySecret makes the secret part of an application key.
func newKeySecret() secret.String {
	out := make([]byte, 0, keySecretLen)
	buf := make([]byte, 2*keySecretLen)
	for len(out) < keySecretLen {
		_, _ = rand.Read(buf)
		for _, b := range buf {
			// Bytes above the last whole multiple would favour the first letters.
			if int(b) < fairBytes && len(out) < keySecretLen {
				out = append(out, keyAlphabet[int(b)%len(keyAlphabet)])
			}
		}
	}
	return secret.New(string(out))
}

func formatKey(id string, s secret.String) secret.String {
	return secret.New(keyPrefix + id + "_" + s.Reveal())
}

// IsKey says that a bearer value claims to be an application key. Such a value
// is looked at as a key only; an invalid one is never tried as anything else.
func IsKey(bearer string) bool { return strings.HasPrefix(bearer, keyPrefix) }

// parseKey takes ck_{application id}_{secret} apart. Only the one spelling in
// which keys are issued is accepted.
func parseKey(bearer string) (id string, s secret.String, ok bool) {
	if len(bearer) != keyLen || !IsKey(bearer) || bearer[len(keyPrefix)+uuidLen] != '_' {
		return "", secret.String{}, false
	}
	id = bearer[len(keyPrefix) : len(keyPrefix)+uuidLen]
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return "", secret.String{}, false
	}
	text := bearer[len(keyPrefix)+uuidLen+1:]
	for i := range len(text) {
		if strings.IndexByte(keyAlphabet, text[i]) < 0 {
			return "", secret.String{}, false
		}
	}
	return id, secret.New(text), true
}

// digest is how tokens and key secrets are stored and looked up.
func digest(s secret.String) string {
	sum := sha256.Sum256([]byte(s.Reveal()))
	return hex.EncodeToString(sum[:])
}
