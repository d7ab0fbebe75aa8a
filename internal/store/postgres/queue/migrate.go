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

// lockMigrations is held by one process at a time while it migrates, until its connection ends.
const lockMigrations = `SELECT pg_advisory_lock(hashtextextended('manifold queue', 0))`

// Migrate migrates the tables of the queue to the version of this release. Several processes may
// call it at once. River requires one transaction per step; the next start continues after an
// interruption. Tables of a newer release are rejected.
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
	// The pool may not have a second connection available.
	conn, err := pgx.ConnectConfig(ctx, pool.Config().ConnConfig)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // this releases the lock
	if _, err := conn.Exec(ctx, lockMigrations); err != nil {
		return err
	}
	_, err = m.Migrate(ctx, rivermigrate.DirectionUp, nil)
	return err
}

// current reports whether the tables have the version of this release.
func current(ctx context.Context, pool *pgxpool.Pool, m *rivermigrate.Migrator[pgx.Tx]) (bool, error) {
	var there bool // false during the first migration steps
	if err := pool.QueryRow(ctx, `SELECT EXISTS (SELECT 1 FROM pg_attribute WHERE attrelid = to_regclass('river_migration') AND attname = 'line')`).Scan(&there); err != nil || !there {
		return false, err
	}
	// River's migrator fails on versions that it does not know.
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

// latest returns the highest version of some migrations, 0 if there are none.
func latest(migrations []rivermigrate.Migration) int {
	if len(migrations) == 0 {
		return 0
	}
	return slices.MaxFunc(migrations, func(a, b rivermigrate.Migration) int { return a.Version - b.Version }).Version
}
