package oauth

import (
	"context"
	"sync"
	"time"
)

// shared answers those who ask at the same time with one read. Nobody gets the
// outcome of a read that began before they asked, so what is true when a
// request comes in counts for it.
type shared[T any] struct {
	read func(ctx context.Context) (T, error)

	mu      sync.Mutex
	running bool
	next    *round[T] // what those wait for who came during a read
}

type round[T any] struct {
	done  chan struct{}
	value T
	err   error
}

func (s *shared[T]) get(ctx context.Context) (T, error) {
	s.mu.Lock()
	if s.next == nil {
		s.next = &round[T]{done: make(chan struct{})}
	}
	mine, start := s.next, !s.running
	s.running = true
	s.mu.Unlock()
	if start {
		go s.run() // ends when nobody waits
	}
	select {
	case <-mine.done:
		return mine.value, mine.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

func (s *shared[T]) run() {
	for {
		s.mu.Lock()
		r := s.next
		s.next, s.running = nil, r != nil
		s.mu.Unlock()
		if r == nil {
			return
		}
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		r.value, r.err = s.read(ctx)
		cancel()
		close(r.done)
	}
}
