package identity

import (
	"context"
	"fmt"
)

// sweepBatch keeps each delete short, so that it never holds others up.
const sweepBatch = 500

// Sweep deletes expired sessions and used-up windows of the table "throttles",
// whoever counted in them (expires_at is in Unix seconds). Run it about hourly;
// several replicas may run it at once.
func (s *Service) Sweep(ctx context.Context) error {
	now := s.now()
	if err := s.sweep(ctx, "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at <= ? LIMIT ?)", now); err != nil {
		return fmt.Errorf("sweep sessions: %w", err)
	}
	if err := s.sweep(ctx, `DELETE FROM throttles WHERE (key, window_start) IN
		(SELECT key, window_start FROM throttles WHERE expires_at <= ? LIMIT ?)`, now.Unix()); err != nil {
		return fmt.Errorf("sweep throttles: %w", err)
	}
	return nil
}

func (s *Service) sweep(ctx context.Context, query string, before any) error {
	for {
		res, err := s.db.Write.NewRaw(query, before, sweepBatch).Exec(ctx)
		if err != nil {
			return err
		}
		n, err := res.RowsAffected()
		if err != nil || n < sweepBatch {
			return err
		}
	}
}
