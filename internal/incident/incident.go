package incident

import (
	"fmt"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Status says how far the work on an incident is.
type Status string

// The statuses. All but Resolved are active.
const (
	Investigating Status = "investigating"
	Identified    Status = "identified"
	Fixing        Status = "fixing"
	Monitoring    Status = "monitoring"
	Resolved      Status = "resolved"
)

// Active says that the incident is not over.
func (s Status) Active() bool { return s != Resolved }

// Severity says how bad an incident is.
type Severity string

// The severities.
const (
	Minor    Severity = "minor"
	Major    Severity = "major"
	Critical Severity = "critical"
)

// Health is what an override makes the health of the systems at least.
type Health string

// The overrides. Healthy is none: an override can only worsen.
const (
	NoOverride Health = ""
	Degraded   Health = "degraded"
	Unhealthy  Health = "unhealthy"
)

// Audience says whom an update is for.
type Audience string

// The audiences.
const (
	Everyone Audience = "public"    // everyone who may read incidents
	SignedIn Audience = "logged-in" // of those, who is signed in
	Internal Audience = "internal"  // who manages incidents
)

// Incident is one incident without its updates and links.
type Incident struct {
	ID string
	Fields
	// Systems are those concerned that still exist, by name.
	Systems   []System
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
	// ResolvedAt is zero while the incident is active.
	ResolvedAt time.Time
}

// System is a system of the catalog, as far as an incident shows it.
type System struct{ ID, Name string }

// Fields are what an operator writes.
type Fields struct {
	Title                 string
	Description           *string
	Status                Status
	Severity              Severity
	SuppressNotifications bool
	Override              Health
	// SystemIDs are the systems concerned.
	SystemIDs []string
}

// Update is an entry of an incident's timeline.
type Update struct {
	ID         string
	IncidentID string
	Message    string
	// StatusChange is the status that the incident got with this update; empty
	// when it kept its own.
	StatusChange Status
	Audience     Audience
	// AuthorID is the person or application who wrote it.
	AuthorID  string
	CreatedAt time.Time
}

// Link is a labelled address that belongs to an incident, such as the call in
// which it is worked on.
type Link struct {
	ID         string
	IncidentID string
	Label      string
	URL        string
}

// The limits of what an operator may write, texts in characters.
const (
	maxTitle   = 200
	maxText    = 10_000 // a description, a message
	maxSystems = 100
	maxUpdates = 1_000
	maxLabel   = 100
	maxURL     = 2_000
	maxLinks   = 50
)

// check gives every fault of what the fields say by themselves, and brings them
// to the form in which they are stored.
func (f *Fields) check() []problem.Issue {
	f.Title = text.Clean(f.Title)
	issues := text.Line("title", f.Title, maxTitle)
	if f.Description != nil {
		d := text.Clean(*f.Description)
		issues = append(issues, text.Block("description", d, maxText)...)
		f.Description = &d
		if d == "" {
			f.Description = nil
		}
	}
	return issues
}

// checkSystems gives every fault of the systems asked for, given the names of
// those that exist, and drops what is named twice.
func (f *Fields) checkSystems(names map[string]string) []problem.Issue {
	if len(f.SystemIDs) == 0 {
		return []problem.Issue{{Path: "systemIds", Message: "At least one system is required"}}
	}
	var issues []problem.Issue
	seen := make(map[string]bool, len(f.SystemIDs))
	unique := make([]string, 0, len(f.SystemIDs))
	for i, id := range f.SystemIDs {
		if _, exists := names[id]; !exists {
			issues = append(issues, problem.Issue{Path: fmt.Sprintf("systemIds[%d]", i), Message: "is not a system; it may have been deleted"})
		}
		if !seen[id] {
			seen[id] = true
			unique = append(unique, id)
		}
	}
	if len(unique) > maxSystems {
		issues = append(issues, problem.Issue{Path: "systemIds", Message: fmt.Sprintf("must have at most %d systems", maxSystems)})
	}
	f.SystemIDs = unique
	return issues
}

// checkMessage cleans the message of an update and gives its faults.
func checkMessage(path string, message *string) []problem.Issue {
	*message = text.Clean(*message)
	if text.Blank(*message) {
		return []problem.Issue{{Path: path, Message: "Message is required"}}
	}
	return text.Block(path, *message, maxText)
}

// check gives every fault of the link and brings it to its plain form.
func (l *Link) check() []problem.Issue {
	l.Label, l.URL = text.Clean(l.Label), text.Clean(l.URL)
	return append(text.Line("label", l.Label, maxLabel), text.Address("url", l.URL, maxURL)...)
}
