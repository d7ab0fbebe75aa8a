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
		Type: contracts.InterruptWriteApproval, Code: "7K3Q2", ToolName: "finance.set_alert", Prompt: "Approve finance.set_alert? above: 250; symbol: AAPL",
		Requesters: []string{"rita"}, RiskLevel: contracts.RiskMedium,
		Action: &contracts.Action{
			Parameters: map[string]any{"symbol": "AAPL", "above": 250.0},
			Said: &contracts.Said{
				Text: text, Values: map[string]contracts.Provenance{"symbol": contracts.FromSaid, "above": contracts.FromCarried},
				Words: []contracts.WordUse{
					{Span: [2]int{0, 7}, Class: contracts.WordBeside}, {Span: [2]int{31, len(text)}, Class: contracts.WordAside},
				},
			},
		},
	}
	shown := chat.Compose(orchestrator.SessionView{Open: []contracts.Interrupt{gate}, MayApprove: []string{gate.Code}}, chat.Frame{})
	for _, want := range []string{
		"**Approve finance.set\\_alert?** `7K3Q2`", "| above | 250 (carried over) |", "| symbol | AAPL |",
		"Said: “" + text + "”.", "Not used: “quickly”.", "Said aside: “she told me yesterday”.", "Asked by: rita.",
	} {
		if !strings.Contains(strings.ReplaceAll(shown, "set_alert", "set\\_alert"), want) {
			t.Errorf("%q is missing in\n%s", want, shown)
		}
	}
	if strings.Count(shown, "250") != 1 {
		t.Errorf("the prompt repeats the table:\n%s", shown)
	}
}
