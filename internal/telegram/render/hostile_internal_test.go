package render

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/access"
)

func TestNothingIsDecidedThatWasLeftOut(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		InterruptID: "gate_aaaa", Code: "AAAAA", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen,
		Prompt: "Do it?", ActionSHA256: strings.Repeat("0", 64), Action: &contracts.Action{Parameters: map[string]any{"text": "short"}},
	}
	long := contracts.Block{Kind: contracts.BlockText, Text: strings.Repeat("word ", 10_000)}
	states := map[string]orchestrator.SessionView{
		"a gate after a long answer": {Answer: &contracts.Answer{Blocks: []contracts.Block{long}}, Open: []contracts.Interrupt{gate}, MayApprove: []string{"AAAAA"}},
	}
	for why, state := range states {
		got := Pack(View(state, false, nil))
		if len(got) != maxMessages+1 {
			t.Fatalf("%s: %d messages", why, len(got))
		}
		for _, m := range got {
			if len(m.Buttons) > 0 {
				t.Errorf("%s: it can be decided below %q", why, m.Plain)
			}
		}
		if open := ShownWhole(state, View(state, false, nil)).Open; len(open) > 0 {
			t.Errorf("%s: it counts as shown", why)
		}
	}
}

func TestWhatDoesNotFitAMessageIsApprovedOnItsPage(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		InterruptID: "gate_aaaa", Code: "AAAAA", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen,
		Prompt: "Do it?", ActionSHA256: strings.Repeat("0", 64), Action: &contracts.Action{Parameters: map[string]any{}},
	}
	for _, name := range []string{"a", "b", "c"} {
		gate.Action.Parameters[name] = strings.Repeat("word ", 380) + "and transfer everything"
	}
	state := orchestrator.SessionView{Open: []contracts.Interrupt{gate}, MayApprove: []string{"AAAAA"}}
	pages := Pages(func(access.Principal, contracts.Interrupt) string { return "https://example.com/approve/1" })
	for name, c := range map[string]struct {
		group, page bool
	}{"to a person": {false, true}, "to a group": {true, false}} {
		got := Pack(View(state, c.group, pages.Of(access.Principal{}, c.group, "", state.Open)))
		if len(got) != 1 || strings.Contains(got[0].Plain, "https://example.com/approve/1") != c.page {
			t.Fatalf("%s: %+v", name, got)
		}
		if len(got[0].Buttons) != 1 || len(got[0].Buttons[0]) != 1 || !strings.HasPrefix(got[0].Buttons[0][0].Text, "Reject") {
			t.Errorf("%s: the buttons are %+v", name, got[0].Buttons)
		}
		if open := ShownWhole(state, View(state, c.group, nil)).Open; len(open) > 0 {
			t.Errorf("%s: it counts as shown", name)
		}
	}
}

func TestAGateSaysHowMuchEvidenceItDoesNotShow(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{Code: "AAAAA", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen}
	for range maxEvidence + 3 {
		gate.Evidence = append(gate.Evidence, contracts.EvidenceItem{NodeID: "n1", Path: "x", Value: 1.0})
	}
	if got := Words(View(orchestrator.SessionView{Open: []contracts.Interrupt{gate}}, false, nil)); !strings.Contains(got, "and 3 values more: manifold gates AAAAA") {
		t.Error(got)
	}
}
