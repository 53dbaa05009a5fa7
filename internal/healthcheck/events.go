package healthcheck

import (
	"context"
	"time"

	"github.com/uptrace/bun"

	"github.com/checkstack/checkstack/internal/event"
)

// The topics of spec/monitoring.md 1.7 and 4.10, published with the transition
// itself.
var (
	// SystemHealthChanged is every change of a system's health.
	SystemHealthChanged = event.NewTopic[SystemHealth]("healthcheck.system_health_changed")
	// SystemDegraded is a change from healthy, or from never measured, to
	// degraded or unhealthy. A move between these two is neither this nor the
	// next.
	SystemDegraded = event.NewTopic[SystemHealth]("healthcheck.system.degraded")
	// SystemHealthy is a full recovery: from degraded or unhealthy to healthy.
	SystemHealthy = event.NewTopic[SystemHealth]("healthcheck.system.healthy")
)

// SystemHealth is the payload of this domain's topics.
type SystemHealth struct {
	SystemID       string `json:"systemId"`
	PreviousStatus Status `json:"previousStatus"`
	NewStatus      Status `json:"newStatus"`
	// HealthyChecks of TotalChecks scheduled ones are healthy.
	HealthyChecks int       `json:"healthyChecks"`
	TotalChecks   int       `json:"totalChecks"`
	Timestamp     time.Time `json:"timestamp"`
}

// failing says whether a status calls for attention.
func failing(s Status) bool { return severity(s) >= severity(Degraded) }

// publish announces changes of health; tallies are by system.
func (s *Service) publish(ctx context.Context, tx bun.Tx, changes []Transition, tallies map[string]tally) error {
	var all, degraded, healthy []SystemHealth
	for _, c := range changes {
		t := tallies[c.SystemID]
		e := SystemHealth{SystemID: c.SystemID, PreviousStatus: c.From, NewStatus: c.To,
			HealthyChecks: t.healthy, TotalChecks: t.checks, Timestamp: c.At}
		if e.PreviousStatus == "" {
			e.PreviousStatus = Unknown
		}
		all = append(all, e)
		switch {
		case failing(c.To) && !failing(c.From):
			degraded = append(degraded, e)
		case c.To == Healthy && failing(c.From):
			healthy = append(healthy, e)
		}
	}
	if err := event.PublishAll(ctx, s.bus, tx, SystemHealthChanged, all); err != nil {
		return err
	}
	if err := event.PublishAll(ctx, s.bus, tx, SystemDegraded, degraded); err != nil {
		return err
	}
	return event.PublishAll(ctx, s.bus, tx, SystemHealthy, healthy)
}
