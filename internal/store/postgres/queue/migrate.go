package queue

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"github.com/manifold-run/manifold/contracts"
)

// lockMigrations lets one process at a time change the tables, until its
// connection ends.
const lockMigrations = `SELECT pg_advisory_lock(hashtextextended('manifold queue', 0))`

// Migrate brings the tables of the queue to the version of this release; several
// processes may start at once. Each step is a transaction of its own, as River
// needs it: one that was interrupted is done by the next start. Tables of a newer
// release are refused.
func Migrate(ctx context.Context, pool *pgxpool.Pool) error {
	m, err := rivermigrate.New(riverpgxv5.New(pool), &rivermigrate.Config{Logger: quiet(nil)})
	if err == nil {
		err = migrate(ctx, pool, m)
	}
	if err != nil {
		return fmt.Errorf("migrate the queue: %w", err)
	}
	return nil
}

func migrate(ctx context.Context, pool *pgxpool.Pool, m *rivermigrate.Migrator[pgx.Tx]) error {
	if done, err := current(ctx, pool, m); done || err != nil {
		return err
	}
	// The pool may have no second connection to spare.
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // the lock goes with it
	if _, err := conn.Exec(ctx, lockMigrations); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// current reports whether the tables have the version of this release.
func current(ctx context.Context, pool *pgxpool.Pool, m *rivermigrate.Migrator[pgx.Tx]) (bool, error) {
	var there bool // not so in the midst of the first steps
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('river_migration') AND attname = 'line')`).Scan(&there); err != nil || !there {
		return false, err
	}
	// The migrator refuses to read versions that it does not know.
	var have int
	if err := pool.QueryRow(ctx, `SELECT coalesce(max(version), 0) FROM river_migration WHERE line = 'main'`).Scan(&have); err != nil {
		return false, err
	}
	known := latest(m.AllVersions())
	if have > known {
		return false, contracts.Errorf(contracts.CodeUnsupported,
			"the tables of the queue have version %d, which a newer release made; this one knows %d", have, known)
	}
	return have == known, nil
}

// latest is the number of the last of some migrations, 0 without any.
func latest(migrations []rivermigrate.Migration) int {
	if len(migrations) == 0 {
		return 0
	}
	return slices.MaxFunc(migrations, func(a, b rivermigrate.Migration) int { return a.Version - b.Version }).Version
}
