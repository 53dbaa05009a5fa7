package incident

import (
	"context"
	"errors"

	"github.com/checkstack/checkstack/internal/problem"
)

// What became of an incident in a bulk change, besides resolved and deleted.
const (
	skipped  = "skipped"
	notFound = "not_found"
	failed   = "failed"
)

// bulk does one change for each incident by itself: what cannot be done with
// one is told and does not keep the others from it.
func (s *Service) bulk(ctx context.Context, ids []string, done string, change func(ctx context.Context, id string) error) (*BulkOutput, error) {
	out := &BulkOutput{Results: make([]BulkResult, 0, len(ids))}
	seen := make(map[string]bool, len(ids))
	for _, id := range ids {
		if seen[id] {
			continue
		}
		seen[id] = true
		if err := ctx.Err(); err != nil {
			return nil, err // nobody waits for the answer any more
		}
		r := BulkResult{ID: id, Status: done}
		if err := change(ctx, id); err != nil {
			r.Status, r.Message = s.outcome(ctx, id, err)
		}
		out.Results = append(out.Results, r)
	}
	return out, nil
}

// outcome puts an error of one change into words for the caller; a fault of
// ours goes to the log.
func (s *Service) outcome(ctx context.Context, id string, err error) (status string, message *string) {
	switch {
	case errors.Is(err, errResolved):
		return skipped, optional("It was already resolved.")
	case errors.Is(err, errNotFound):
		return notFound, nil
	}
	if p, ok := problem.As(err); ok {
		return failed, &p.Message
	}
	s.log.ErrorContext(ctx, "bulk change of an incident failed", "incident_id", id, "error", err)
	return failed, optional("It could not be changed because of a fault of the server; try again.")
}
