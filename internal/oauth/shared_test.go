package oauth

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// TestSharedRead: who asks during a read waits for the next one, because the
// running one may have seen the world of before.
func TestSharedRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reads, world atomic.Int64
		hold := make(chan struct{})
		s := shared[int64]{read: func(context.Context) (int64, error) {
			reads.Add(1)
			seen := world.Load()
			<-hold
			return seen, nil
		}}
		var wg sync.WaitGroup
		ask := func(want int64) {
			wg.Go(func() {
				if got, err := s.get(t.Context()); err != nil || got != want {
					t.Errorf("got %d, %v; want %d", got, err, want)
				}
			})
		}
		ask(0)
		synctest.Wait()
		world.Store(1)
		for range 50 {
			ask(1)
		}
		gone, leave := context.WithCancel(t.Context())
		wg.Go(func() {
			if _, err := s.get(gone); err != context.Canceled {
				t.Errorf("a caller that left got %v", err)
			}
		})
		synctest.Wait()
		leave()
		synctest.Wait()
		close(hold)
		wg.Wait()
		if n := reads.Load(); n != 2 {
			t.Errorf("%d reads, want one for the first and one for all others", n)
		}
	})
}
