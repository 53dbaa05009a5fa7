package healthcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Issue is a system that needs attention.
type Issue struct {
	SystemID   string
	SystemName string
	Status     Status // Degraded or Unhealthy
	Since      time.Time
	// Failing of Total scheduled checks are not healthy; both are 0 for a system
	// without checks whose health is forced.
	Failing, Total int
	// Label and Detail are for people: "2 of 3 checks failing" and what the worst
	// of them says.
	Label, Detail string
	// ConfigurationID is the worst failing check; empty when none fails.
	ConfigurationID string
	worst           Status // of the checks
}

// Summary is the state of everything that is watched.
type Summary struct {
	Issues []Issue // the worst first, then the longest lasting
	// Watched systems have at least one scheduled check; Healthy of them are
	// healthy, Pending had no run yet.
	Watched, Healthy, Pending int
	LastRunAt                 time.Time // zero when nothing ran
}

// Issues gives the failing systems and the counts around them. What a status is
// forced by is told as far as the principal in ctx may know.
func (s *Service) Issues(ctx context.Context) (Summary, error) {
	checks, err := s.checkStatuses(ctx, "a.active")
	if err != nil {
		return Summary{}, err
	}
	var systems []struct {
		SystemID string
		Status   Status
		SinceMs  int64
	}
	if err := s.db.Read.NewRaw("SELECT system_id, status, since_ms FROM health_check_systems").Scan(ctx, &systems); err != nil {
		return Summary{}, fmt.Errorf("read states of systems: %w", err)
	}
	said, err := s.overrides(ctx, nil)
	if err != nil {
		return Summary{}, err
	}
	bySystem := map[string][]CheckStatus{}
	var out Summary
	for _, c := range checks {
		bySystem[c.SystemID] = append(bySystem[c.SystemID], c)
		if c.LastRunAt.After(out.LastRunAt) {
			out.LastRunAt = c.LastRunAt
		}
	}
	var ids []string
	for _, sys := range systems {
		list := bySystem[sys.SystemID]
		if len(list) > 0 {
			out.Watched++
		}
		switch {
		case failing(sys.Status):
			is := issueOf(sys.SystemID, sys.Status, ofMs(sys.SinceMs), list)
			if o := said[sys.SystemID]; len(o) > 0 {
				is.forced(s.visible(ctx, o[0]))
			}
			out.Issues = append(out.Issues, is)
			ids = append(ids, sys.SystemID)
		case len(list) == 0:
		case sys.Status == Healthy:
			out.Healthy++
		default:
			out.Pending++
		}
	}
	if len(ids) == 0 {
		return out, nil
	}
	names, err := s.systems.SystemNames(ctx, ids)
	if err != nil {
		return Summary{}, fmt.Errorf("look up systems: %w", err)
	}
	for i := range out.Issues {
		out.Issues[i].SystemName = names[out.Issues[i].SystemID]
	}
	sortIssues(out.Issues)
	return out, nil
}

func issueOf(systemID string, status Status, since time.Time, checks []CheckStatus) Issue {
	is := Issue{SystemID: systemID, Status: status, Since: since, Total: len(checks)}
	var worst *CheckStatus
	for i := range checks {
		c := &checks[i]
		if !failing(c.Status) {
			continue
		}
		is.Failing++
		if worst == nil || severity(c.Status) > severity(worst.Status) {
			worst = c
		}
	}
	is.Label = fmt.Sprintf("%d of %d checks failing", is.Failing, is.Total)
	if is.Total == 1 {
		is.Label = "Check failing"
	}
	if worst != nil {
		is.ConfigurationID, is.Detail, is.worst = worst.ConfigurationID, worst.explain(), worst.Status
	}
	return is
}

// forced adds what somebody says by hand, unless the checks are as bad anyway.
func (is *Issue) forced(o Override) {
	switch {
	case is.Failing == 0:
		is.Label = o.String()
		switch is.Total {
		case 0:
		case 1:
			is.Detail = "Its check is not failing"
		default:
			is.Detail = fmt.Sprintf("None of its %d checks is failing", is.Total)
		}
	case severity(o.Status) > severity(is.worst):
		is.Detail += ". " + o.String()
	}
}

// explainRuns is how many of the newest runs an explanation counts.
const explainRuns = 10

// explain says what is wrong with a failing check.
func (c CheckStatus) explain() string {
	recent := c.recent[:min(len(c.recent), explainRuns)]
	failures := len(recent) - strings.Count(recent, string(rune(letterHealthy)))
	reason := strings.TrimPrefix(c.Reason, "Check failed: ")
	if reason == "" {
		reason = "no reason was recorded"
	}
	return fmt.Sprintf("%s: %s, %d of %d runs", c.ConfigurationName, reason, failures, len(recent))
}

func sortIssues(list []Issue) {
	less := func(a, b Issue) int {
		if d := severity(b.Status) - severity(a.Status); d != 0 {
			return d
		}
		if d := a.Since.Compare(b.Since); d != 0 {
			return d
		}
		return strings.Compare(a.SystemID, b.SystemID)
	}
	slices.SortFunc(list, less)
}

// RecentTransitions gives the newest changes of systems that still exist, newest
// first.
func (s *Service) RecentTransitions(ctx context.Context, limit int) ([]Transition, error) {
	var rows []struct {
		ID, SystemID    string
		ConfigurationID *string
		FromStatus      *string
		ToStatus        Status
		TransitionedAt  time.Time
	}
	if err := s.db.Read.NewRaw(`SELECT t.id, t.system_id, t.configuration_id, t.from_status, t.to_status, t.transitioned_at
		FROM health_check_state_transitions t
		WHERE EXISTS (SELECT 1 FROM health_check_systems h WHERE h.system_id = t.system_id)
		ORDER BY t.id DESC LIMIT ?`, limit).Scan(ctx, &rows); err != nil {
		return nil, fmt.Errorf("read transitions: %w", err)
	}
	out := make([]Transition, len(rows))
	for i, r := range rows {
		out[i] = Transition{ID: r.ID, SystemID: r.SystemID, To: r.ToStatus, At: r.TransitionedAt.UTC()}
		if r.ConfigurationID != nil {
			out[i].ConfigurationID = *r.ConfigurationID
		}
		if r.FromStatus != nil {
			out[i].From = Status(*r.FromStatus)
		}
	}
	return out, nil
}

// DependentsOf tells what would be lost with a system, as phrases.
func (s *Service) DependentsOf(ctx context.Context, systemID string) ([]string, error) {
	checks, err := s.checkStatuses(ctx, "a.system_id = ?", systemID)
	if err != nil {
		return nil, err
	}
	out := make([]string, len(checks))
	for i, c := range checks {
		out[i] = fmt.Sprintf("the assignment of health check %q with its run history", c.ConfigurationName)
	}
	return out, nil
}
