package identity

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"runtime"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alexedwards/argon2id"
	"golang.org/x/crypto/argon2"
	"golang.org/x/text/unicode/norm"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/secret"
)

const (
	minPassword = 8
	maxPassword = 128
)

// password checks a new password, spec/platform.md 7.4. It names everything
// that is missing and repeats nothing.
func (is *issues) password(path string, p secret.String) {
	text := normalPassword(p)
	n := utf8.RuneCountInString(text)
	if n < minPassword {
		is.add(path, "Password must be at least 8 characters")
	}
	if n > maxPassword {
		is.add(path, "Password must be at most 128 characters")
	}
	if !strings.ContainsFunc(text, unicode.IsUpper) {
		is.add(path, "Password must contain at least one uppercase letter")
	}
	if !strings.ContainsFunc(text, unicode.IsLower) {
		is.add(path, "Password must contain at least one lowercase letter")
	}
	if !strings.ContainsFunc(text, unicode.IsNumber) {
		is.add(path, "Password must contain at least one number")
	}
	if strings.ContainsFunc(text, unicode.IsControl) {
		is.add(path, "Password must not contain control characters")
	}
}

// err gives the refusal of the input, nil when nothing is wrong with it. When
// only the password is at fault its sentences are the message, because that is
// what a sign-up form shows.
func (is issues) err(passwordPath string) error {
	if len(is) == 0 {
		return nil
	}
	texts := make([]string, 0, len(is))
	for _, i := range is {
		if i.Path != passwordPath {
			return problem.InputIssues(is)
		}
		texts = append(texts, i.Message)
	}
	return problem.Invalid(strings.Join(texts, ", "), is...)
}

// normalPassword composes characters, RFC 8265 section 4.2: the same password
// typed on two systems must be the same bytes.
func normalPassword(p secret.String) string { return norm.NFC.String(p.Reveal()) }

// passwordParams cost about 36 ms and 19 MiB per password: the second choice
// of the OWASP password storage cheat sheet.
var passwordParams = argon2id.Params{Memory: 19 * 1024, Iterations: 2, Parallelism: 1, SaltLength: 16, KeyLength: 32}

// hasher hashes passwords, only a few at a time, so that a burst of sign-ins
// takes longer instead of taking all memory.
type hasher struct {
	params argon2id.Params
	slots  chan struct{}
	// nobody is a hash that no password matches and that costs as much to
	// compare as a real one. It stands in for accounts that do not exist.
	nobody string
}

func newHasher(params argon2id.Params) *hasher {
	random := make([]byte, params.SaltLength+params.KeyLength)
	_, _ = rand.Read(random) // never fails, since Go 1.24
	b64 := base64.RawStdEncoding.EncodeToString
	return &hasher{
		params: params,
		slots:  make(chan struct{}, min(max(runtime.GOMAXPROCS(0), 2), 8)),
		nobody: fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, params.Memory, params.Iterations,
			params.Parallelism, b64(random[:params.SaltLength]), b64(random[params.SaltLength:])),
	}
}

func (h *hasher) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *hasher) leave() { <-h.slots }

func (h *hasher) hash(ctx context.Context, p secret.String) (string, error) {
	if err := h.enter(ctx); err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	defer h.leave()
	hash, err := argon2id.CreateHash(normalPassword(p), &h.params)
	if err != nil {
		return "", fmt.Errorf("hash password: %w", err)
	}
	return hash, nil
}

// verify says whether p is the password of hash, and whether hash was made with
// other parameters than today's. An empty hash is nobody's.
func (h *hasher) verify(ctx context.Context, p secret.String, hash string) (ok, outdated bool, err error) {
	if hash == "" {
		hash = h.nobody
	}
	if err := h.enter(ctx); err != nil {
		return false, false, fmt.Errorf("verify password: %w", err)
	}
	defer h.leave()
	ok, params, err := argon2id.CheckHash(normalPassword(p), hash)
	if err != nil {
		return false, false, fmt.Errorf("verify password: %w", err)
	}
	return ok, *params != h.params, nil
}
