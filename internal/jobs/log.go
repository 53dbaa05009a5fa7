package jobs

import (
	"context"
	"log/slog"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"
)

// quiet passes River's own lines on from warnings upwards: what it does on
// every tick is of no use to an operator.
type quiet struct{ slog.Handler }

func (q quiet) Enabled(ctx context.Context, l slog.Level) bool {
	return l >= slog.LevelWarn && q.Handler.Enabled(ctx, l)
}
func (q quiet) WithAttrs(a []slog.Attr) slog.Handler { return quiet{q.Handler.WithAttrs(a)} }
func (q quiet) WithGroup(n string) slog.Handler      { return quiet{q.Handler.WithGroup(n)} }

// errorHandler logs a failed job once, where it is handled.
type errorHandler struct{ log *slog.Logger }

func (h errorHandler) HandleError(ctx context.Context, job *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	h.log.ErrorContext(ctx, "job failed", "kind", job.Kind, "job_id", job.ID, "attempt", job.Attempt, "error", err)
	return nil
}

func (h errorHandler) HandlePanic(ctx context.Context, job *rivertype.JobRow, val any, trace string) *river.ErrorHandlerResult {
	h.log.ErrorContext(ctx, "job panicked", "kind", job.Kind, "job_id", job.ID, "panic", val, "stack", trace)
	return nil
}
