// Package scrub takes credentials out of what the assistant stores and shows:
// values under telling keys, and texts that hold a standalone key or a bearer
// token. Ordinary prose and addresses stay as they are. Rules:
// spec/ai-platform.md 29.
//
// It is the last line, not the first: domains do not put secrets into results.
package scrub

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// Redacted stands where a credential stood.
const Redacted = "[REDACTED]"

var secretKeys = []string{
	"apikey", "api-key", "api_key", "secret", "password", "passwd", "authorization",
	"auth-token", "authtoken", "auth_token", "access-token", "accesstoken", "access_token",
	"refresh-token", "refreshtoken", "refresh_token", "bearer", "x-api-key",
	"private-key", "privatekey", "private_key", "client-secret", "clientsecret", "client_secret", "credential",
}

// spaces are what separates: Go's \s is ASCII only and lacks the vertical tab, so
// the others are listed. edge is what may stand beside a standalone key.
const (
	spaces = "\\s\\x{0b}\\x{85}\\x{feff}\\p{Z}"
	edge   = "[" + spaces + "\"'`,;]"
)

var (
	keyText    = regexp.MustCompile(`(?:^|` + edge + `)(?:sk|rk)-(?:proj-)?[A-Za-z0-9_-]{16,}(?:$|` + edge + `)`)
	bearerText = regexp.MustCompile(`(?i)\bBearer[` + spaces + `]+[A-Za-z0-9._~+/-]{12,}=*`)
)

// SecretKey says whether the value under this key is a credential.
func SecretKey(key string) bool {
	key = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, key)
	for _, k := range secretKeys {
		if strings.Contains(key, k) {
			return true
		}
	}
	return false
}

// Storable gives s without NUL, which a model can write and PostgreSQL does not
// keep: U+FFFD stands in its place.
func Storable(s string) string { return strings.ReplaceAll(s, "\x00", "\uFFFD") }

// Text gives s as Storable does, or Redacted when it holds a credential
// anywhere.
func Text(s string) string {
	if Secret(s) {
		return Redacted
	}
	return Storable(s)
}

// Secret says whether s holds a credential anywhere.
func Secret(s string) bool { return keyText.MatchString(s) || bearerText.MatchString(s) }

// Value gives a copy of a decoded JSON value without credentials. A boolean or
// null under a telling key stays: "hasPassword": true is no password.
func Value(v any) any {
	switch v := v.(type) {
	case string:
		return Text(v)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Value(item)
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, item := range v {
			if SecretKey(k) {
				out[Storable(k)] = Hide(item)
				continue
			}
			out[Storable(k)] = Value(item)
		}
		return out
	}
	return v
}

// Hide gives what is shown in place of a credential.
func Hide(v any) any {
	switch v.(type) {
	case nil, bool:
		return v
	}
	return Redacted
}

// JSON is Value for encoded JSON; numbers keep their digits.
func JSON(raw json.RawMessage) (json.RawMessage, error) {
	v, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	return json.Marshal(Value(v))
}

// Decode reads one JSON value with numbers as json.Number.
func Decode(raw json.RawMessage) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, fmt.Errorf("decode JSON: %w", err)
	}
	return v, nil
}

// Any is Value for a Go value, by way of its JSON.
func Any(v any) (any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("encode JSON: %w", err)
	}
	decoded, err := Decode(raw)
	if err != nil {
		return nil, err
	}
	return Value(decoded), nil
}
