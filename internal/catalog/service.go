package catalog

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/problem"
)

type signals interface {
	Publish(ctx context.Context, s event.Signal)
}

// Service holds the use cases of the catalog.
type Service struct {
	db      *db.DB
	store   store
	signals signals
	bus     *event.Bus
	log     *slog.Logger
	now     func() time.Time
	lists   lists
}

// New makes the service.
func New(d *db.DB, s signals, bus *event.Bus, log *slog.Logger) *Service {
	return &Service{db: d, signals: s, bus: bus, log: log, now: time.Now}
}

func (s *Service) clock() time.Time { return db.Time(s.now()) }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// change runs fn in a transaction that also raises the catalog's revision, then
// tells browsers. systemID is empty when a group changed.
func (s *Service) change(ctx context.Context, systemID string, fn func(ctx context.Context, tx bun.Tx) error) error {
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := fn(ctx, tx); err != nil {
			return err
		}
		return s.store.raiseRevision(ctx, tx)
	})
	if err != nil {
		return err
	}
	s.changed(ctx, systemID)
	return nil
}

// changed tells browsers; id is empty when a group changed.
func (s *Service) changed(ctx context.Context, systemID string) {
	s.signals.Publish(ctx, event.Signal{ID: "catalog.changed", PluginID: "catalog", Rule: SystemRead.ID,
		Payload: map[string]string{"systemId": systemID}})
}

// System gives one system.
func (s *Service) System(ctx context.Context, id string) (System, error) {
	return s.store.system(ctx, s.db.Read, id)
}

// SystemNames gives the names of the systems among ids that exist, by id; nil
// ids mean all systems.
func (s *Service) SystemNames(ctx context.Context, ids []string) (map[string]string, error) {
	var rows []struct{ ID, Name string }
	q := s.db.Read.NewSelect().Table("systems").Column("id", "name")
	if ids != nil {
		if len(ids) == 0 {
			return map[string]string{}, nil
		}
		q = q.Where("id IN (?)", bun.List(ids))
	}
	if err := q.Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("system names: %w", err)
	}
	out := make(map[string]string, len(rows))
	for _, r := range rows {
		out[r.ID] = r.Name
	}
	return out, nil
}

// SystemMetadata gives the custom fields of the systems among ids that exist.
func (s *Service) SystemMetadata(ctx context.Context, ids []string) (map[string]map[string]any, error) {
	out := make(map[string]map[string]any, len(ids))
	if len(ids) == 0 {
		return out, nil
	}
	var rows []systemRow
	if err := s.db.Read.NewSelect().Model(&rows).Column("id", "metadata").Where("id IN (?)", bun.List(ids)).Scan(ctx); err != nil {
		return nil, fmt.Errorf("system metadata: %w", err)
	}
	for _, r := range rows {
		out[r.ID] = readMetadata(r.Metadata)
	}
	return out, nil
}

// SystemIDsByName gives the systems of exactly that name, whatever its case.
func (s *Service) SystemIDsByName(ctx context.Context, name string) ([]string, error) {
	var ids []string
	if err := s.db.Read.NewRaw("SELECT id FROM systems WHERE lower(name) = lower(?) ORDER BY id", name).Scan(ctx, &ids); err != nil {
		return nil, fmt.Errorf("systems by name: %w", err)
	}
	return ids, nil
}

// CreateSystem adds a system.
func (s *Service) CreateSystem(ctx context.Context, f Fields) (System, error) {
	if err := problem.InputIssues(f.check("")); err != nil {
		return System{}, err
	}
	now := s.clock()
	row := &systemRow{ID: newID(), Name: f.Name, Description: f.Description, Metadata: writeMetadata(f.Metadata), Version: 1, CreatedAt: now, UpdatedAt: now}
	err := s.change(ctx, row.ID, func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
	if err != nil {
		return System{}, fmt.Errorf("create system: %w", err)
	}
	return row.system(), nil
}

// Edit is a change of a system or group. change gets the present fields and
// alters what it wants; version, if not zero, must be the present one.
type Edit struct {
	Version int64
	Change  func(*Fields)
}

// UpdateSystem changes a system.
func (s *Service) UpdateSystem(ctx context.Context, id string, e Edit) (System, error) {
	var out System
	err := s.change(ctx, id, func(ctx context.Context, tx bun.Tx) error {
		cur, err := s.store.system(ctx, tx, id)
		if err != nil {
			return err
		}
		f, err := e.apply(cur.Version, cur.Fields())
		if err != nil {
			return err
		}
		if err := s.store.update(ctx, tx, "systems", id, cur.Version, f, s.clock()); err != nil {
			return err
		}
		out, err = s.store.system(ctx, tx, id)
		return err
	})
	return out, err
}

// apply gives the changed fields, checked.
func (e Edit) apply(version int64, f Fields) (Fields, error) {
	if e.Version != 0 && e.Version != version {
		return f, errMoved
	}
	e.Change(&f)
	return f, problem.InputIssues(f.check("data."))
}

// Fields gives what an edit may change.
func (s System) Fields() Fields {
	return Fields{Name: s.Name, Description: s.Description, Metadata: s.Metadata}
}

// Fields gives what an edit may change.
func (g Group) Fields() Fields {
	return Fields{Name: g.Name, Description: g.Description, Metadata: g.Metadata}
}

// DeleteSystem removes a system and everything that hangs on it.
func (s *Service) DeleteSystem(ctx context.Context, id string) error {
	return s.change(ctx, id, func(ctx context.Context, tx bun.Tx) error {
		name, err := s.store.remove(ctx, tx, "systems", id, errSystemNotFound)
		if err != nil {
			return err
		}
		return event.Publish(ctx, s.bus, tx, SystemDeleted, SystemDeletedPayload{SystemID: id, SystemName: name})
	})
}

// AddLink gives a system a link.
func (s *Service) AddLink(ctx context.Context, l Link) (Link, error) {
	if err := problem.InputIssues(l.check()); err != nil {
		return Link{}, err
	}
	l.ID = newID()
	err := s.change(ctx, l.SystemID, func(ctx context.Context, tx bun.Tx) error {
		var n int
		if err := tx.NewRaw("SELECT count(*) FROM system_links WHERE system_id = ?", l.SystemID).Scan(ctx, &n); err != nil {
			return fmt.Errorf("add link: %w", err)
		}
		if n >= maxLinks {
			return problem.Conflict("A system has at most %d links; remove one first", maxLinks)
		}
		_, err := tx.NewInsert().Model(&linkRow{ID: l.ID, SystemID: l.SystemID, Label: l.Label, URL: l.URL, CreatedAt: s.clock()}).Exec(ctx)
		if db.IsForeignKey(err) {
			return errSystemNotFound
		}
		return err
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// RemoveLink takes a link from its system.
func (s *Service) RemoveLink(ctx context.Context, systemID, id string) error {
	return s.change(ctx, systemID, func(ctx context.Context, tx bun.Tx) error {
		res, err := tx.NewDelete().Table("system_links").Where("id = ? AND system_id = ?", id, systemID).Exec(ctx)
		return db.MustAffect(res, err, errLinkNotFound)
	})
}

// Groups lists groups by name; systemID, if not empty, keeps those it is in.
func (s *Service) Groups(ctx context.Context, systemID string) ([]Group, error) {
	return s.store.groups(ctx, s.db, s.db.Read, "", systemID)
}

// Group gives one group.
func (s *Service) Group(ctx context.Context, id string) (Group, error) {
	return s.store.group(ctx, s.db, s.db.Read, id)
}

// CreateGroup adds a group.
func (s *Service) CreateGroup(ctx context.Context, f Fields) (Group, error) {
	if err := problem.InputIssues(f.check("")); err != nil {
		return Group{}, err
	}
	now := s.clock()
	row := &groupRow{ID: newID(), Name: f.Name, Description: f.Description, Metadata: writeMetadata(f.Metadata), Version: 1, CreatedAt: now, UpdatedAt: now}
	err := s.change(ctx, "", func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.NewInsert().Model(row).Exec(ctx)
		return err
	})
	if err != nil {
		return Group{}, fmt.Errorf("create group: %w", err)
	}
	return row.group(), nil
}

// UpdateGroup changes a group.
func (s *Service) UpdateGroup(ctx context.Context, id string, e Edit) (Group, error) {
	var out Group
	err := s.change(ctx, "", func(ctx context.Context, tx bun.Tx) error {
		cur, err := s.store.group(ctx, s.db, tx, id)
		if err != nil {
			return err
		}
		f, err := e.apply(cur.Version, cur.Fields())
		if err != nil {
			return err
		}
		if err := s.store.update(ctx, tx, "system_groups", id, cur.Version, f, s.clock()); err != nil {
			return err
		}
		out, err = s.store.group(ctx, s.db, tx, id)
		return err
	})
	return out, err
}

// DeleteGroup removes a group; its systems stay.
func (s *Service) DeleteGroup(ctx context.Context, id string) error {
	return s.change(ctx, "", func(ctx context.Context, tx bun.Tx) error {
		name, err := s.store.remove(ctx, tx, "system_groups", id, errGroupNotFound)
		if err != nil {
			return err
		}
		return event.Publish(ctx, s.bus, tx, GroupDeleted, GroupDeletedPayload{GroupID: id, GroupName: name})
	})
}

// AddToGroup puts a system into a group; twice is the same as once.
func (s *Service) AddToGroup(ctx context.Context, groupID, systemID string) error {
	return s.change(ctx, systemID, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.store.group(ctx, s.db, tx, groupID); err != nil {
			return err
		}
		_, err := tx.NewInsert().Model(&memberRow{GroupID: groupID, SystemID: systemID}).On("CONFLICT DO NOTHING").Exec(ctx)
		if db.IsForeignKey(err) {
			return errSystemNotFound
		}
		return err
	})
}

// RemoveFromGroup takes a system out of a group; not being in it is no fault.
func (s *Service) RemoveFromGroup(ctx context.Context, groupID, systemID string) error {
	return s.change(ctx, systemID, func(ctx context.Context, tx bun.Tx) error {
		if _, err := s.store.group(ctx, s.db, tx, groupID); err != nil {
			return err
		}
		_, err := tx.NewDelete().Table("system_group_members").Where("group_id = ? AND system_id = ?", groupID, systemID).Exec(ctx)
		return err
	})
}
