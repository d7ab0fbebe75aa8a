package chat_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/chat"
)

// A number in words answers a question for a number as itself, and not as the option that begins
// with it.
func TestANumberInWordsIsNoPartOfAnOption(t *testing.T) {
	t.Parallel()
	question := contracts.Interrupt{
		Type: contracts.InterruptClarification, ResponseSchema: map[string]any{"type": "number"},
		Options: []contracts.InterruptOption{{ID: "a", Label: "two nights"}, {ID: "b", Label: "three nights"}},
	}
	for say, want := range map[string]string{"three": "three", "three nights": "b"} {
		if got := chat.MatchOption(question, say); got != want {
			t.Errorf("%q is %q, want %q", say, got, want)
		}
	}
	question.ResponseSchema = nil
	if got := chat.MatchOption(question, "three"); got != "b" {
		t.Errorf("among choices it is %q", got)
	}
}

// One of several options is selected by one of its words, with the usual words around that.
func TestOneOfSeveralIsToldByAWordOfIt(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"the US one": "US", "the one from Lisbon": "Lisbon", "die aus Wien": "Wien", "o de Lisboa.": "Lisboa", "celle de Paris": "Paris", "quello di Roma": "Roma",
		"the US": "", "one": "", "the invoice of May": "",
	} {
		if got, ok := chat.ParseSelection(message); got != want || ok != (want != "") {
			t.Errorf("%q: %q, %t", message, got, ok)
		}
	}
	i := contracts.Interrupt{Options: []contracts.InterruptOption{{ID: "a", Label: "Acme (US)"}, {ID: "b", Label: "Acme (DE)"}, {ID: "c", Label: "Other (DE)"}}}
	for message, want := range map[string]string{"the US one": "a", "the Acme one": "the Acme one", "die aus DE": "die aus DE", "quello di US": "a"} {
		if got := chat.MatchOption(i, message); got != want {
			t.Errorf("%q picks %q", message, got)
		}
	}
}
