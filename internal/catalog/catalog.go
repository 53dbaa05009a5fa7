package catalog

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/checkstack/checkstack/internal/problem"
)

// System is one watched unit: one logical service.
type System struct {
	ID          string
	Name        string
	Description *string
	// Metadata are free custom fields, readable in check templates as
	// system.metadata.<key>.
	Metadata  map[string]any
	Links     []Link
	GroupIDs  []string
	Version   int64
	CreatedAt time.Time
	UpdatedAt time.Time
}

// Link is a labelled address that belongs to a system, such as its runbook.
type Link struct {
	ID       string
	SystemID string
	Label    string
	URL      string
}

// Group is a flat label over systems.
type Group struct {
	ID          string
	Name        string
	Description *string
	Metadata    map[string]any
	SystemIDs   []string
	Version     int64
	CreatedAt   time.Time
	UpdatedAt   time.Time
}

// Fields are what systems and groups have in common.
type Fields struct {
	Name        string
	Description *string
	Metadata    map[string]any
}

// The limits of what an operator may write, in characters unless named
// otherwise.
const (
	maxName          = 200
	maxDescription   = 10_000
	maxMetadataKeys  = 100
	maxMetadataBytes = 32 << 10
	maxLabel         = 100
	maxURL           = 2_000
	maxLinks         = 50
)

// check gives every fault of the fields, with paths below base.
func (f *Fields) check(base string) []problem.Issue {
	f.Name = strings.TrimSpace(f.Name)
	issues := checkLine(base+"name", f.Name, maxName)
	if f.Description != nil {
		if d := strings.TrimSpace(*f.Description); d == "" {
			f.Description = nil
		} else if utf8.RuneCountInString(d) > maxDescription {
			issues = append(issues, problem.Issue{Path: base + "description", Message: fmt.Sprintf("must have at most %d characters", maxDescription)})
		} else {
			f.Description = &d
		}
	}
	if len(f.Metadata) > maxMetadataKeys {
		issues = append(issues, problem.Issue{Path: base + "metadata", Message: fmt.Sprintf("must have at most %d keys", maxMetadataKeys)})
	}
	for k := range f.Metadata {
		issues = append(issues, checkLine(base+"metadata", k, maxLabel)...)
	}
	if raw, err := json.Marshal(f.Metadata); err != nil || len(raw) > maxMetadataBytes {
		issues = append(issues, problem.Issue{Path: base + "metadata", Message: fmt.Sprintf("must be at most %d bytes of JSON", maxMetadataBytes)})
	}
	if f.Metadata == nil {
		f.Metadata = map[string]any{}
	}
	return issues
}

// checkLine checks a text of one line: not blank, bounded, and free of control
// characters and of the marks that reverse the direction of what follows.
func checkLine(path, text string, limit int) []problem.Issue {
	switch {
	case text == "":
		return []problem.Issue{{Path: path, Message: "must not be blank"}}
	case utf8.RuneCountInString(text) > limit:
		return []problem.Issue{{Path: path, Message: fmt.Sprintf("must have at most %d characters", limit)}}
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) || (r >= 0x202A && r <= 0x202E) || (r >= 0x2066 && r <= 0x2069)
	}):
		return []problem.Issue{{Path: path, Message: "must not contain control characters or direction overrides"}}
	}
	return nil
}

// check gives every fault of the link and brings it to its plain form.
func (l *Link) check() []problem.Issue {
	l.Label, l.URL = strings.TrimSpace(l.Label), strings.TrimSpace(l.URL)
	issues := checkLine("label", l.Label, maxLabel)
	u, err := url.Parse(l.URL)
	switch {
	case utf8.RuneCountInString(l.URL) > maxURL:
		issues = append(issues, problem.Issue{Path: "url", Message: fmt.Sprintf("must have at most %d characters", maxURL)})
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		issues = append(issues, problem.Issue{Path: "url", Message: "must be an http or https address, such as https://wiki.example.com/runbook"})
	case u.User != nil:
		issues = append(issues, problem.Issue{Path: "url", Message: "must not contain a user name or password"})
	}
	return issues
}
