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

// DecisionsConversation returns the conversation for decisions from a chat about the gates of other
// sessions. It includes the client's chat id, which may be empty.
func DecisionsConversation(subject, chat string) string {
	return "decisions of " + subject + elsewhere + chat
}

// WasShown reports whether the sender of a turn has seen the current version of the gate in this
// conversation: only then may one word approve it. The proof is the signed marker of the previous
// answer, which comes back with the history, or an earlier turn of the same conversation.
func WasShown(ctx context.Context, turns orchestrator.Turns, t orchestrator.Turn, i contracts.Interrupt) (bool, error) {
	if slices.Contains(t.SeenGateCodes, i.Code) {
		return true, nil
	}
	if strings.HasSuffix(t.Conversation, elsewhere) {
		return false, nil // without a chat id, turns of different chats cannot be told apart
	}
	before, err := turns.ListTurns(ctx, orchestrator.TurnFilter{SessionID: t.SessionID})
	is := orchestrator.DisplayedGate{InterruptID: i.InterruptID, ActionSHA256: i.ActionSHA256}
	return slices.ContainsFunc(before, func(old orchestrator.Turn) bool {
		return old.Conversation == t.Conversation && old.TurnKey != t.TurnKey && old.By.Subject() == t.By.Subject() && slices.Contains(old.DisplayedGates, is)
	}), err
}

// ShowFirst makes the turn display a gate that it cannot approve yet, and returns the reply.
func ShowFirst(t *orchestrator.Turn, i contracts.Interrupt) string {
	if t.RedisplayedQuestionID != "" {
		return fmt.Sprintf("`%s` was not shown here; look at it first, with `show %s`.", i.Code, i.Code)
	}
	t.RedisplayedQuestionID = i.InterruptID
	return fmt.Sprintf("This is what `%s` is about. Nothing is approved yet: look at it, and write `approve %s` once more.", i.Code, i.Code)
}

// RecordShown stores in the turn that the view replies to that its gates were displayed in full. If
// the view replies to no turn, it does nothing.
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

// tries is the maximum number of attempts to save a turn that others keep saving.
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
