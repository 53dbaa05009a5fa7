package healthcheck

import (
	"testing"
	"testing/synctest"
	"time"
)

func TestRunSignalsAreCoalesced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &heard{}
		s := newSignaller(out, time.Now)
		run := Run{SystemID: "s", ConfigurationID: "c", Status: Healthy}
		for range 10 {
			s.run(t.Context(), 1, run)
		}
		if n := out.count("healthcheck.run.completed"); n != 1 {
			t.Errorf("%d signals for one slice within a second, want 1", n)
		}
		time.Sleep(time.Second)
		for i := range 5 * runSignalsPerSec {
			s.run(t.Context(), int64(i), run)
		}
		if n := out.count("healthcheck.run.completed"); n != 1+runSignalsPerSec {
			t.Errorf("%d signals, want no more than %d in a second", n, runSignalsPerSec)
		}
		if n := out.count("healthcheck.changed"); n != 1 {
			t.Errorf("%d coarse signals for the rest, want 1", n)
		}
	})
}
