package incident

import (
	"time"

	"github.com/checkstack/checkstack/internal/operation"
)

// View is an incident in an API answer.
type View struct {
	ID                    string       `json:"id" format:"uuid"`
	Title                 string       `json:"title"`
	Description           *string      `json:"description" nullable:"true" doc:"Markdown"`
	Status                string       `json:"status" enum:"investigating,identified,fixing,monitoring,resolved" doc:"Every status but resolved is active"`
	Severity              string       `json:"severity" enum:"minor,major,critical"`
	SuppressNotifications bool         `json:"suppressNotifications" doc:"While active, nobody is told about changes of the systems' health"`
	Override              *string      `json:"override" nullable:"true" enum:"degraded,unhealthy" doc:"While active, the health of the systems is at best this"`
	SystemIDs             []string     `json:"systemIds" doc:"Systems concerned that still exist"`
	Systems               []SystemView `json:"systems" doc:"The same with their names; empty for callers who may not see systems"`
	CreatedAt             time.Time    `json:"createdAt"`
	UpdatedAt             time.Time    `json:"updatedAt"`
	ResolvedAt            *time.Time   `json:"resolvedAt" nullable:"true" doc:"Set while the status is resolved"`
	Version               int64        `json:"version" doc:"Rises with every change of the incident's own fields; pass it to an update to be refused when someone else was faster"`
}

// SystemView names a system of an incident.
type SystemView struct {
	ID   string `json:"id" format:"uuid"`
	Name string `json:"name"`
}

// DetailView is an incident with its timeline and links.
type DetailView struct {
	View
	Updates []UpdateView `json:"updates" doc:"Those that are for the caller, oldest first"`
	Links   []LinkView   `json:"links"`
}

// UpdateView is an entry of the timeline.
type UpdateView struct {
	ID            string    `json:"id" format:"uuid"`
	Message       string    `json:"message" doc:"Markdown"`
	StatusChange  *string   `json:"statusChange" nullable:"true" enum:"investigating,identified,fixing,monitoring,resolved" doc:"The status that the incident got with this update"`
	Audience      string    `json:"audience" enum:"public,logged-in,internal"`
	CreatedAt     time.Time `json:"createdAt"`
	CreatedBy     *string   `json:"createdBy" nullable:"true" doc:"Id of the person or application; only for callers who manage incidents"`
	CreatedByName *string   `json:"createdByName" nullable:"true" doc:"Null as well when the author was deleted"`
}

// LinkView is a link in an API answer.
type LinkView struct {
	ID    string `json:"id" format:"uuid"`
	Label string `json:"label"`
	URL   string `json:"url"`
}

// RefView is an incident to mention in a text.
type RefView struct {
	ID     string `json:"id" format:"uuid"`
	Title  string `json:"title"`
	Active bool   `json:"active"`
}

// ListInput filters incidents.
type ListInput struct {
	Status          string `json:"status,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"Only this status; it beats includeResolved"`
	Severity        string `json:"severity,omitempty" enum:"minor,major,critical"`
	SystemID        string `json:"systemId,omitempty" format:"uuid" doc:"Only incidents of this system. An id, never a name."`
	Query           string `json:"query,omitempty" maxLength:"200" doc:"Only incidents whose title contains this text, whatever its case"`
	IncludeResolved bool   `json:"includeResolved,omitempty" doc:"Resolved ones as well"`
	Limit           int    `json:"limit,omitempty" default:"50" minimum:"1" maximum:"100"`
	Cursor          string `json:"cursor,omitempty" maxLength:"100" doc:"nextCursor of the page before"`
}

// ListOutput is a page of incidents.
type ListOutput struct {
	Incidents   []View  `json:"incidents" doc:"Newest first"`
	NextCursor  *string `json:"nextCursor" nullable:"true" doc:"Null on the last page"`
	ActiveCount int     `json:"activeCount" doc:"All active incidents, whatever the filter"`
}

// IDInput names an incident.
type IDInput struct {
	ID string `json:"id" format:"uuid" doc:"Id of the incident"`
}

// SystemIDInput names a system.
type SystemIDInput struct {
	SystemID string `json:"systemId" format:"uuid" doc:"Id of the system"`
}

// SystemIDsInput names systems.
type SystemIDsInput struct {
	SystemIDs []string `json:"systemIds" maxItems:"500" format:"uuid"`
}

// IDsInput names incidents.
type IDsInput struct {
	IncidentIDs []string `json:"incidentIds" maxItems:"100" format:"uuid"`
}

// OfSystemOutput lists incidents.
type OfSystemOutput struct {
	Incidents []View `json:"incidents"`
}

// BySystemOutput lists incidents by system.
type BySystemOutput struct {
	Incidents map[string][]View `json:"incidents" doc:"By the id of the system; of each the newest 50"`
}

// UpdatesOutput lists updates by incident.
type UpdatesOutput struct {
	Updates map[string][]UpdateView `json:"updates" doc:"By the id of the incident, oldest first; of each the newest 50 that are for the caller"`
}

// CreateInput describes a new incident.
type CreateInput struct {
	Title                 string   `json:"title" minLength:"1" maxLength:"200" doc:"What is wrong, in one line"`
	Description           *string  `json:"description,omitempty" maxLength:"10000" doc:"Markdown"`
	Severity              string   `json:"severity" enum:"minor,major,critical"`
	SuppressNotifications bool     `json:"suppressNotifications,omitempty" doc:"While active, tell nobody about changes of the systems' health"`
	SystemIDs             []string `json:"systemIds" maxItems:"100" doc:"Systems concerned, at least one. Ids, never names."`
	Override              *string  `json:"override,omitempty" enum:"degraded,unhealthy" doc:"While active, show the systems' health as at best this, whatever their checks say"`
	InitialMessage        string   `json:"initialMessage,omitempty" maxLength:"10000" doc:"First update of the timeline, for everyone"`
}

// UpdateInput changes an incident; what is left out stays.
type UpdateInput struct {
	ID                    string                  `json:"id" format:"uuid"`
	Version               int64                   `json:"version,omitempty" minimum:"1" doc:"The version this change was made against; the update is refused when it has moved"`
	Title                 *string                 `json:"title,omitempty" minLength:"1" maxLength:"200"`
	Description           operation.Patch[string] `json:"description,omitzero" required:"false" doc:"null clears it"`
	Status                *string                 `json:"status,omitempty" enum:"investigating,identified,fixing,monitoring,resolved"`
	Severity              *string                 `json:"severity,omitempty" enum:"minor,major,critical"`
	SuppressNotifications *bool                   `json:"suppressNotifications,omitempty"`
	SystemIDs             []string                `json:"systemIds,omitzero" required:"false" maxItems:"100" doc:"Replaces the systems concerned"`
	Override              operation.Patch[string] `json:"override,omitzero" required:"false" enum:"degraded,unhealthy" doc:"null clears it"`
}

// AddUpdateInput is a new entry of the timeline.
type AddUpdateInput struct {
	IncidentID   string `json:"incidentId" format:"uuid"`
	Message      string `json:"message" maxLength:"10000" doc:"Markdown"`
	StatusChange string `json:"statusChange,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"New status of the incident"`
	Audience     string `json:"audience,omitempty" default:"public" enum:"public,logged-in,internal" doc:"Who sees it: everyone who may read incidents, of those who is signed in, or who manages incidents"`
	FromStatus   string `json:"fromStatus,omitempty" enum:"investigating,identified,fixing,monitoring,resolved" doc:"The status that the change was decided in; the update is refused when it has moved"`
}

// ResolveInput ends an incident.
type ResolveInput struct {
	ID      string `json:"id" format:"uuid"`
	Message string `json:"message,omitempty" maxLength:"10000" doc:"Last update, for everyone; \"Incident resolved\" when left out"`
}

// AddLinkInput describes a new link.
type AddLinkInput struct {
	IncidentID string `json:"incidentId" format:"uuid"`
	Label      string `json:"label" minLength:"1" maxLength:"100"`
	URL        string `json:"url" minLength:"1" maxLength:"2000" doc:"http or https address"`
}

// RemoveLinkInput names a link of an incident.
type RemoveLinkInput struct {
	IncidentID string `json:"incidentId" format:"uuid"`
	ID         string `json:"id" format:"uuid" doc:"Id of the link"`
}

// BulkInput names incidents to act on.
type BulkInput struct {
	IDs []string `json:"ids" minItems:"1" maxItems:"100" format:"uuid"`
}

// BulkOutput says what became of each incident, in the order asked.
type BulkOutput struct {
	Results []BulkResult `json:"results"`
}

// BulkResult is the outcome for one incident.
type BulkResult struct {
	ID      string  `json:"id"`
	Status  string  `json:"status" enum:"resolved,deleted,skipped,not_found,failed" doc:"skipped: it was resolved already"`
	Message *string `json:"message,omitempty" doc:"Why it was not done"`
}

// RefIDsInput names what a text mentions.
type RefIDsInput struct {
	IDs []string `json:"ids" maxItems:"200"`
}

// RefsOutput gives what the caller may read of it.
type RefsOutput struct {
	Readable []RefView `json:"readable"`
}

// SearchRefsInput is what was typed into the picker of mentions.
type SearchRefsInput struct {
	Query string `json:"query,omitempty" maxLength:"200"`
	Limit int    `json:"limit,omitempty" default:"10" minimum:"1" maximum:"20"`
}

// SearchRefsOutput gives incidents to mention, best first.
type SearchRefsOutput struct {
	Items []RefView `json:"items"`
}

// Success is the answer of a change that has nothing to show.
type Success struct {
	Success bool `json:"success"`
}
