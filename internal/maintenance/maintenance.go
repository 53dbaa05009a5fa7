package maintenance

import (
	"fmt"
	"slices"
	"time"

	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/db"
	"github.com/checkstack/checkstack/internal/problem"
	"github.com/checkstack/checkstack/internal/text"
)

// Status is where a maintenance stands; doc.go draws the ways between them.
type Status string

// The statuses, spec/monitoring.md 9.1.
const (
	Scheduled  Status = "scheduled"
	InProgress Status = "in_progress"
	Completed  Status = "completed"
	Cancelled  Status = "cancelled"
)

// Open says that the maintenance is still to come or running.
func (s Status) Open() bool { return s == Scheduled || s == InProgress }

// words gives the status as people write it.
func (s Status) words() string {
	if s == InProgress {
		return "in progress"
	}
	return string(s)
}

// may says why a maintenance cannot go from s to next; nil when it can. To stay
// where it is is no change and always fine.
func (s Status) may(next Status) error {
	switch {
	case s == next:
		return nil
	case !s.Open():
		return problem.Conflict("This maintenance is %s and cannot become %s; plan a new one instead", s.words(), next.words())
	case next == Scheduled:
		return problem.Conflict("This maintenance has started and cannot become scheduled again; cancel or complete it and plan a new one")
	}
	return nil
}

// codeClosed is the code of a close that comes too late.
const codeClosed = "ALREADY_CLOSED"

// closed refuses to close what is over.
func (s Status) closed() error {
	return problem.Conflict("This maintenance is already %s. Add an update to say more about it.", s.words()).WithCode(codeClosed)
}

// Audience says who may read an update.
type Audience string

// The audiences, each a part of the one before.
const (
	Everyone Audience = "public"    // everyone who may see the maintenance
	SignedIn Audience = "logged-in" // those of them who have signed in
	Internal Audience = "internal"  // those who manage maintenances
)

// readableBy says whether p may read what is written for the audience.
func (a Audience) readableBy(p authz.Principal) bool {
	switch a {
	case Everyone:
		return true
	case SignedIn:
		return !p.IsGuest()
	}
	return canManage(p)
}

func canManage(p authz.Principal) bool { return p.Has(Manage.ID) }

// Maintenance is one planned window.
type Maintenance struct {
	ID string
	Fields
	Status Status
	// StartedAt and EndedAt are when it really began and was over, which is not
	// when it was planned if the product was off or somebody was faster.
	StartedAt, EndedAt *time.Time
	// SeriesID names the series that made it, Key its local date there.
	SeriesID, Key *string
	// Detached says that somebody changed this occurrence by hand, so changes of
	// the series pass it over.
	Detached  bool
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Fields are what an operator decides about a maintenance.
type Fields struct {
	Title       string
	Description *string
	StartAt     time.Time
	EndAt       time.Time
	// SuppressNotifications keeps health notifications about the systems from
	// being sent while the maintenance is in progress.
	SuppressNotifications bool
	SystemIDs             []string
}

// Update is an entry of a maintenance's timeline.
type Update struct {
	ID            string
	MaintenanceID string
	Message       string
	StatusChange  *Status
	Audience      Audience
	CreatedAt     time.Time
	// AuthorID is the person or application who wrote it; empty when the clock
	// did.
	AuthorID string
	// AuthorName is filled in for who may see it.
	AuthorName string
}

// Link is a labelled address that belongs to a maintenance.
type Link struct {
	ID            string
	MaintenanceID string
	Label         string
	URL           string
}

// Detail is a maintenance with all that hangs on it, as far as its reader may
// see it.
type Detail struct {
	Maintenance
	Updates []Update
	Links   []Link
	Series  *Series
}

// The limits of what an operator may write; texts in characters.
const (
	maxTitle       = 200
	maxDescription = 10_000
	maxMessage     = 10_000
	maxLabel       = 100
	maxURL         = 2_000
	maxLinks       = 50
	maxSystems     = 100
	maxBulk        = 100
	maxUpdates     = 1_000
)

const (
	// maxLength is the longest window. A list finds what overlaps a span of time
	// by looking back no further than this.
	maxLength = 366 * 24 * time.Hour
	// maxYears is how far from now a window may begin: far enough for every
	// plan, near enough to catch a slip in the year.
	maxYears = 10
)

const endAfterStart = "End date must be after start date"

// check gives every fault of the fields, whose texts it brings to their plain
// form. before is what they were, nil for a new maintenance; times that did not
// change are not judged again.
func (f *Fields) check(before *Fields, now time.Time) []problem.Issue {
	f.Title = text.Clean(f.Title)
	issues := text.Line("title", f.Title, maxTitle)
	if f.Description != nil {
		d := text.Clean(*f.Description)
		f.Description = &d
		if text.Blank(d) {
			f.Description = nil
		} else {
			issues = append(issues, text.Block("description", d, maxDescription)...)
		}
	}
	f.StartAt, f.EndAt = db.Time(f.StartAt), db.Time(f.EndAt)
	if before == nil || !f.StartAt.Equal(before.StartAt) || !f.EndAt.Equal(before.EndAt) {
		issues = append(issues, checkTimes(f.StartAt, f.EndAt, now)...)
	}
	if before == nil || !slices.Equal(f.SystemIDs, before.SystemIDs) {
		issues = append(issues, f.checkSystems()...)
	}
	return issues
}

func checkTimes(start, end, now time.Time) []problem.Issue {
	var issues []problem.Issue
	if start.Before(now.AddDate(-maxYears, 0, 0)) || start.After(now.AddDate(maxYears, 0, 0)) {
		issues = append(issues, problem.Issue{Path: "startAt", Message: fmt.Sprintf("must be within %d years of now", maxYears)})
	}
	switch {
	case !end.After(start):
		issues = append(issues, problem.Issue{Path: "endAt", Message: endAfterStart})
	case end.Sub(start) > maxLength:
		issues = append(issues, problem.Issue{Path: "endAt", Message: fmt.Sprintf("must be at most %d days after the start", int(maxLength.Hours()/24))})
	}
	return issues
}

// checkSystems also drops what is named twice.
func (f *Fields) checkSystems() []problem.Issue {
	seen := make(map[string]bool, len(f.SystemIDs))
	ids := make([]string, 0, len(f.SystemIDs))
	for _, id := range f.SystemIDs {
		if !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	f.SystemIDs = ids
	switch {
	case len(ids) == 0:
		return []problem.Issue{{Path: "systemIds", Message: "At least one system is required"}}
	case len(ids) > maxSystems:
		return []problem.Issue{{Path: "systemIds", Message: fmt.Sprintf("must name at most %d systems", maxSystems)}}
	}
	return nil
}

// checkMoves says which times may no longer change once the window has begun.
func (m *Maintenance) checkMoves(f Fields) []problem.Issue {
	var issues []problem.Issue
	if m.Status != Scheduled && !f.StartAt.Equal(m.StartAt) {
		issues = append(issues, problem.Issue{Path: "startAt", Message: "The start cannot be changed: this maintenance " + m.Status.sentence()})
	}
	if !m.Status.Open() && !f.EndAt.Equal(m.EndAt) {
		issues = append(issues, problem.Issue{Path: "endAt", Message: "The end cannot be changed: this maintenance " + m.Status.sentence()})
	}
	return issues
}

func (s Status) sentence() string {
	switch s {
	case InProgress:
		return "has started"
	case Completed:
		return "is completed"
	}
	return "is cancelled"
}

// due gives when the clock moves a maintenance of that status next.
func (f *Fields) due(s Status) *time.Time {
	switch s {
	case Scheduled:
		return &f.StartAt
	case InProgress:
		return &f.EndAt
	}
	return nil
}

func equalFields(a, b Fields) bool {
	return a.Title == b.Title && equalText(a.Description, b.Description) && a.StartAt.Equal(b.StartAt) && a.EndAt.Equal(b.EndAt) &&
		a.SuppressNotifications == b.SuppressNotifications && slices.Equal(slices.Sorted(slices.Values(a.SystemIDs)), slices.Sorted(slices.Values(b.SystemIDs)))
}

func equalText(a, b *string) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

// check gives every fault of the link and brings it to its plain form.
func (l *Link) check() []problem.Issue {
	l.Label, l.URL = text.Clean(l.Label), text.Clean(l.URL)
	return append(text.Line("label", l.Label, maxLabel), text.Address("url", l.URL, maxURL)...)
}

// checkMessage gives the message in its plain form, or what is wrong with it.
func checkMessage(message string) (string, []problem.Issue) {
	message = text.Clean(message)
	if text.Blank(message) {
		return message, []problem.Issue{{Path: "message", Message: "Message is required"}}
	}
	return message, text.Block("message", message, maxMessage)
}
