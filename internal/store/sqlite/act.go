package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// lastOf is the end of a chain, the zero entry for none.
func lastOf(ctx context.Context, h *handle, chain string) (contracts.LedgerEntry, error) {
	body, err := stored.Text(h.row(ctx, `SELECT body FROM ledger WHERE run_id = ? ORDER BY seq DESC LIMIT 1`, chain))
	if errors.Is(err, sql.ErrNoRows) {
		return contracts.LedgerEntry{}, nil
	}
	if err != nil {
		return contracts.LedgerEntry{}, err
	}
	return stored.Decode[contracts.LedgerEntry](body)
}

// appendEntry adds an entry to the end of its chain; the file has one writer, so
// that nobody else appends meanwhile.
func appendEntry(ctx context.Context, x *tx, e contracts.LedgerEntry) error {
	body, err := stored.Encode(e)
	if err != nil {
		return err
	}
	_, err = x.exec(ctx, `INSERT INTO ledger (run_id, seq, body) VALUES (?, ?, ?)`, e.RunID, e.Seq, body)
	return err
}

// recordAct appends the act that the caller has named, in the transaction that
// does it.
func recordAct(ctx context.Context, x *tx, a execution.Act) error {
	last, err := lastOf(ctx, x.handle, execution.ActChain)
	if err != nil {
		return err
	}
	entry, payload, err := a.Entry(last, x.now)
	if err != nil {
		return err
	}
	if payload != nil {
		_, err := x.exec(ctx, `INSERT INTO blob (sha256, kind, body) VALUES (?, ?, ?)`, entry.PayloadSHA256, execution.BlobLedger, payload)
		if err == nil {
			err = x.name(ctx, execution.ActChain, entry.PayloadSHA256)
		}
		if err != nil {
			return err
		}
	}
	return appendEntry(ctx, x, entry)
}

// bury ends a chain whose rows are deleted.
func bury(ctx context.Context, x *tx, chain, why string) error {
	last, err := lastOf(ctx, x.handle, chain)
	if err != nil {
		return err
	}
	entry, err := execution.Tombstone(chain, last, x.act, why, x.now)
	if err != nil {
		return err
	}
	return appendEntry(ctx, x, entry)
}
