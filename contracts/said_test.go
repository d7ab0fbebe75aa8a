package contracts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func said() *contracts.Utterance {
	return &contracts.Utterance{
		Text: "please cancel half of L-7",
		Words: []contracts.WordUse{
			{Span: [2]int{0, 6}, Class: contracts.WordCourtesy},
			{Span: [2]int{7, 13}, Class: contracts.WordCommand},
			{Span: [2]int{14, 18}, Class: contracts.WordUnresolved},
			{Span: [2]int{19, 21}, Class: contracts.WordCommand},
			{Span: [2]int{22, 25}, Class: contracts.WordValue, Parameter: "loan"},
		},
		Values: map[string]contracts.Provenance{"loan": contracts.FromUtterance},
	}
}

func TestUnreadWordsAreNamed(t *testing.T) {
	t.Parallel()
	if got := said().Texts(contracts.WordUnresolved); !slices.Equal(got, []string{"half"}) {
		t.Errorf("unread: %q", got)
	}
}

// Words that a requester agreed to leave out remain marked, so that the approver sees them.
func TestWhatIsAgreedStaysMarked(t *testing.T) {
	t.Parallel()
	before := said()
	after := before.ConfirmOmissions()
	if before.Words[2].Confirmed || !after.Words[2].Confirmed || after.Words[1].Confirmed || !after.HasOmissions() {
		t.Errorf("before %+v, after %+v", before.Words, after.Words)
	}
}

func TestAValueFromElsewhereLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	before := said()
	after := before.With("reason", contracts.FromAnswer)
	if len(before.Values) != 1 || after.Values["reason"] != contracts.FromAnswer || after.Values["loan"] != contracts.FromUtterance {
		t.Errorf("before %v, after %v", before.Values, after.Values)
	}
	var none *contracts.Utterance
	if none.With("x", contracts.FromDefault).Values["x"] != contracts.FromDefault || none.HasOmissions() || none.ConfirmOmissions() != nil {
		t.Error("nothing was said, and yet something is marked")
	}
}

// Actions of the first format have no utterance, and their hashes must not change.
func TestAnActionWithoutASentenceHashesAsBefore(t *testing.T) {
	t.Parallel()
	raw, err := contracts.Canonical(contracts.Action{Capability: "a.b", Parameters: map[string]any{}, Evidence: []contracts.EvidenceItem{}})
	if err != nil || strings.Contains(string(raw), "said") {
		t.Errorf("%s, %v", raw, err)
	}
}

// An answer that repeats unresolved words resolves them.
func TestAnAnswerReadsItsWords(t *testing.T) {
	t.Parallel()
	s := said().Fill("part", "half")
	if len(s.UnconfirmedWords()) != 0 || s.Words[2].Parameter != "part" || s.Values["part"] != contracts.FromAnswer {
		t.Errorf("%+v", s)
	}
	if open := said().Fill("part", "all").UnconfirmedWords(); len(open) != 1 {
		t.Errorf("unagreed: %q", open)
	}
}

func TestACallSaysWhereItsValuesComeFrom(t *testing.T) {
	t.Parallel()
	s := said().At(map[string]any{"loan": "L-7", "member": "${steps.n1.facts.value}", "days": 7.0, "one": "a"}, map[string]any{"loan": "L-7", "days": 7.0})
	want := map[string]contracts.Provenance{"loan": contracts.FromUtterance, "member": contracts.FromLookup, "days": contracts.FromDefault, "one": contracts.FromUtterance}
	for name, from := range want {
		if s.Values[name] != from {
			t.Errorf("%s comes from %q, want %q", name, s.Values[name], from)
		}
	}
}
