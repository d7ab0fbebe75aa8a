package conversation

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/conversation/command"
)

// stepResult is the saved turn after a step, or the error of the step.
type stepResult struct {
	turn         orchestrator.Turn
	refused, err error
	// unchanged means that nothing was saved.
	unchanged bool
}

// stepExclusively runs one step. If the step may call a model, it holds a lease across the cluster,
// so that the model is called once per turn; concurrent callers get its result.
func (m *machine) stepExclusively(ctx context.Context, t orchestrator.Turn, resumed bool) stepResult {
	if t.Kind != orchestrator.TurnRequest || t.Understood || !m.intents.HasModel() {
		return m.stepAndSave(ctx, t, resumed)
	}
	ctx, cancel := DetachContext(ctx) // other callers wait for the result too
	defer cancel()
	out, _, _ := m.reading.Do(t.Conversation+"\x00"+t.Key+"\x00"+t.Model, func() (any, error) {
		read := func() bool {
			now, err := m.turns.Turn(ctx, t.TurnKey)
			return err == nil && now.Version != t.Version
		}
		release, held, err := orchestrator.AcquireLease(ctx, m.leases, "reading "+t.Conversation+" "+t.Key+" "+t.Model, read)
		defer release()
		switch {
		case err != nil:
			return stepResult{refused: err, unchanged: true}, nil
		case !held:
			return stepResult{err: contracts.Errorf(contracts.CodeConflict, "the message was read meanwhile")}, nil
		}
		return m.stepAndSave(ctx, t, resumed), nil
	})
	done, ok := out.(stepResult)
	if !ok {
		return stepResult{refused: contracts.Errorf(contracts.CodeInternal, "the message was not read"), unchanged: true}
	}
	return done
}

// stepAndSave runs one step and saves the turn.
func (m *machine) stepAndSave(ctx context.Context, t orchestrator.Turn, resumed bool) stepResult {
	next, refused := m.step(ctx, t, resumed)
	if refused != nil {
		if command.Retryable(refused) || t.Kind == orchestrator.TurnRequest {
			return stepResult{refused: refused, unchanged: true}
		}
		next = t
		next.Outcome, next.Refusal = orchestrator.TurnRefused, &orchestrator.Refusal{Code: contracts.CodeOf(refused), Message: refused.Error()}
	}
	saved, err := m.turns.SaveTurn(ctx, next)
	if err == nil {
		m.notifier.Committed(saved.SessionID, saved.RunID)
	}
	return stepResult{turn: saved, refused: refused, err: err}
}
