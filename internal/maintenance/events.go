package maintenance

import (
	"time"

	"github.com/checkstack/checkstack/internal/event"
)

// The actions of an event and of the signal maintenance.updated.
const (
	ActionCreated = "created"
	ActionUpdated = "updated"
	// ActionClosed says that it is over: completed, cancelled or (signal only)
	// deleted.
	ActionClosed = "closed"
)

// CreatedTopic is published for every maintenance that a person plans, and for the
// first occurrence of a series; SeriesID tells that it repeats. The occurrences
// that follow are not announced one by one: a daily series would tell ninety
// times what was told once.
var CreatedTopic = event.NewTopic[CreatedEvent]("maintenance.created")

// UpdatedTopic is published for every change of a maintenance, by whom or what ever,
// but not for its deletion; spec/monitoring.md 9.4.
var UpdatedTopic = event.NewTopic[UpdatedEvent]("maintenance.updated")

// CreatedEvent says that a maintenance was planned.
type CreatedEvent struct {
	MaintenanceID string    `json:"maintenanceId"`
	SystemIDs     []string  `json:"systemIds"`
	Title         string    `json:"title"`
	Description   *string   `json:"description,omitempty"`
	Status        Status    `json:"status"`
	StartAt       time.Time `json:"startAt"`
	EndAt         time.Time `json:"endAt"`
	SeriesID      *string   `json:"seriesId,omitempty"`
}

// UpdatedEvent says that a maintenance was edited, moved on or got an update.
type UpdatedEvent struct {
	CreatedEvent
	Action string `json:"action"`
	// StatusChange is the status this change led to; absent when it stayed, as
	// with plain edits, which notify nobody.
	StatusChange Status `json:"statusChange,omitempty"`
	// PreviousStatus is the one before, when there is a StatusChange.
	PreviousStatus Status `json:"previousStatus,omitempty"`
	// UpdateID names the update of the timeline that came with the change, and
	// Audience says whom it is for; both empty for an edit.
	UpdateID string   `json:"updateId,omitempty"`
	Audience Audience `json:"audience,omitempty"`
}

// updatedSignal tells browsers what to read again.
type updatedSignal struct {
	MaintenanceID string   `json:"maintenanceId"`
	SystemIDs     []string `json:"systemIds"`
	Action        string   `json:"action"`
}
