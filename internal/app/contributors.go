package app

import (
	"context"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/healthcheck"
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

// transitions gives the overview the changes of health.
func transitions(h *healthcheck.Service) overview.Transitions {
	return func(ctx context.Context, limit int) ([]overview.Transition, error) {
		list, err := h.RecentTransitions(ctx, limit)
		if err != nil {
			return nil, err
		}
		out := make([]overview.Transition, len(list))
		for i, t := range list {
			out[i] = overview.Transition{ID: t.ID, SystemID: t.SystemID, To: string(t.To), At: t.At}
			if t.From != "" {
				from := string(t.From)
				out[i].From = &from
			}
		}
		return out, nil
	}
}

// callEvents tells a person's open pages that one of their tool calls moved on,
// so that a card decided in one tab changes in the other.
type callEvents struct{ signals *event.Signals }

func (c callEvents) ToolCalled(ctx context.Context, e proposal.ToolCalled) {
	if e.PrincipalKind == authz.User {
		c.signals.Publish(ctx, event.Signal{ID: "ai.toolCalled", PluginID: "ai", Payload: e, UserID: e.PrincipalID})
	}
}
