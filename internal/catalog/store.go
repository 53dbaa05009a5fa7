package catalog

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
)

var (
	errSystemNotFound = problem.NotFound("System not found")
	errGroupNotFound  = problem.NotFound("Group not found")
	errLinkNotFound   = problem.NotFound("Link not found")
	errMoved          = problem.Conflict("This was changed by someone else in the meantime. Reload it and apply your change again.").Because(problem.ErrMoved)
)

type systemRow struct {
	bun.BaseModel `bun:"table:systems"`

	ID          string          `bun:"id,pk"`
	Name        string          `bun:"name"`
	Description *string         `bun:"description"`
	Metadata    json.RawMessage `bun:"metadata"`
	Version     int64           `bun:"version"`
	CreatedAt   time.Time       `bun:"created_at"`
	UpdatedAt   time.Time       `bun:"updated_at"`
}

type groupRow struct {
	bun.BaseModel `bun:"table:system_groups"`

	ID          string          `bun:"id,pk"`
	Name        string          `bun:"name"`
	Description *string         `bun:"description"`
	Metadata    json.RawMessage `bun:"metadata"`
	Version     int64           `bun:"version"`
	CreatedAt   time.Time       `bun:"created_at"`
	UpdatedAt   time.Time       `bun:"updated_at"`
}

type linkRow struct {
	bun.BaseModel `bun:"table:system_links"`

	ID        string    `bun:"id,pk"`
	SystemID  string    `bun:"system_id"`
	Label     string    `bun:"label"`
	URL       string    `bun:"url"`
	CreatedAt time.Time `bun:"created_at"`
}

type memberRow struct {
	bun.BaseModel `bun:"table:system_group_members"`

	GroupID  string `bun:"group_id,pk"`
	SystemID string `bun:"system_id,pk"`
}

func (r *systemRow) system() System {
	return System{ID: r.ID, Name: r.Name, Description: r.Description, Metadata: readMetadata(r.Metadata), Links: []Link{}, GroupIDs: []string{},
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
}

func (r *groupRow) group() Group {
	return Group{ID: r.ID, Name: r.Name, Description: r.Description, Metadata: readMetadata(r.Metadata), SystemIDs: []string{},
		Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
}

// store is the catalog's SQL. Every method runs in or out of a transaction.
type store struct{}

// systems reads systems by name, optionally only those whose name or
// description contains a text, or only the given ids.
func (store) systems(ctx context.Context, idb bun.IDB, text string, ids []string) ([]System, error) {
	var rows []systemRow
	q := idb.NewSelect().Model(&rows).OrderExpr("lower(name), id")
	if text != "" {
		like := db.LikePattern(text)
		q = q.Where("(lower(name) LIKE ? ESCAPE '!' OR lower(coalesce(description, '')) LIKE ? ESCAPE '!')", like, like)
	}
	if ids != nil {
		if len(ids) == 0 {
			return nil, nil
		}
		q = q.Where("id IN (?)", bun.List(ids))
	}
	if err := q.Scan(ctx); err != nil {
		return nil, fmt.Errorf("list systems: %w", err)
	}
	only := func(q *bun.SelectQuery, column string) *bun.SelectQuery {
		if ids != nil {
			return q.Where("? IN (?)", bun.Ident(column), bun.List(ids))
		}
		return q
	}
	var links []linkRow
	if err := only(idb.NewSelect().Model(&links), "system_id").OrderExpr("created_at, id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	var members []memberRow
	if err := only(idb.NewSelect().Model(&members), "system_id").OrderExpr("group_id").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list memberships: %w", err)
	}
	out := make([]System, len(rows))
	at := make(map[string]*System, len(rows))
	for i, r := range rows {
		out[i] = r.system()
		at[r.ID] = &out[i]
	}
	for _, l := range links {
		if s := at[l.SystemID]; s != nil {
			s.Links = append(s.Links, Link{ID: l.ID, SystemID: l.SystemID, Label: l.Label, URL: l.URL})
		}
	}
	for _, m := range members {
		if s := at[m.SystemID]; s != nil {
			s.GroupIDs = append(s.GroupIDs, m.GroupID)
		}
	}
	return out, nil
}

func (st store) system(ctx context.Context, idb bun.IDB, id string) (System, error) {
	list, err := st.systems(ctx, idb, "", []string{id})
	if err != nil {
		return System{}, err
	}
	if len(list) == 0 {
		return System{}, errSystemNotFound
	}
	return list[0], nil
}

func (store) groups(ctx context.Context, d *db.DB, idb bun.IDB, id, systemID string) ([]Group, error) {
	var rows []groupRow
	query, args := "SELECT id, name, description, metadata, version, created_at, updated_at FROM system_groups", []any(nil)
	switch {
	case id != "":
		query, args = query+" WHERE id = ?", []any{id}
	case systemID != "":
		query, args = query+" WHERE id IN (SELECT group_id FROM system_group_members WHERE system_id = ?)", []any{systemID}
	}
	if err := d.ScanPrepared(ctx, idb, &rows, query+" ORDER BY lower(name), id", args...); err != nil {
		return nil, fmt.Errorf("list groups: %w", err)
	}
	if len(rows) == 0 {
		return []Group{}, nil
	}
	var members []memberRow
	if err := d.ScanPrepared(ctx, idb, &members, "SELECT group_id, system_id FROM system_group_members ORDER BY group_id, system_id"); err != nil {
		return nil, fmt.Errorf("list memberships: %w", err)
	}
	out := make([]Group, len(rows))
	at := make(map[string]*Group, len(rows))
	for i, r := range rows {
		out[i] = r.group()
		at[r.ID] = &out[i]
	}
	for _, m := range members {
		if g := at[m.GroupID]; g != nil {
			g.SystemIDs = append(g.SystemIDs, m.SystemID)
		}
	}
	return out, nil
}

func (st store) group(ctx context.Context, d *db.DB, idb bun.IDB, id string) (Group, error) {
	list, err := st.groups(ctx, d, idb, id, "")
	if err != nil {
		return Group{}, err
	}
	if len(list) == 0 {
		return Group{}, errGroupNotFound
	}
	return list[0], nil
}

// revisionShards is how many counters the revision is spread over.
const revisionShards = 16

func (store) raiseRevision(ctx context.Context, tx bun.Tx) error {
	_, err := tx.NewRaw("UPDATE catalog_revisions SET n = n + 1 WHERE shard = ?", rand.IntN(revisionShards)).Exec(ctx)
	if err != nil {
		return fmt.Errorf("raise catalog revision: %w", err)
	}
	return nil
}

func (store) revision(ctx context.Context, idb bun.IDB) (int64, error) {
	var n int64
	if err := idb.NewRaw("SELECT CAST(sum(n) AS BIGINT) FROM catalog_revisions").Scan(ctx, &n); err != nil {
		return 0, fmt.Errorf("read catalog revision: %w", err)
	}
	return n, nil
}

func readMetadata(raw json.RawMessage) map[string]any {
	m := map[string]any{}
	_ = json.Unmarshal(raw, &m) // written by writeMetadata only
	return m
}

func writeMetadata(m map[string]any) json.RawMessage {
	raw, err := json.Marshal(m)
	if err != nil || m == nil {
		return json.RawMessage("{}")
	}
	return raw
}

// update writes the common fields of a row in table if it still has the
// version that was read, and says so when it has not.
func (store) update(ctx context.Context, idb bun.IDB, table, id string, version int64, f Fields, now time.Time) error {
	res, err := idb.NewRaw("UPDATE ? SET name = ?, description = ?, metadata = ?, version = version + 1, updated_at = ? WHERE id = ? AND version = ?",
		bun.Ident(table), f.Name, f.Description, writeMetadata(f.Metadata), now, id, version).Exec(ctx)
	return db.MustAffect(res, err, errMoved)
}

// remove deletes a row of table and gives the name it had.
func (store) remove(ctx context.Context, idb bun.IDB, table, id string, notFound error) (string, error) {
	var name string
	err := idb.NewRaw("DELETE FROM ? WHERE id = ? RETURNING name", bun.Ident(table), id).Scan(ctx, &name)
	if errors.Is(err, sql.ErrNoRows) {
		return "", notFound
	}
	if err != nil {
		return "", fmt.Errorf("delete from %s: %w", table, err)
	}
	return name, nil
}
