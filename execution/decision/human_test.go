package decision_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/decision"
)

// TestWhatAnAnswerWasReadAsReadsTheSame checks that an interpreted answer can be interpreted again,
// because an interface does that to test an answer, and sends on the result.
func TestWhatAnAnswerWasReadAsReadsTheSame(t *testing.T) {
	t.Parallel()
	options := []contracts.InterruptOption{{ID: "1", Value: "a", Label: "First"}, {ID: "2", Value: "b", Label: "Second"}}
	question := func(kind contracts.InterruptType, value any, answers ...string) contracts.Interrupt {
		i := contracts.Interrupt{Type: kind, Code: "ABCDE", Workflow: "shop.w", Value: value, Answers: answers}
		if kind == contracts.InterruptSelectTarget || kind == contracts.InterruptPlanApproval {
			i.Options = options
		}
		return i
	}
	number := question(contracts.InterruptClarification, nil)
	number.ResponseSchema = map[string]any{"type": "integer"}
	plan := question(contracts.InterruptPlanApproval, map[string]any{"name": "x"}, "approve", "edit", "reject")
	target := question(contracts.InterruptSelectTarget, nil, "choose", "create_new", "search")
	review := question(contracts.InterruptResultReview, nil, "accept", "iterate", "rollback", "stop")
	cases := map[string]struct {
		question contracts.Interrupt
		answer   any
	}{
		"a value": {number, 3.0}, "an object": {question(contracts.InterruptClarification, nil), map[string]any{"a": 1.0}},
		"a choice": {target, "2"}, "by its name": {target, "First"}, "something new": {target, "create new"}, "a search": {target, "search: red"},
		"an approval": {plan, "approve"}, "an approach": {plan, "1"}, "an edit": {plan, "edit: name = y"}, "a rejection": {plan, "reject: no"},
		"acceptance": {review, "accept"}, "an iteration": {review, "iterate: shorter"}, "a rollback": {review, "rollback"}, "the end": {review, "stop"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			once, err := decision.Facts(tc.question, tc.answer)
			if err != nil {
				t.Fatal(err)
			}
			twice, err := decision.Facts(tc.question, once)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(once, twice); diff != "" {
				t.Errorf("read again it is another one:\n%s", diff)
			}
		})
	}
}
