package knowledge

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
)

type memoryRow struct {
	bun.BaseModel `bun:"table:ai_memories,alias:m"`

	ID           string          `bun:"id,pk"`
	OwnerKind    string          `bun:"owner_kind"`
	OwnerID      string          `bun:"owner_id"`
	Scope        Scope           `bun:"scope"`
	SystemID     *string         `bun:"system_id"`
	RecallHint   string          `bun:"recall_hint"`
	Content      string          `bun:"content"`
	Tags         json.RawMessage `bun:"tags"`
	Terms        string          `bun:"terms"`
	AlwaysInject bool            `bun:"always_inject"`
	Version      int64           `bun:"version"`
	CreatedAt    time.Time       `bun:"created_at"`
	UpdatedAt    time.Time       `bun:"updated_at"`
}

func (r *memoryRow) memory() (Memory, error) {
	m := Memory{ID: r.ID, Owner: Owner{authz.Kind(r.OwnerKind), r.OwnerID}, Scope: r.Scope, RecallHint: r.RecallHint, Content: r.Content,
		AlwaysInject: r.AlwaysInject, Version: r.Version, CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if r.SystemID != nil {
		m.SystemID = *r.SystemID
	}
	if err := json.Unmarshal(r.Tags, &m.Tags); err != nil {
		return Memory{}, fmt.Errorf("read tags of memory %s: %w", r.ID, err)
	}
	return m, nil
}

func encodeMemory(m *Memory) (*memoryRow, error) {
	tags, err := json.Marshal(m.Tags)
	if err != nil {
		return nil, fmt.Errorf("write tags: %w", err)
	}
	r := &memoryRow{ID: m.ID, OwnerKind: string(m.Owner.Kind), OwnerID: m.Owner.ID, Scope: m.Scope, RecallHint: m.RecallHint, Content: m.Content,
		Tags: tags, Terms: termsColumn(m), AlwaysInject: m.AlwaysInject, Version: m.Version, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt}
	if m.SystemID != "" {
		r.SystemID = &m.SystemID
	}
	return r, nil
}

// termsColumn holds each word once, between spaces.
func termsColumn(m *Memory) string {
	all := count(append([]string{m.RecallHint, m.Content}, m.Tags...)...)
	list := make([]string, 0, len(all))
	for w := range all {
		list = append(list, w)
	}
	slices.Sort(list)
	return " " + strings.Join(list, " ") + " "
}

// store is the package's SQL. Every method runs in or out of a transaction.
type store struct{}

// memoryQuery selects memories of a caller: the own ones and, with systems,
// those of systems.
type memoryQuery struct {
	owner    Owner
	systems  bool
	systemID string
	terms    []string // at least one of them
	limit    int
}

// parts gives the conditions whose results together are the answer. Each has
// its index; joined by OR they would have none.
func (mq memoryQuery) parts() []func(*bun.SelectQuery) *bun.SelectQuery {
	var out []func(*bun.SelectQuery) *bun.SelectQuery
	if mq.systemID == "" {
		out = append(out, func(q *bun.SelectQuery) *bun.SelectQuery {
			return q.Where("m.owner_kind = ? AND m.owner_id = ? AND m.scope = ?", string(mq.owner.Kind), mq.owner.ID, ScopeUser)
		})
	}
	if mq.systems {
		out = append(out, func(q *bun.SelectQuery) *bun.SelectQuery {
			q = q.Where("m.scope = 'system'")
			if mq.systemID != "" {
				q = q.Where("m.system_id = ?", mq.systemID)
			}
			return q
		})
	}
	for i, where := range out {
		out[i] = func(q *bun.SelectQuery) *bun.SelectQuery { return mq.narrow(where(q)) }
	}
	return out
}

func (mq memoryQuery) narrow(q *bun.SelectQuery) *bun.SelectQuery {
	if len(mq.terms) > 0 {
		q = q.WhereGroup(" AND ", func(q *bun.SelectQuery) *bun.SelectQuery {
			for _, t := range mq.terms {
				// A word holds letters and digits only, so no wildcard.
				q = q.WhereOr("m.terms LIKE ?", "% "+t+" %")
			}
			return q
		})
	}
	return q
}

// alwaysQuery is memories for the caller of a turn, as one statement that is
// prepared: every message of a chat asks it.
const alwaysQuery = `SELECT * FROM (SELECT * FROM ai_memories WHERE owner_kind = ? AND owner_id = ? AND scope = 'user' AND always_inject
		ORDER BY updated_at DESC, id DESC LIMIT ?) AS own
	UNION ALL SELECT * FROM (SELECT * FROM ai_memories WHERE scope = 'system' AND always_inject AND ?
		ORDER BY updated_at DESC, id DESC LIMIT ?) AS shared
	ORDER BY updated_at DESC, id DESC LIMIT ?`

// always gives the memories that accompany a turn of owner, changed last first,
// those of systems only when systems is set.
func (store) always(ctx context.Context, d *db.DB, owner Owner, systems bool, limit int) ([]Memory, error) {
	var rows []memoryRow
	if err := d.ScanPrepared(ctx, d.Read, &rows, alwaysQuery, string(owner.Kind), owner.ID, limit, systems, limit, limit); err != nil {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	return decodeMemories(rows)
}

// memories gives the selected ones, changed last first.
func (store) memories(ctx context.Context, idb bun.IDB, mq memoryQuery) ([]Memory, error) {
	var all []memoryRow
	for _, where := range mq.parts() {
		var rows []memoryRow
		if err := where(idb.NewSelect().Model(&rows)).OrderExpr("m.updated_at DESC, m.id DESC").Limit(int64(mq.limit)).Scan(ctx); err != nil {
			return nil, fmt.Errorf("list memories: %w", err)
		}
		all = append(all, rows...)
	}
	slices.SortFunc(all, func(a, b memoryRow) int { return cmp.Or(b.UpdatedAt.Compare(a.UpdatedAt), cmp.Compare(b.ID, a.ID)) })
	return decodeMemories(all[:min(len(all), mq.limit)])
}

func decodeMemories(rows []memoryRow) ([]Memory, error) {
	out := make([]Memory, len(rows))
	for i := range rows {
		var err error
		if out[i], err = rows[i].memory(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (store) countMemories(ctx context.Context, idb bun.IDB, mq memoryQuery) (int, error) {
	total := 0
	for _, where := range mq.parts() {
		n, err := where(idb.NewSelect().Model((*memoryRow)(nil))).Count(ctx)
		if err != nil {
			return 0, fmt.Errorf("count memories: %w", err)
		}
		total += int(n)
	}
	return total, nil
}

func (store) memory(ctx context.Context, idb bun.IDB, id string) (Memory, error) {
	var r memoryRow
	if err := db.Found(idb.NewSelect().Model(&r).Where("m.id = ?", id).Scan(ctx), errNoMemory); err != nil {
		return Memory{}, err
	}
	return r.memory()
}

// neighbours gives the memories among which a draft may have a near-identical
// one: of the same system, or of the same owner.
func (store) neighbours(ctx context.Context, idb bun.IDB, owner Owner, d Draft) ([]Memory, error) {
	var rows []memoryRow
	q := idb.NewSelect().Model(&rows).Where("m.scope = ?", d.Scope)
	if d.Scope == ScopeSystem {
		q = q.Where("m.system_id = ?", d.SystemID)
	} else {
		q = q.Where("m.owner_kind = ? AND m.owner_id = ?", string(owner.Kind), owner.ID)
	}
	if err := q.OrderExpr("m.updated_at DESC, m.id DESC").Limit(maxOwned).Scan(ctx); err != nil {
		return nil, fmt.Errorf("list memories: %w", err)
	}
	return decodeMemories(rows)
}

// countBeside counts the memories that share m's limit.
func (store) countBeside(ctx context.Context, idb bun.IDB, m *Memory) (int, error) {
	q := idb.NewSelect().Model((*memoryRow)(nil)).Where("m.scope = ?", m.Scope)
	if m.Scope == ScopeSystem {
		q = q.Where("m.system_id = ?", m.SystemID)
	} else {
		q = q.Where("m.owner_kind = ? AND m.owner_id = ?", string(m.Owner.Kind), m.Owner.ID)
	}
	n, err := q.Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count memories: %w", err)
	}
	return int(n), nil
}

func (store) insertMemory(ctx context.Context, idb bun.IDB, m *Memory) error {
	row, err := encodeMemory(m)
	if err != nil {
		return err
	}
	_, err = idb.NewInsert().Model(row).Exec(ctx)
	if db.IsForeignKey(err) {
		return errNoSystem
	}
	if err != nil {
		return fmt.Errorf("save memory: %w", err)
	}
	return nil
}

// updateMemory writes a memory that still has the version that was read.
func (store) updateMemory(ctx context.Context, idb bun.IDB, m *Memory, version int64) error {
	row, err := encodeMemory(m)
	if err != nil {
		return err
	}
	res, err := idb.NewUpdate().Model(row).Column("recall_hint", "content", "tags", "terms", "always_inject", "version", "updated_at").
		Where("id = ? AND version = ?", m.ID, version).Exec(ctx)
	return db.MustAffect(res, err, errMoved)
}

func (store) deleteMemory(ctx context.Context, idb bun.IDB, id string) error {
	res, err := idb.NewDelete().Model((*memoryRow)(nil)).Where("id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNoMemory)
}

func (store) deleteOwned(ctx context.Context, idb bun.IDB, owner Owner) error {
	_, err := idb.NewDelete().Model((*memoryRow)(nil)).Where("owner_kind = ? AND owner_id = ? AND scope = ?", string(owner.Kind), owner.ID, ScopeUser).Exec(ctx)
	if err != nil {
		return fmt.Errorf("delete memories: %w", err)
	}
	return nil
}
