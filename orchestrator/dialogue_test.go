package orchestrator_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/conversation"
)

// All interfaces accept the same answers: a chat, a message over REST, and an explicit answer, as
// sent by buttons and the command line.
func TestEveryFaceTakesTheSameAnswers(t *testing.T) {
	t.Parallel()
	faces := map[string]func(sessionID, words string) conversation.Input{
		"chat": func(id, words string) conversation.Input {
			return conversation.Input{Key: "k", Message: words, Thread: &conversation.Thread{SessionID: id, Continued: true}}
		},
		"REST": func(id, words string) conversation.Input {
			return conversation.Input{Key: "k", Message: words, SessionID: id}
		},
		"resume": func(id, words string) conversation.Input {
			return conversation.Input{Key: "k", SessionID: id, Resume: &contracts.Resume{Response: words}}
		},
	}
	for face, input := range faces {
		for words, want := range map[string]string{"1": "w1", "the second one": "w4", "Ana Souza": "w1", "Lopes": "w4", "the last": "w4", "a última": "w4"} {
			t.Run(face+" "+words, func(t *testing.T) {
				t.Parallel()
				o := newOffice(t)
				r := o.ask("book 2 days off for Ana from 2026-12-07")
				if r.Interrupt == nil || len(r.Interrupt.Options) != 2 {
					t.Fatalf("%s %+v", r.Status, r.Interrupt)
				}
				r, err := o.told(t.Context(), ana, input(r.SessionID, words), patience)
				if err != nil || r.Interrupt == nil || r.Interrupt.Action == nil || r.Interrupt.Action.Parameters["worker"] != want {
					t.Errorf("%+v, %v", r.Interrupt, err)
				}
			})
		}
		t.Run(face+" a number to a number", func(t *testing.T) {
			t.Parallel()
			o := newDesks(t)
			r := o.ask("book a desk swap")
			r, err := o.told(t.Context(), ana, input(r.SessionID, "3"), patience)
			if err != nil {
				t.Fatal(err)
			}
			asks(t, r, "To which floor?")
		})
		t.Run(face+" yes to several", func(t *testing.T) {
			t.Parallel()
			if face == "resume" {
				t.Skip("it says which question it answers, so that yes is no option")
			}
			o := newOffice(t)
			r := o.ask("book 2 days off for Ana from 2026-12-07")
			id := r.Interrupt.InterruptID
			r, err := o.told(t.Context(), ana, input(r.SessionID, "yes"), patience)
			if err != nil || r.Interrupt == nil || r.Interrupt.InterruptID != id {
				t.Errorf("%+v, %v", r.Interrupt, err)
			}
		})
	}
}

// "Yes" never approves, and a fragment never matches another domain's write.
func TestAFragmentChangesWhatWaitsAndNothingElse(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	r := o.ask("book 2 days off for Bruno Keller from 2026-12-07")
	first := r.Interrupt.InterruptID
	r, err := o.Say(t.Context(), ana, r.SessionID, "make it 3", "k1", patience)
	if err != nil || len(r.Interrupts) != 1 || r.Interrupt.InterruptID == first || r.Interrupt.Action.Parameters["days"] != 3.0 || r.Interrupt.Action.Parameters["worker"] != "w2" {
		t.Fatalf("%+v, %v", r.Interrupts, err)
	}
	again, err := o.Say(t.Context(), ana, r.SessionID, "make it 3", "k1", patience)
	if err != nil || len(again.RunIDs) != 2 || again.Interrupt.InterruptID != r.Interrupt.InterruptID {
		t.Errorf("the repeat: %v %+v, %v", again.RunIDs, again.Interrupt, err)
	}
	if old, err := execution.GetInterrupt(t.Context(), o.store, first); err != nil || old.Status == contracts.InterruptOpen {
		t.Errorf("what was replaced still waits: %s, %v", old.Status, err)
	}
	if err := o.approve(bob, *again.Interrupt); err != nil {
		t.Fatal(err)
	}
	r, err = o.Say(t.Context(), ana, r.SessionID, "make it 4", "k2", patience)
	if err != nil || o.bookings() != 1 || r.Interrupt == nil || r.Interrupt.Type != contracts.InterruptClarification {
		t.Fatalf("%d bookings, %+v, %v", o.bookings(), r.Interrupt, err)
	}
	if r, err = o.Say(t.Context(), ana, r.SessionID, "leave it as it is", "k3", patience); err != nil || len(r.Interrupts) != 0 || o.bookings() != 1 {
		t.Errorf("%d bookings, %+v, %v", o.bookings(), r.Interrupts, err)
	}
}
