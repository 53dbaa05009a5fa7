package catalog

import "github.com/checkstack/checkstack/internal/event"

// SystemDeleted says that a system is gone; spec/monitoring.md 1.7. Rows that
// refer to it by foreign key went in the same transaction.
var SystemDeleted = event.NewTopic[SystemDeletedPayload]("catalog.system.deleted")

// SystemDeletedPayload names the system as it was called last.
type SystemDeletedPayload struct {
	SystemID   string `json:"systemId"`
	SystemName string `json:"systemName,omitempty"`
}

// GroupDeleted says that a group is gone; its systems stay.
var GroupDeleted = event.NewTopic[GroupDeletedPayload]("catalog.group.deleted")

// GroupDeletedPayload names the group as it was called last.
type GroupDeletedPayload struct {
	GroupID   string `json:"groupId"`
	GroupName string `json:"groupName,omitempty"`
}
