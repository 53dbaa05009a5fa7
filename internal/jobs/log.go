package jobs

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// repeatAfter is how long a line of River's is not repeated.
const repeatAfter = time.Minute

// quiet passes River's own lines on from warnings upwards: what it does on
// every tick is of no use to an operator. The same message comes once a minute:
// while the database is away every part of River complains every second.
type quiet struct {
	slog.Handler
	said *said
}

// said is when each message was last passed on.
type said struct {
	mu sync.Mutex
	at map[string]time.Time
}

func newQuiet(h slog.Handler) quiet { return quiet{h, &said{at: map[string]time.Time{}}} }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}

// Handle implements slog.Handler. River's messages are constant, so the map
// stays as small as River has messages.
func (q quiet) Handle(ctx context.Context, r slog.Record) error {
	q.said.mu.Lock()
	last, repeated := q.said.at[r.Message]
	repeated = repeated && r.Time.Sub(last) < repeatAfter && !r.Time.Before(last)
	if !repeated {
		q.said.at[r.Message] = r.Time
	}
	q.said.mu.Unlock()
	if repeated {
		return nil
	}
	return q.Handler.Handle(ctx, r)
}

func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a), q.said} }
func (q quiet) WithGroup(n string) slog.Handler      { return quiet{q.Handler.WithGroup(n), q.said} }

// errorHandler logs a failed attempt once, where it is handled: as a warning when
// the job is tried again, as an error when it is given up.
type errorHandler struct{ log *slog.Logger }

func (h errorHandler) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	log := h.log.With("kind", job.Kind, "job_id", job.ID, "attempt", job.Attempt, "max_attempts", job.MaxAttempts, "error", err)
	if job.Attempt < job.MaxAttempts {
		log.WarnContext(ctx, "job failed; trying again later")
	} else {
		log.ErrorContext(ctx, "job failed and is given up")
	}
	return nil
}

func (h errorHandler) HandlePanic(ctx context.Context, job *rivertype.JobRow, val any, trace string) *river.ErrorHandlerResult {
	h.log.ErrorContext(ctx, "job panicked", "kind", job.Kind, "job_id", job.ID, "panic", val, "stack", trace)
	return nil
}
