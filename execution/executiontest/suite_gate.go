package executiontest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

func gateSentences() sentences {
	return sentences{
		"a gate comes back as it was opened, by id, code, run and signal":       gateComesBack,
		"a code belongs to one open question, in any case":                      codeIsUnique,
		"the code of a settled question may be used again":                      codeIsFreed,
		"an interrupt id is taken once":                                         interruptIDOnce,
		"a decision is stored and wakes the run":                                decisionWakes,
		"a decision that its own rules refuse changes nothing":                  refusedDecision,
		"a settled gate refuses further decisions and shows the first":          settledGate,
		"a change to what somebody else has changed since is refused":           savedOnceAVersion,
		"of a thousand decisions at the moment of expiry exactly one counts":    thousandDecisions,
		"a quorum of concurrent decisions loses none":                           quorumLosesNone,
		"interrupts are listed oldest first and by filter":                      interruptsAreListed,
		"a question without a run stands in its session, with its event":        sessionQuestion,
		"a question without a run is refused whole when its code is taken":      sessionQuestionRefused,
		"an unknown interrupt is not found":                                     unknownInterrupt,
		"a decision cannot move a gate to another run":                          gateStaysWithItsRun,
		"decisions on a run that has ended are kept and wake nobody":            decisionAfterEnd,
		"what a decision leaves is what readers see, digits of long ids too":    longIDsSurvive,
		"a parked run that gets a decision is due; the same wake-up only once":  decisionMakesDue,
		"an owner that saw a decision before it parked is not woken once again": seenDecisionParks,
	}
}

func gate(id, code string) contracts.Interrupt {
	return contracts.Interrupt{
		InterruptID: id, Code: code, Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen,
		SessionID: "session of r1", RunID: "r1", NodeID: "n1", Prompt: "Change it?", ActionSHA256: "hash of " + id,
		Action:    &contracts.Action{Capability: "alpha.change", Parameters: map[string]any{"to": "blue"}},
		CreatedAt: day(), Requesters: []string{"ana"}, Quorum: 1,
	}
}

// opened returns a run with open gates.
func opened(t *testing.T, s execution.Store, gates ...contracts.Interrupt) execution.Lease {
	t.Helper()
	return create(t, s, exampleRun("r1"), execution.Transition{At: day(), Gates: gates})
}

func approve(by string) func(*contracts.Interrupt, time.Time) error {
	return func(i *contracts.Interrupt, now time.Time) error {
		i.Decisions = append(i.Decisions, contracts.InterruptDecided{Decision: contracts.DecisionApprove, DecidedBy: by, DecidedAt: now.UTC()})
		if len(i.Decisions) >= max(i.Quorum, 1) {
			i.Status = contracts.InterruptApproved
		}
		return nil
	}
}

func gateComesBack(t *testing.T, s execution.Store) {
	want := gate("g1", "K7Q")
	expires := day().Add(time.Hour)
	want.ExpiresAt, want.ResponseSchema = &expires, map[string]any{"type": "object"}
	opened(t, s, want)
	byID, err := execution.GetInterrupt(t.Context(), s, "g1")
	if err != nil {
		t.Fatal(err)
	}
	byCode, err := s.InterruptByCode(t.Context(), "k7q")
	if err != nil {
		t.Fatal(err)
	}
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "by id", want, byID)
	same(t, "by code", want, byCode)
	same(t, "by run", []contracts.Interrupt{want}, load(t, s, "r1").Gates)
	same(t, "by signal", []contracts.Interrupt{want}, signals.Gates)
}

func codeIsUnique(t *testing.T, s execution.Store) {
	lease := opened(t, s, gate("g1", "K7Q"))
	refused(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g2", "k7q")}}, contracts.CodeConflict)
	refused(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g3", "NEW"), gate("g4", "new")}}, contracts.CodeConflict)
	commit(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g5", ""), gate("g6", "")}})
	if got := len(load(t, s, "r1").Gates); got != 3 {
		t.Errorf("the run has %d gates, want g1, g5 and g6", got)
	}
}

func codeIsFreed(t *testing.T, s execution.Store) {
	lease := opened(t, s, gate("g1", "K7Q"))
	if _, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben")); err != nil {
		t.Fatal(err)
	}
	_, err := s.InterruptByCode(t.Context(), "K7Q")
	wantCode(t, err, contracts.CodeNotFound)
	commit(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g2", "K7Q")}})
	got, err := s.InterruptByCode(t.Context(), "K7Q")
	if err != nil || got.InterruptID != "g2" {
		t.Errorf("got %s, %v; want g2", got.InterruptID, err)
	}
}

func interruptIDOnce(t *testing.T, s execution.Store) {
	lease := opened(t, s, gate("g1", "AAA"))
	refused(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g1", "BBB")}}, contracts.CodeConflict)
	refused(t, s, lease, execution.Transition{Gates: []contracts.Interrupt{gate("g2", "CCC"), gate("g2", "DDD")}}, contracts.CodeConflict)
}

func decisionWakes(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	before := wakeSeq(t, s, "r1")
	changed, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben"))
	if err != nil {
		t.Fatal(err)
	}
	if changed.Status != contracts.InterruptApproved || len(changed.Decisions) != 1 || time.Since(changed.Decisions[0].DecidedAt) > time.Hour {
		t.Errorf("got %+v; want one approval by the store's clock", changed)
	}
	signals, err := s.ReadSignals(t.Context(), "r1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "the gate as the run sees it", []contracts.Interrupt{changed}, signals.Gates)
	if signals.WakeSeq != before+1 {
		t.Errorf("wake_seq went from %d to %d", before, signals.WakeSeq)
	}
}

func refusedDecision(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	before := wakeSeq(t, s, "r1")
	mine := errors.New("four eyes")
	_, err := execution.UpdateInterrupt(t.Context(), s, "g1", func(i *contracts.Interrupt, _ time.Time) error {
		i.Status, i.Action.Parameters["to"] = contracts.InterruptApproved, "red"
		return mine
	})
	if !errors.Is(err, mine) {
		t.Errorf("got %v, want the decider's own error", err)
	}
	got, err := execution.GetInterrupt(t.Context(), s, "g1")
	if err != nil {
		t.Fatal(err)
	}
	same(t, "gate", gate("g1", "AAA"), got)
	if seq := wakeSeq(t, s, "r1"); seq != before {
		t.Errorf("a refused decision woke the run: %d, was %d", seq, before)
	}
}

func settledGate(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	first, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = execution.UpdateInterrupt(t.Context(), s, "g1", func(*contracts.Interrupt, time.Time) error {
		t.Error("a settled gate was offered for change")
		return nil
	})
	wantCode(t, err, contracts.CodeConflict)
	refusal, ok := errors.AsType[*contracts.Error](err)
	if !ok {
		t.Fatalf("got %T, want a typed error", err)
	}
	same(t, "the first decision as detail", any(first), refusal.Detail)
}

func savedOnceAVersion(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	at, err := s.InterruptAt(t.Context(), "g1")
	if err != nil {
		t.Fatal(err)
	}
	at.Prompt = "Really?"
	if _, err := s.SaveInterrupt(t.Context(), at); err != nil {
		t.Fatal(err)
	}
	seq := wakeSeq(t, s, "r1")
	at.Status = contracts.InterruptApproved
	_, err = s.SaveInterrupt(t.Context(), at)
	wantCode(t, err, contracts.CodeConflict)
	at.InterruptID = "g0"
	_, err = s.SaveInterrupt(t.Context(), at)
	wantCode(t, err, contracts.CodeNotFound)
	got, err := execution.GetInterrupt(t.Context(), s, "g1")
	if err != nil || got.Status != contracts.InterruptOpen || got.Prompt != "Really?" {
		t.Errorf("got %s and %q, %v; want the first change alone", got.Status, got.Prompt, err)
	}
	if now := wakeSeq(t, s, "r1"); now != seq {
		t.Errorf("a refused change woke the run: %d, was %d", now, seq)
	}
}

// thousandDecisions runs approvals, a rejection and the expiry concurrently.
func thousandDecisions(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	var won, lost atomic.Int32
	settle := func(status contracts.InterruptStatus) {
		_, err := execution.UpdateInterrupt(detached(t), s, "g1", func(i *contracts.Interrupt, _ time.Time) error {
			i.Status = status
			return nil
		})
		switch contracts.CodeOf(err) {
		case "":
			won.Add(1)
		case contracts.CodeConflict:
			lost.Add(1)
		default:
			t.Errorf("decide: %v", err)
		}
	}
	var wg sync.WaitGroup
	for i := range 1000 {
		status := []contracts.InterruptStatus{contracts.InterruptApproved, contracts.InterruptRejected, contracts.InterruptExpired}[i%3]
		wg.Go(func() { settle(status) })
	}
	wg.Wait()
	if won.Load() != 1 || lost.Load() != 999 {
		t.Errorf("%d decisions counted and %d were refused, want 1 and 999", won.Load(), lost.Load())
	}
	if seq := wakeSeq(t, s, "r1"); seq != 1 {
		t.Errorf("the run was woken %d times", seq)
	}
}

func quorumLosesNone(t *testing.T, s execution.Store) {
	const people = 40
	g := gate("g1", "AAA")
	g.Quorum = people
	opened(t, s, g)
	var wg sync.WaitGroup
	for i := range people {
		wg.Go(func() {
			if _, err := execution.UpdateInterrupt(detached(t), s, "g1", approve(fmt.Sprintf("p%d", i))); err != nil {
				t.Errorf("decide: %v", err)
			}
		})
	}
	wg.Wait()
	got, err := execution.GetInterrupt(t.Context(), s, "g1")
	if err != nil || len(got.Decisions) != people || got.Status != contracts.InterruptApproved {
		t.Errorf("got %d decisions and %s, %v; want %d and approved", len(got.Decisions), got.Status, err, people)
	}
}

func interruptsAreListed(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"), gate("g2", "BBB"))
	other := gate("g3", "CCC")
	other.RunID, other.SessionID, other.Type = "r2", "session of r2", contracts.InterruptOutcomeUnknown
	create(t, s, exampleRun("r2"), execution.Transition{Gates: []contracts.Interrupt{other}})
	if _, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben")); err != nil {
		t.Fatal(err)
	}
	filters := map[string]struct {
		filter execution.InterruptFilter
		want   []string
	}{
		"all":     {execution.InterruptFilter{}, []string{"g1", "g2", "g3"}},
		"open":    {execution.InterruptFilter{Status: contracts.InterruptOpen}, []string{"g2", "g3"}},
		"settled": {execution.InterruptFilter{Status: contracts.InterruptApproved}, []string{"g1"}},
		"run":     {execution.InterruptFilter{RunID: "r1"}, []string{"g1", "g2"}},
		"session": {execution.InterruptFilter{SessionID: "session of r2"}, []string{"g3"}},
		"types":   {execution.InterruptFilter{Types: []contracts.InterruptType{contracts.InterruptOutcomeUnknown, contracts.InterruptClarification}}, []string{"g3"}},
		"limit":   {execution.InterruptFilter{Limit: 2}, []string{"g1", "g2"}},
		"nothing": {execution.InterruptFilter{RunID: "r1", SessionID: "session of r2"}, nil},
	}
	for name, test := range filters {
		found, err := s.Interrupts(t.Context(), test.filter)
		if err != nil {
			t.Fatal(err)
		}
		var ids []string
		for _, i := range found {
			ids = append(ids, i.InterruptID)
		}
		same(t, "interrupts by "+name, test.want, ids)
	}
}

func question(id, code string) contracts.Interrupt {
	q := gate(id, code)
	q.RunID, q.NodeID, q.Type, q.SessionID = "", "", contracts.InterruptClarification, "s1"
	return q
}

func sessionQuestion(t *testing.T, s execution.Store) {
	want := question("q1", "AAA")
	if err := s.OpenInterrupt(t.Context(), want, event(contracts.EventInterrupt, "")); err != nil {
		t.Fatal(err)
	}
	got := events(t, s, "s1")
	if len(got) != 1 || got[0].Seq != 1 || got[0].Type != contracts.EventInterrupt || got[0].RunID != "" {
		t.Errorf("events of the session: %+v", got)
	}
	answered, err := execution.UpdateInterrupt(t.Context(), s, "q1", func(i *contracts.Interrupt, _ time.Time) error {
		i.Status, i.Response = contracts.InterruptAnswered, "the second"
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	want.Status, want.Response = contracts.InterruptAnswered, "the second"
	same(t, "answered question", want, answered)
}

func sessionQuestionRefused(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	wantCode(t, s.OpenInterrupt(t.Context(), question("q1", "aaa"), event(contracts.EventInterrupt, "")), contracts.CodeConflict)
	wantCode(t, s.OpenInterrupt(t.Context(), question("g1", "BBB"), event(contracts.EventInterrupt, "")), contracts.CodeConflict)
	same(t, "events", []contracts.Event{}, events(t, s, "s1"))
}

func unknownInterrupt(t *testing.T, s execution.Store) {
	_, err := execution.GetInterrupt(t.Context(), s, "g0")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.InterruptByCode(t.Context(), "AAA")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = s.InterruptByCode(t.Context(), "")
	wantCode(t, err, contracts.CodeNotFound)
	_, err = execution.UpdateInterrupt(t.Context(), s, "g0", approve("ben"))
	wantCode(t, err, contracts.CodeNotFound)
}

func gateStaysWithItsRun(t *testing.T, s execution.Store) {
	opened(t, s, gate("g1", "AAA"))
	create(t, s, exampleRun("r2"))
	got, err := execution.UpdateInterrupt(t.Context(), s, "g1", func(i *contracts.Interrupt, _ time.Time) error {
		i.RunID, i.SessionID, i.InterruptID, i.Prompt = "r2", "elsewhere", "g2", "Really?"
		return nil
	})
	if err != nil || got.RunID != "r1" || got.SessionID != "session of r1" || got.InterruptID != "g1" || got.Prompt != "Really?" {
		t.Errorf("got %+v, %v", got, err)
	}
	if wakeSeq(t, s, "r2") != 0 || len(load(t, s, "r2").Gates) != 0 {
		t.Error("another run was touched")
	}
}

func decisionAfterEnd(t *testing.T, s execution.Store) {
	finish(t, s, opened(t, s, gate("g1", "AAA")))
	if _, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben")); err != nil {
		t.Fatal(err)
	}
	same(t, "due runs", []string{}, due(t, s))
	if got := wakeSeq(t, s, "r1"); got != 0 {
		t.Errorf("a run that has ended was woken: %d", got)
	}
}

func longIDsSurvive(t *testing.T, s execution.Store) {
	g := gate("g1", "AAA")
	g.Action.Parameters = map[string]any{"id": int64(9007199254740993), "share": 0.25}
	opened(t, s, g)
	got, err := execution.GetInterrupt(t.Context(), s, "g1")
	if err != nil {
		t.Fatal(err)
	}
	before, err := contracts.Hash(g.Action)
	if err != nil {
		t.Fatal(err)
	}
	after, err := contracts.Hash(got.Action)
	if err != nil {
		t.Fatal(err)
	}
	if before != after {
		t.Errorf("the action has another hash after it was stored: %v became %v", g.Action.Parameters, got.Action.Parameters)
	}
}

func decisionMakesDue(t *testing.T, s execution.Store) {
	park(t, s, opened(t, s, gate("g1", "AAA")), time.Time{})
	same(t, "due runs while it waits", []string{}, due(t, s))
	if _, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben")); err != nil {
		t.Fatal(err)
	}
	same(t, "due runs after the decision", []string{"r1"}, due(t, s))
	park(t, s, acquire(t, s, "r1", "two", time.Hour), time.Time{})
	same(t, "due runs after it was taken into account", []string{}, due(t, s))
}

func seenDecisionParks(t *testing.T, s execution.Store) {
	lease := opened(t, s, gate("g1", "AAA"), gate("g2", "BBB"))
	if _, err := execution.UpdateInterrupt(t.Context(), s, "g1", approve("ben")); err != nil {
		t.Fatal(err)
	}
	park(t, s, lease, time.Time{})
	same(t, "due runs", []string{}, due(t, s))
}
