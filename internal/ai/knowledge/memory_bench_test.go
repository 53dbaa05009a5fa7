package knowledge_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/knowledge"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/db/dbtest"
)

// BenchmarkMemories reads what every turn reads, and searches, in an
// installation that remembers a lot: 40,000 memories of 2,000 people and 10,000
// about 500 systems.
func BenchmarkMemories(b *testing.B) {
	dbtest.EachB(b, func(b *testing.B, d *db.DB) {
		svc, err := knowledge.New(deps(d))
		if err != nil {
			b.Fatal(err)
		}
		at := time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)
		err = d.Tx(b.Context(), func(ctx context.Context, tx bun.Tx) error {
			for i := range 500 {
				if _, err := tx.NewRaw("INSERT INTO systems (id, name, metadata, version, created_at, updated_at) VALUES (?, ?, '{}', 1, ?, ?)",
					fmt.Sprintf("s%d", i), fmt.Sprintf("S%d", i), at, at).Exec(ctx); err != nil {
					return err
				}
			}
			for i := range 50000 {
				scope, owner, system := "user", fmt.Sprintf("u%d", i%2000), any(nil)
				if i%5 == 0 {
					scope, system = "system", fmt.Sprintf("s%d", i%500)
				}
				hint := fmt.Sprintf("word%d topic%d", i%977, i%31)
				if _, err := tx.NewRaw(`INSERT INTO ai_memories (id, owner_kind, owner_id, scope, system_id, recall_hint, content, tags, terms, always_inject, version, created_at, updated_at)
					VALUES (?, 'user', ?, ?, ?, ?, 'content', '[]', ?, ?, 1, ?, ?)`, fmt.Sprintf("m%06d", i), owner, scope, system, hint, " content "+hint+" ",
					i%20 == 1 || i%2000 == 0, at, at.Add(time.Duration(i)*time.Second)).Exec(ctx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		if d.Postgres() {
			if _, err := d.Write.ExecContext(b.Context(), "ANALYZE"); err != nil {
				b.Fatal(err)
			}
		}
		who := person("u1", defaults...)
		ctx := authz.With(b.Context(), who)
		b.Run("turn", func(b *testing.B) {
			for b.Loop() {
				if text, err := svc.MemoryPrompt(ctx); err != nil || text == "" {
					b.Fatal(text, err)
				}
			}
		})
		b.Run("search", func(b *testing.B) {
			for b.Loop() {
				if list, err := svc.Search(ctx, who, "topic7 word100", 10); err != nil || len(list) == 0 {
					b.Fatal(list, err)
				}
			}
		})
	})
}
