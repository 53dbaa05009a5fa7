package jobs

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRiverComplainsOnceAMinute: while the database is away River writes several
// errors a second, in which everything else would drown.
func TestRiverComplainsOnceAMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		log := slog.New(newQuiet(slog.NewTextHandler(&out, nil)))
		for range 90 {
			log.With("queue", "default").Error("cannot fetch jobs")
			log.Warn("leader steps down")
			log.Info("tick")
			<-time.After(time.Second)
		}
		for text, want := range map[string]int{"cannot fetch jobs": 2, "leader steps down": 2, "tick": 0} {
			if got := strings.Count(out.String(), text); got != want {
				t.Errorf("%q is logged %d times in 90 s, want %d", text, got, want)
			}
		}
	})
}
