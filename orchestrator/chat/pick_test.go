package chat_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// A number in words answers a question for a number as itself, and not as the option
// that begins with it.
func TestANumberInWordsIsNoPartOfAnOption(t *testing.T) {
	t.Parallel()
	question := contracts.Interrupt{
		Type: contracts.InterruptClarification, ResponseSchema: map[string]any{"type": "number"},
		Options: []contracts.InterruptOption{{ID: "a", Label: "two nights"}, {ID: "b", Label: "three nights"}},
	}
	for say, want := range map[string]string{"three": "three", "three nights": "b"} {
		if got := chat.Pick(question, say); got != want {
			t.Errorf("%q is %q, want %q", say, got, want)
		}
	}
	question.ResponseSchema = nil
	if got := chat.Pick(question, "three"); got != "b" {
		t.Errorf("among choices it is %q", got)
	}
}
