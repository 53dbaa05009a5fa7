package healthcheck

import (
	"context"
	"fmt"
)

// tuneStorage sets, once, how PostgreSQL keeps the table of slices. Each run
// rewrites its slice's row twice, so pages need room for the next version, and
// dead versions have to go within seconds instead of at a fifth of the table.
// Migrations are shared with SQLite, which has no such options.
func (s *Service) tuneStorage(ctx context.Context) error {
	if !s.db.Postgres() {
		return nil
	}
	var untuned int
	if err := s.db.Read.NewRaw("SELECT count(*) FROM pg_class WHERE oid = 'health_check_assignments'::regclass AND reloptions IS NULL").
		Scan(ctx, &untuned); err != nil {
		return fmt.Errorf("read storage options: %w", err)
	}
	if untuned == 0 {
		return nil
	}
	if _, err := s.db.Write.NewRaw(`ALTER TABLE health_check_assignments SET (fillfactor = 50,
		autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_cost_delay = 0)`).Exec(ctx); err != nil {
		return fmt.Errorf("set storage options: %w", err)
	}
	return nil
}
