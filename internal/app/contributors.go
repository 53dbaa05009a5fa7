package app

import (
	"context"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/ai/proposal"
	"github.com/checkstack/checkstack/internal/ai/tool"
	"github.com/checkstack/checkstack/internal/authz"
	"github.com/checkstack/checkstack/internal/catalog"
	"github.com/checkstack/checkstack/internal/event"
	"github.com/checkstack/checkstack/internal/healthcheck"
	"github.com/checkstack/checkstack/internal/incident"
)

// callEvents tells a person's open pages that one of their tool calls moved on,
// so that a card decided in one tab changes in the other. A change that did not
// come from a chat waits for whoever may decide it, so all pages are told to
// look at the approvals again; what they may see is decided there.
type callEvents struct{ signals *event.Signals }

func (c callEvents) ToolCalled(ctx context.Context, e proposal.ToolCalled) {
	if e.PrincipalKind == authz.User {
		c.signals.Publish(ctx, event.Signal{ID: "ai.toolCalled", PluginID: "ai", Payload: e, UserID: e.PrincipalID})
	}
	if e.Transport != proposal.Chat && e.Effect != tool.Read {
		c.signals.Publish(ctx, event.Signal{ID: "ai.approvalsChanged", PluginID: "ai", Payload: struct{}{}})
	}
}

// incidentSource names incidents where health says who forces it.
const incidentSource = "incident"

// incidentHealth lets incidents worsen the health of systems.
type incidentHealth struct{ health *healthcheck.Service }

func (h incidentHealth) SetOverride(ctx context.Context, tx bun.Tx, o incident.Override) error {
	return h.health.SetOverrides(ctx, tx, healthcheck.OverrideSet{Source: incidentSource, SourceID: o.IncidentID, Title: o.Title,
		Status: healthcheck.Status(o.Level), SystemIDs: o.SystemIDs})
}

// dependents asks every domain what it would lose with a system.
func dependents(ask ...catalog.Dependents) catalog.Dependents {
	return func(ctx context.Context, systemID string) ([]string, error) {
		var all []string
		for _, of := range ask {
			lost, err := of(ctx, systemID)
			if err != nil {
				return nil, err
			}
			all = append(all, lost...)
		}
		return all, nil
	}
}

// conversationChanged tells a person's open pages to look at their list of
// conversations again: when a turn began or ended, or one got its title.
func conversationChanged(signals *event.Signals) func(ctx context.Context, userID, conversationID string) {
	return func(ctx context.Context, userID, conversationID string) {
		signals.Publish(ctx, event.Signal{ID: "ai.conversation.updated", PluginID: "ai",
			Payload: map[string]string{"conversationId": conversationID}, UserID: userID})
	}
}
