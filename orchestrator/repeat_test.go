package orchestrator_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// newDesks returns an office that asks for two numbers, one after the other.
func newDesks(t *testing.T) *office {
	t.Helper()
	o := newOffice(t)
	o.catalog = loadCatalog(t, "testdata/desks.json")
	return o
}

func asks(t *testing.T, r contracts.SessionResponse, prompt string) {
	t.Helper()
	if r.Interrupt == nil || r.Interrupt.Prompt != prompt {
		t.Fatalf("want the question %q, got %s %+v, answer %s", prompt, r.Status, r.Interrupt, text(r.Answer))
	}
}

func TestARepeatedAnswerAnswersOnce(t *testing.T) {
	t.Parallel()
	o := newDesks(t)
	r := o.ask("book a desk swap")
	asks(t, r, "From which floor?")
	for range 3 { // the client repeats because its answer was lost
		again, err := o.Say(t.Context(), ana, r.SessionID, "3", "key-1", patience)
		if err != nil {
			t.Fatal(err)
		}
		asks(t, again, "To which floor?")
	}
	last, err := o.Say(t.Context(), ana, r.SessionID, "5", "key-2", patience)
	if err != nil || last.Interrupt == nil || last.Interrupt.Type != contracts.InterruptWriteApproval {
		t.Fatalf("%+v, %v", last, err)
	}
	if got := last.Interrupt.Action.Parameters; got["from_floor"] != 3.0 || got["to_floor"] != 5.0 {
		t.Errorf("the gate is about %v", got)
	}
	if _, err := o.Say(t.Context(), ana, r.SessionID, "4", "key-1", patience); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("other words under a key that was used: %v", err)
	}
}

func TestARepeatedAnswerThatIsGivenAsOneAnswersOnce(t *testing.T) {
	t.Parallel()
	o := newDesks(t)
	r := o.ask("book a desk swap")
	for range 3 {
		outcome, err := o.Handle(t.Context(), ana, conversation.Input{SessionID: r.SessionID, Resume: &contracts.Resume{Response: 3}, Key: "key-1"})
		if err != nil {
			t.Fatal(err)
		}
		again, err := o.SessionOf(t.Context(), outcome, patience)
		if err != nil {
			t.Fatal(err)
		}
		asks(t, again, "To which floor?")
	}
}

// crashAfterAnswer stores the state of a crash between the commit of an answer and the rest of its
// turn.
func (o *office) crashAfterAnswer(i contracts.Interrupt, value any) {
	o.t.Helper()
	_, err := execution.UpdateInterrupt(o.t.Context(), o.store, i.InterruptID, func(i *contracts.Interrupt, now time.Time) error {
		i.Status, i.Response = contracts.InterruptAnswered, value
		i.Decisions = append(i.Decisions, contracts.InterruptDecided{Decision: contracts.DecisionAnswer, DecidedBy: ana.Subject(), DecidedAt: now})
		return nil
	})
	if err != nil {
		o.t.Fatal(err)
	}
	asking, err := o.store.ListTurns(o.t.Context(), orchestrator.TurnFilter{InterruptID: i.InterruptID})
	if err != nil || len(asking) != 1 {
		o.t.Fatal(asking, err)
	}
	_, _, err = o.store.BeginTurn(o.t.Context(), orchestrator.Turn{
		TurnKey: orchestrator.TurnKey{Conversation: i.SessionID, Key: "key-1"}, SessionID: i.SessionID, Kind: orchestrator.TurnReply,
		By: ana, Message: "3", Fingerprint: hashOf(o.t, "3"), AnsweredQuestionID: i.InterruptID, AskingTurn: &asking[0].TurnKey,
		Resume: &contracts.Resume{Response: value}, CreatedAt: time.Now(),
	})
	if err != nil {
		o.t.Fatal(err)
	}
}

func hashOf(t *testing.T, v any) string {
	t.Helper()
	hash, err := contracts.Hash(v)
	if err != nil {
		t.Fatal(err)
	}
	return hash
}

func TestAnAnswerIsNotLostInACrash(t *testing.T) {
	t.Parallel()
	t.Run("its repeat goes on with it", func(t *testing.T) {
		t.Parallel()
		o := newDesks(t)
		r := o.ask("book a desk swap")
		o.crashAfterAnswer(*r.Interrupt, 3.0)
		again, err := o.Say(t.Context(), ana, r.SessionID, "3", "key-1", patience)
		if err != nil {
			t.Fatal(err)
		}
		asks(t, again, "To which floor?")
	})
	t.Run("without a repeat the next start goes on with it", func(t *testing.T) {
		t.Parallel()
		o := newDesks(t)
		r := o.ask("book a desk swap")
		o.crashAfterAnswer(*r.Interrupt, 3.0)
		before, err := o.Session(t.Context(), ana, r.SessionID, 0)
		if err != nil || before.Status != contracts.SessionRunning {
			t.Fatalf("an answer that is not taken up yet reads as %s, %v", before.Status, err)
		}
		if err := o.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if err := o.Stop(t.Context()); err != nil {
				t.Error(err)
			}
		}()
		after, err := o.Session(t.Context(), ana, r.SessionID, patience)
		if err != nil {
			t.Fatal(err)
		}
		asks(t, after, "To which floor?")
	})
}

func TestWhatWasInterruptedLongAgoIsNotDoneByItself(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("show the leave balance of Bruno Keller")
	_, _, err := o.store.BeginTurn(t.Context(), orchestrator.Turn{
		TurnKey: orchestrator.TurnKey{Conversation: r.SessionID, Key: "old"}, SessionID: r.SessionID, Kind: orchestrator.TurnRequest,
		By: ana, Message: "show the leave balance of Chen Wei", CreatedAt: time.Now().Add(-2 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := o.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	after, err := o.Session(t.Context(), ana, r.SessionID, patience)
	if stopping := o.Stop(t.Context()); err != nil || stopping != nil {
		t.Fatal(err, stopping)
	}
	old, err := o.store.Turn(t.Context(), orchestrator.TurnKey{Conversation: r.SessionID, Key: "old"})
	if err != nil || len(after.RunIDs) != 1 || !strings.Contains(text(old.Answer), "interrupted") {
		t.Errorf("%d runs, answer %s, %v", len(after.RunIDs), text(old.Answer), err)
	}
}

// A chat message that answers a question is repeated after each state that a crash may leave: its
// answer is committed and its turn has no outcome.
func TestAChatMessageThatComesAgainAnswersOneQuestion(t *testing.T) {
	t.Parallel()
	o := newDesks(t)
	say := func(key, words string) orchestrator.SessionView {
		t.Helper()
		view, err := o.Chat(t.Context(), ana, inChat("c1", key, words))
		if err != nil {
			t.Fatal(err)
		}
		return view
	}
	say("m1", "book a desk swap")
	second := say("m2", "3")
	turns, err := o.store.ListTurns(t.Context(), orchestrator.TurnFilter{SessionID: second.SessionID})
	if err != nil {
		t.Fatal(err)
	}
	for _, turn := range turns {
		if turn.Key == "m2" {
			turn.Outcome, turn.Answer, turn.RunID = "", nil, ""
			if _, err := o.store.SaveTurn(t.Context(), turn); err != nil {
				t.Fatal(err)
			}
		}
	}
	again := say("m2", "3")
	if len(again.Open) != 1 || again.Open[0].Prompt != "To which floor?" {
		t.Errorf("one message has answered two questions: %+v", again.Open)
	}
	if open, err := o.store.Interrupts(t.Context(), execution.InterruptFilter{SessionID: second.SessionID}); err != nil || len(open) != 2 {
		t.Errorf("%d questions were asked, %v", len(open), err)
	}
}

// looked is a store of turns that records which turns were read.
type looked struct {
	orchestrator.Turns

	filters chan orchestrator.TurnFilter
}

func (l looked) ListTurns(ctx context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	l.filters <- f
	return l.Turns.ListTurns(ctx, f)
}

// A server resumes at its start only what was interrupted before. It must not resume a decision
// that it receives meanwhile: that would be made twice, and one of the two would fail.
func TestWhatBeginsAfterTheStartIsNotTakenUp(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	turns := looked{o.store, make(chan orchestrator.TurnFilter, 10)}
	c := orchestratortest.Wire(t, orchestratortest.Ports{
		Sessions: o.store, Gates: o.store, Turns: turns, Previews: o.store, Runs: o.store, Runner: o.runner, Catalogs: o, Notifier: o.notifier,
	}).Conversation
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	if f := <-turns.filters; !f.Unfinished || f.Before.IsZero() || f.Before.After(started) {
		t.Errorf("started at %s, and what began before %s is taken up", started, f.Before)
	}
	if err := c.Stop(t.Context()); err != nil {
		t.Error(err)
	}
}
