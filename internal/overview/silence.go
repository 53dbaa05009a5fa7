package overview

import "context"

// Silencer is a domain that can ask for quiet about the health of a system.
type Silencer struct {
	// Source is the domain's plugin id.
	Source string
	// Suppresses says whether it does now.
	Suppresses func(ctx context.Context, systemID string) (bool, error)
}

// SilencedBy gives the domain that asks for quiet about the health of a system
// now, empty when none does; the first of several in the order in which they
// were given to New. It is the one answer to whether a change of health is
// notified, spec/monitoring.md 11: messages about incidents, maintenances and
// anything else are never silenced.
//
// A domain that cannot be asked does not silence: a message too many does less
// harm than a missing one.
func (s *Service) SilencedBy(ctx context.Context, systemID string) string {
	for _, by := range s.silencers {
		quiet, err := by.Suppresses(ctx, systemID)
		if err != nil {
			s.log.WarnContext(ctx, "cannot find out whether a system is silenced; it counts as not silenced", "source", by.Source, "system_id", systemID, "error", err)
			continue
		}
		if quiet {
			return by.Source
		}
	}
	return ""
}
