package sqlite

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate migrates the tables to the version of this release, one transaction per step. It
// rejects a database of a newer release. The version of a step is the number at the start of its
// file name.
func migrate(ctx context.Context, h *handle) error {
	steps, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return err
	}
	var have int
	if err := h.value(ctx, &have, "PRAGMA user_version"); err != nil {
		return fmt.Errorf("read the version of the tables: %w", err)
	}
	switch {
	case have > len(steps):
		return contracts.Errorf(contracts.CodeUnsupported,
			"the tables have version %d, which a newer release made; this one knows %d", have, len(steps))
	case have < 0:
		return contracts.Errorf(contracts.CodeUnsupported, "the tables have version %d, which no release makes", have)
	}
	for i, step := range steps[have:] {
		if err := migrateStep(ctx, h, step, have+i+1); err != nil {
			return fmt.Errorf("update the tables by %s: %w", step, err)
		}
	}
	return nil
}

func migrateStep(ctx context.Context, h *handle, name string, version int) error {
	number, _, _ := strings.Cut(strings.TrimPrefix(name, "migrations/"), "_")
	if n, err := strconv.Atoi(number); err != nil || n != version {
		return fmt.Errorf("the file should have the number %d", version)
	}
	script, err := migrations.ReadFile(name)
	if err != nil {
		return err
	}
	tx, err := h.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit there is nothing to roll back
	if _, err := tx.ExecContext(ctx, string(script)); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, "PRAGMA user_version = "+strconv.Itoa(version)); err != nil {
		return err
	}
	return tx.Commit()
}
