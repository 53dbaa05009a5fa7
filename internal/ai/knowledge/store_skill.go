package knowledge

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
)

type skillRow struct {
	bun.BaseModel `bun:"table:ai_skills,alias:k"`

	ID             string          `bun:"id,pk"`
	OwnerID        string          `bun:"owner_id"`
	Name           string          `bun:"name"`
	Description    string          `bun:"description"`
	Targets        json.RawMessage `bun:"targets"`
	SystemPrompt   *string         `bun:"system_prompt"`
	PromptTemplate *string         `bun:"prompt_template"`
	OutputFields   json.RawMessage `bun:"suggested_output_fields"`
	Tags           json.RawMessage `bun:"tags"`
	Version        int64           `bun:"version"`
	CreatedAt      time.Time       `bun:"created_at"`
	UpdatedAt      time.Time       `bun:"updated_at"`
}

func (r *skillRow) skill() (Skill, error) {
	k := Skill{ID: r.ID, OwnerID: r.OwnerID, Name: r.Name, Description: r.Description, Source: SourceUser, Version: r.Version,
		CreatedAt: r.CreatedAt.UTC(), UpdatedAt: r.UpdatedAt.UTC()}
	if r.SystemPrompt != nil {
		k.SystemPrompt = *r.SystemPrompt
	}
	if r.PromptTemplate != nil {
		k.PromptTemplate = *r.PromptTemplate
	}
	for _, f := range []struct {
		raw  json.RawMessage
		into any
	}{{r.Targets, &k.Targets}, {r.OutputFields, &k.OutputFields}, {r.Tags, &k.Tags}} {
		if err := json.Unmarshal(f.raw, f.into); err != nil {
			return Skill{}, fmt.Errorf("read skill %s: %w", r.ID, err)
		}
	}
	return k, nil
}

func encodeSkill(k *Skill) (*skillRow, error) {
	r := &skillRow{ID: k.ID, OwnerID: k.OwnerID, Name: k.Name, Description: k.Description, Version: k.Version, CreatedAt: k.CreatedAt, UpdatedAt: k.UpdatedAt}
	if k.SystemPrompt != "" {
		r.SystemPrompt = &k.SystemPrompt
	}
	if k.PromptTemplate != "" {
		r.PromptTemplate = &k.PromptTemplate
	}
	if k.OutputFields == nil {
		k.OutputFields = []OutputField{}
	}
	for _, f := range []struct {
		from any
		into *json.RawMessage
	}{{k.Targets, &r.Targets}, {k.OutputFields, &r.OutputFields}, {k.Tags, &r.Tags}} {
		raw, err := json.Marshal(f.from)
		if err != nil {
			return nil, fmt.Errorf("write skill: %w", err)
		}
		*f.into = raw
	}
	return r, nil
}

func (store) skills(ctx context.Context, idb bun.IDB) ([]Skill, error) {
	var rows []skillRow
	if err := idb.NewSelect().Model(&rows).OrderExpr("k.updated_at DESC, k.id DESC").Scan(ctx); err != nil {
		return nil, fmt.Errorf("list skills: %w", err)
	}
	out := make([]Skill, len(rows))
	for i := range rows {
		var err error
		if out[i], err = rows[i].skill(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (store) skill(ctx context.Context, idb bun.IDB, id string) (Skill, error) {
	var r skillRow
	if err := db.Found(idb.NewSelect().Model(&r).Where("k.id = ?", id).Scan(ctx), errNoSkill); err != nil {
		return Skill{}, err
	}
	return r.skill()
}

func (store) countSkills(ctx context.Context, idb bun.IDB) (int, error) {
	n, err := idb.NewSelect().Model((*skillRow)(nil)).Count(ctx)
	if err != nil {
		return 0, fmt.Errorf("count skills: %w", err)
	}
	return int(n), nil
}

func (store) insertSkill(ctx context.Context, idb bun.IDB, k *Skill) error {
	row, err := encodeSkill(k)
	if err != nil {
		return err
	}
	if _, err := idb.NewInsert().Model(row).Exec(ctx); err != nil {
		return fmt.Errorf("create skill: %w", err)
	}
	return nil
}

func (store) updateSkill(ctx context.Context, idb bun.IDB, k *Skill, version int64) error {
	row, err := encodeSkill(k)
	if err != nil {
		return err
	}
	res, err := idb.NewUpdate().Model(row).ExcludeColumn("id", "owner_id", "created_at").Where("id = ? AND version = ?", k.ID, version).Exec(ctx)
	return db.MustAffect(res, err, errMoved)
}

func (store) deleteSkill(ctx context.Context, idb bun.IDB, id string) error {
	res, err := idb.NewDelete().Model((*skillRow)(nil)).Where("id = ?", id).Exec(ctx)
	return db.MustAffect(res, err, errNoSkill)
}
