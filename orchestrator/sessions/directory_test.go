package sessions_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
	"github.com/manifold-run/manifold/orchestrator/sessions"
)

// failing is a store that cannot read sessions for a while.
type failing struct {
	orchestrator.Sessions
	err error
}

func (f *failing) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	if f.err != nil {
		return orchestrator.Session{}, f.err
	}
	return f.Sessions.Session(ctx, id)
}

// A request that is repeated while the store cannot be read does not conflict with itself: it must
// be sent again.
func TestASessionThatCannotBeReadIsNoConflict(t *testing.T) {
	t.Parallel()
	store := orchestratortest.NewStore()
	away := &failing{Sessions: store}
	dir, err := sessions.New(sessions.Config{}, away, store, orchestrator.NewEventBroker(store, orchestrator.NewLocalNotifier(), slog.New(slog.DiscardHandler)))
	if err != nil {
		t.Fatal(err)
	}
	session := orchestrator.Session{ID: "ses_1", Owner: contracts.Principal{ID: "rita"}}
	if _, err := dir.Open(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Open(t.Context(), session); err != nil {
		t.Errorf("the same again: %v", err)
	}
	away.err = contracts.Errorf(contracts.CodeUnavailable, "the store is away")
	if _, err := dir.Open(t.Context(), session); contracts.CodeOf(err) != contracts.CodeUnavailable {
		t.Errorf("the same again, and it cannot be read: %v", err)
	}
	away.err = nil
	session.Owner.ID = "otto"
	if _, err := dir.Open(t.Context(), session); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("somebody else's: %v", err)
	}
}
