// Package logging gives every log line the correlation id of the request or
// job it belongs to, and the caller it ran for. The logger itself is injected
// everywhere; there is no global one.
package logging

import (
	"context"
	"io"
	"log/slog"

	"github.com/checkstack/checkstack/internal/authz"
)

type contextKey struct{}

// WithCorrelation puts the correlation id of a request or job into the context.
func WithCorrelation(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, contextKey{}, id)
}

// Correlation gives the id put there by WithCorrelation, or "".
func Correlation(ctx context.Context) string {
	id, _ := ctx.Value(contextKey{}).(string)
	return id
}

// New gives a logger that writes to w: JSON for machines, else text for people.
func New(w io.Writer, level slog.Level, json bool) *slog.Logger {
	opts := &slog.HandlerOptions{Level: level}
	if json {
		return slog.New(handler{slog.NewJSONHandler(w, opts)})
	}
	return slog.New(handler{slog.NewTextHandler(w, opts)})
}

type handler struct{ slog.Handler }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	if id := Correlation(ctx); id != "" {
		r.AddAttrs(slog.String("correlation_id", id))
	}
	if p := authz.From(ctx); p.Kind == authz.User || p.Kind == authz.Application {
		r.AddAttrs(slog.String(string(p.Kind)+"_id", p.ID))
	}
	return h.Handler.Handle(ctx, r)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return handler{h.Handler.WithAttrs(attrs)}
}

func (h handler) WithGroup(name string) slog.Handler { return handler{h.Handler.WithGroup(name)} }
