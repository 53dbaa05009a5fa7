// Package db opens the one database of an installation: a SQLite file or a
// PostgreSQL server. It owns connections, transactions, migrations and the few
// places where the two differ; it knows no table.
//
// Domains write one SQL text for both through bun. Rules that keep that true:
//   - inside Tx use only the transaction. SQLite has one writing connection, so
//     a second query on the pool would wait for itself;
//   - store methods take a bun.IDB, so they run in or out of a transaction;
//   - times are UTC, cut to the millisecond (Time), and set in Go;
//   - a claim, a counter or a single use is one statement, never a read and a
//     write, because another replica may come between.
package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"hash/fnv"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/uptrace/bun"
	"github.com/uptrace/bun/dialect/pgdialect"
	"github.com/uptrace/bun/dialect/sqlitedialect"
	"github.com/uptrace/bun/schema"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/checkstack/checkstack/internal/problem"
)

// Options says which database to open.
type Options struct {
	// URL is postgres://… ; empty means SQLite in DataDir.
	URL string
	// DataDir holds checkstack.db; it is created when missing.
	DataDir string
	// MaxOpenConns bounds the PostgreSQL pool; zero means 20.
	MaxOpenConns int
	// ConnectTimeout bounds one attempt to reach PostgreSQL; zero means 10 s.
	ConnectTimeout time.Duration
}

// DB is the open database.
type DB struct {
	// Write is the pool for statements that change something. On SQLite it is
	// one connection.
	Write *bun.DB
	// Read is the pool for queries; on PostgreSQL it is Write.
	Read *bun.DB

	url   string
	lock  *os.File
	plans plans
}

// Open opens the database without touching its tables.
func Open(ctx context.Context, o Options) (*DB, error) {
	if o.URL == "" {
		return openSQLite(ctx, o)
	}
	return openPostgres(ctx, o)
}

func openSQLite(ctx context.Context, o Options) (*DB, error) {
	if err := os.MkdirAll(o.DataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create data directory: %w", err)
	}
	lock, err := lockDataDir(o.DataDir)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(o.DataDir, "checkstack.db")
	// busy_timeout comes first: the other pragmas may already have to wait.
	// With WAL, synchronous=NORMAL loses nothing when the process is killed.
	// Writers wait while a checkpoint syncs the file, so it comes after 32 MB
	// instead of 4: pages that busy tables write again and again go out once.
	dsn := "file:" + (&url.URL{Path: file}).EscapedPath() +
		"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)" +
		"&_pragma=foreign_keys(1)&_pragma=journal_size_limit(67108864)&_pragma=wal_autocheckpoint(8000)&_pragma=cache_size(-16000)&_pragma=temp_store(2)"
	writer, err := sql.Open("sqlite", dsn+"&_txlock=immediate")
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	writer.SetMaxOpenConns(1)
	reader, err := sql.Open("sqlite", dsn+"&_pragma=query_only(1)")
	if err != nil {
		return nil, fmt.Errorf("open sqlite: %w", err)
	}
	reader.SetMaxOpenConns(4)
	reader.SetMaxIdleConns(4)
	d := &DB{
		Write: bun.NewDB(writer, sqlitedialect.New()),
		Read:  bun.NewDB(reader, sqlitedialect.New()),
		lock:  lock,
	}
	if err := writer.PingContext(ctx); err != nil {
		_ = d.Close()
		return nil, fmt.Errorf("open %s: %w", file, err)
	}
	return d, nil
}

func openPostgres(ctx context.Context, o Options) (*DB, error) {
	cfg, err := pgx.ParseConfig(o.URL)
	if err != nil {
		return nil, errors.New("DATABASE_URL is not a PostgreSQL address; it looks like postgres://user:password@host:5432/name")
	}
	// bun writes arguments into the text, so a statement cache would only be
	// filled with texts that never come again.
	cfg.DefaultQueryExecMode = pgx.QueryExecModeExec
	cfg.ConnectTimeout = o.ConnectTimeout
	if cfg.ConnectTimeout == 0 {
		cfg.ConnectTimeout = 10 * time.Second
	}
	cfg.RuntimeParams["timezone"] = "UTC"
	cfg.RuntimeParams["application_name"] = "checkstack"
	pool := sql.OpenDB(connector{stdlib.GetConnector(*cfg)})
	n := o.MaxOpenConns
	if n == 0 {
		n = 20
	}
	pool.SetMaxOpenConns(n)
	pool.SetMaxIdleConns(n)
	pool.SetConnMaxIdleTime(5 * time.Minute)
	if err := pool.PingContext(ctx); err != nil {
		_ = pool.Close()
		return nil, fmt.Errorf("connect to PostgreSQL at %s: %s", cfg.Host, plainConnectError(err))
	}
	bdb := bun.NewDB(pool, pgdialect.New())
	return &DB{Write: bdb, Read: bdb, url: o.URL}, nil
}

// plainConnectError gives the cause in one line, without the address pgx
// repeats, which holds the user's name. Without sslmode pgx tries twice, with
// and without TLS, and tells the same fault twice.
func plainConnectError(err error) string {
	var ce *pgconn.ConnectError
	if errors.As(err, &ce) && ce.Unwrap() != nil {
		err = ce.Unwrap()
	}
	var lines []string
	for line := range strings.Lines(err.Error()) {
		if line = strings.TrimSpace(line); line != "" && !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// Postgres says whether the database is PostgreSQL, which other replicas may
// share; otherwise it is SQLite and this process has it alone.
func (d *DB) Postgres() bool { return d.url != "" }

// PostgresURL gives the address for parts that need their own connection, such
// as the job queue; empty on SQLite. It holds the password: never log it.
func (d *DB) PostgresURL() string { return d.url }

// Close closes the pools and gives the data directory free.
func (d *DB) Close() error {
	err := d.Write.Close()
	if d.Read != d.Write {
		err = errors.Join(d.Read.Close(), err)
	}
	d.plans.close()
	if d.lock != nil {
		err = errors.Join(err, d.lock.Close())
	}
	return err
}

// Ping says whether the database answers.
func (d *DB) Ping(ctx context.Context) error {
	var one int
	return d.Read.NewRaw("SELECT 1").Scan(ctx, &one)
}

// Tx runs fn in a transaction of the writing pool and commits when fn returns
// nil. fn must use only tx.
func (d *DB) Tx(ctx context.Context, fn func(ctx context.Context, tx bun.Tx) error) error {
	var after commitHooks
	if err := d.Write.RunInTx(context.WithValue(ctx, commitKey{}, &after), nil, fn); err != nil {
		return err
	}
	for _, hook := range after {
		hook()
	}
	return nil
}

type (
	commitKey   struct{}
	commitHooks []func()
)

// AfterCommit has hook called once the transaction that ctx belongs to has
// committed, and never when it is rolled back. It is for what a domain does
// within another's transaction and has to tell browsers about; what must not be
// lost is an event instead. ctx is the one that Tx gave to its function; outside
// of Tx hook is called at once.
func AfterCommit(ctx context.Context, hook func()) {
	if after, ok := ctx.Value(commitKey{}).(*commitHooks); ok {
		*after = append(*after, hook)
		return
	}
	hook()
}

// Prepared runs a query of one row as a prepared statement of the connection,
// which saves PostgreSQL from planning the same text again: for the few queries
// that every request needs. Placeholders are $1, $2 …; it is for PostgreSQL only,
// where reading times needs no help from bun.
func (d *DB) Prepared(ctx context.Context, query string, args ...any) *sql.Row {
	return d.Read.DB.QueryRowContext(ctx, query, append([]any{pgx.QueryExecModeCacheStatement}, args...)...)
}

// LockKey makes transactions that name the same key run one after another, on
// every replica, until tx ends. On SQLite every writing transaction already
// does.
func (d *DB) LockKey(ctx context.Context, tx bun.Tx, key string) error {
	return d.LockKeys(ctx, tx, key)
}

// LockKeys is LockKey for several keys. They are taken in one order everywhere,
// so that two transactions with several keys do not wait for each other; a
// transaction calls it once.
func (d *DB) LockKeys(ctx context.Context, tx bun.Tx, keys ...string) error {
	if !d.Postgres() {
		return nil
	}
	_, err := d.ExecPrepared(ctx, tx, lockQuery, locksOf(keys))
	return err
}

const lockQuery = "SELECT pg_advisory_xact_lock(k) FROM unnest(CAST(? AS BIGINT[])) AS k"

func locksOf(keys []string) []int64 {
	locks := make([]int64, len(keys))
	for i, key := range keys {
		h := fnv.New64a()
		_, _ = h.Write([]byte(key))
		locks[i] = int64(h.Sum64())
	}
	slices.Sort(locks)
	return locks
}

// SkipLocked is the clause that lets a claim pass over rows that another
// replica is claiming; empty on SQLite, where nobody else can be.
func (d *DB) SkipLocked() schema.QueryWithArgs {
	if d.Postgres() {
		return bun.SafeQuery("FOR UPDATE SKIP LOCKED")
	}
	return bun.SafeQuery("")
}

// KeyShare is the clause that keeps the rows of a query from being deleted until
// the transaction ends; empty on SQLite, where nobody else writes meanwhile. A
// transaction that touches several things which a deletion takes with it asks
// for it first, in the order of the ids: otherwise the two can wait for each
// other.
func (d *DB) KeyShare() schema.QueryWithArgs {
	if d.Postgres() {
		return bun.SafeQuery("FOR KEY SHARE")
	}
	return bun.SafeQuery("")
}

// Time brings t to the form in which times are stored: UTC, milliseconds.
func Time(t time.Time) time.Time { return t.UTC().Truncate(time.Millisecond) }

// IsUnique says whether err is the violation of a unique index.
func IsUnique(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23505"
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) &&
		(lite.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE || lite.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY)
}

// IsForeignKey says whether err is a reference to a row that does not exist.
func IsForeignKey(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pg.Code == "23503"
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) && lite.Code() == sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY
}

// IsRefused says whether err is the database's verdict on the statement itself
// (a constraint, a value it cannot take), so that trying again cannot help. A
// lost connection, a full pool or a locked table is not refused.
func IsRefused(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) && len(pg.Code) >= 2 {
		class := pg.Code[:2]
		return class == "22" || class == "23"
	}
	var lite *sqlite.Error
	return errors.As(err, &lite) && (lite.Code()&0xff == sqlite3.SQLITE_CONSTRAINT || lite.Code()&0xff == sqlite3.SQLITE_MISMATCH)
}

// Found turns "no rows" into the given problem and passes everything else on.
func Found(err error, missing *problem.Error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return missing
	}
	return err
}

// MustAffect turns an update or delete that met no row into the given problem.
func MustAffect(res sql.Result, err error, missing *problem.Error) error {
	if err != nil {
		return err
	}
	n, err := res.RowsAffected()
	if err != nil {
		return err
	}
	if n == 0 {
		return missing
	}
	return nil
}

// LikePattern makes a pattern for `lower(column) LIKE ? ESCAPE '!'` that finds
// text anywhere, whatever wildcards it holds.
func LikePattern(text string) string {
	r := strings.NewReplacer("!", "!!", "%", "!%", "_", "!_")
	return "%" + r.Replace(strings.ToLower(text)) + "%"
}
