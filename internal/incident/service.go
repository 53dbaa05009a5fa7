package incident

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/operation"
	"github.com/checkstack/checkstack/internal/problem"
)

// signals tells browsers what changed.
type signals interface {
	Publish(ctx context.Context, s event.Signal)
}

// systems is what this package asks of the catalog.
type systems interface {
	// SystemNames gives the names of those of the ids that exist.
	SystemNames(ctx context.Context, ids []string) (map[string]string, error)
}

// health is what this package asks of whoever knows the health of systems.
type health interface {
	// SetOverride makes o the one override of its incident, within tx.
	SetOverride(ctx context.Context, tx bun.Tx, o Override) error
}

// authors is what this package asks of whoever knows people and applications.
type authors interface {
	// Names gives the names of those of the people and applications that exist.
	Names(ctx context.Context, ids []string) (map[string]string, error)
}

// Override says that the health of systems is at best Level, because of an
// incident; NoOverride lifts it.
type Override struct {
	IncidentID string
	Title      string
	Level      Health
	SystemIDs  []string
}

// override is what health should know of the incident now.
func (in Incident) override() Override {
	o := Override{IncidentID: in.ID, Title: in.Title, SystemIDs: in.SystemIDs}
	if in.Status.Active() && len(in.SystemIDs) > 0 {
		o.Level = in.Override
	}
	return o
}

// Deps are the parts a Service is made of.
type Deps struct {
	DB      *db.DB
	Bus     *event.Bus
	Signals signals
	Systems systems
	Health  health
	Authors authors
	Log     *slog.Logger
}

// Service holds the use cases of incidents.
type Service struct {
	db      *db.DB
	bus     *event.Bus
	store   store
	signals signals
	systems systems
	health  health
	authors authors
	log     *slog.Logger
	now     func() time.Time
}

// New makes the service.
func New(d Deps) *Service {
	return &Service{db: d.DB, bus: d.Bus, signals: d.Signals, systems: d.Systems, health: d.Health, authors: d.Authors, log: d.Log, now: time.Now}
}

func (s *Service) clock() time.Time { return db.Time(s.now()) }

// newID gives an id that sorts after those given before: lists are ordered by
// it.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// change runs fn on the present incident in a transaction that no other change
// of it runs beside, then tells browsers of the action that fn names; an empty
// one means that nothing changed.
func (s *Service) change(ctx context.Context, id string, fn func(ctx context.Context, tx bun.Tx, cur Incident) (after Incident, action string, err error)) (Incident, error) {
	var after Incident
	var action string
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.db.LockKey(ctx, tx, "incident."+id); err != nil {
			return err
		}
		if err := s.store.keepSystems(ctx, tx, id, s.db.KeyShare()); err != nil {
			return err
		}
		cur, err := s.store.incident(ctx, tx, id)
		if err != nil {
			return err
		}
		after, action, err = fn(ctx, tx, cur)
		return err
	})
	if err != nil {
		return Incident{}, err
	}
	if action != "" {
		s.signal(ctx, after, action)
	}
	return after, nil
}

// setHealth tells health what changed for it between two states of an incident.
func (s *Service) setHealth(ctx context.Context, tx bun.Tx, before, after Override) error {
	if before.Level == after.Level && (after.Level == NoOverride || (before.Title == after.Title && slices.Equal(before.SystemIDs, after.SystemIDs))) {
		return nil
	}
	if err := s.health.SetOverride(ctx, tx, after); err != nil {
		return fmt.Errorf("health override: %w", err)
	}
	return nil
}

// NewIncident is an incident to open. Its status is Investigating.
type NewIncident struct {
	Fields
	// InitialMessage, if not empty, becomes the first update, for everyone.
	InitialMessage string
}

// prepare checks a new incident and gives it with the names of its systems.
func (s *Service) prepare(ctx context.Context, n NewIncident) (NewIncident, []System, error) {
	names, err := s.names(ctx, n.SystemIDs)
	if err != nil {
		return n, nil, err
	}
	n.Status = Investigating
	issues := append(n.check(), n.checkSystems(names)...)
	if n.InitialMessage != "" {
		issues = append(issues, checkMessage("initialMessage", &n.InitialMessage)...)
	}
	return n, systemsByName(n.SystemIDs, names), problem.InputIssues(issues)
}

// names looks up the systems among ids that exist.
func (s *Service) names(ctx context.Context, ids []string) (map[string]string, error) {
	return s.systems.SystemNames(ctx, slices.Concat([]string{}, ids)) // nil would mean all
}

// Create opens an incident.
func (s *Service) Create(ctx context.Context, n NewIncident) (Incident, error) {
	n, list, err := s.prepare(ctx, n)
	if err != nil {
		return Incident{}, err
	}
	now := s.clock()
	in := Incident{ID: newID(), Fields: n.Fields, Systems: list, Version: 1, CreatedAt: now, UpdatedAt: now}
	in.SystemIDs = idsOf(list)
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		if err := s.store.insert(ctx, tx, in); err != nil {
			return err
		}
		if n.InitialMessage != "" {
			u := Update{ID: newID(), IncidentID: in.ID, Message: n.InitialMessage, StatusChange: in.Status, Audience: Everyone, AuthorID: authz.From(ctx).ID, CreatedAt: now}
			if err := s.store.insertUpdate(ctx, tx, u); err != nil {
				return err
			}
		}
		if err := s.setHealth(ctx, tx, Override{}, in.override()); err != nil {
			return err
		}
		return s.publishCreated(ctx, tx, in)
	})
	if err != nil {
		return Incident{}, err
	}
	s.signal(ctx, in, created)
	return in, nil
}

// Edit is a change of an incident's own fields; what is nil or not set stays.
type Edit struct {
	// Version, if not zero, must be the present one.
	Version               int64
	Title                 *string
	Description           operation.Patch[string]
	Status                *Status
	Severity              *Severity
	SuppressNotifications *bool
	Override              operation.Patch[Health]
	// SystemIDs replace those concerned.
	SystemIDs []string
}

// apply gives the incident as it would be after the edit, checked. names are
// those of the systems among e.SystemIDs that exist.
func (e Edit) apply(in Incident, names map[string]string) (Incident, error) {
	if e.Version != 0 && e.Version != in.Version {
		return in, errMoved
	}
	set(&in.Title, e.Title)
	if e.Description.Set {
		in.Description = e.Description.Value
	}
	set(&in.Status, e.Status)
	set(&in.Severity, e.Severity)
	set(&in.SuppressNotifications, e.SuppressNotifications)
	if e.Override.Set {
		in.Override = NoOverride
		set(&in.Override, e.Override.Value)
	}
	issues := in.check()
	if e.SystemIDs != nil {
		in.SystemIDs = e.SystemIDs
		issues = append(issues, in.checkSystems(names)...)
		in.Systems = systemsByName(in.SystemIDs, names)
		in.SystemIDs = idsOf(in.Systems)
	}
	return in, problem.InputIssues(issues)
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// same says that two states of an incident show no difference.
func (f Fields) same(o Fields) bool {
	return f.Title == o.Title && equal(f.Description, o.Description) && f.Status == o.Status && f.Severity == o.Severity &&
		f.SuppressNotifications == o.SuppressNotifications && f.Override == o.Override && slices.Equal(f.SystemIDs, o.SystemIDs)
}

func equal(a, b *string) bool {
	return (a == nil) == (b == nil) && (a == nil || *a == *b)
}

// Update edits an incident. An edit that changes nothing leaves no trace.
func (s *Service) Update(ctx context.Context, id string, e Edit) (Incident, error) {
	names, err := s.names(ctx, e.SystemIDs)
	if err != nil {
		return Incident{}, err
	}
	return s.change(ctx, id, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		after, err := e.apply(cur, names)
		if err != nil || after.same(cur.Fields) {
			return cur, "", err
		}
		if after, err = s.save(ctx, tx, cur, after); err != nil {
			return cur, "", err
		}
		return after, updated, s.publishUpdated(ctx, tx, cur.Status, after, Update{})
	})
}

// save writes the new state of an incident's own fields.
func (s *Service) save(ctx context.Context, tx bun.Tx, cur, after Incident) (Incident, error) {
	after.Version, after.UpdatedAt = cur.Version+1, s.clock()
	switch {
	case after.Status.Active():
		after.ResolvedAt = time.Time{}
	case after.ResolvedAt.IsZero():
		after.ResolvedAt = after.UpdatedAt
	}
	if err := s.store.save(ctx, tx, cur, after); err != nil {
		return after, err
	}
	return after, s.setHealth(ctx, tx, cur.override(), after.override())
}

// AddUpdate adds to the timeline. A status that the incident has already is no
// change of status. from, if not empty, is the status in which the update was
// decided: when the incident has left it, the update is refused.
func (s *Service) AddUpdate(ctx context.Context, u Update, from Status) (Update, error) {
	if err := problem.InputIssues(checkMessage("message", &u.Message)); err != nil {
		return Update{}, err
	}
	_, err := s.change(ctx, u.IncidentID, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		if from != "" && from != cur.Status {
			return cur, "", errMoved
		}
		if u.StatusChange == cur.Status {
			u.StatusChange = ""
		}
		after := cur
		n, err := s.store.countUpdates(ctx, tx, cur.ID)
		switch {
		case err != nil:
			return cur, "", err
		case n >= maxUpdates && u.StatusChange == "": // its status may always move on
			return cur, "", problem.Conflict("An incident has at most %d updates that leave its status alone", maxUpdates)
		case u.StatusChange != "":
			after.Status = u.StatusChange
			if after, err = s.save(ctx, tx, cur, after); err != nil {
				return cur, "", err
			}
		}
		if after, err = s.append(ctx, tx, after, &u); err != nil {
			return cur, "", err
		}
		return after, updated, s.publishUpdated(ctx, tx, cur.Status, after, u)
	})
	return u, err
}

// append writes u to the timeline and completes it.
func (s *Service) append(ctx context.Context, tx bun.Tx, in Incident, u *Update) (Incident, error) {
	u.ID, u.IncidentID, u.AuthorID, u.CreatedAt = newID(), in.ID, authz.From(ctx).ID, s.clock()
	if u.Audience == "" {
		u.Audience = Everyone
	}
	in.UpdatedAt = u.CreatedAt
	if err := s.store.touch(ctx, tx, in.ID, in.UpdatedAt); err != nil {
		return in, err
	}
	return in, s.store.insertUpdate(ctx, tx, *u)
}

// defaultResolution is the message of a resolution that says nothing itself.
const defaultResolution = "Incident resolved"

// Resolve ends an incident with an update that says so. One that is resolved
// already is refused: nothing is written and nobody is told again.
func (s *Service) Resolve(ctx context.Context, id, message string) (Incident, error) {
	if message == "" {
		message = defaultResolution
	}
	if err := problem.InputIssues(checkMessage("message", &message)); err != nil {
		return Incident{}, err
	}
	return s.change(ctx, id, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		if !cur.Status.Active() {
			return cur, "", errResolved
		}
		after := cur
		after.Status = Resolved
		after, err := s.save(ctx, tx, cur, after)
		if err != nil {
			return cur, "", err
		}
		u := Update{Message: message, StatusChange: Resolved}
		if after, err = s.append(ctx, tx, after, &u); err != nil {
			return cur, "", err
		}
		return after, resolved, s.publishResolved(ctx, tx, after, u.ID)
	})
}

// Delete removes an incident with its updates and links.
func (s *Service) Delete(ctx context.Context, id string) error {
	_, err := s.change(ctx, id, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		lifted := cur.override()
		lifted.Level = NoOverride
		if err := s.setHealth(ctx, tx, cur.override(), lifted); err != nil {
			return cur, "", err
		}
		return cur, deleted, s.store.remove(ctx, tx, id)
	})
	return err
}

// AddLink gives an incident a link.
func (s *Service) AddLink(ctx context.Context, l Link) (Link, error) {
	if err := problem.InputIssues(l.check()); err != nil {
		return Link{}, err
	}
	l.ID = newID()
	_, err := s.change(ctx, l.IncidentID, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		n, err := s.store.countLinks(ctx, tx, cur.ID)
		if err != nil {
			return cur, "", err
		}
		if n >= maxLinks {
			return cur, "", problem.Conflict("An incident has at most %d links; remove one first", maxLinks)
		}
		return cur, updated, s.store.insertLink(ctx, tx, l, s.clock())
	})
	return l, err
}

// RemoveLink takes a link from its incident.
func (s *Service) RemoveLink(ctx context.Context, incidentID, id string) error {
	_, err := s.change(ctx, incidentID, func(ctx context.Context, tx bun.Tx, cur Incident) (Incident, string, error) {
		return cur, updated, s.store.removeLink(ctx, tx, incidentID, id)
	})
	return err
}
