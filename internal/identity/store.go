package identity

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

// store is the SQL of users, credentials and sessions; store_access.go has that
// of roles, rules and applications. Lists of ids come joined by spaces, which
// no id contains, so that a caller and all it may do is one row.
type store struct{}

var errNoUser = problem.NotFound("User not found")

type userRow struct {
	ID, Name, Email string
	CreatedAt       time.Time
	LastLoginAt     *time.Time
	HasPassword     bool
	Roles           string
}

func (r userRow) user() User {
	return User{ID: r.ID, Name: r.Name, Email: r.Email, Roles: ids(r.Roles), HasPassword: r.HasPassword,
		CreatedAt: db.Time(r.CreatedAt), LastLoginAt: timePtr(r.LastLoginAt)}
}

// ids splits a joined list, sorted and each once.
func ids(joined string) []string {
	list := strings.Fields(joined)
	slices.Sort(list)
	return slices.Compact(list)
}

func timePtr(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	u := db.Time(*t)
	return &u
}

const selectUsers = `SELECT u.id, u.name, u.email, u.created_at, u.last_login_at,
	EXISTS (SELECT 1 FROM credentials c WHERE c.user_id = u.id) AS has_password,
	COALESCE((SELECT string_agg(ur.role_id, ' ') FROM user_roles ur WHERE ur.user_id = u.id), '') AS roles
	FROM users u `

func (store) users(ctx context.Context, idb bun.IDB) ([]User, error) {
	return scanUsers(ctx, idb.NewRaw(selectUsers+"ORDER BY lower(u.name), u.id"))
}

func (store) names(ctx context.Context, idb bun.IDB, ids []string) (map[string]string, error) {
	out := make(map[string]string, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []struct{ ID, Name string }
	if err := idb.NewRaw("SELECT id, name FROM users WHERE id IN (?) UNION ALL SELECT id, name FROM applications WHERE id IN (?)",
		bun.List(ids), bun.List(ids)).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read names: %w", err)
	}
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, nil
}

func scanUsers(ctx context.Context, q *bun.RawQuery) ([]User, error) {
	var rows []userRow
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read users: %w", err)
	}
	out := make([]User, len(rows))
	for i, r := range rows {
		out[i] = r.user()
	}
	return out, nil
}

func (store) user(ctx context.Context, idb bun.IDB, id string) (User, error) {
	var r userRow
	if err := idb.NewRaw(selectUsers+"WHERE u.id = ?", id).Scan(ctx, &r); err != nil {
		return User{}, db.Found(err, errNoUser)
	}
	return r.user(), nil
}

func (store) anyUser(ctx context.Context, idb bun.IDB) (bool, error) {
	var exists bool
	if err := idb.NewRaw("SELECT EXISTS (SELECT 1 FROM users)").Scan(ctx, &exists); err != nil {
		return false, fmt.Errorf("look for users: %w", err)
	}
	return exists, nil
}

// insertUser writes a user with its password and roles.
func (st store) insertUser(ctx context.Context, tx bun.Tx, u User, hash string) error {
	_, err := tx.NewRaw(`INSERT INTO users (id, name, email, email_key, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)`,
		u.ID, u.Name, u.Email, textKey(u.Email), u.CreatedAt, u.CreatedAt).Exec(ctx)
	if err != nil {
		return emailTaken(err)
	}
	_, err = tx.NewRaw(`INSERT INTO credentials (user_id, password_hash, updated_at) VALUES (?, ?, ?)`,
		u.ID, hash, u.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store password: %w", err)
	}
	return st.addRoles(ctx, tx, "user", u.ID, u.Roles)
}

func emailTaken(err error) error {
	if db.IsUnique(err) {
		return problem.Conflict("A user with this email already exists.").Because(err)
	}
	return fmt.Errorf("store user: %w", err)
}

func (store) updateProfile(ctx context.Context, tx bun.Tx, u User, now time.Time) error {
	res, err := tx.NewRaw(`UPDATE users SET name = ?, email = ?, email_key = ?, updated_at = ? WHERE id = ?`,
		u.Name, u.Email, textKey(u.Email), now, u.ID).Exec(ctx)
	if err != nil {
		return emailTaken(err)
	}
	return db.MustAffect(res, nil, errNoUser)
}

func (store) deleteUser(ctx context.Context, tx bun.Tx, id string) error {
	res, err := tx.NewRaw("DELETE FROM users WHERE id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNoUser)
}

// otherAdmins counts the administrators besides the given user.
func (store) otherAdmins(ctx context.Context, tx bun.Tx, userID string) (int, error) {
	var n int
	err := tx.NewRaw("SELECT count(*) FROM user_roles WHERE role_id = ? AND user_id <> ?", RoleAdmin, userID).Scan(ctx, &n)
	if err != nil {
		return 0, fmt.Errorf("count administrators: %w", err)
	}
	return n, nil
}

func (store) usersWithRule(ctx context.Context, idb bun.IDB, rules []string) ([]string, error) {
	var out []string
	err := idb.NewRaw(`SELECT DISTINCT ur.user_id FROM user_roles ur
		LEFT JOIN role_rules rr ON rr.role_id = ur.role_id
		WHERE ur.role_id = ? OR rr.rule_id IN (?) ORDER BY ur.user_id`, RoleAdmin, bun.List(rules)).Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("read users with rule: %w", err)
	}
	return out, nil
}

// credential is what a sign-in is checked against; the zero value is nobody.
type credential struct {
	UserID       string
	PasswordHash string
}

// credentialBy finds the password of the user with this address or id.
func (store) credentialBy(ctx context.Context, idb bun.IDB, column, value string) (credential, error) {
	var c credential
	err := idb.NewRaw(`SELECT c.user_id, c.password_hash FROM credentials c JOIN users u ON u.id = c.user_id WHERE u.? = ?`,
		bun.Ident(column), value).Scan(ctx, &c)
	if errors.Is(err, sql.ErrNoRows) {
		return credential{}, nil
	}
	if err != nil {
		return credential{}, fmt.Errorf("read password: %w", err)
	}
	return c, nil
}

// replaceHash writes a new hash in the place of old, and nothing when the
// password was changed meanwhile.
func (store) replaceHash(ctx context.Context, tx bun.Tx, userID, old, hash string, now time.Time) (replaced bool, err error) {
	res, err := tx.NewRaw(`UPDATE credentials SET password_hash = ?, updated_at = ? WHERE user_id = ? AND password_hash = ?`,
		hash, now, userID, old).Exec(ctx)
	if err != nil {
		return false, fmt.Errorf("store password: %w", err)
	}
	n, err := res.RowsAffected()
	return n == 1, err
}

func (store) setLastLogin(ctx context.Context, tx bun.Tx, userID string, now time.Time) error {
	if _, err := tx.NewRaw("UPDATE users SET last_login_at = ? WHERE id = ?", now, userID).Exec(ctx); err != nil {
		return fmt.Errorf("note sign-in: %w", err)
	}
	return nil
}

func (store) insertSession(ctx context.Context, tx bun.Tx, s Session, tokenHash string) error {
	_, err := tx.NewRaw(`INSERT INTO sessions (id, token_hash, user_id, created_at, last_seen_at, expires_at, ip_address, user_agent)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		s.ID, tokenHash, s.UserID, s.CreatedAt, s.LastSeenAt, s.ExpiresAt, s.IPAddress, s.UserAgent).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store session: %w", err)
	}
	return nil
}

func (store) sessions(ctx context.Context, idb bun.IDB, userID string, now time.Time) ([]Session, error) {
	var out []Session
	err := idb.NewRaw(`SELECT id, user_id, created_at, last_seen_at, expires_at, ip_address, user_agent
		FROM sessions WHERE user_id = ? AND expires_at > ? ORDER BY last_seen_at DESC, id DESC`, userID, now).Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("read sessions: %w", err)
	}
	for i := range out {
		out[i].CreatedAt, out[i].LastSeenAt, out[i].ExpiresAt = db.Time(out[i].CreatedAt), db.Time(out[i].LastSeenAt), db.Time(out[i].ExpiresAt)
	}
	return out, nil
}

func (store) touchSession(ctx context.Context, idb bun.IDB, id string, seen, expires time.Time) error {
	_, err := idb.NewRaw("UPDATE sessions SET last_seen_at = ?, expires_at = ? WHERE id = ? AND last_seen_at < ?",
		seen, expires, id, seen).Exec(ctx)
	return err
}

func (store) deleteSessionByToken(ctx context.Context, idb bun.IDB, tokenHash string) error {
	if _, err := idb.NewRaw("DELETE FROM sessions WHERE token_hash = ?", tokenHash).Exec(ctx); err != nil {
		return fmt.Errorf("delete session: %w", err)
	}
	return nil
}

func (store) deleteSession(ctx context.Context, idb bun.IDB, userID, id string) error {
	res, err := idb.NewRaw("DELETE FROM sessions WHERE id = ? AND user_id = ?", id, userID).Exec(ctx)
	return db.MustAffect(res, err, problem.NotFound("Session not found"))
}

func (store) deleteOtherSessions(ctx context.Context, tx bun.Tx, userID, keep string) error {
	if _, err := tx.NewRaw("DELETE FROM sessions WHERE user_id = ? AND id <> ?", userID, keep).Exec(ctx); err != nil {
		return fmt.Errorf("delete sessions: %w", err)
	}
	return nil
}

// sessionCaller is a session with its user and what the user may do.
type sessionCaller struct {
	ID, UserID, Name string
	CreatedAt        time.Time
	LastSeenAt       time.Time
	ExpiresAt        time.Time
	Roles, Rules     string
}

// sessionQuery reads everything an authenticated request needs. The rules of
// "admin" are left out: whoever has that role has the wildcard.
const sessionQuery = `SELECT s.id, s.user_id, u.name, s.created_at, s.last_seen_at, s.expires_at,
	COALESCE((SELECT string_agg(ur.role_id, ' ') FROM user_roles ur WHERE ur.user_id = s.user_id), '') AS roles,
	COALESCE((SELECT string_agg(rr.rule_id, ' ') FROM user_roles ur JOIN role_rules rr ON rr.role_id = ur.role_id
		WHERE ur.user_id = s.user_id AND ur.role_id <> $1), '') AS rules
	FROM sessions s JOIN users u ON u.id = s.user_id WHERE s.token_hash = $2`

var sessionQuerySQLite = strings.NewReplacer("$1", "?", "$2", "?").Replace(sessionQuery)

func (store) sessionCaller(ctx context.Context, d *db.DB, tokenHash string) (sessionCaller, error) {
	var c sessionCaller
	if !d.Postgres() {
		return oneRow[sessionCaller](ctx, d, sessionQuerySQLite, RoleAdmin, tokenHash)
	}
	err := d.Prepared(ctx, sessionQuery, RoleAdmin, tokenHash).
		Scan(&c.ID, &c.UserID, &c.Name, &c.CreatedAt, &c.LastSeenAt, &c.ExpiresAt, &c.Roles, &c.Rules)
	return c, err
}

// userCaller is a user without a session, for work done in the person's name.
func (store) userCaller(ctx context.Context, d *db.DB, userID string) (sessionCaller, error) {
	return oneRow[sessionCaller](ctx, d, `SELECT u.id AS user_id, u.name,
		COALESCE((SELECT string_agg(ur.role_id, ' ') FROM user_roles ur WHERE ur.user_id = u.id), '') AS roles,
		COALESCE((SELECT string_agg(rr.rule_id, ' ') FROM user_roles ur JOIN role_rules rr ON rr.role_id = ur.role_id
			WHERE ur.user_id = u.id AND ur.role_id <> ?), '') AS rules
		FROM users u WHERE u.id = ?`, RoleAdmin, userID)
}

// oneRow reads the one row of a query that busy paths repeat.
func oneRow[T any](ctx context.Context, d *db.DB, query string, args ...any) (row T, err error) {
	var rows []T
	if err := d.ScanPrepared(ctx, d.Read, &rows, query, args...); err != nil {
		return row, err
	}
	if len(rows) == 0 {
		return row, sql.ErrNoRows
	}
	return rows[0], nil
}
