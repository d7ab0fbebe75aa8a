package pgstore

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/manifold-run/manifold/contracts"
)

// lockMigrations lets one process at a time read and change the tables. The lock is released at the
// end of the transaction.
const lockMigrations = `SELECT pg_advisory_xact_lock(hashtextextended('manifold migrations', 0))`

const createMigrations = `
CREATE TABLE IF NOT EXISTS manifold_migration (component TEXT PRIMARY KEY, version INTEGER NOT NULL)`

const readMigration = `SELECT version FROM manifold_migration WHERE component = $1`

const noteMigration = `
INSERT INTO manifold_migration (component, version) VALUES ($1, $2)
ON CONFLICT (component) DO UPDATE SET version = excluded.version`

// Migrate brings the tables of a component to the version of this release in one transaction.
// Several processes may call it at once. The steps are SQL files named by their number, from 0001
// on. Tables of a newer release are an error of code unsupported.
func Migrate(ctx context.Context, pool *pgxpool.Pool, component string, steps fs.FS) error {
	files, err := fs.Glob(steps, "*.sql")
	if err != nil {
		return err
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		have, err := version(ctx, tx, component)
		if err != nil {
			return err
		}
		if have > len(files) {
			return contracts.Errorf(contracts.CodeUnsupported,
				"the tables have version %d, which a newer release made; this one knows %d", have, len(files))
		}
		for i, file := range files[have:] {
			if err := step(ctx, tx, steps, file, have+i+1); err != nil {
				return fmt.Errorf("%s: %w", file, err)
			}
		}
		_, err = tx.Exec(ctx, noteMigration, component, len(files))
		return err
	})
	if err != nil {
		return fmt.Errorf("migrate the tables of %s: %w", component, err)
	}
	return nil
}

func version(ctx context.Context, tx pgx.Tx, component string) (int, error) {
	for _, statement := range []string{lockMigrations, createMigrations} {
		if _, err := tx.Exec(ctx, statement); err != nil {
			return 0, err
		}
	}
	var have int
	if err := tx.QueryRow(ctx, readMigration, component).Scan(&have); err != nil && !errors.Is(err, pgx.ErrNoRows) {
		return 0, err
	}
	return have, nil
}

func step(ctx context.Context, tx pgx.Tx, steps fs.FS, file string, number int) error {
	begin, _, _ := strings.Cut(path.Base(file), "_")
	if n, err := strconv.Atoi(begin); err != nil || n != number {
		return fmt.Errorf("the file should have the number %d", number)
	}
	script, err := fs.ReadFile(steps, file)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, string(script))
	return err
}
