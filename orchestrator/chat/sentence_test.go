package chat_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

func TestAGateShowsTheSentenceAndWhatOfItIsNotUsed(t *testing.T) {
	t.Parallel()
	text := "quickly set an alert for AAPL, she told me yesterday"
	gate := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", ToolName: "finance.set_alert", Prompt: "Set alert in Finance? above: 250; symbol: AAPL",
		Requesters: []string{"rita"}, RiskLevel: contracts.RiskMedium,
		Action: &contracts.Action{
			Parameters: map[string]any{"symbol": "AAPL", "above": 250.0},
			Utterance: &contracts.Utterance{
				Text: text, Values: map[string]contracts.Provenance{"symbol": contracts.FromUtterance, "above": contracts.FromCarried},
				Words: []contracts.WordUse{
					{Span: [2]int{0, 7}, Class: contracts.WordUnused}, {Span: [2]int{31, len(text)}, Class: contracts.WordIrrelevant},
				},
			},
		},
	}
	shown := chat.Compose(orchestrator.SessionView{Open: []contracts.Interrupt{gate}, MayApprove: []string{gate.Code}}, chat.Frame{})
	for _, want := range []string{
		"**Set alert in Finance?** `7K3Q2`", "| above | 250 (carried over) |", "| symbol | AAPL |",
		"Said: “" + text + "”.", "Not used: “quickly”.", "Said aside: “she told me yesterday”.", "Asked by: rita.",
	} {
		if !strings.Contains(shown, want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if strings.Count(shown, "250") != 1 {
		t.Errorf("the prompt repeats the table:\n%s", shown)
	}
}

func TestAGateNeverShowsADigestAmongWhatIsToBeRead(t *testing.T) {
	t.Parallel()
	digest, id := strings.Repeat("4cb6b6a4", 8), "a1c18954e9ac385ae2b4797f57984d89"
	gate := contracts.Interrupt{
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", Prompt: "Rename chatflow in Flowise? name: Desk",
		Action: &contracts.Action{Parameters: map[string]any{"name": "Desk", "base_sha256": digest, "chatflow_id": id}},
		Evidence: []contracts.EvidenceItem{
			{NodeID: "n2", Path: "chatflow.value", Value: id}, {NodeID: "n2", Path: "chatflow.label", Value: "Support Bot"}, {NodeID: "n3", Path: "sha256", Value: digest},
		},
		Difference: []contracts.FieldDifference{{Pointer: "/parameters/base_sha256", Before: digest, After: digest}},
	}
	view := orchestrator.SessionView{Open: []contracts.Interrupt{gate}}
	plain := chat.Compose(view, chat.Frame{})
	for _, want := range []string{"| chatflow | Support Bot |", "Sent as: chatflow " + id} {
		if !strings.Contains(plain, want) {
			t.Errorf("%q is missing in\n%s", want, plain)
		}
	}
	rich := chat.Compose(view, chat.Frame{Rich: true})
	read, details, folded := strings.Cut(rich, "<details>\n<summary>Exactly what is sent</summary>")
	if strings.Contains(plain, digest) || strings.Contains(read, digest) || strings.Contains(read, id) {
		t.Errorf("a digest is there to be read:\n%s\n%s", plain, read)
	}
	if !folded || !strings.Contains(details, digest) || !strings.Contains(details, id) {
		t.Errorf("the details do not show what is sent:\n%s", rich)
	}
	for _, g := range chat.EvidenceRows(gate) {
		t.Errorf("%q is among the grounds", g)
	}
}

func TestARejectionReadsAsADecision(t *testing.T) {
	t.Parallel()
	note := contracts.Block{Kind: contracts.BlockNote, Text: "Not done: rename chatflow in Flowise – rejected by otto."}
	answer := contracts.Answer{Blocks: []contracts.Block{note}, Verdict: &contracts.Verdict{
		Status: contracts.VerdictBlocked, Category: "rejected", Reasons: []string{"n5 (Renames a chatflow) was rejected"},
	}}
	if got := chat.Render(&answer); got != note.Text {
		t.Errorf("a decision reads as\n%s", got)
	}
}
