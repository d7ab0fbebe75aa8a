package gates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

const elsewhere = " in "

// DecisionsConversation names the conversation in which somebody speaks of sessions that
// are not those of their own chat; a client that names no chat has none.
func DecisionsConversation(subject, chat string) string {
	return "decisions of " + subject + elsewhere + chat
}

// WasShown reports whether the sender of a turn saw the current version of the gate in
// this conversation: a word approves nothing else. Two things prove it: the signed marker
// of the answer before, which comes back with the history, and what is stored with an
// earlier turn of the same conversation.
func WasShown(ctx context.Context, turns orchestrator.Turns, t orchestrator.Turn, i contracts.Interrupt) (bool, error) {
	if slices.Contains(t.SeenGateCodes, i.Code) {
		return true, nil
	}
	if strings.HasSuffix(t.Conversation, elsewhere) {
		return false, nil // it is no place
	}
	before, err := turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: t.SessionID})
	is := orchestrator.DisplayedGate{InterruptID: i.InterruptID, ActionSHA256: i.ActionSHA256}
	return slices.ContainsFunc(before, func(old orchestrator.Turn) bool {
		return old.Conversation == t.Conversation && old.TurnKey != t.TurnKey && old.By.Subject() == t.By.Subject() && slices.Contains(old.DisplayedGates, is)
	}), err
}

// ShowFirst makes a turn show a gate that it cannot approve yet, and returns the reply.
func ShowFirst(t *orchestrator.Turn, i contracts.Interrupt) string {
	if t.RedisplayedQuestionID != "" {
		return fmt.Sprintf("`%s` was not shown here; look at it first, with `show %s`.", i.Code, i.Code)
	}
	t.RedisplayedQuestionID = i.InterruptID
	return fmt.Sprintf("This is what `%s` is about. Nothing is approved yet: look at it, and write `approve %s` once more.", i.Code, i.Code)
}

// RecordShown stores that the reply to the turn of a view showed the gates of the view
// whole; a view that is no reply to a turn is not stored.
func RecordShown(ctx context.Context, turns orchestrator.Turns, view orchestrator.SessionView) error {
	var gates []orchestrator.DisplayedGate
	for _, i := range view.Open {
		if i.Type.IsGate() {
			gates = append(gates, orchestrator.DisplayedGate{InterruptID: i.InterruptID, ActionSHA256: i.ActionSHA256})
		}
	}
	if view.InReplyTo.Key == "" || len(gates) == 0 {
		return nil
	}
	return recordShown(ctx, turns, view.InReplyTo, gates)
}

// tries bounds how often a turn is saved again because somebody else has saved it.
const tries = 20

func recordShown(ctx context.Context, turns orchestrator.Turns, key orchestrator.TurnKey, gates []orchestrator.DisplayedGate) error {
	for range tries {
		t, err := turns.Turn(ctx, key)
		if contracts.CodeOf(err) == contracts.CodeNotFound {
			return nil
		}
		fresh := slices.DeleteFunc(slices.Clone(gates), func(g orchestrator.DisplayedGate) bool { return slices.Contains(t.DisplayedGates, g) })
		if err != nil || len(fresh) == 0 {
			return err
		}
		t.DisplayedGates = append(slices.Clone(t.DisplayedGates), fresh...)
		if _, err = turns.SaveTurn(ctx, t); contracts.CodeOf(err) != contracts.CodeConflict {
			return err
		}
	}
	return contracts.Errorf(contracts.CodeConflict, "others keep changing the turn")
}
