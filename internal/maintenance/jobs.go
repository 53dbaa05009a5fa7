package maintenance

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/uptrace/bun"
)

const (
	// idle is how long the clock's loop sleeps at most: what another replica has
	// planned meanwhile is noticed after that. A look costs one step in an index.
	idle = 2 * time.Second
	// batch is how many due maintenances are read at a time.
	batch = 200
	// tickTimeout bounds one round, so that a lost connection is noticed.
	tickTimeout = time.Minute
	// maxPause is how long a maintenance that cannot be moved is left alone
	// before the next attempt.
	maxPause = time.Minute
)

// Texts of the clock's updates, spec/monitoring.md 9.2.
const (
	startedByClock   = "Maintenance started automatically"
	completedByClock = "Maintenance completed automatically"
)

// Start begins to move maintenances when their time has come, and to add the
// occurrences of series, until Stop.
func (s *Service) Start(ctx context.Context) error {
	if s.cancel != nil {
		return errors.New("maintenances are already being moved")
	}
	ctx, s.cancel = context.WithCancel(context.WithoutCancel(ctx))
	s.loop.Go(func() { s.run(ctx) })
	return nil
}

// Stop ends the loop; a step under way is rolled back and done by the next
// process. It may be called again.
func (s *Service) Stop(context.Context) error {
	if s.cancel != nil {
		s.cancel()
		s.loop.Wait()
	}
	return nil
}

func (s *Service) run(ctx context.Context) {
	failing := failures{}
	timer := time.NewTimer(0)
	defer timer.Stop()
	down := 0
	for {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		case <-s.wake:
		}
		wait, err := s.round(ctx, failing)
		if ctx.Err() != nil {
			return
		}
		if err == nil {
			down = 0
		} else if down++; down == 1 || down%30 == 0 {
			s.log.ErrorContext(ctx, "maintenances cannot be moved; trying again", "failures", down, "error", err)
		}
		timer.Reset(wait)
	}
}

func (s *Service) round(ctx context.Context, failing failures) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, tickTimeout)
	defer cancel()
	if err := s.tick(ctx, failing); err != nil {
		return idle, err
	}
	return s.untilNext(ctx)
}

// failures remembers what could not be moved, so that it is neither tried nor
// logged every second, and never holds up the others.
type failures map[string]failure

type failure struct {
	count int
	again time.Time
}

// Tick moves everything that is due now.
func (s *Service) Tick(ctx context.Context) error { return s.tick(ctx, failures{}) }

func (s *Service) tick(ctx context.Context, failing failures) error {
	now := s.clock()
	moveErr := s.each(ctx, now, failing, "maintenances", "next_transition_at", func(ctx context.Context, id string) error {
		return s.advance(ctx, id, now)
	})
	extendErr := s.each(ctx, now, failing, "maintenance_series", "extend_at", func(ctx context.Context, id string) error {
		return s.extend(ctx, id, now)
	})
	return errors.Join(moveErr, extendErr)
}

// each does the due rows of a table one by one, oldest first. What fails is
// logged and left for later. An error means that the table could not be read.
func (s *Service) each(ctx context.Context, now time.Time, failing failures, table, column string, do func(ctx context.Context, id string) error) error {
	type dueRow struct {
		ID  string    `bun:"id"`
		Due time.Time `bun:"due"`
	}
	var last *dueRow
	for {
		var rows []dueRow
		q := s.db.Read.NewSelect().Table(table).Column("id").ColumnExpr("? AS due", bun.Ident(column)).
			Where("? <= ?", bun.Ident(column), now).OrderExpr("?, id", bun.Ident(column)).Limit(batch)
		if last != nil {
			q = q.Where("(?, id) > (?, ?)", bun.Ident(column), last.Due.UTC(), last.ID)
		}
		if err := q.Scan(ctx, &rows); err != nil {
			return fmt.Errorf("look for due rows of %s: %w", table, err)
		}
		for _, r := range rows {
			if f, ok := failing[r.ID]; ok && now.Before(f.again) && f.again.Sub(now) <= maxPause {
				continue
			}
			if err := do(ctx, r.ID); err != nil {
				if ctx.Err() != nil {
					return err
				}
				n := failing[r.ID].count + 1
				failing[r.ID] = failure{n, now.Add(min(time.Second<<min(n, 10), maxPause))}
				s.log.ErrorContext(ctx, "what is due could not be done; trying again", "table", table, "id", r.ID, "failures", n, "error", err)
				continue
			}
			delete(failing, r.ID)
		}
		if len(rows) < batch {
			return nil
		}
		last = &rows[len(rows)-1]
	}
}

// advance takes a maintenance over every step whose time has come: one that was
// slept through starts and completes at once. The row is locked and looked at
// again, so of two replicas one finds nothing left to do, and a kill before the
// commit leaves all of it to be done.
func (s *Service) advance(ctx context.Context, id string, now time.Time) error {
	_, err := s.change(ctx, id, func(_ context.Context, _ bun.Tx, w *work) error {
		w.now = now
		if w.row.Status == Scheduled && !w.row.StartAt.After(now) {
			w.status(InProgress, startedByClock, Everyone, clockwork)
		}
		if w.row.Status == InProgress && !w.row.EndAt.After(now) {
			w.status(Completed, completedByClock, Everyone, clockwork)
		}
		return nil
	})
	if errors.Is(err, errNotFound) {
		return nil // deleted meanwhile
	}
	return err
}

// untilNext says how long nothing is due, at most idle.
func (s *Service) untilNext(ctx context.Context) (time.Duration, error) {
	now := s.now()
	var rows []row
	if err := s.db.Read.NewSelect().Model(&rows).Column("next_transition_at").
		Where("next_transition_at > ?", now.UTC()).Where("next_transition_at <= ?", now.Add(idle).UTC()).
		OrderExpr("next_transition_at").Limit(1).Scan(ctx); err != nil {
		return idle, fmt.Errorf("look for the next due maintenance: %w", err)
	}
	if len(rows) == 0 || rows[0].NextTransitionAt == nil {
		return idle, nil
	}
	return min(max(rows[0].NextTransitionAt.Sub(now), 10*time.Millisecond), idle), nil
}
