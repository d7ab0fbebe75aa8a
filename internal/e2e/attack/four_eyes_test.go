package attack_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
)

var toAlice = map[string]any{"account": "acc-1"}

func TestWhoSaysWhereTheMoneyGoesDoesNotApproveIt(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, mallory, otto := s.person("alice", "operator"), s.person("mallory", "operator", "approver"), s.person("otto", "approver")
	run := s.asks(alice, "vault.pay", map[string]any{"account": "savings"})
	question := s.asked(run, contracts.InterruptClarification)
	if !strings.Contains(question.Warning, "cannot approve") {
		t.Errorf("whoever answers is not warned: %q", question.Warning)
	}
	s.answers(mallory, question, "acc-666")
	gate := s.gate(run)
	s.mayNot(mallory, gate, "who chose the account", "second pair of eyes")
	if len(s.vault.record()) != 0 {
		t.Fatalf("paid: %+v", s.vault.record())
	}
	s.approves(otto, gate)
	s.ended(run)
	if len(s.vault.record()) != 1 {
		t.Errorf("paid: %+v", s.vault.record())
	}
}

func TestWhoCallsAWriteUndoneDoesNotApproveItsRepeat(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, mallory, otto := s.person("alice", "operator"), s.person("mallory", "operator", "approver"), s.person("otto", "approver")
	s.vault.falls()
	run := s.asks(alice, "vault.pay", toAlice)
	s.approves(mallory, s.gate(run))
	unknown := s.asked(run, contracts.InterruptOutcomeUnknown)
	if !strings.Contains(unknown.Warning, "cannot approve") {
		t.Errorf("whoever settles is not warned: %q", unknown.Warning)
	}
	s.answers(mallory, unknown, contracts.AnswerNotApplied)
	repeat := s.gate(run)
	s.mayNot(mallory, repeat, "who settled the first attempt", "second pair of eyes")
	if shown := asJSON(repeat.Evidence); !strings.Contains(shown, "not_applied") || !strings.Contains(shown, "mallory") {
		t.Errorf("the new gate does not show the first attempt, who settled it and how:\n%s", shown)
	}
	if len(s.vault.record()) != 1 {
		t.Fatalf("paid: %+v", s.vault.record())
	}
	s.approves(otto, repeat)
	s.ended(run)
}

func TestCancelsAndUnchangedRetriesMakeNobodyARequester(t *testing.T) {
	t.Parallel()
	for capability, risk := range map[string]string{"vault.pay": "high", "vault.wire": "critical"} {
		t.Run(risk, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			alice, otto := s.person("alice", "operator"), s.person("otto", "operator", "approver")
			s.vault.falls()
			run := s.asks(alice, capability, toAlice)
			s.approves(otto, s.gate(run))
			unknown := s.asked(run, contracts.InterruptOutcomeUnknown)
			s.answers(otto, unknown, contracts.AnswerRepeatLookup)
			again := eventually(t, "the question again", func() (contracts.Interrupt, bool) {
				i := s.asked(run, contracts.InterruptOutcomeUnknown)
				return i, i.InterruptID != unknown.InterruptID
			})
			s.answers(alice, again, contracts.AnswerNotApplied)
			s.approves(otto, s.gate(run)) // he looked again, and that is all
			s.ended(run)
		})
	}
}

// Who cancels one step of a run, or has it tried again as it was, has shaped nothing
// of a critical write beside it.
func TestWhoCancelsAStepApprovesTheOthers(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{contracts.AnswerCancelNode, contracts.AnswerRetry} {
		t.Run(answer, func(t *testing.T) {
			t.Parallel()
			s := open(t)
			alice, otto := s.person("alice", "operator"), s.person("otto", "operator", "approver")
			run := s.two(alice, call("vault.note", map[string]any{"account": "savings"}), call("vault.wire", toAlice))
			question := s.asked(run, contracts.InterruptClarification)
			notes := s.vault.forgets("note")
			s.register(s.vault)
			s.answers(alice, question, "acc-1")
			gone := s.asked(run, contracts.InterruptCapabilityChanged)
			want := 1
			if answer == contracts.AnswerRetry {
				s.vault.learns(notes)
				s.register(s.vault)
				want = 2
			}
			s.answers(otto, gone, answer)
			for _, gate := range s.gates(run, want) {
				s.approves(otto, gate)
			}
			s.ended(run)
			if n := len(s.vault.record()); n != want {
				t.Errorf("%d writes, want %d", n, want)
			}
		})
	}
}

func TestAKeyThatTheRequesterMadeIsNoSecondEye(t *testing.T) {
	t.Parallel()
	s := open(t)
	boss := s.person("boss", "admin", "operator")
	ghost := s.with(s.key(boss, contracts.KeySpec{Kind: "user", Principal: "ghost", Roles: []string{"admin", "approver"}}))
	spectre := s.with(s.key(ghost, contracts.KeySpec{Kind: "user", Principal: "spectre", Roles: []string{"approver"}}))
	otto := s.person("otto", "approver")
	run := s.asks(boss, "vault.pay", toAlice)
	gate := s.gate(run)
	late := s.person("late", "approver")
	mask := s.with(s.key(boss, contracts.KeySpec{Kind: "user", Principal: "otto", Roles: []string{"approver"}}))
	s.mayNot(ghost, gate, "a key that the requester made", "boss")
	s.mayNot(spectre, gate, "a key that such a key made", "boss")
	s.mayNot(mask, gate, "another's name on a key of the requester's", "boss")
	s.mayNot(late, gate, "a key that was made after the request", "after")
	renewed := s.person("otto", "approver") // the same person's next key, by somebody else
	s.approves(renewed, gate)
	s.ended(run)
	_ = otto
}

func TestClaimedPersonsAreNoSecondEye(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, otto := s.person("alice", "operator"), s.person("otto", "approver")
	front := s.frontend("operator", "approver")
	run := s.asks(alice, "vault.pay", toAlice)
	gate := s.gate(run)
	approval := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: gate.ActionSHA256}
	for name, header := range map[string]string{"a colleague": "Manifold-User: otto", "nobody": "X-Nothing: 1"} {
		if got := s.sends(front, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approval, header); got.status != 403 {
			t.Errorf("a frontend that claims to be %s approved: %d %s", name, got.status, got.body)
		}
	}
	s.approves(otto, gate)
	s.ended(run)
}

func TestAFrontendApprovesNothingByItself(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"review":{"single_person":true}}`))
	alice := s.person("alice", "operator")
	front := s.frontend("operator", "approver")
	gate := s.gate(s.asks(alice, "vault.note", toAlice))
	approval := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: gate.ActionSHA256}
	if got := s.sends(front, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approval); got.status != 403 {
		t.Errorf("a frontend approved: %d %s", got.status, got.body)
	}
	s.register(newVault(t, desk))
	gate = s.gate(s.asks(alice, "desk.note", toAlice)) // whoever asks may approve this one
	approval.ActionSHA256 = gate.ActionSHA256
	if got := s.sends(front, "POST", "/v1/gates/"+gate.InterruptID+"/decision", approval); got.status != 403 {
		t.Errorf("a frontend approved what needs no second person: %d %s", got.status, got.body)
	}
}

func TestTwoAccountsOfOnePersonAreOnePair(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"review":{"people":{"alice":["a.smith@example.com","smith"]}}}`))
	alice, smith, otto := s.person("alice", "operator"), s.person("smith", "approver"), s.person("otto", "approver")
	gate := s.gate(s.asks(alice, "vault.pay", toAlice))
	s.mayNot(smith, gate, "the same person by another name", "second pair of eyes")
	s.approves(otto, gate)
}

func TestIrreversibleWritesAreNotApprovedByWhoAsked(t *testing.T) {
	t.Parallel()
	s := open(t)
	both := s.person("both", "operator", "approver")
	s.mayNot(both, s.gate(s.asks(both, "vault.note", toAlice)), "who asked for an irreversible write of low risk", "second pair of eyes")
}

func TestTwoPersonsAffirmTheSameHash(t *testing.T) {
	t.Parallel()
	s := open(t, policy(`{"review":{"rules":[{"eyes":"two_persons"}]}}`))
	alice, bob := s.person("alice", "operator", "approver"), s.person("bob", "operator", "approver")
	carl := s.person("carl", "approver")
	run := s.asks(alice, "vault.pay", map[string]any{"account": "savings"})
	s.answers(bob, s.asked(run, contracts.InterruptClarification), "acc-1")
	gate := s.gate(run)
	if gate.Review != contracts.EyesTwoPersons {
		t.Errorf("review is %q", gate.Review)
	}
	if got := s.approves(bob, gate); got.Status != contracts.InterruptOpen {
		t.Fatalf("one person was enough: %s", got.Status)
	}
	if _, err := bob.Approve(t.Context(), gate, "", client.Opt{}); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("bob twice: %v", err)
	}
	if got := s.approves(carl, gate); got.Status != contracts.InterruptOpen {
		t.Fatalf("two others, and not who asked, were enough: %s", got.Status)
	}
	if got := s.approves(alice, gate); got.Status != contracts.InterruptApproved {
		t.Fatalf("who asked and others have approved: %s", got.Status)
	}
	s.ended(run)
	strict := s.gate(s.asks(alice, "vault.wire", toAlice))
	if strict.Review != contracts.EyesStrict {
		t.Errorf("a critical write is reviewed as %q", strict.Review)
	}
	s.mayNot(alice, strict, "who asked for a critical write", "second pair of eyes")
}

func TestACriticalWriteIsApprovedByWhoShapedNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	alice, mallory, otto := s.person("alice", "operator"), s.person("mallory", "operator", "approver"), s.person("otto", "approver")
	run := s.two(alice, call("vault.note", map[string]any{"account": "savings"}), call("vault.wire", toAlice))
	question := s.asked(run, contracts.InterruptClarification)
	s.answers(mallory, question, "acc-1")
	for _, gate := range s.gates(run, 2) {
		s.mayNot(mallory, gate, "who answered a question of the run", "second pair of eyes")
		s.approves(otto, gate)
	}
	s.ended(run)
}

func TestAnEmptyPoolIsSaidWhenTheGateOpens(t *testing.T) {
	t.Parallel()
	s := open(t)
	boss := s.person("boss", "admin", "operator", "approver")
	s.key(boss, contracts.KeySpec{Kind: "user", Principal: "ghost", Roles: []string{"approver"}})
	gate := s.gate(s.asks(s.root, "vault.pay", toAlice)) // every key was made by root
	if !strings.Contains(gate.Warning, "nobody") {
		t.Errorf("nobody can approve, and the gate says %q", gate.Warning)
	}
	alice := s.person("alice", "operator")
	if gate = s.gate(s.asks(alice, "vault.pay", toAlice)); gate.Warning != "" {
		t.Errorf("boss can approve, and the gate says %q", gate.Warning)
	}
}

func TestASiteOfOnePersonIsASettingThatIsSaid(t *testing.T) {
	t.Parallel()
	alone := policy(`{"review":{"single_person":true}}`)
	s := open(t, alone)
	s.again(alone)
	if n := strings.Count(s.log.String(), "single_person"); n != 2 {
		t.Errorf("%d of 2 starts say that whoever asks may approve", n)
	}
	run := s.asks(s.root, "vault.pay", toAlice)
	decided := s.approves(s.root, s.gate(run))
	if len(decided.Decisions) != 1 || decided.Decisions[0].Relation != contracts.RelationInitiator || decided.Decisions[0].KeyID == "" {
		t.Errorf("the decision says %s", asJSON(decided.Decisions))
	}
	s.ended(run)
	events, err := s.root.RunEvents(t.Context(), run, 0, 0)
	if err != nil || !strings.Contains(asJSON(events), "its requester") {
		t.Errorf("the events do not say that it was approved by its requester: %v %s", err, asJSON(events))
	}
	ledger, err := s.root.Ledger(t.Context(), run)
	if err != nil || !slices.ContainsFunc(ledger, func(e contracts.LedgerEntry) bool {
		return e.Kind == contracts.LedgerDecision && e.Key == string(contracts.RelationInitiator)
	}) {
		t.Errorf("the ledger does not say that it was approved by its requester: %v %s", err, asJSON(ledger))
	}
}
