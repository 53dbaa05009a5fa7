package app

import (
	"context"

	"github.com/checkstack/checkstack/internal/healthcheck"
	"github.com/checkstack/checkstack/internal/incident"
	"github.com/checkstack/checkstack/internal/maintenance"
	"github.com/checkstack/checkstack/internal/overview"
)

// healthIssues tells the overview which systems fail their checks.
func healthIssues(h *healthcheck.Service) overview.Contributor {
	return overview.Contributor{Source: "healthcheck", Rule: healthcheck.RuleStatus,
		Read: func(ctx context.Context) (overview.Reading, error) {
			sum, err := h.Issues(ctx)
			if err != nil {
				return overview.Reading{}, err
			}
			r := overview.Reading{Signals: map[string][]overview.Signal{},
				Watched: overview.Watched{Total: sum.Watched, Healthy: sum.Healthy, Pending: sum.Pending}}
			if !sum.LastRunAt.IsZero() {
				r.Watched.LastRunAt = &sum.LastRunAt
			}
			for _, is := range sum.Issues {
				tone := overview.ToneWarn
				if is.Status == healthcheck.Unhealthy {
					tone = overview.ToneError
				}
				r.Signals[is.SystemID] = append(r.Signals[is.SystemID], overview.Signal{Tone: tone, Label: is.Label, Detail: is.Detail,
					Since: &is.Since, Href: "/catalog/system/" + is.SystemID})
			}
			return r, nil
		}}
}

// healthActivity tells the overview how health changed.
func healthActivity(h *healthcheck.Service) overview.ActivitySource {
	return overview.ActivitySource{Source: "healthcheck", Rule: healthcheck.RuleStatus,
		Read: func(ctx context.Context, limit int) ([]overview.Activity, error) {
			list, err := h.RecentTransitions(ctx, limit)
			if err != nil {
				return nil, err
			}
			out := make([]overview.Activity, len(list))
			for i, t := range list {
				out[i] = overview.Activity{ID: t.ID, Kind: "changed", SystemIDs: []string{t.SystemID},
					From: string(t.From), To: string(t.To), Href: "/catalog/system/" + t.SystemID, At: t.At}
			}
			return out, nil
		}}
}

// incidentTone is how loud an active incident is on the dashboard.
func incidentTone(s incident.Severity) overview.Tone {
	switch s {
	case incident.Critical:
		return overview.ToneError
	case incident.Major:
		return overview.ToneWarn
	}
	return overview.ToneInfo
}

// incidentIssues tells the overview which systems active incidents concern.
func incidentIssues(inc *incident.Service) overview.Contributor {
	return overview.Contributor{Source: incidentSource, Rule: incident.Read,
		Read: func(ctx context.Context) (overview.Reading, error) {
			list, err := inc.Active(ctx)
			if err != nil {
				return overview.Reading{}, err
			}
			r := overview.Reading{Signals: map[string][]overview.Signal{}}
			for _, in := range list {
				sig := overview.Signal{Tone: incidentTone(in.Severity), Label: "Incident: " + in.Title, Detail: string(in.Status),
					Since: &in.CreatedAt, Href: incidentHref(in.ID), Rule: incident.Read.ID}
				for _, sys := range in.Systems {
					r.Signals[sys.ID] = append(r.Signals[sys.ID], sig)
				}
			}
			return r, nil
		}}
}

// incidentActivity tells the overview what happened to incidents.
func incidentActivity(inc *incident.Service) overview.ActivitySource {
	return overview.ActivitySource{Source: incidentSource, Rule: incident.Read,
		Read: func(ctx context.Context, limit int) ([]overview.Activity, error) {
			list, err := inc.RecentActivity(ctx, limit)
			if err != nil {
				return nil, err
			}
			out := make([]overview.Activity, len(list))
			for i, a := range list {
				kind := a.Kind
				switch {
				case a.Kind == "created":
					kind = "opened"
				case a.Status == incident.Resolved:
					kind = "resolved"
				}
				out[i] = overview.Activity{ID: a.ID, Kind: kind, Title: a.Title, To: string(a.Status),
					Href: incidentHref(a.IncidentID), Rule: incident.Read.ID, At: a.At}
			}
			return out, nil
		}}
}

func incidentHref(id string) string { return "/incident/" + id }

const maintenanceSource = "maintenance"

// maintenanceIssues tells the overview which systems are being worked on as
// planned.
func maintenanceIssues(m *maintenance.Service) overview.Contributor {
	return overview.Contributor{Source: maintenanceSource, Rule: maintenance.Read,
		Read: func(ctx context.Context) (overview.Reading, error) {
			list, err := m.Active(ctx)
			if err != nil {
				return overview.Reading{}, err
			}
			r := overview.Reading{Signals: map[string][]overview.Signal{}}
			for _, w := range list {
				since := w.StartAt
				if w.StartedAt != nil {
					since = *w.StartedAt
				}
				sig := overview.Signal{Tone: overview.ToneInfo, Label: "Maintenance: " + w.Title, Since: &since, Until: &w.EndAt,
					Href: maintenanceHref(w.ID), Rule: maintenance.Read.ID}
				for _, id := range w.SystemIDs {
					r.Signals[id] = append(r.Signals[id], sig)
				}
			}
			return r, nil
		}}
}

// maintenanceKinds says what it is that happened when a maintenance changed its
// status.
var maintenanceKinds = map[maintenance.Status]string{maintenance.Scheduled: "scheduled", maintenance.InProgress: "started",
	maintenance.Completed: "completed", maintenance.Cancelled: "cancelled"}

// maintenanceActivity tells the overview what happened to maintenances.
func maintenanceActivity(m *maintenance.Service) overview.ActivitySource {
	return overview.ActivitySource{Source: maintenanceSource, Rule: maintenance.Read,
		Read: func(ctx context.Context, limit int) ([]overview.Activity, error) {
			list, err := m.RecentActivity(ctx, limit)
			if err != nil {
				return nil, err
			}
			out := make([]overview.Activity, len(list))
			for i, a := range list {
				kind := a.Kind
				switch a.Kind {
				case "created":
					kind = maintenanceKinds[maintenance.Scheduled]
				case "status":
					kind = maintenanceKinds[a.Status]
				}
				out[i] = overview.Activity{ID: a.ID, Kind: kind, Title: a.Title, SystemIDs: a.SystemIDs, To: string(a.Status),
					Href: maintenanceHref(a.MaintenanceID), Rule: maintenance.Read.ID, At: a.At}
			}
			return out, nil
		}}
}

func maintenanceHref(id string) string { return "/maintenance/" + id }
