package orchestrator_test

import (
	"context"
	"sync"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// moving is a store on which something happens after the open questions and the runs
// of a session were read, and before its turns are.
type moving struct {
	*orchestratortest.Store

	happens func()
	once    sync.Once
	read    sync.WaitGroup
}

func (m *moving) Interrupts(ctx context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	defer m.wasRead()
	return m.Store.Interrupts(ctx, f)
}

func (m *moving) ListRuns(ctx context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	defer m.wasRead()
	return m.Store.ListRuns(ctx, f)
}

func (m *moving) ListTurns(ctx context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	m.once.Do(func() {
		m.read.Wait()
		m.happens()
	})
	return m.Store.ListTurns(ctx, f)
}

func (m *moving) wasRead() {
	defer func() { _ = recover() }() // read again, after the first time
	m.read.Done()
}

// The reads of a view are not of one moment: a session that goes on between two of
// them does not read as one that ended without an answer.
func TestASessionThatGoesOnWhileItIsReadIsNotCompleted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		office func(*testing.T) *office
		words  string
		want   contracts.SessionStatus
	}{
		"a question": {newDesks, "book a desk swap", contracts.SessionPendingInterrupt},
		"a run":      {newOffice, "show the leave balance of Bruno Keller", contracts.SessionCompleted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := c.office(t)
			session := o.ask("help").SessionID
			m := &moving{Store: o.store, happens: func() {
				if _, err := o.Say(t.Context(), ana, session, c.words, "", patience); err != nil {
					t.Error(err)
				}
			}}
			m.read.Add(2)
			rooms := orchestratortest.Wire(t, orchestratortest.Ports{
				Sessions: o.store, Gates: o.store, Turns: m, Previews: o.store, Runs: m, Runner: o.runner, Catalogs: o, Notifier: o.notifier,
			})
			r, err := rooms.Conversation.Session(t.Context(), ana, session, 0)
			if err != nil || r.Status != c.want || r.Interrupt == nil && len(r.RunIDs) == 0 {
				t.Errorf("it reads as %s, question %v, runs %v, answer %s, %v", r.Status, r.Interrupt, r.RunIDs, text(r.Answer), err)
			}
		})
	}
}
