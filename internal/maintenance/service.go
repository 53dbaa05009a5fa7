package maintenance

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/problem"
)

type signals interface {
	Publish(ctx context.Context, s event.Signal)
}

// systemNames knows which systems there are: nil ids mean all.
type systemNames interface {
	SystemNames(ctx context.Context, ids []string) (map[string]string, error)
}

// authors knows people and applications.
type authors interface {
	// Names gives the names of those of the ids that exist.
	Names(ctx context.Context, ids []string) (map[string]string, error)
}

// Service holds the use cases of maintenances.
type Service struct {
	db      *db.DB
	store   store
	systems systemNames
	authors authors
	signals signals
	bus     *event.Bus
	log     *slog.Logger
	now     func() time.Time

	// wake ends the pause of the clock's loop: something is due earlier.
	wake   chan struct{}
	cancel context.CancelFunc
	loop   sync.WaitGroup
}

// Deps are what the service works with.
type Deps struct {
	DB      *db.DB
	Systems systemNames
	Authors authors
	Signals signals
	Bus     *event.Bus
	Log     *slog.Logger
}

// New makes the service. It does no I/O; Start begins to move maintenances.
func New(d Deps) *Service {
	return &Service{db: d.DB, store: store{d.DB}, systems: d.Systems, authors: d.Authors, signals: d.Signals, bus: d.Bus, log: d.Log, now: time.Now,
		wake: make(chan struct{}, 1)}
}

func (s *Service) clock() time.Time { return db.Time(s.now()) }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// tell wakes the clock's loop and tells browsers, after the commit.
func (s *Service) tell(ctx context.Context, id string, systemIDs []string, action string) {
	select {
	case s.wake <- struct{}{}:
	default:
	}
	s.signals.Publish(ctx, event.Signal{ID: "maintenance.updated", PluginID: "maintenance", Rule: Read.ID,
		Payload: updatedSignal{MaintenanceID: id, SystemIDs: systemIDs, Action: action}})
}

// known checks that every system exists; base + the position names the others.
func (s *Service) known(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	names, err := s.systems.SystemNames(ctx, ids)
	if err != nil {
		return err
	}
	var issues []problem.Issue
	for i, id := range ids {
		if _, ok := names[id]; !ok {
			issues = append(issues, problem.Issue{Path: fmt.Sprintf("systemIds[%d]", i), Message: "is not a system; it may have been deleted"})
		}
	}
	return problem.InputIssues(issues)
}

// Create plans a maintenance, or with a recurrence a series, of which it gives
// the first occurrence.
func (s *Service) Create(ctx context.Context, f Fields, r *Recurrence) (Maintenance, error) {
	now := s.clock()
	sch, err := s.checkNew(ctx, &f, r, now)
	if err != nil {
		return Maintenance{}, err
	}
	if r != nil {
		return s.createSeries(ctx, f, sch, now)
	}
	out := Maintenance{}
	err = s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		m := &row{ID: newID(), Status: Scheduled, Version: 1, CreatedAt: now, UpdatedAt: now}
		m.set(f)
		m.plan()
		if _, err := tx.NewInsert().Model(m).Exec(ctx); err != nil {
			return fmt.Errorf("create maintenance: %w", err)
		}
		if err := insertSystems(ctx, tx, []string{m.ID}, f.SystemIDs); err != nil {
			return err
		}
		out = m.maintenance()
		out.SystemIDs = slices.Sorted(slices.Values(f.SystemIDs))
		return event.Publish(ctx, s.bus, tx, CreatedTopic, created(out))
	})
	if err != nil {
		return Maintenance{}, err
	}
	s.tell(ctx, out.ID, out.SystemIDs, ActionCreated)
	return out, nil
}

// checkNew judges a new maintenance or series without writing it.
func (s *Service) checkNew(ctx context.Context, f *Fields, r *Recurrence, now time.Time) (schedule, error) {
	issues := f.check(nil, now)
	var sch schedule
	if r != nil {
		var more []problem.Issue
		sch, more = newSchedule(*r, f.StartAt, f.EndAt, "recurrence.")
		if issues = append(issues, more...); len(issues) == 0 {
			issues = sch.check(now, "recurrence.")
		}
	}
	if err := problem.InputIssues(issues); err != nil {
		return sch, err
	}
	return sch, s.known(ctx, f.SystemIDs)
}

func created(m Maintenance) CreatedEvent {
	return CreatedEvent{MaintenanceID: m.ID, SystemIDs: m.SystemIDs, Title: m.Title, Description: m.Description, Status: m.Status,
		StartAt: m.StartAt, EndAt: m.EndAt, SeriesID: m.SeriesID}
}

// Edit is a change of a maintenance. Change gets the present fields and alters
// what it wants; Version, if not zero, must be the present one; Status, if not
// empty, is where it goes.
type Edit struct {
	Version int64
	Change  func(*Fields)
	Status  Status
}

// apply gives the changed fields, checked against what m is.
func (e Edit) apply(m Maintenance, now time.Time) (Fields, error) {
	if e.Version != 0 && e.Version != m.Version {
		return m.Fields, errMoved
	}
	f := m.Fields
	f.SystemIDs = slices.Clone(f.SystemIDs)
	if e.Change != nil {
		e.Change(&f)
	}
	issues := append(f.check(&m.Fields, now), m.checkMoves(f)...)
	if err := problem.InputIssues(issues); err != nil {
		return f, err
	}
	if e.Status != "" {
		return f, m.Status.may(e.Status)
	}
	return f, nil
}

// Update changes a maintenance. Nothing changed is nothing written.
func (s *Service) Update(ctx context.Context, id string, e Edit) (Maintenance, error) {
	now := s.clock()
	before, err := s.store.one(ctx, s.db.Read, id)
	if err != nil {
		return Maintenance{}, err
	}
	f, err := e.apply(before, now)
	if err != nil {
		return Maintenance{}, err
	}
	if added := without(f.SystemIDs, before.SystemIDs); len(added) > 0 {
		if err := s.known(ctx, f.SystemIDs); err != nil {
			return Maintenance{}, err
		}
	}
	return s.change(ctx, id, func(ctx context.Context, tx bun.Tx, w *work) error {
		f, err := e.apply(w.before, now) // again: it may have moved meanwhile
		if err != nil {
			return err
		}
		w.status(e.Status, updateText(e.Status), Everyone, caller(ctx))
		if equalFields(f, w.before.Fields) {
			return nil
		}
		w.edited()
		w.row.set(f)
		w.row.plan()
		w.row.Detached = w.row.SeriesID != nil
		if slices.Equal(f.SystemIDs, w.before.SystemIDs) {
			return nil
		}
		w.systemIDs = slices.Sorted(slices.Values(f.SystemIDs))
		if err := s.store.keepSystems(ctx, tx, f.SystemIDs, w.before.SystemIDs); err != nil {
			return err
		}
		return replaceSystems(ctx, tx, []string{id}, f.SystemIDs)
	})
}

func without(list, drop []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

// updateText is what the timeline says about a status that was changed by hand
// without a word.
func updateText(s Status) string {
	switch s {
	case InProgress:
		return "Maintenance started"
	case Completed:
		return "Maintenance completed early"
	case Cancelled:
		return "Maintenance cancelled"
	}
	return "Maintenance updated"
}

// clockwork is the author of what nobody wrote: the clock did it.
const clockwork = ""

func caller(ctx context.Context) string { return authz.From(ctx).ID }

// work is a change under way: the row under lock, and what is to be told.
type work struct {
	before    Maintenance
	row       *row
	systemIDs []string
	now       time.Time
	// touched is that something happened, changed that the row itself is another,
	// which raises its version. Updates and links leave the version alone.
	touched, changed bool
	updates          []*updateRow
}

func (w *work) edited() { w.touched, w.changed = true, true }

// say adds an update to the timeline.
func (w *work) say(message string, change *Status, a Audience, by string) *updateRow {
	u := &updateRow{ID: newID(), MaintenanceID: w.row.ID, Message: message, StatusChange: change, Audience: a, CreatedAt: w.now,
		AuthorID: optional(by)}
	w.updates = append(w.updates, u)
	w.touched = true
	return u
}

// status moves the row to a status, with the update that tells it. An empty
// status, or the present one, is no change.
func (w *work) status(next Status, message string, a Audience, by string) {
	if next == "" || next == w.row.Status {
		return
	}
	w.row.enter(next, w.now)
	w.edited()
	w.say(message, &next, a, by)
}

// change locks a maintenance, lets fn alter it, and then writes the row, the
// updates and the events, in one transaction; browsers are told after it.
func (s *Service) change(ctx context.Context, id string, fn func(ctx context.Context, tx bun.Tx, w *work) error) (Maintenance, error) {
	var out Maintenance
	var w *work
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		r, err := s.store.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		systems, err := s.store.systems(ctx, tx, []string{id})
		if err != nil {
			return err
		}
		w = &work{row: r, before: r.maintenance(), systemIDs: systems[id], now: s.clock()}
		if w.systemIDs == nil {
			w.systemIDs = []string{}
		}
		w.before.SystemIDs = w.systemIDs
		if err := fn(ctx, tx, w); err != nil {
			return err
		}
		if w.touched {
			if err := s.write(ctx, tx, w); err != nil {
				return err
			}
		}
		out = r.maintenance()
		out.SystemIDs = w.systemIDs
		return nil
	})
	if err != nil {
		return Maintenance{}, err
	}
	if w.touched {
		s.told(ctx, w)
	}
	return out, nil
}

func (s *Service) write(ctx context.Context, tx bun.Tx, w *work) error {
	if err := s.store.save(ctx, tx, w.row, w.changed, w.now); err != nil {
		return err
	}
	m := w.row.maintenance()
	m.SystemIDs = w.systemIDs
	p := UpdatedEvent{CreatedEvent: created(m), Action: ActionUpdated}
	if len(w.updates) == 0 && w.changed {
		return event.Publish(ctx, s.bus, tx, UpdatedTopic, p)
	}
	status := w.before.Status
	for _, u := range w.updates {
		if _, err := tx.NewInsert().Model(u).Exec(ctx); err != nil {
			return fmt.Errorf("add update: %w", err)
		}
		p.UpdateID, p.Audience, p.Action, p.StatusChange, p.PreviousStatus = u.ID, u.Audience, action(u.StatusChange), "", ""
		if u.StatusChange != nil {
			p.StatusChange, p.PreviousStatus = *u.StatusChange, status
			status = *u.StatusChange
		}
		p.Status = status
		if err := event.Publish(ctx, s.bus, tx, UpdatedTopic, p); err != nil {
			return err
		}
	}
	return nil
}

// action says what a change of status amounts to.
func action(change *Status) string {
	if change != nil && !change.Open() {
		return ActionClosed
	}
	return ActionUpdated
}

// told sends the signals of a committed change. Systems that were taken out are
// told about as well.
func (s *Service) told(ctx context.Context, w *work) {
	systems := append(slices.Clone(w.systemIDs), without(w.before.SystemIDs, w.systemIDs)...)
	if len(w.updates) == 0 {
		s.tell(ctx, w.row.ID, systems, ActionUpdated)
	}
	for _, u := range w.updates {
		s.tell(ctx, w.row.ID, systems, action(u.StatusChange))
	}
}

// NewUpdate is an entry to add to a timeline.
type NewUpdate struct {
	Message string
	// StatusChange is where the maintenance goes with it; empty stays.
	StatusChange Status
	// From, if not empty, must be the present status.
	From Status
	// Audience is Everyone when empty.
	Audience Audience
}

// AddUpdate adds to the timeline, and may change the status with it.
func (s *Service) AddUpdate(ctx context.Context, id string, u NewUpdate) (Update, error) {
	message, issues := checkMessage(u.Message)
	if err := problem.InputIssues(issues); err != nil {
		return Update{}, err
	}
	if u.Audience == "" {
		u.Audience = Everyone
	}
	var out Update
	_, err := s.change(ctx, id, func(ctx context.Context, tx bun.Tx, w *work) error {
		var n int
		if err := tx.NewRaw("SELECT count(*) FROM maintenance_updates WHERE maintenance_id = ?", id).Scan(ctx, &n); err != nil {
			return fmt.Errorf("count updates: %w", err)
		}
		if u.From != "" && u.From != w.row.Status {
			return errMoved
		}
		if n >= maxUpdates && (u.StatusChange == "" || u.StatusChange == w.row.Status) { // its status may always move on
			return problem.Conflict("A maintenance has at most %d updates that leave its status alone", maxUpdates)
		}
		var to *Status
		if next := u.StatusChange; next != "" && next != w.row.Status {
			if err := w.row.Status.may(next); err != nil {
				return err
			}
			w.row.enter(next, w.now)
			w.edited()
			to = &next
		}
		w.row.Detached = w.row.SeriesID != nil
		out = w.say(message, to, u.Audience, caller(ctx)).update()
		return nil
	})
	return out, err
}

// Close completes a maintenance before its end; message may be empty.
func (s *Service) Close(ctx context.Context, id, message string) (Maintenance, error) {
	if message == "" {
		message = updateText(Completed)
	}
	message, issues := checkMessage(message)
	if err := problem.InputIssues(issues); err != nil {
		return Maintenance{}, err
	}
	return s.change(ctx, id, func(ctx context.Context, _ bun.Tx, w *work) error {
		if !w.row.Status.Open() {
			return w.row.Status.closed()
		}
		w.status(Completed, message, Everyone, caller(ctx))
		return nil
	})
}

// Delete removes a maintenance. An occurrence of a series does not come back.
func (s *Service) Delete(ctx context.Context, id string) error {
	var systems []string
	err := s.db.Tx(ctx, func(ctx context.Context, tx bun.Tx) error {
		// The series is locked before its occurrence, as everywhere.
		seen, err := s.store.one(ctx, tx, id)
		if err != nil {
			return err
		}
		if seen.SeriesID != nil {
			if _, _, err := s.store.lockSeries(ctx, tx, *seen.SeriesID); err != nil && !problem.Is(err, problem.KindNotFound) {
				return err
			}
		}
		r, err := s.store.lock(ctx, tx, id)
		if err != nil {
			return err
		}
		all, err := s.store.systems(ctx, tx, []string{id})
		if err != nil {
			return err
		}
		systems = all[id]
		if r.SeriesID != nil && r.OccurrenceKey != nil {
			if err := exclude(ctx, tx, *r.SeriesID, *r.OccurrenceKey); err != nil {
				return err
			}
		}
		res, err := tx.NewDelete().Table("maintenances").Where("id = ?", id).Exec(ctx)
		return db.MustAffect(res, err, errNotFound)
	})
	if err != nil {
		return err
	}
	if systems == nil {
		systems = []string{}
	}
	s.tell(ctx, id, systems, ActionClosed)
	return nil
}

// AddLink gives a maintenance a link.
func (s *Service) AddLink(ctx context.Context, l Link) (Link, error) {
	if err := problem.InputIssues(l.check()); err != nil {
		return Link{}, err
	}
	l.ID = newID()
	_, err := s.change(ctx, l.MaintenanceID, func(ctx context.Context, tx bun.Tx, w *work) error {
		var n int
		if err := tx.NewRaw("SELECT count(*) FROM maintenance_links WHERE maintenance_id = ?", l.MaintenanceID).Scan(ctx, &n); err != nil {
			return fmt.Errorf("count links: %w", err)
		}
		if n >= maxLinks {
			return problem.Conflict("A maintenance has at most %d links; remove one first", maxLinks)
		}
		w.touched, w.row.Detached = true, w.row.SeriesID != nil
		_, err := tx.NewInsert().Model(&linkRow{ID: l.ID, MaintenanceID: l.MaintenanceID, Label: l.Label, URL: l.URL, CreatedAt: w.now}).Exec(ctx)
		return err
	})
	if err != nil {
		return Link{}, err
	}
	return l, nil
}

// RemoveLink takes a link from its maintenance.
func (s *Service) RemoveLink(ctx context.Context, id, linkID string) error {
	_, err := s.change(ctx, id, func(ctx context.Context, tx bun.Tx, w *work) error {
		w.touched, w.row.Detached = true, w.row.SeriesID != nil
		res, err := tx.NewDelete().Table("maintenance_links").Where("id = ? AND maintenance_id = ?", linkID, id).Exec(ctx)
		return db.MustAffect(res, err, errLinkNotFound)
	})
	return err
}

// The outcomes of one part of a bulk change.
const (
	OutcomeClosed   = "closed"
	OutcomeDeleted  = "deleted"
	OutcomeSkipped  = "skipped" // not eligible any more
	OutcomeNotFound = "not_found"
	OutcomeFailed   = "failed"
)

// Outcome is what became of one id of a bulk change.
type Outcome struct{ ID, Status, Message string }

// BulkClose completes what is still open among ids.
func (s *Service) BulkClose(ctx context.Context, ids []string) ([]Outcome, error) {
	return s.bulk(ctx, ids, OutcomeClosed, func(id string) error {
		_, err := s.Close(ctx, id, "")
		return err
	})
}

// BulkDelete removes what exists among ids.
func (s *Service) BulkDelete(ctx context.Context, ids []string) ([]Outcome, error) {
	return s.bulk(ctx, ids, OutcomeDeleted, func(id string) error { return s.Delete(ctx, id) })
}

// bulk does each in a transaction of its own: one that fails does not undo the
// others. What is named twice is done once.
func (s *Service) bulk(ctx context.Context, ids []string, done string, do func(id string) error) ([]Outcome, error) {
	out := make([]Outcome, 0, len(ids))
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := ctx.Err(); err != nil {
			return nil, err // nobody waits for the answer any more
		}
		o := Outcome{ID: id, Status: done}
		if err := do(id); err != nil {
			o.Status, o.Message = s.outcome(ctx, id, err)
		}
		out = append(out, o)
	}
	return out, nil
}

// outcome puts an error of one change into words for the caller; a fault of ours
// goes to the log.
func (s *Service) outcome(ctx context.Context, id string, err error) (status, message string) {
	p, ok := problem.As(err)
	switch {
	case !ok:
		s.log.ErrorContext(ctx, "bulk change of a maintenance failed", "maintenance_id", id, "error", err)
		return OutcomeFailed, "It could not be changed because of a fault of the server; try again."
	case p.Kind == problem.KindNotFound:
		return OutcomeNotFound, ""
	case p.Code() == codeClosed:
		return OutcomeSkipped, p.Message
	}
	return OutcomeFailed, p.Message
}
