package proposal

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/checkstack/checkstack/internal/problem"
)

// The tool budget of a principal, spec/ai-platform.md 27. The rows of the audit
// log are what counts, on all replicas (ledger.go); this file keeps work from
// being done whose answer would be refused.
const (
	BudgetCalls  = 60
	BudgetWindow = time.Minute
)

// budgets is what this process knows of the budgets: its own calls, and until
// when one is spent that other replicas used too. It never refuses what the rows
// would allow.
type budgets struct {
	mu    sync.Mutex
	known map[Who]*budget
	many  int // as many as this are too many to keep the quiet ones
}

type budget struct {
	calls []time.Time // when the calls of the last window were made, oldest first
	free  time.Time   // when there is budget again, as the rows say
}

// enter notes a call, or gives how long its principal has to wait.
func (b *budgets) enter(who Who, now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	k := b.known[who]
	if k == nil {
		b.forget(now)
		k = &budget{}
		b.known[who] = k
	}
	k.shed(now)
	if wait = k.free.Sub(now); wait > 0 {
		return wait
	}
	if len(k.calls) >= BudgetCalls {
		return k.calls[len(k.calls)-BudgetCalls].Add(BudgetWindow).Sub(now)
	}
	k.calls = append(k.calls, now)
	return 0
}

// leave takes back a call that got no row.
func (b *budgets) leave(who Who, at time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.known[who]; k != nil {
		if i := slices.IndexFunc(k.calls, at.Equal); i >= 0 {
			k.calls = slices.Delete(k.calls, i, i+1)
		}
	}
}

// spent notes until when the rows allow nothing.
func (b *budgets) spent(who Who, until time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if k := b.known[who]; k != nil {
		k.free = until
	}
}

// forget drops those who have been quiet, once there are many.
func (b *budgets) forget(now time.Time) {
	if b.known == nil {
		b.known = map[Who]*budget{}
	}
	if len(b.known) < b.many {
		return
	}
	for who, k := range b.known {
		if k.shed(now); len(k.calls) == 0 && !k.free.After(now) {
			delete(b.known, who)
		}
	}
	b.many = max(1000, 2*len(b.known))
}

// shed drops calls that the window no longer holds.
func (k *budget) shed(now time.Time) {
	n := 0
	for n < len(k.calls) && !k.calls[n].After(now.Add(-BudgetWindow)) {
		n++
	}
	k.calls = slices.Delete(k.calls, 0, n)
}

// spent is the refusal of a call for which there is no budget.
func (g *Gate) spent(ctx context.Context, who Who) error {
	now := g.now()
	until, err := g.ledger.freeAt(ctx, who)
	if err != nil || !until.After(now) { // then the whole window, to be safe
		return tooMany(BudgetWindow)
	}
	g.budgets.spent(who, until)
	return tooMany(until.Sub(now))
}

func tooMany(wait time.Duration) error {
	wait = wait.Truncate(time.Second) + time.Second // whole seconds are what callers are told
	return problem.TooMany("Tool budget reached: %d of %d calls in the last minute are used; call more tools in %d s", BudgetCalls, BudgetCalls,
		min(wait, BudgetWindow)/time.Second).After(min(wait, BudgetWindow))
}
