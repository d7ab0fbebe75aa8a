package orchestrator_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/sample"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/conversation"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

// eva may make requests and approve them.
var eva = access.Principal{Kind: access.KindUser, ID: "eva", Roles: []access.Role{access.RoleOperator, access.RoleApprover}}

// talk is a conversation that continues over the deaths of servers.
type talk struct {
	*office

	intents *local.Reader
	rooms   orchestratortest.Rooms
	process *executiontest.Killed
	stop    func()
	// repeats means that a client whose answer was lost sends its input again, and once more after
	// it has its answer. Otherwise nobody repeats it, and the server alone finishes what it has
	// stored.
	repeats bool
	session string
}

// serve starts a server that dies at its nth write; 0 lets it live.
func (k *talk) serve(n int, at executiontest.Moment) {
	k.t.Helper()
	if k.stop != nil {
		k.stop()
	}
	k.process = executiontest.KillAt(k.store, n, at)
	records := &orchestratortest.Killed{Process: k.process, Store: k.store}
	notifier := orchestrator.NewLocalNotifier()
	runner, err := execution.New(execution.Config{}, execution.Deps{Store: k.process, Invoker: k, Catalogs: k, Observer: notifier})
	if err != nil {
		k.t.Fatal(err)
	}
	k.rooms = orchestratortest.Wire(k.t, orchestratortest.Ports{
		Sessions: records, Gates: records, Turns: records, Previews: k.store, Runs: k.process, Runner: runner, Catalogs: k, Notifier: notifier, Intents: k.intents,
	})
	if err := runner.Start(k.t.Context()); err != nil {
		k.t.Fatal(err)
	}
	if !k.repeats {
		if err := k.rooms.Conversation.Start(k.t.Context()); err != nil {
			k.t.Fatal(err)
		}
	}
	process, rooms := k.process, k.rooms
	k.stop = func() {
		process.Bury()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_ = runner.Stop(ctx)             // its error is about the dead store
		_ = rooms.Conversation.Stop(ctx) // as above
	}
}

func (k *talk) died() bool {
	select {
	case <-k.process.Dead():
		return true
	default:
		return false
	}
}

// send sends an input, as a client that loses the connection when the server
// dies.
func (k *talk) send(who access.Principal, in conversation.Input) (outcome conversation.Outcome, lost bool) {
	k.t.Helper()
	type result struct {
		outcome conversation.Outcome
		err     error
	}
	done := make(chan result, 1)
	rooms := k.rooms
	go func() {
		outcome, err := rooms.Conversation.Handle(k.t.Context(), who, in)
		done <- result{outcome, err}
	}()
	select {
	case r := <-done:
		if k.died() {
			return outcome, true
		}
		if r.err != nil {
			k.t.Fatalf("%q: %v", in.Message, r.err)
		}
		return r.outcome, false
	case <-k.process.Dead():
		return outcome, true
	}
}

// say sends an input until it is known to be stored.
func (k *talk) say(who access.Principal, in conversation.Input) {
	k.t.Helper()
	for try := 0; ; try++ {
		outcome, lost := k.send(who, in)
		if !lost {
			k.session = outcome.SessionID
			if k.repeats && try < 2 {
				try = 2
				continue
			}
			return
		}
		if try > 5 {
			k.t.Fatal("no server lives")
		}
		k.serve(0, executiontest.Before)
		if !k.repeats && k.stored(who, in) {
			return
		}
	}
}

// stored reports whether a turn has the key of an input.
func (k *talk) stored(who access.Principal, in conversation.Input) bool {
	k.t.Helper()
	turns, err := k.store.ListTurns(k.t.Context(), orchestrator.TurnFilter{})
	if err != nil {
		k.t.Fatal(err)
	}
	for _, t := range turns {
		if t.Key == in.Key && t.By.Subject() == who.Subject() {
			k.session = t.SessionID
			return true
		}
	}
	return false
}

// until waits for an open question, and restarts the server if it is dead.
func (k *talk) until(what contracts.InterruptType, nth int) contracts.Interrupt {
	k.t.Helper()
	for range 300 {
		if k.died() {
			k.serve(0, executiontest.Before)
		}
		all, err := k.store.Interrupts(k.t.Context(), execution.InterruptFilter{SessionID: k.session, Types: []contracts.InterruptType{what}})
		if err != nil {
			k.t.Fatal(err)
		}
		if len(all) > nth {
			k.t.Fatalf("%d questions of the kind %s were asked: %+v", len(all), what, all)
		}
		if len(all) == nth && all[nth-1].Status == contracts.InterruptOpen {
			return all[nth-1]
		}
		time.Sleep(time.Second)
	}
	turns, err := k.store.ListTurns(k.t.Context(), orchestrator.TurnFilter{})
	k.t.Fatalf("question %d of the kind %s is never asked; turns %+v, %v", nth, what, turns, err)
	return contracts.Interrupt{}
}

// ended waits until every run has ended.
func (k *talk) ended() []execution.Run {
	k.t.Helper()
	for range 300 {
		if k.died() {
			k.serve(0, executiontest.Before)
		}
		listed, err := k.store.ListRuns(k.t.Context(), execution.RunFilter{})
		if err != nil {
			k.t.Fatal(err)
		}
		open := 0
		for _, r := range listed.Items {
			if !r.State.Terminal() {
				open++
			}
		}
		if open == 0 && len(listed.Items) > 0 {
			return listed.Items
		}
		time.Sleep(time.Second)
	}
	k.t.Fatal("a run does not end")
	return nil
}

// overREST is a request with two questions and a gate: a message, an answer as a message, an
// explicit answer, and a decision.
func overREST(k *talk) {
	k.t.Helper()
	k.say(ana, conversation.Input{Key: "k1", Start: &contracts.StartSession{Message: "book a desk swap"}, Message: "book a desk swap"})
	k.until(contracts.InterruptClarification, 1)
	k.say(ana, conversation.Input{Key: "k2", SessionID: k.session, Message: "3"})
	second := k.until(contracts.InterruptClarification, 2)
	k.say(ana, conversation.Input{Key: "k3", SessionID: k.session, Resume: &contracts.Resume{Response: 5, InterruptID: second.InterruptID}})
	g := k.until(contracts.InterruptWriteApproval, 1)
	k.say(bob, conversation.Input{Key: "k4", Gate: g.InterruptID, Resume: &contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: g.ActionSHA256}})
	runs := k.ended()
	if len(runs) != 1 || runs[0].State != contracts.RunCompleted {
		k.t.Fatalf("%d runs: %+v", len(runs), runs)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.booked) != 1 {
		k.t.Fatalf("%d writes", len(k.booked))
	}
	for _, p := range k.booked {
		if p["from_floor"] != 3.0 || p["to_floor"] != 5.0 {
			k.t.Errorf("written was %v", p)
		}
	}
}

// inAChat is a chat with a question of a run, an approval, and a cancel that is repeated after
// another request.
func inAChat(k *talk) {
	k.t.Helper()
	say := func(key, words string, shown ...contracts.Interrupt) {
		k.t.Helper()
		in := inChat("c", key, words)
		for _, i := range shown {
			in.Thread.Marked, in.Thread.SessionID = true, i.SessionID
			in.Thread.Shown = append(in.Thread.Shown, i.Code)
		}
		k.say(eva, in)
	}
	say("m1", "book 2 days off for Ana from 2026-12-07")
	which := k.until(contracts.InterruptClarification, 1)
	say("m2", "2", which)
	g := k.until(contracts.InterruptWriteApproval, 1)
	say("m3", "approve", g)
	k.ended()
	say("m4", "book 2 days off for Bruno Keller from 2026-12-07")
	g = k.until(contracts.InterruptWriteApproval, 2)
	say("m5", "cancel", g)
	k.ended()
	say("m6", "book 3 days off for Chen Wei from 2026-12-07")
	g = k.until(contracts.InterruptWriteApproval, 3)
	say("m5", "cancel", g) // the frontend sends it again, late
	k.until(contracts.InterruptWriteApproval, 3)
	say("m7", "reject "+g.Code, g)
	states := map[contracts.RunState]int{}
	for _, r := range k.ended() {
		states[r.State]++
	}
	if len(states) != 3 || states[contracts.RunCompleted] != 1 || states[contracts.RunCancelled] != 1 || states[contracts.RunRejected] != 1 {
		k.t.Fatalf("runs %v", states)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.booked) != 1 {
		k.t.Fatalf("%d writes", len(k.booked))
	}
	for _, p := range k.booked {
		if p["worker"] != "w4" {
			k.t.Errorf("written was %v", p)
		}
	}
}

// TestKilledAtEveryWriteNoMessageIsLostAndNoneTakenTwice kills the server before and after each
// write to its store during a conversation. The clients repeat unanswered inputs, or do not.
func TestKilledAtEveryWriteNoMessageIsLostAndNoneTakenTwice(t *testing.T) {
	t.Parallel()
	scripts := map[string]struct {
		catalog string
		script  func(*talk)
	}{"REST": {"testdata/desks.json", overREST}, "chat": {"testdata/people.json", inAChat}}
	for name, s := range scripts {
		intents := trained(t, s.catalog)
		play := func(t *testing.T, n int, at executiontest.Moment, repeats bool) (writes int) {
			t.Helper()
			synctest.Test(t, func(t *testing.T) {
				k := &talk{office: newOffice(t), intents: intents, repeats: repeats}
				k.catalog = loadCatalog(t, s.catalog)
				k.serve(n, at)
				defer func() {
					k.stop()
					time.Sleep(10 * time.Second) // pending waits of the dead process end
				}()
				s.script(k)
				writes = k.process.Writes()
			})
			return writes
		}
		for _, repeats := range []bool{true, false} {
			writes := play(t, 0, executiontest.Before, repeats)
			if writes < 10 {
				t.Fatalf("only %d writes to the store", writes)
			}
			for _, i := range sample.Of(t, 2*writes, 5) {
				n, at := 1+i/2, []executiontest.Moment{executiontest.Before, executiontest.After}[i%2]
				t.Run(fmt.Sprintf("%s killed %s write %d, repeated %v", name, at, n, repeats), func(t *testing.T) {
					t.Parallel()
					play(t, n, at, repeats)
				})
			}
		}
	}
}

// trained returns a matcher that is trained on a catalog. Servers share it, because training takes
// longer than the rest of the test.
func trained(t *testing.T, catalog string) *local.Reader {
	t.Helper()
	intents, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := intents.Understand(t.Context(), intent.Request{Message: "hello", Catalog: loadCatalog(t, catalog), Now: time.Now()}); err != nil {
		t.Fatal(err)
	}
	return intents
}
