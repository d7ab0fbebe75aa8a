package chat_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestAGateShowsTheNameBesideTheIDThatIsSent(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", Prompt: "Approve it?",
		Action: &contracts.Action{Parameters: map[string]any{"worker": "w2", "note": "w1", "days": 2.0}},
		Evidence: []contracts.EvidenceItem{
			{NodeID: "n3", Path: "steps.n2.facts.label", Value: "Bruno | Keller"},
			{NodeID: "n3", Path: "steps.n2.facts.value", Value: "w2"},
			{NodeID: "n3", Path: "steps.n5.facts.label", Value: "somebody else"},
			{NodeID: "n3", Path: "steps.n4.facts.value", Value: "w1"},
		},
	}
	got := chat.Compose(orchestrator.SessionView{Open: []contracts.Interrupt{gate}}, chat.Frame{})
	for _, want := range []string{`| worker | Bruno \| Keller [w2\] |`, "| note | w1 |", "| days | 2 |"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}

func TestAGateShowsWhereItIsDoneAndWhoAsked(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", Prompt: "Approve it?", RiskLevel: contracts.RiskHigh, Reason: "it is a write",
		Requesters: []string{"rita", "bob_"}, Action: &contracts.Action{Instance: "north|1", OnBehalfOf: "rita"},
	}
	got := chat.Compose(orchestrator.SessionView{Open: []contracts.Interrupt{gate}}, chat.Frame{})
	for _, want := range []string{`Where: north\|1.`, `Asked by: rita, bob\_.`, "Risk: high.", "Why: it is a write."} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
