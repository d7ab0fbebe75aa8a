package sqlite

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

const selectIntent = `SELECT operation, outcome, consumed, body FROM intent `

// RecordOutcome stores the first observation of a nonce.
func (s *Runs) RecordOutcome(ctx context.Context, nonce string, o execution.Outcome) (bool, error) {
	o.At = stored.OrTime(o.At, s.now())
	body, err := stored.Encode(o)
	if err != nil {
		return false, err
	}
	names := stored.NamedIn(body)
	var first bool
	err = s.write(ctx, "record an outcome", func(ctx context.Context, x *tx) error {
		var runID string
		var known bool
		err := x.row(ctx, `SELECT run_id, outcome <> '' FROM intent WHERE nonce = ?`, nonce).Scan(&runID, &known)
		if first = err == nil && !known; !first {
			return missing(err, noIntent())
		}
		if _, err := x.exec(ctx, `UPDATE intent SET outcome = ? WHERE nonce = ?`, body, nonce); err != nil {
			return err
		}
		if err := x.name(ctx, runID, names...); err != nil {
			return err
		}
		err = x.wake(ctx, runID)
		return err
	})
	return first && err == nil, err
}

// RecordOperation stores the id of accepted work.
func (s *Runs) RecordOperation(ctx context.Context, nonce, operation string) error {
	return s.write(ctx, "record an operation", func(ctx context.Context, x *tx) error {
		n, err := x.exec(ctx, `UPDATE intent SET operation = ? WHERE nonce = ?`, operation, nonce)
		if err == nil && n == 0 {
			return noIntent()
		}
		return err
	})
}

func noIntent() error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no intent of that nonce")
}
