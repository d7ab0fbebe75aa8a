package edit_test

import (
	"testing"

	"github.com/manifold-run/manifold/domains/flowise/internal/edit"
)

// TestAnInstructionIsWhatTheFlowShallDo: the part of a request that belongs in the prompt, or all
// of it if that is unclear.
func TestAnInstructionIsWhatTheFlowShallDo(t *testing.T) {
	t.Parallel()
	for request, want := range map[string]string{
		`make Front Desk answer shorter`:                             "Answer shorter",
		`make the Front Desk flow answer in two sentences`:           "Answer in two sentences",
		`the front desk bot shall never name a price`:                "Never name a price",
		`add "Ask for the size first" to the prompt of "Front Desk"`: "Ask for the size first",
		`lass Front Desk kürzer antworten`:                           "Kürzer antworten",
		`tell the chatflow "Front Desk" to be polite`:                "Be polite",
		`answer shorter`:                      "answer shorter",
		`shorter answers, please, Front Desk`: "shorter answers, please, Front Desk",
	} {
		if got := edit.Instruction(request, "Front Desk"); got != want {
			t.Errorf("%s: %q, want %q", request, got, want)
		}
	}
}
