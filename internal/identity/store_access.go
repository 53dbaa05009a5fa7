package identity

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	errNoRole        = problem.NotFound("Role not found")
	errNoApplication = problem.NotFound("Application not found")
)

type roleRow struct {
	ID, Name, Description string
	IsSystem              bool
	Rules                 string
	Members               int
}

func (r roleRow) role() Role {
	return Role{ID: r.ID, Name: r.Name, Description: r.Description, System: r.IsSystem, Rules: ids(r.Rules), Members: r.Members}
}

const selectRoles = `SELECT r.id, r.name, r.description, r.is_system,
	COALESCE((SELECT string_agg(rr.rule_id, ' ') FROM role_rules rr WHERE rr.role_id = r.id), '') AS rules,
	(SELECT count(*) FROM user_roles ur WHERE ur.role_id = r.id) +
	(SELECT count(*) FROM application_roles ar WHERE ar.role_id = r.id) AS members
	FROM roles r `

func (store) roles(ctx context.Context, idb bun.IDB) ([]Role, error) {
	var rows []roleRow
	if err := idb.NewRaw(selectRoles+"ORDER BY r.is_system DESC, r.name_key, r.id").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	out := make([]Role, len(rows))
	for i, r := range rows {
		out[i] = r.role()
	}
	return out, nil
}

func (store) role(ctx context.Context, idb bun.IDB, id string) (Role, error) {
	var r roleRow
	if err := idb.NewRaw(selectRoles+"WHERE r.id = ?", id).Scan(ctx, &r); err != nil {
		return Role{}, db.Found(err, errNoRole)
	}
	return r.role(), nil
}

// insertRole writes a role. With ifMissing one that exists already is left as
// it is.
func (store) insertRole(ctx context.Context, tx bun.Tx, r Role, now time.Time, ifMissing bool) error {
	conflict := ""
	if ifMissing {
		conflict = "ON CONFLICT (id) DO NOTHING"
	}
	_, err := tx.NewRaw(`INSERT INTO roles (id, name, name_key, description, is_system, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?) ?`, r.ID, r.Name, textKey(r.Name), r.Description, r.System, now, now, bun.Safe(conflict)).Exec(ctx)
	return roleNameTaken(err)
}

func (store) updateRole(ctx context.Context, tx bun.Tx, r Role, now time.Time) error {
	res, err := tx.NewRaw("UPDATE roles SET name = ?, name_key = ?, description = ?, updated_at = ? WHERE id = ?",
		r.Name, textKey(r.Name), r.Description, now, r.ID).Exec(ctx)
	if err != nil {
		return roleNameTaken(err)
	}
	return db.MustAffect(res, nil, errNoRole)
}

func roleNameTaken(err error) error {
	if db.IsUnique(err) {
		return problem.Conflict("A role with this name already exists.").Because(err)
	}
	if err != nil {
		return fmt.Errorf("store role: %w", err)
	}
	return nil
}

func (store) deleteRole(ctx context.Context, tx bun.Tx, id string) error {
	res, err := tx.NewRaw("DELETE FROM roles WHERE id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNoRole)
}

// addRules gives a role those of the rules that are declared.
func (store) addRules(ctx context.Context, tx bun.Tx, roleID string, rules []string) error {
	if len(rules) == 0 {
		return nil
	}
	_, err := tx.NewRaw(`INSERT INTO role_rules (role_id, rule_id) SELECT ?, id FROM access_rules WHERE id IN (?)
		ON CONFLICT (role_id, rule_id) DO NOTHING`, roleID, bun.List(rules)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store rules of role: %w", err)
	}
	return nil
}

func (store) removeRules(ctx context.Context, tx bun.Tx, roleID string, rules []string) error {
	if len(rules) == 0 {
		return nil
	}
	_, err := tx.NewRaw("DELETE FROM role_rules WHERE role_id = ? AND rule_id IN (?)", roleID, bun.List(rules)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove rules of role: %w", err)
	}
	return nil
}

// remember notes rules that an administrator took from a role with default
// rules; forget clears the note.
func (store) remember(ctx context.Context, tx bun.Tx, roleID string, rules []string) error {
	for _, rule := range rules {
		_, err := tx.NewRaw(`INSERT INTO removed_default_rules (role_id, rule_id) VALUES (?, ?)
			ON CONFLICT (role_id, rule_id) DO NOTHING`, roleID, rule).Exec(ctx)
		if err != nil {
			return fmt.Errorf("remember removed rule: %w", err)
		}
	}
	return nil
}

func (store) forget(ctx context.Context, tx bun.Tx, roleID string, rules []string) error {
	if len(rules) == 0 {
		return nil
	}
	_, err := tx.NewRaw("DELETE FROM removed_default_rules WHERE role_id = ? AND rule_id IN (?)", roleID, bun.List(rules)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("forget removed rule: %w", err)
	}
	return nil
}

func (store) rules(ctx context.Context, idb bun.IDB) ([]authz.Rule, error) {
	var rows []struct {
		ID, Description     string
		IsDefault, IsPublic bool
	}
	err := idb.NewRaw("SELECT id, description, is_default, is_public FROM access_rules ORDER BY id").Scan(ctx, &rows)
	if err != nil {
		return nil, fmt.Errorf("read access rules: %w", err)
	}
	out := make([]authz.Rule, len(rows))
	for i, r := range rows {
		out[i] = authz.Rule{ID: r.ID, Description: r.Description, Default: r.IsDefault, Public: r.IsPublic}
	}
	return out, nil
}

func (store) putRule(ctx context.Context, tx bun.Tx, r authz.Rule) error {
	_, err := tx.NewRaw(`INSERT INTO access_rules (id, description, is_default, is_public) VALUES (?, ?, ?, ?)
		ON CONFLICT (id) DO UPDATE SET description = excluded.description, is_default = excluded.is_default, is_public = excluded.is_public`,
		r.ID, r.Description, r.Default, r.Public).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store access rule %s: %w", r.ID, err)
	}
	return nil
}

func (store) deleteAccessRules(ctx context.Context, tx bun.Tx, rules []string) error {
	if len(rules) == 0 {
		return nil
	}
	if _, err := tx.NewRaw("DELETE FROM access_rules WHERE id IN (?)", bun.List(rules)).Exec(ctx); err != nil {
		return fmt.Errorf("delete access rules: %w", err)
	}
	return nil
}

// grantStanding gives "admin" every rule, "users" the default and "anonymous"
// the public ones, except those an administrator took away.
func (store) grantStanding(ctx context.Context, tx bun.Tx) error {
	for _, q := range []struct{ role, where string }{
		{RoleAdmin, "true"},
		{RoleUsers, "a.is_default"},
		{RoleAnonymous, "a.is_public"},
	} {
		_, err := tx.NewRaw(`INSERT INTO role_rules (role_id, rule_id) SELECT ?0, a.id FROM access_rules a
			WHERE ?1 AND NOT EXISTS (SELECT 1 FROM removed_default_rules d WHERE d.role_id = ?0 AND d.rule_id = a.id)
			ON CONFLICT (role_id, rule_id) DO NOTHING`, q.role, bun.Safe(q.where)).Exec(ctx)
		if err != nil {
			return fmt.Errorf("grant rules to %s: %w", q.role, err)
		}
	}
	return nil
}

// rulesOf gives the rules that the roles hold together.
func (store) rulesOf(ctx context.Context, idb bun.IDB, roleIDs ...string) ([]string, error) {
	if len(roleIDs) == 0 {
		return nil, nil
	}
	var out []string
	err := idb.NewRaw("SELECT DISTINCT rule_id FROM role_rules WHERE role_id IN (?) ORDER BY rule_id", bun.List(roleIDs)).Scan(ctx, &out)
	if err != nil {
		return nil, fmt.Errorf("read rules of roles: %w", err)
	}
	return out, nil
}

func (store) existingRoles(ctx context.Context, idb bun.IDB, roleIDs []string) ([]string, error) {
	if len(roleIDs) == 0 {
		return nil, nil
	}
	var out []string
	if err := idb.NewRaw("SELECT id FROM roles WHERE id IN (?)", bun.List(roleIDs)).Scan(ctx, &out); err != nil {
		return nil, fmt.Errorf("read roles: %w", err)
	}
	return out, nil
}

// addRoles and removeRoles work on user_roles or application_roles, by who.
func (store) addRoles(ctx context.Context, tx bun.Tx, who, id string, roleIDs []string) error {
	for _, role := range roleIDs {
		_, err := tx.NewRaw("INSERT INTO ? (?, role_id) VALUES (?, ?) ON CONFLICT DO NOTHING",
			bun.Ident(who+"_roles"), bun.Ident(who+"_id"), id, role).Exec(ctx)
		if db.IsForeignKey(err) {
			return problem.Conflict("A role or the %s was deleted meanwhile; load the page again", who).Because(err)
		}
		if err != nil {
			return fmt.Errorf("add role: %w", err)
		}
	}
	return nil
}

func (store) removeRoles(ctx context.Context, tx bun.Tx, who, id string, roleIDs []string) error {
	if len(roleIDs) == 0 {
		return nil
	}
	_, err := tx.NewRaw("DELETE FROM ? WHERE ? = ? AND role_id IN (?)",
		bun.Ident(who+"_roles"), bun.Ident(who+"_id"), id, bun.List(roleIDs)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("remove role: %w", err)
	}
	return nil
}

type applicationRow struct {
	ID, Name, Description string
	CreatedAt             time.Time
	LastUsedAt            *time.Time
	Roles                 string
}

func (r applicationRow) application() Application {
	return Application{ID: r.ID, Name: r.Name, Description: r.Description, Roles: ids(r.Roles),
		CreatedAt: db.Time(r.CreatedAt), LastUsedAt: timePtr(r.LastUsedAt)}
}

const selectApplications = `SELECT a.id, a.name, a.description, a.created_at, a.last_used_at,
	COALESCE((SELECT string_agg(ar.role_id, ' ') FROM application_roles ar WHERE ar.application_id = a.id), '') AS roles
	FROM applications a `

func (store) applications(ctx context.Context, idb bun.IDB) ([]Application, error) {
	var rows []applicationRow
	if err := idb.NewRaw(selectApplications+"ORDER BY lower(a.name), a.id").Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read applications: %w", err)
	}
	out := make([]Application, len(rows))
	for i, r := range rows {
		out[i] = r.application()
	}
	return out, nil
}

func (store) application(ctx context.Context, idb bun.IDB, id string) (Application, error) {
	var r applicationRow
	if err := idb.NewRaw(selectApplications+"WHERE a.id = ?", id).Scan(ctx, &r); err != nil {
		return Application{}, db.Found(err, errNoApplication)
	}
	return r.application(), nil
}

func (st store) insertApplication(ctx context.Context, tx bun.Tx, a Application, secretHash, createdBy string) error {
	_, err := tx.NewRaw(`INSERT INTO applications (id, name, description, secret_hash, created_by, created_at, updated_at)
		VALUES (?, ?, ?, ?, ?, ?, ?)`, a.ID, a.Name, a.Description, secretHash, createdBy, a.CreatedAt, a.CreatedAt).Exec(ctx)
	if err != nil {
		return fmt.Errorf("store application: %w", err)
	}
	return st.addRoles(ctx, tx, "application", a.ID, a.Roles)
}

func (store) updateApplication(ctx context.Context, tx bun.Tx, a Application, now time.Time) error {
	res, err := tx.NewRaw("UPDATE applications SET name = ?, description = ?, updated_at = ? WHERE id = ?",
		a.Name, a.Description, now, a.ID).Exec(ctx)
	return db.MustAffect(res, err, errNoApplication)
}

func (store) setApplicationSecret(ctx context.Context, tx bun.Tx, id, secretHash string, now time.Time) error {
	res, err := tx.NewRaw("UPDATE applications SET secret_hash = ?, updated_at = ? WHERE id = ?", secretHash, now, id).Exec(ctx)
	return db.MustAffect(res, err, errNoApplication)
}

func (store) deleteApplication(ctx context.Context, idb bun.IDB, id string) error {
	res, err := idb.NewRaw("DELETE FROM applications WHERE id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNoApplication)
}

func (store) touchApplication(ctx context.Context, idb bun.IDB, id string, used time.Time) error {
	_, err := idb.NewRaw("UPDATE applications SET last_used_at = ? WHERE id = ? AND (last_used_at IS NULL OR last_used_at < ?)",
		used, id, used).Exec(ctx)
	return err
}

// applicationCaller is an application with what it may do. The rules of "admin"
// are included: a key holds explicit rules, never the wildcard.
type applicationCaller struct {
	ID, Name, SecretHash string
	LastUsedAt           *time.Time
	Roles, Rules         string
}

const applicationQuery = `SELECT a.id, a.name, a.secret_hash, a.last_used_at,
	COALESCE((SELECT string_agg(ar.role_id, ' ') FROM application_roles ar WHERE ar.application_id = a.id), '') AS roles,
	COALESCE((SELECT string_agg(rr.rule_id, ' ') FROM application_roles ar JOIN role_rules rr ON rr.role_id = ar.role_id
		WHERE ar.application_id = a.id), '') AS rules
	FROM applications a WHERE a.id = $1`

var applicationQuerySQLite = strings.ReplaceAll(applicationQuery, "$1", "?")

func (store) applicationCaller(ctx context.Context, d *db.DB, id string) (applicationCaller, error) {
	var c applicationCaller
	if !d.Postgres() {
		return oneRow[applicationCaller](ctx, d, applicationQuerySQLite, id)
	}
	err := d.Prepared(ctx, applicationQuery, id).Scan(&c.ID, &c.Name, &c.SecretHash, &c.LastUsedAt, &c.Roles, &c.Rules)
	return c, err
}

// setting reads a setting into target, which keeps its value when the setting
// was never written.
func (store) setting(ctx context.Context, idb bun.IDB, key string, target any) error {
	var text string
	err := idb.NewRaw("SELECT value FROM settings WHERE key = ?", key).Scan(ctx, &text)
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), target)
	}
	if err != nil {
		return fmt.Errorf("read setting %s: %w", key, err)
	}
	return nil
}

func (store) putSetting(ctx context.Context, idb bun.IDB, key string, value any, now time.Time) error {
	text, err := json.Marshal(value)
	if err == nil {
		_, err = idb.NewRaw(`INSERT INTO settings (key, value, updated_at) VALUES (?, ?, ?)
			ON CONFLICT (key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at`, key, string(text), now).Exec(ctx)
	}
	if err != nil {
		return fmt.Errorf("store setting %s: %w", key, err)
	}
	return nil
}
