package overview

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"

	"github.com/checkstack/checkstack/internal/authz"
)

// Coverage says how complete an answer is. Every source is in exactly one list.
type Coverage struct {
	Checked []string
	// Inaccessible are those that the viewer may not read; they were not asked.
	Inaccessible []string
	// Failed are those that could not be read.
	Failed []string
}

// source is what one domain has to say, in one of the two ways.
type source[T any] struct {
	id   string
	rule authz.Rule
	read func(ctx context.Context) (T, error)
}

type answer[T any] struct {
	source string
	value  T
}

// read asks every source that the principal in ctx may read, all at once, and
// gives what they say in the order of the sources. One that fails, even by a
// panic, takes nothing from the others.
func read[T any](ctx context.Context, log *slog.Logger, sources []source[T]) ([]answer[T], Coverage) {
	type result struct {
		value T
		err   error
	}
	p := authz.From(ctx)
	results := make([]*result, len(sources))
	var wg sync.WaitGroup
	for i, src := range sources {
		if !p.Has(src.rule.ID) {
			continue
		}
		r := &result{}
		results[i] = r
		wg.Go(func() {
			defer func() {
				if v := recover(); v != nil {
					r.err = fmt.Errorf("panic: %v\n%s", v, debug.Stack())
				}
			}()
			r.value, r.err = src.read(ctx)
		})
	}
	wg.Wait()

	var answers []answer[T]
	c := Coverage{Checked: []string{}, Inaccessible: []string{}, Failed: []string{}}
	for i, src := range sources {
		switch r := results[i]; {
		case r == nil:
			c.Inaccessible = append(c.Inaccessible, src.id)
		case r.err != nil:
			log.ErrorContext(ctx, "a source of the overview could not be read", "source", src.id, "error", r.err)
			c.Failed = append(c.Failed, src.id)
		default:
			c.Checked = append(c.Checked, src.id)
			answers = append(answers, answer[T]{src.id, r.value})
		}
	}
	return answers, c
}
