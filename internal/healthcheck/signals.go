package healthcheck

import (
	"context"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/event"
)

// Bounds of run signals: one per slice and second, and in all no more than a
// browser could use. Beyond that one coarse signal stands for all.
const (
	runSignalEvery   = time.Second
	runSignalsPerSec = 100
)

// signaller sends this domain's realtime signals.
type signaller struct {
	out signals
	now func() time.Time

	mu     sync.Mutex
	window time.Time
	sent   map[int64]struct{}
	more   bool // the coarse signal of this window went out
}

func newSignaller(out signals, now func() time.Time) *signaller {
	return &signaller{out: out, now: now, sent: map[int64]struct{}{}}
}

func (s *signaller) publish(ctx context.Context, id string, payload map[string]any) {
	s.out.Publish(ctx, event.Signal{ID: id, PluginID: "healthcheck", Payload: payload, Rule: RuleStatus.ID})
}

// changed says that configurations or assignments changed.
func (s *signaller) changed(ctx context.Context) {
	s.publish(ctx, "healthcheck.changed", map[string]any{})
}

// statuses announces changed rollups.
func (s *signaller) statuses(ctx context.Context, changes []Transition) {
	for _, c := range changes {
		s.publish(ctx, "healthcheck.system.status_changed", map[string]any{"systemId": c.SystemID, "status": string(c.To)})
	}
}

// run announces a stored run, unless the bounds forbid it.
func (s *signaller) run(ctx context.Context, slice int64, r Run) {
	s.mu.Lock()
	now := s.now()
	if d := now.Sub(s.window); d < 0 || d >= runSignalEvery {
		s.window, s.more = now, false
		clear(s.sent)
	}
	_, dup := s.sent[slice]
	over := !dup && len(s.sent) >= runSignalsPerSec
	coarse := over && !s.more
	if coarse {
		s.more = true
	}
	if !dup && !over {
		s.sent[slice] = struct{}{}
	}
	s.mu.Unlock()
	switch {
	case coarse:
		s.changed(ctx)
	case !dup && !over:
		s.publish(ctx, "healthcheck.run.completed", map[string]any{
			"systemId": r.SystemID, "configurationId": r.ConfigurationID, "status": string(r.Status)})
	}
}
