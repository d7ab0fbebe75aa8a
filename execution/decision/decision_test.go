package decision

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// TestAnAnswerCountsForTheQuestionThatItWasReadFor interprets answers before the transaction, in
// which the question may have changed.
func TestAnAnswerCountsForTheQuestionThatItWasReadFor(t *testing.T) {
	t.Parallel()
	floor := contracts.Interrupt{
		Code: "Q1", Type: contracts.InterruptClarification, Status: contracts.InterruptOpen,
		ResponseSchema: map[string]any{"type": "integer", "maximum": 9},
	}
	other := floor
	other.ResponseSchema = map[string]any{"type": "integer", "maximum": 2}
	tests := map[string]struct {
		response any
		stored   contracts.Interrupt
		want     contracts.Code
	}{
		"as it was read":                {3, floor, ""},
		"one that does not fit":         {30, floor, contracts.CodeInvalid},
		"the question asks for another": {3, other, contracts.CodeConflict},
	}
	anybody := Decider{ID: "ana", May: func(contracts.Interrupt, contracts.Decision) error { return nil }}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body := contracts.Resume{Response: tt.response}
			stored := tt.stored
			err := Read(floor, body).Decide(&stored, anybody, time.Now())
			if contracts.CodeOf(err) != tt.want || (err == nil) != (stored.Status == contracts.InterruptAnswered) {
				t.Errorf("got %v and %s, want code %q", err, stored.Status, tt.want)
			}
		})
	}
}
