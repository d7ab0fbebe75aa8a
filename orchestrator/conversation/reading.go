package conversation

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/conversation/command"
)

// made is a step that was made and saved: the turn after it, or why there is none.
type made struct {
	turn         orchestrator.Turn
	refused, err error
	// nothing was saved: the turn is as it was.
	nothing bool
}

// alone makes a step as make does. A message that a model may read is read by one
// at a time, on any server, by the turn as it is stored: whoever repeats it while it is
// read gets what came of that, and nothing is paid for twice.
func (m *machine) alone(ctx context.Context, t orchestrator.Turn, resumed bool) made {
	if t.Kind != orchestrator.TurnRequest || t.Understood || !m.intents.HasModel() {
		return m.stepAndSave(ctx, t, resumed)
	}
	ctx, cancel := Patiently(ctx) // others wait for it too
	defer cancel()
	out, _, _ := m.reading.Do(t.Conversation+"\x00"+t.Key+"\x00"+t.Model, func() (any, error) {
		read := func() bool {
			now, err := m.turns.Turn(ctx, t.TurnKey)
			return err == nil && now.Version != t.Version
		}
		release, held, err := orchestrator.Hold(ctx, m.leases, "reading "+t.Conversation+" "+t.Key+" "+t.Model, read)
		defer release()
		switch {
		case err != nil:
			return made{refused: err, nothing: true}, nil
		case !held:
			return made{err: contracts.Errorf(contracts.CodeConflict, "the message was read meanwhile")}, nil
		}
		return m.stepAndSave(ctx, t, resumed), nil
	})
	done, ok := out.(made)
	if !ok {
		return made{refused: contracts.Errorf(contracts.CodeInternal, "the message was not read"), nothing: true}
	}
	return done
}

// stepAndSave makes one step and commits it.
func (m *machine) stepAndSave(ctx context.Context, t orchestrator.Turn, resumed bool) made {
	next, refused := m.step(ctx, t, resumed)
	if refused != nil {
		if command.Retryable(refused) || t.Kind == orchestrator.TurnRequest {
			return made{refused: refused, nothing: true}
		}
		next = t
		next.Outcome, next.Refusal = orchestrator.TurnRefused, &orchestrator.Refusal{Code: contracts.CodeOf(refused), Message: refused.Error()}
	}
	saved, err := m.turns.SaveTurn(ctx, next)
	if err == nil {
		m.notifier.Committed(saved.SessionID, saved.RunID)
	}
	return made{turn: saved, refused: refused, err: err}
}
