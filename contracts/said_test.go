package contracts_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

func said() *contracts.Said {
	return &contracts.Said{
		Text: "please cancel half of L-7",
		Words: []contracts.WordUse{
			{Span: [2]int{0, 6}, Class: contracts.WordCourtesy},
			{Span: [2]int{7, 13}, Class: contracts.WordCommand},
			{Span: [2]int{14, 18}, Class: contracts.WordBinding},
			{Span: [2]int{19, 21}, Class: contracts.WordCommand},
			{Span: [2]int{22, 25}, Class: contracts.WordValue, Parameter: "loan"},
		},
		Values: map[string]contracts.Provenance{"loan": contracts.FromSaid},
	}
}

func TestReadingsAreTheWholeText(t *testing.T) {
	t.Parallel()
	s := said()
	var all strings.Builder
	for _, r := range s.Readings() {
		all.WriteString(r.Text)
	}
	if all.String() != s.Text {
		t.Errorf("the readings are %q, the text is %q", all.String(), s.Text)
	}
	if got := s.Unread(contracts.WordBinding); !slices.Equal(got, []string{"half"}) {
		t.Errorf("unread: %q", got)
	}
}

// What a requester agreed to leave out stays marked: who approves must see it.
func TestWhatIsAgreedStaysMarked(t *testing.T) {
	t.Parallel()
	before := said()
	after := before.Agree()
	if before.Words[2].Agreed || !after.Words[2].Agreed || after.Words[1].Agreed || !after.Marked() {
		t.Errorf("before %+v, after %+v", before.Words, after.Words)
	}
}

func TestAValueFromElsewhereLeavesTheOriginalAlone(t *testing.T) {
	t.Parallel()
	before := said()
	after := before.With("reason", contracts.FromAnswer)
	if len(before.Values) != 1 || after.Values["reason"] != contracts.FromAnswer || after.Values["loan"] != contracts.FromSaid {
		t.Errorf("before %v, after %v", before.Values, after.Values)
	}
	var none *contracts.Said
	if none.With("x", contracts.FromDefault).Values["x"] != contracts.FromDefault || none.Marked() || none.Agree() != nil {
		t.Error("nothing was said, and yet something is marked")
	}
}

// Actions of the first format have no sentence, and hash as they did.
func TestAnActionWithoutASentenceHashesAsBefore(t *testing.T) {
	t.Parallel()
	raw, err := contracts.Canonical(contracts.Action{Capability: "a.b", Parameters: map[string]any{}, Evidence: []contracts.EvidenceItem{}})
	if err != nil || strings.Contains(string(raw), "said") {
		t.Errorf("%s, %v", raw, err)
	}
}
