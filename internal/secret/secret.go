// Package secret keeps credentials: a text type that never prints, encryption
// at rest with key rotation, and the table in which other packages keep
// credentials under a scope of their own.
package secret

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"strings"
)

// String is a credential in memory. Every way of printing it gives "****";
// Reveal is the one way to read it.
type String struct{ value string }

const mask = "****"

// New wraps a credential.
func New(value string) String { return String{value} }

// Reveal gives the credential itself.
func (s String) Reveal() string { return s.value }

// Empty says that there is no credential.
func (s String) Empty() bool { return s.value == "" }

// String implements fmt.Stringer.
func (s String) String() string { return mask }

// GoString implements fmt.GoStringer.
func (s String) GoString() string { return mask }

// LogValue implements slog.LogValuer.
func (s String) LogValue() slog.Value { return slog.StringValue(mask) }

// MarshalText keeps the credential out of JSON and every other text form.
func (s String) MarshalText() ([]byte, error) { return []byte(mask), nil }

// Format keeps the credential out of every fmt verb.
func (s String) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(mask)) }

// ErrDecrypt means that none of the configured keys opens a stored value.
var ErrDecrypt = errors.New("a stored secret cannot be decrypted with the configured keys: restore ENCRYPTION_MASTER_KEY, or put the old key into ENCRYPTION_MASTER_KEY_PREVIOUS")

// Box encrypts with the first key and decrypts with any of its keys. Stored
// text is "v1:<key id>:<base64 of nonce and ciphertext>"; the key id is the
// first eight hex digits of the key's SHA-256.
type Box struct {
	primary string
	aeads   map[string]cipher.AEAD
}

// ErrKeyForm says what a key must look like.
var ErrKeyForm = errors.New("must be 32 bytes (64 hex characters)")

// NewBox makes a box from keys of 64 hex characters each. The first encrypts.
func NewBox(keys ...string) (*Box, error) {
	if len(keys) == 0 {
		return nil, ErrKeyForm
	}
	b := &Box{aeads: map[string]cipher.AEAD{}}
	for _, k := range keys {
		raw, err := hex.DecodeString(strings.TrimSpace(k))
		if err != nil || len(raw) != 32 {
			return nil, ErrKeyForm
		}
		block, err := aes.NewCipher(raw)
		if err != nil {
			return nil, err
		}
		aead, err := cipher.NewGCM(block)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(raw)
		id := hex.EncodeToString(sum[:4])
		if b.primary == "" {
			b.primary = id
		}
		b.aeads[id] = aead
	}
	return b, nil
}

// Seal encrypts plain. context binds the result to its place: a value copied
// to another row does not open there.
func (b *Box) Seal(plain String, context string) (string, error) {
	aead := b.aeads[b.primary]
	nonce := make([]byte, aead.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("random nonce: %w", err)
	}
	sealed := aead.Seal(nonce, nonce, []byte(plain.value), []byte(context))
	return "v1:" + b.primary + ":" + base64.RawStdEncoding.EncodeToString(sealed), nil
}

// Open decrypts what Seal wrote for the same context.
func (b *Box) Open(stored, context string) (String, error) {
	parts := strings.SplitN(stored, ":", 3)
	if len(parts) != 3 || parts[0] != "v1" {
		return String{}, ErrDecrypt
	}
	aead, ok := b.aeads[parts[1]]
	if !ok {
		return String{}, ErrDecrypt
	}
	raw, err := base64.RawStdEncoding.DecodeString(parts[2])
	if err != nil || len(raw) < aead.NonceSize() {
		return String{}, ErrDecrypt
	}
	plain, err := aead.Open(nil, raw[:aead.NonceSize()], raw[aead.NonceSize():], []byte(context))
	if err != nil {
		return String{}, ErrDecrypt
	}
	return String{string(plain)}, nil
}

// Current says whether stored was sealed with the primary key.
func (b *Box) Current(stored string) bool { return strings.HasPrefix(stored, "v1:"+b.primary+":") }

// Knows says whether stored was sealed with one of the box's keys.
func (b *Box) Knows(stored string) bool {
	parts := strings.SplitN(stored, ":", 3)
	return len(parts) == 3 && parts[0] == "v1" && b.aeads[parts[1]] != nil
}
