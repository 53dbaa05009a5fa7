package healthcheck

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
)

// OverrideSet is everything that one source says about the health of systems,
// such as an incident that declares them down.
type OverrideSet struct {
	// Source is the plugin that speaks, SourceID the thing it speaks about.
	Source, SourceID string
	// Title names that thing for people.
	Title string
	// Status is Degraded or Unhealthy; empty lifts what the source said before.
	Status Status
	// SystemIDs are the systems it is said of; empty lifts it, too.
	SystemIDs []string
}

// Override is what one source says about one system.
type Override struct {
	Source, SourceID, Title string
	Status                  Status
	// Since is when the source began to say so.
	Since time.Time
}

// String says it for people, spec/monitoring.md 8.3.
func (o Override) String() string {
	text := strings.ToUpper(string(o.Status[:1])) + string(o.Status[1:]) + " - forced by " + o.Source
	if o.Title != "" {
		text += ": " + o.Title
	}
	return text
}

type overrideRow struct {
	Source, SourceID, SystemID, Title string
	Status                            Status
	SinceMs                           int64
}

func (r overrideRow) override() Override {
	return Override{r.Source, r.SourceID, r.Title, r.Status, ofMs(r.SinceMs)}
}

// SetOverrides replaces what a source says, within the transaction that makes
// it so, and brings the affected systems in line. It can only worsen a system:
// the status is the worst of its checks and of what is said. Browsers are told
// when the transaction commits.
//
// Several sources may speak about one system, and recorders change it at the
// same time; all of them lock the rows of systems in the order of their ids and
// compute afterwards. So call it once per transaction. The caller sees to it
// that calls for one source do not cross.
func (s *Service) SetOverrides(ctx context.Context, tx bun.Tx, o OverrideSet) error {
	if o.Source == "" || o.SourceID == "" {
		return errors.New("override health: the source has no name")
	}
	var ids []string
	switch o.Status {
	case "":
	case Degraded, Unhealthy:
		ids = slices.Compact(slices.Sorted(slices.Values(o.SystemIDs)))
	default:
		return fmt.Errorf("override health: %q is not a status that can be forced", o.Status)
	}
	var present []overrideRow
	if err := tx.NewRaw("SELECT * FROM health_check_overrides WHERE source = ? AND source_id = ? ORDER BY system_id",
		o.Source, o.SourceID).Scan(ctx, &present); err != nil {
		return fmt.Errorf("read health overrides: %w", err)
	}
	was := make(map[string]overrideRow, len(present))
	touched := map[string]string{}
	var gone []string
	for _, r := range present {
		was[r.SystemID] = r
		if _, stays := slices.BinarySearch(ids, r.SystemID); !stays {
			gone = append(gone, r.SystemID)
			touched[r.SystemID] = ""
		}
	}
	now := s.now()
	var put, fresh []string
	for _, id := range ids {
		r, said := was[id]
		if said && r.Status == o.Status && r.Title == o.Title {
			continue
		}
		put = append(put, id)
		if !said || r.Status != o.Status {
			touched[id] = ""
		}
		if !said {
			fresh = append(fresh, id)
		}
	}
	if len(gone)+len(put) == 0 {
		return nil
	}
	if err := writeOverrides(ctx, tx, o, gone, put, fresh, now); err != nil {
		return err
	}
	changes, err := s.rollUp(ctx, tx, touched, now)
	if err != nil {
		return err
	}
	db.AfterCommit(ctx, func() {
		s.signals.changed(ctx)
		s.signals.statuses(ctx, changes)
	})
	return nil
}

// writeOverrides deletes what is gone and writes what is said of put; fresh are
// those of put that the source did not speak of before.
func writeOverrides(ctx context.Context, tx bun.Tx, o OverrideSet, gone, put, fresh []string, now time.Time) error {
	if len(gone) > 0 {
		if _, err := tx.NewRaw("DELETE FROM health_check_overrides WHERE source = ? AND source_id = ? AND system_id IN (?)",
			o.Source, o.SourceID, bun.List(gone)).Exec(ctx); err != nil {
			return fmt.Errorf("lift health overrides: %w", err)
		}
	}
	if len(put) > 0 {
		v := newValues()
		for _, id := range put {
			v.add(o.Source, o.SourceID, id, o.Title, o.Status, now.UnixMilli())
		}
		_, err := tx.NewRaw("INSERT INTO health_check_overrides (source, source_id, system_id, title, status, since_ms) VALUES "+v.text()+`
			ON CONFLICT (source, source_id, system_id) DO UPDATE SET title = excluded.title, status = excluded.status,
				since_ms = CASE WHEN health_check_overrides.status = excluded.status THEN health_check_overrides.since_ms ELSE excluded.since_ms END`,
			v.args...).Exec(ctx)
		switch {
		case db.IsForeignKey(err):
			return errNoSystem
		case err != nil:
			return fmt.Errorf("write health overrides: %w", err)
		}
	}
	if len(fresh) > 0 { // a system without checks has no rollup yet
		v := newValues()
		for _, id := range fresh {
			v.add(id, Unknown, 0)
		}
		if _, err := tx.NewRaw("INSERT INTO health_check_systems (system_id, status, since_ms) VALUES "+v.text()+
			" ON CONFLICT (system_id) DO NOTHING", v.args...).Exec(ctx); err != nil {
			return fmt.Errorf("write rollup of systems: %w", err)
		}
	}
	return nil
}

// overrides gives what is said about systems, the worst first and then the
// oldest; nil ids mean all systems.
func (s *Service) overrides(ctx context.Context, ids []string) (map[string][]Override, error) {
	var rows []overrideRow
	q := s.db.Read.NewSelect().Table("health_check_overrides")
	if ids != nil {
		if len(ids) == 0 {
			return nil, nil
		}
		q = q.Where("system_id IN (?)", bun.List(ids))
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read health overrides: %w", err)
	}
	slices.SortFunc(rows, func(a, b overrideRow) int {
		return cmp.Or(severity(b.Status)-severity(a.Status), cmp.Compare(a.SinceMs, b.SinceMs),
			strings.Compare(a.Source, b.Source), strings.Compare(a.SourceID, b.SourceID))
	})
	out := map[string][]Override{}
	for _, r := range rows {
		out[r.SystemID] = append(out[r.SystemID], r.override())
	}
	return out, nil
}

// visible is the override as the principal in ctx may see it: who may not read
// the source learns that it forces a status, not what it is about.
func (s *Service) visible(ctx context.Context, o Override) Override {
	if rule, ok := s.overrideRules[o.Source]; !ok || !authz.From(ctx).Has(rule) {
		o.SourceID, o.Title = "", ""
	}
	return o
}
