package incident

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/event"
)

// The durable events of incidents, spec/monitoring.md 1.7.
var (
	CreatedTopic  = event.NewTopic[CreatedEvent]("incident.created")
	UpdatedTopic  = event.NewTopic[UpdatedEvent]("incident.updated")
	ResolvedTopic = event.NewTopic[ResolvedEvent]("incident.resolved")
)

// CreatedEvent says that an incident was opened.
type CreatedEvent struct {
	IncidentID  string    `json:"incidentId"`
	SystemIDs   []string  `json:"systemIds"`
	Title       string    `json:"title"`
	Description *string   `json:"description,omitempty"`
	Severity    Severity  `json:"severity"`
	Status      Status    `json:"status"`
	CreatedAt   time.Time `json:"createdAt"`
}

// UpdatedEvent says that an incident was edited or got an update.
type UpdatedEvent struct {
	IncidentID  string   `json:"incidentId"`
	SystemIDs   []string `json:"systemIds"`
	Title       string   `json:"title"`
	Description *string  `json:"description,omitempty"`
	Severity    Severity `json:"severity"`
	Status      Status   `json:"status"`
	// StatusChange is the new status, when it is another one than before.
	StatusChange Status `json:"statusChange,omitempty"`
	// PreviousStatus is the one before, when there is a StatusChange: with it a
	// subscriber tells a reopening from a step forward.
	PreviousStatus Status `json:"previousStatus,omitempty"`
	// UpdateID names the update of the timeline, and Audience says whom it is
	// for; both empty for an edit.
	UpdateID string   `json:"updateId,omitempty"`
	Audience Audience `json:"audience,omitempty"`
}

// ResolvedEvent says that an incident is over.
type ResolvedEvent struct {
	IncidentID string    `json:"incidentId"`
	SystemIDs  []string  `json:"systemIds"`
	Title      string    `json:"title"`
	Severity   Severity  `json:"severity"`
	ResolvedAt time.Time `json:"resolvedAt"`
	// UpdateID names the update of the timeline that says so; empty for an edit.
	UpdateID string `json:"updateId,omitempty"`
}

func (s *Service) publishCreated(ctx context.Context, tx bun.Tx, in Incident) error {
	return event.Publish(ctx, s.bus, tx, CreatedTopic, CreatedEvent{IncidentID: in.ID, SystemIDs: in.SystemIDs, Title: in.Title,
		Description: in.Description, Severity: in.Severity, Status: in.Status, CreatedAt: in.CreatedAt})
}

// publishUpdated announces an edit (u is empty) or an update, with the
// resolution that it may be.
func (s *Service) publishUpdated(ctx context.Context, tx bun.Tx, before Status, in Incident, u Update) error {
	e := UpdatedEvent{IncidentID: in.ID, SystemIDs: in.SystemIDs, Title: in.Title,
		Description: in.Description, Severity: in.Severity, Status: in.Status, UpdateID: u.ID, Audience: u.Audience}
	if before != in.Status {
		e.StatusChange, e.PreviousStatus = in.Status, before
	}
	if err := event.Publish(ctx, s.bus, tx, UpdatedTopic, e); err != nil {
		return err
	}
	if e.StatusChange == Resolved {
		return s.publishResolved(ctx, tx, in, u.ID)
	}
	return nil
}

func (s *Service) publishResolved(ctx context.Context, tx bun.Tx, in Incident, updateID string) error {
	return event.Publish(ctx, s.bus, tx, ResolvedTopic, ResolvedEvent{IncidentID: in.ID, SystemIDs: in.SystemIDs, Title: in.Title,
		Severity: in.Severity, ResolvedAt: in.ResolvedAt, UpdateID: updateID})
}

// What a signal says happened.
const (
	created  = "created"
	updated  = "updated"
	resolved = "resolved"
	deleted  = "deleted"
)

// signal tells browsers of a change. A signal must fit into a PostgreSQL
// notification, which a hundred system ids do.
func (s *Service) signal(ctx context.Context, in Incident, action string) {
	s.signals.Publish(ctx, event.Signal{ID: "incident.updated", PluginID: "incident", Rule: Read.ID,
		Payload: map[string]any{"incidentId": in.ID, "systemIds": in.SystemIDs, "action": action}})
}
