package sqlstore

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// lastOf returns the last entry of a chain, or the zero entry if there is none.
func lastOf(ctx context.Context, q Querier, chain string) (contracts.LedgerEntry, error) {
	return queryRow(ctx, q, nil, scanEntry, `SELECT body FROM ledger WHERE run_id = $1 ORDER BY seq DESC LIMIT 1`, chain)
}

func scanEntry(row stored.Row) (contracts.LedgerEntry, error) {
	body, err := stored.Text(row)
	if err != nil {
		return contracts.LedgerEntry{}, err
	}
	return stored.Decode[contracts.LedgerEntry](body)
}

// appendEntry appends an entry to its chain, which the caller has locked.
func appendEntry(ctx context.Context, q Querier, e contracts.LedgerEntry) error {
	body, err := stored.Encode(e)
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `INSERT INTO ledger (run_id, seq, body) VALUES ($1, $2, $3)`, e.RunID, e.Seq, body)
	return err
}

// recordAdminAction appends the caller's administrative action to its chain, in the transaction
// of the action.
func recordAdminAction(ctx context.Context, x Tx, a execution.AdminAction) error {
	if err := x.Lock(ctx, LockActs); err != nil {
		return err
	}
	last, err := lastOf(ctx, x, execution.AdminChain)
	if err != nil {
		return err
	}
	at, err := x.Now(ctx)
	if err != nil {
		return err
	}
	entry, payload, err := a.Entry(last, at)
	if err != nil {
		return err
	}
	if payload != nil {
		err := x.Send(ctx, []Statement{
			{Text: `INSERT INTO payload (run_id, seq, body) VALUES ($1, $2, $3)`, Args: []any{entry.RunID, entry.Seq, stored.PackPayloads([][]byte{payload})}},
		})
		if err != nil {
			return err
		}
	}
	return appendEntry(ctx, x, entry)
}

// appendTombstones appends the last entry to the chains of deleted rows, by an administrator if
// act is set.
func appendTombstones(ctx context.Context, x Tx, act execution.AdminAction, why string, chains ...string) error {
	at, err := x.Now(ctx)
	if err != nil {
		return err
	}
	for _, chain := range chains {
		last, err := lastOf(ctx, x, chain)
		if err != nil {
			return err
		}
		entry, err := execution.Tombstone(chain, last, act, why, at)
		if err == nil {
			err = appendEntry(ctx, x, entry)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// NoteSealed records that a database in use is sealed from now on, and ends the chains that were
// deleted before deletions were recorded.
func NoteSealed(ctx context.Context, x Tx) error {
	gone, err := queryAll(ctx, x, stored.Text, `SELECT DISTINCT run_id FROM ledger WHERE run_id NOT IN (SELECT id FROM run) AND run_id NOT IN ($1, $2)`,
		execution.LockChain, execution.AdminChain)
	if err != nil {
		return err
	}
	if err := appendTombstones(ctx, x, execution.AdminAction{}, execution.GoneBefore, gone...); err != nil {
		return err
	}
	return recordAdminAction(ctx, x, execution.AdminAction{Kind: contracts.ActSealed, Actor: "system", Subject: "database"})
}
