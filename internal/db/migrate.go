package db

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing/fstest"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// sqliteTypes are the column types that SQLite must be given under another
// name: a column called JSONB would turn a numeric JSON text into a number.
var sqliteTypes = strings.NewReplacer("JSONB", "TEXT")

// Migrate brings the tables up to date. Several replicas may call it at once:
// one works and the others wait. A database that a newer version has written
// is refused and left alone.
func (d *DB) Migrate(ctx context.Context, log *slog.Logger) error {
	files, err := d.migrations()
	if err != nil {
		return err
	}
	opts := []goose.ProviderOption{goose.WithSlog(slog.New(slog.DiscardHandler))}
	dialect := goose.DialectSQLite3
	if d.Postgres() {
		dialect = goose.DialectPostgres
		locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
		if err != nil {
			return fmt.Errorf("migration lock: %w", err)
		}
		opts = append(opts, goose.WithSessionLocker(locker))
	}
	p, err := goose.NewProvider(dialect, d.Write.DB, files, opts...)
	if err != nil {
		return fmt.Errorf("read migrations: %w", err)
	}
	have, err := p.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read database version: %w", err)
	}
	sources := p.ListSources()
	if newest := sources[len(sources)-1].Version; have > newest {
		return fmt.Errorf("the database is at version %d, this Checkstack knows up to %d: start the newer Checkstack that wrote it, or restore a backup", have, newest)
	}
	start := time.Now()
	done, err := p.Up(ctx)
	if err != nil {
		var partial *goose.PartialError
		if errors.As(err, &partial) {
			return fmt.Errorf("migration %s: %w", partial.Failed.Source.Path, partial.Err)
		}
		return fmt.Errorf("migrate: %w", err)
	}
	if len(done) > 0 {
		log.InfoContext(ctx, "database migrated", "steps", len(done), "version", done[len(done)-1].Source.Version,
			"duration_ms", time.Since(start).Milliseconds())
	}
	return nil
}

// migrations gives the embedded files, written for this database.
func (d *DB) migrations() (fs.FS, error) {
	sub, err := fs.Sub(migrationFiles, "migrations")
	if err != nil {
		return nil, err
	}
	if d.Postgres() {
		return sub, nil
	}
	out := fstest.MapFS{}
	names, err := fs.Glob(sub, "*.sql")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(sub, name)
		if err != nil {
			return nil, err
		}
		out[name] = &fstest.MapFile{Data: []byte(sqliteTypes.Replace(string(text)))}
	}
	return out, nil
}
