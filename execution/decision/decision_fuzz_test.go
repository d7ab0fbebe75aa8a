package decision

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// FuzzDecide checks for any input that a gate is approved only by the decision "approve" for its
// own hash, and that a refused decision changes nothing.
func FuzzDecide(f *testing.F) {
	for _, seed := range []string{
		`{"decision":"approve","action_sha256":"right"}`, `{"decision":"approve","action_sha256":"wrong"}`,
		`{"decision":"approve"}`, `{"decision":"reject","comment":"no"}`, `{"decision":"edit","edited_params":{"a":1}}`,
		`{"response":"approve"}`, `{"decision":"APPROVE","action_sha256":"right"}`, `{"decision":"answer","response":{"decision":"approve"}}`,
		`{"response":"1"}`, `{"response":null}`, `[]`, `{"decision":"approve","action_sha256":"right","decision":"reject"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var body contracts.Resume
		if contracts.DecodeStrict(data, &body) != nil {
			return
		}
		who := Decider{ID: "eve", May: func(contracts.Interrupt, contracts.Decision) error { return nil }}
		gate := contracts.Interrupt{
			Type: contracts.InterruptWriteApproval, Status: contracts.InterruptOpen, ActionSHA256: "right", Quorum: 1,
		}
		err := Read(gate, body).Decide(&gate, who, time.Now())
		approving := body.Decision == contracts.DecisionApprove && body.ActionSHA256 == "right"
		if got := gate.Status == contracts.InterruptApproved; got != (err == nil && approving) {
			t.Errorf("approved = %v by %s (%v)", got, data, err)
		}
		if err != nil && gate.Status != contracts.InterruptOpen {
			t.Errorf("a refused decision left the gate %s", gate.Status)
		}
		question := contracts.Interrupt{
			Type: contracts.InterruptOutcomeUnknown, Status: contracts.InterruptOpen,
			Options: []contracts.InterruptOption{{ID: contracts.AnswerApplied, Label: "It did"}},
		}
		if err := Read(question, body).Decide(&question, who, time.Now()); err == nil && question.Response != contracts.AnswerApplied {
			t.Errorf("%s was taken as the answer %v", data, question.Response)
		}
	})
}
