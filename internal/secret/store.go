package secret

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

// Store keeps encrypted credentials in the table "secrets", under a scope that
// the owner chooses (such as "healthcheck:<id>") and a name within it. Methods
// take the caller's transaction, so that a credential and the row it belongs
// to are written together.
type Store struct {
	box *Box
	now func() time.Time
}

// NewStore makes a store that encrypts with box.
func NewStore(box *Box) *Store { return &Store{box: box, now: time.Now} }

// Put stores or replaces a credential.
func (s *Store) Put(ctx context.Context, idb bun.IDB, scope, name string, value String) error {
	sealed, err := s.box.Seal(value, scope+"\x00"+name)
	if err != nil {
		return fmt.Errorf("encrypt secret %s of %s: %w", name, scope, err)
	}
	_, err = idb.NewRaw(`INSERT INTO secrets (scope, name, value, updated_at) VALUES (?, ?, ?, ?)
		ON CONFLICT (scope, name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`,
		scope, name, sealed, s.now().UTC().Truncate(time.Millisecond)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store secret %s of %s: %w", name, scope, err)
	}
	return nil
}

// Get gives a credential; ok is false when there is none. A value that no key
// opens is ErrDecrypt, never an empty credential.
func (s *Store) Get(ctx context.Context, idb bun.IDB, scope, name string) (value String, ok bool, err error) {
	var sealed string
	err = idb.NewRaw("SELECT value FROM secrets WHERE scope = ? AND name = ?", scope, name).Scan(ctx, &sealed)
	if errors.Is(err, sql.ErrNoRows) {
		return String{}, false, nil
	}
	if err != nil {
		return String{}, false, fmt.Errorf("read secret %s of %s: %w", name, scope, err)
	}
	value, err = s.box.Open(sealed, scope+"\x00"+name)
	if err != nil {
		return String{}, false, fmt.Errorf("secret %s of %s: %w", name, scope, err)
	}
	return value, true, nil
}

// All gives every credential of a scope, by name.
func (s *Store) All(ctx context.Context, idb bun.IDB, scope string) (map[string]String, error) {
	var rows []struct{ Name, Value string }
	if err := idb.NewRaw("SELECT name, value FROM secrets WHERE scope = ?", scope).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read secrets of %s: %w", scope, err)
	}
	out := make(map[string]String, len(rows))
	for _, r := range rows {
		v, err := s.box.Open(r.Value, scope+"\x00"+r.Name)
		if err != nil {
			return nil, fmt.Errorf("secret %s of %s: %w", r.Name, scope, err)
		}
		out[r.Name] = v
	}
	return out, nil
}

// Unreadable counts the secrets that were sealed with none of the present keys.
func (s *Store) Unreadable(ctx context.Context, idb bun.IDB) (int, error) {
	var values []string
	if err := idb.NewRaw("SELECT value FROM secrets").Scan(ctx, &values); err != nil {
		return 0, fmt.Errorf("read secrets: %w", err)
	}
	n := 0
	for _, v := range values {
		if !s.box.Knows(v) {
			n++
		}
	}
	return n, nil
}

// Delete removes the named credentials of a scope, or all of them when no name
// is given.
func (s *Store) Delete(ctx context.Context, idb bun.IDB, scope string, names ...string) error {
	q := idb.NewDelete().Table("secrets").Where("scope = ?", scope)
	if len(names) > 0 {
		q = q.Where("name IN (?)", bun.List(names))
	}
	if _, err := q.Exec(ctx); err != nil {
		return fmt.Errorf("delete secrets of %s: %w", scope, err)
	}
	return nil
}

// Reencrypt rewrites every credential that an older key sealed with the
// primary one and reports how many were looked at, rewritten and unreadable.
func (s *Store) Reencrypt(ctx context.Context, idb bun.IDB) (scanned, rewritten, failed int, err error) {
	var rows []struct{ Scope, Name, Value string }
	if err := idb.NewRaw("SELECT scope, name, value FROM secrets").Scan(ctx, &rows); err != nil {
		return 0, 0, 0, fmt.Errorf("read secrets: %w", err)
	}
	for _, r := range rows {
		scanned++
		if s.box.Current(r.Value) {
			continue
		}
		v, err := s.box.Open(r.Value, r.Scope+"\x00"+r.Name)
		if err != nil {
			failed++
			continue
		}
		if err := s.Put(ctx, idb, r.Scope, r.Name, v); err != nil {
			return scanned, rewritten, failed, err
		}
		rewritten++
	}
	return scanned, rewritten, failed, nil
}
