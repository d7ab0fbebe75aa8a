package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"io/fs"
	"runtime"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit/pgstore"
	"github.com/manifold-run/manifold/internal/store/postgres/proof"
	"github.com/manifold-run/manifold/internal/store/postgres/queue"
	"github.com/manifold-run/manifold/internal/store/sqlstore"
	"github.com/manifold-run/manifold/internal/store/stored"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Config configures a Store.
type Config struct {
	// URL is the libpq URL of the database. The tables are in the first schema of its
	// search_path.
	URL string
	// Conns is the maximum number of connections; the default is 4 per processor, 8 to 32.
	// pool_max_conns in the URL takes precedence.
	Conns int
	// SealKeys are the keys that seal rows, the current one first, identical on all servers.
	// Older keys are needed only once, to change to the current one. Without a key nothing is
	// sealed, and opening a sealed database fails.
	SealKeys [][]byte
	// SealKeysAgain reads the keys again after another server has changed the key. If it is nil,
	// the keys do not change.
	SealKeysAgain func() ([][]byte, error)
}

// Store is a PostgreSQL database with its stores. It is safe for concurrent use, also by several
// processes.
type Store struct {
	*sqlstore.Store

	Quota *quota
	db    *db
}

// The parts of a store.
type (
	// Runs stores runs.
	Runs = sqlstore.RunStore
	// Talk stores sessions and turns.
	Talk = sqlstore.SessionStore
	// Mail stores outgoing deliveries and incoming messages.
	Mail = sqlstore.QueueStore
	// Directory stores API keys and domains.
	Directory = sqlstore.AdminStore
)

// db is an open database.
type db struct {
	pool *pgxpool.Pool
	// post notifies other processes of commits.
	post notifyChannel
	// jobs inserts jobs for the work that a transaction makes due.
	jobs *queue.Queue
	// attempts counts the transactions of the writer, which alone accesses it.
	attempts int64
	// seals is nil if nothing is sealed.
	seals *proof.Seals
	// texts and tables cache rendered statements.
	texts  texts
	tables tables
}

// patience is how long the server keeps an idle transaction, and its locks on rows of runs,
// before it ends it.
const patience = 10 * time.Second

// Open connects to the database and creates or migrates its tables. Several processes may do so
// at once. ctx limits only the opening.
func Open(ctx context.Context, cfg Config) (*Store, error) {
	pool, err := connect(ctx, cfg)
	if err != nil {
		return nil, err
	}
	d := &db{pool: pool}
	if err := d.prepare(ctx, proof.Keys{Known: cfg.SealKeys, Again: cfg.SealKeysAgain}); err != nil {
		pool.Close()
		return nil, translate("open the database", err)
	}
	return &Store{Store: sqlstore.New(d, time.Now), Quota: newQuota(pool, d.post.Origin, translate), db: d}, nil
}

func connect(ctx context.Context, cfg Config) (*pgxpool.Pool, error) {
	if cfg.URL == "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "open the database: no address is given")
	}
	settings, err := pgxpool.ParseConfig(cfg.URL)
	if err != nil {
		// The error of the parser hides the password.
		return nil, contracts.Errorf(contracts.CodeInvalid, "open the database: the address cannot be read: %w", err)
	}
	if named, err := pgxpool.ParseConfig(""); err == nil && settings.MaxConns == named.MaxConns {
		settings.MaxConns = int32(cmp.Or(cfg.Conns, min(max(4*runtime.GOMAXPROCS(0), 8), 32))) //nolint:gosec // far below the limit
	}
	settings.ConnConfig.ConnectTimeout = cmp.Or(settings.ConnConfig.ConnectTimeout, 5*time.Second)
	for name, value := range map[string]string{
		"application_name":                    "manifold",
		"idle_in_transaction_session_timeout": patience.String(),
		"tcp_keepalives_idle":                 "10",
		"tcp_keepalives_interval":             "5",
		"tcp_keepalives_count":                "3",
	} {
		if settings.ConnConfig.RuntimeParams[name] == "" {
			settings.ConnConfig.RuntimeParams[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, settings)
	return pool, translate("open the database", err)
}

// fillSearch adds the missing run_search rows of runs created by older releases. During a rolling
// upgrade, the last upgraded server adds those that are still missing.
const fillSearch = `
INSERT INTO run_search (created_at, run_id, goal, domains)
SELECT r.created_at, r.id, lower(coalesce(p.body::json->>'goal', '') COLLATE "C"), coalesce((
  SELECT ',' || string_agg(DISTINCT split_part(n->>'tool', '.', 1), ',') || ','
  FROM json_array_elements(CASE json_typeof(p.body::json->'nodes') WHEN 'array' THEN p.body::json->'nodes' END) n
  WHERE strpos(n->>'tool', '.') > 0), '')
FROM run r JOIN plan p ON p.run_id = r.id
WHERE NOT EXISTS (SELECT 1 FROM run_search s WHERE s.created_at = r.created_at AND s.run_id = r.id)
ON CONFLICT DO NOTHING`

// prepare checks the settings and migrates the tables to the version of this release.
func (d *db) prepare(ctx context.Context, keys proof.Keys) error {
	var synchronous string
	if err := d.pool.QueryRow(ctx, `SHOW synchronous_commit`).Scan(&synchronous); err != nil {
		return err
	}
	if synchronous == "off" {
		return contracts.Errorf(contracts.CodeUnsupported,
			"synchronous_commit is off: what was acknowledged could be lost, and writes be done twice; set it to on for this database")
	}
	steps, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	if err := pgstore.Migrate(ctx, d.pool, "manifold", steps); err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, fillSearch); err != nil {
		return err
	}
	if err := pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) (err error) {
		d.seals, err = proof.Open(ctx, tx, keys, func(ctx context.Context, tx pgx.Tx) error {
			return sqlstore.NoteSealed(ctx, &transaction{querier{tx, d}, tx})
		})
		return err
	}); err != nil {
		return err
	}
	if err := queue.Migrate(ctx, d.pool); err != nil {
		return err
	}
	if d.jobs, err = queue.New(d.pool); err != nil {
		return err
	}
	schema, err := stored.Text(d.pool.QueryRow(ctx, `SELECT current_schema()`))
	if err != nil {
		return err
	}
	d.post = postOf(rand.Text(), schema)
	for _, statement := range []string{beginWriter, dropWriters} {
		if _, err := d.pool.Exec(ctx, statement, d.post.Origin); err != nil {
			return err
		}
	}
	return nil
}

// Close commits accepted writes and closes the connections. Later writes fail as unavailable. It
// may be called twice.
func (s *Store) Close() error {
	if s.CloseWriter() {
		s.db.pool.Close()
	}
	return nil
}

// Ping reports whether the database answers.
func (s *Store) Ping(ctx context.Context) error {
	return translate("reach the database", s.db.pool.Ping(ctx))
}

// Work starts processing jobs with connections of the store, until the worker is stopped.
func (s *Store) Work(ctx context.Context, h Handlers) (*Worker, error) {
	w, err := queue.Work(ctx, s.db.pool, h)
	return w, translate("work on jobs", err)
}

// Worker processes jobs until it is stopped.
type Worker = queue.Workers

// Handlers process jobs.
type Handlers = queue.Handlers

// Upkeep is a periodic task that one of all processes executes.
type Upkeep = queue.Upkeep
