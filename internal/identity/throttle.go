package identity

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/problem"
)

// limit bounds attempts per fixed window of time. The counters are in the
// table "throttles", so all replicas share them and a restart keeps them.
type limit struct {
	name   string
	max    int64
	window time.Duration
}

// The limits. An attempt counts before the password is looked at, so that a
// thousand guesses at once are no way around them, and a right password takes
// its count back.
var (
	// loginPerAccount bounds wrong passwords for one account from one address.
	// The address is part of it so that a stranger cannot lock a person out.
	loginPerAccount = limit{"auth.login.account", 10, 15 * time.Minute}
	// loginPerAddress bounds wrong passwords for all accounts from one address.
	loginPerAddress = limit{"auth.login.address", 50, 15 * time.Minute}
	// registerPerAddress bounds new accounts from one address.
	registerPerAddress = limit{"auth.register.address", 20, time.Hour}
	// passwordPerUser bounds wrong current passwords when a signed-in person
	// changes the password: a stolen session is no way to guess it.
	passwordPerUser = limit{"auth.password.user", 10, 15 * time.Minute}
)

// attempt is one counted attempt.
type attempt struct {
	key         string
	windowStart int64
}

// take counts an attempt by who, and refuses it above the limit.
func (s *Service) take(ctx context.Context, l limit, who ...string) (attempt, error) {
	sum := sha256.Sum256([]byte(strings.Join(who, "\x00")))
	now := s.now().Unix()
	width := int64(l.window / time.Second)
	a := attempt{key: l.name + "." + hex.EncodeToString(sum[:16]), windowStart: now - now%width}
	end := a.windowStart + width
	var n int64
	err := s.db.Write.NewRaw(`INSERT INTO throttles (key, window_start, n, expires_at) VALUES (?, ?, 1, ?)
		ON CONFLICT (key, window_start) DO UPDATE SET n = throttles.n + 1 RETURNING n`, a.key, a.windowStart, end).Scan(ctx, &n)
	if err != nil {
		return attempt{}, fmt.Errorf("count attempt: %w", err)
	}
	if n > l.max {
		wait := time.Duration(end-now) * time.Second
		return attempt{}, problem.TooMany("Too many attempts. Try again in %s.", inWords(wait)).After(wait)
	}
	return a, nil
}

// giveBack takes the count of an attempt back.
func (s *Service) giveBack(ctx context.Context, idb bun.IDB, attempts ...attempt) error {
	for _, a := range attempts {
		_, err := idb.NewRaw("UPDATE throttles SET n = n - 1 WHERE key = ? AND window_start = ? AND n > 0",
			a.key, a.windowStart).Exec(ctx)
		if err != nil {
			return fmt.Errorf("take back attempt: %w", err)
		}
	}
	return nil
}

func inWords(d time.Duration) string {
	minutes := int((d + time.Minute - 1) / time.Minute)
	if minutes <= 1 {
		return "a minute"
	}
	return fmt.Sprintf("%d minutes", minutes)
}

// network is what counts as one address: an IPv6 customer has at least a /64
// and could otherwise use a new address for each guess.
func network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return clip(address, maxAddress)
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is4() {
		return ip.String()
	}
	prefix, err := ip.Prefix(64)
	if err != nil {
		return ip.String()
	}
	return prefix.String()
}
