package sqlstore

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/internal/store/stored"
)

// RecordOutcome stores an outcome for a nonce, unless it has one, and wakes the run. It reports
// whether the outcome was stored.
func (s *RunStore) RecordOutcome(ctx context.Context, nonce string, o execution.Outcome) (bool, error) {
	o.At = stored.OrTime(o.At, s.now())
	body, err := stored.Encode(o)
	if err != nil {
		return false, err
	}
	// The run of an intent never changes.
	runID, err := readRow(ctx, s.core, "find an intent", noIntent(), stored.Text, `SELECT run_id FROM intent WHERE nonce = $1`, nonce)
	if err != nil {
		return false, err
	}
	names := stored.NamedIn(body)
	var first bool
	apply := func(_ context.Context, g *group) error {
		i, ok := g.intents[nonce]
		if !ok {
			return noIntent()
		}
		if first = !i.known; !first {
			return nil
		}
		i.known = true
		g.statements = append(g.statements, Statement{Text: `UPDATE intent SET outcome = $2 WHERE nonce = $1`, Args: []any{nonce, body}})
		g.addNames(runID, names...)
		g.wake(runID)
		return nil
	}
	err = s.write(ctx, "record an outcome", change{runs: []string{runID}, nonces: []string{nonce}, blobs: len(names) > 0, apply: apply})
	return first && err == nil, err
}

// RecordOperation stores the id of an accepted operation. It commits.
func (s *RunStore) RecordOperation(ctx context.Context, nonce, operation string) error {
	n, err := s.exec(ctx, "record an operation", "", Change{}, `UPDATE intent SET operation = $2 WHERE nonce = $1`, nonce, operation)
	if err == nil && n == 0 {
		return noIntent()
	}
	return err
}

func noIntent() error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no intent of that nonce")
}
