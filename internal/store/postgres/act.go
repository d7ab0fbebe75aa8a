package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// lockActs is held by whoever appends to the chain of acts, until the commit.
const lockActs = `SELECT pg_advisory_xact_lock(hashtextextended('manifold acts', 0))`

// rowQuerier is a connection or a transaction that reads one row.
type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// lastOf is the end of a chain, the zero entry for none.
func lastOf(ctx context.Context, q rowQuerier, chain string) (contracts.LedgerEntry, error) {
	body, err := stored.Text(q.QueryRow(ctx, `SELECT body FROM ledger WHERE run_id = $1 ORDER BY seq DESC LIMIT 1`, chain))
	if errors.Is(err, pgx.ErrNoRows) {
		return contracts.LedgerEntry{}, nil
	}
	if err != nil {
		return contracts.LedgerEntry{}, err
	}
	return stored.Decode[contracts.LedgerEntry](body)
}

// appendEntry adds an entry to the end of its chain, which the caller has
// locked.
func appendEntry(ctx context.Context, x execer, e contracts.LedgerEntry) error {
	body, err := stored.Encode(e)
	if err != nil {
		return err
	}
	_, err = x.Exec(ctx, `INSERT INTO ledger (run_id, seq, body) VALUES ($1, $2, $3)`, e.RunID, e.Seq, body)
	return err
}

// recordAct appends the act that the caller has named, in the transaction that
// does it.
func recordAct(ctx context.Context, tx pgx.Tx, a execution.Act) error {
	if _, err := tx.Exec(ctx, lockActs); err != nil {
		return err
	}
	last, err := lastOf(ctx, tx, execution.ActChain)
	if err != nil {
		return err
	}
	at, err := stored.Number(tx.QueryRow(ctx, `SELECT `+now))
	if err != nil {
		return err
	}
	entry, payload, err := a.Entry(last, stored.Stamp(at))
	if err != nil {
		return err
	}
	if payload != nil {
		for statement, args := range map[string][]any{
			`INSERT INTO blob (sha256, kind, body) VALUES ($1, $2, $3)`: {entry.PayloadSHA256, execution.BlobLedger, payload},
			`INSERT INTO blob_name (sha256, run_id) VALUES ($1, $2)`:    {entry.PayloadSHA256, execution.ActChain},
		} {
			if _, err := tx.Exec(ctx, statement, args...); err != nil {
				return err
			}
		}
	}
	return appendEntry(ctx, tx, entry)
}

// bury ends chains whose rows are deleted.
func bury(ctx context.Context, tx pgx.Tx, why string, chains ...string) error {
	at, err := stored.Number(tx.QueryRow(ctx, `SELECT `+now))
	if err != nil {
		return err
	}
	act, _ := execution.ActOf(ctx)
	for _, chain := range chains {
		last, err := lastOf(ctx, tx, chain)
		if err != nil {
			return err
		}
		entry, err := execution.Tombstone(chain, last, act, why, stored.Stamp(at))
		if err == nil {
			err = appendEntry(ctx, tx, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// noteSealed records that a database which was in use is sealed from now on, and
// ends the chains that were deleted before deletions were recorded.
func noteSealed(ctx context.Context, tx pgx.Tx) error {
	gone, err := collect(ctx, tx, stored.Text, `SELECT DISTINCT run_id FROM ledger WHERE run_id NOT IN (SELECT id FROM run) AND run_id NOT IN ($1, $2)`,
		execution.LockChain, execution.ActChain)
	if err != nil {
		return err
	}
	if err := bury(ctx, tx, execution.GoneBefore, gone...); err != nil {
		return err
	}
	return recordAct(ctx, tx, execution.Act{Kind: contracts.ActSealed, Actor: "system", Subject: "database"})
}
