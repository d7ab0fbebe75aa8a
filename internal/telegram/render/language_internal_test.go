package render

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator"
)

// TestWhatIsSaidOfAGateIsInTheAskersLanguage, except for the commands to type.
func TestWhatIsSaidOfAGateIsInTheAskersLanguage(t *testing.T) {
	t.Parallel()
	gate := contracts.Interrupt{
		InterruptID: "gate_aaaa", Code: "7K3Q2", Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen, ActionSHA256: strings.Repeat("0", 64),
		Action: &contracts.Action{Parameters: map[string]any{"above": 250.0}},
	}
	for language, want := range map[string][]string{
		"":   {"Somebody else has to approve it, with approve 7K3Q2", "withdraw 7K3Q2", "You are welcome."},
		"de": {"Jemand anderes muss es freigeben, mit approve 7K3Q2", "withdraw 7K3Q2", "Gern geschehen."},
		"pt": {"Outra pessoa tem de aprovar, com approve 7K3Q2", "withdraw 7K3Q2"},
	} {
		got := Words(View(orchestrator.SessionView{Language: language, Notice: "You are welcome.", Open: []contracts.Interrupt{gate}}, false, nil))
		for _, words := range want {
			if !strings.Contains(got, words) {
				t.Errorf("%s: %q is missing in\n%s", language, words, got)
			}
		}
	}
	if got := Words(View(orchestrator.SessionView{Language: "de", Running: true}, false, nil)); !strings.Contains(got, "Es läuft noch. Schreib status") {
		t.Errorf("it says %q", got)
	}
}
