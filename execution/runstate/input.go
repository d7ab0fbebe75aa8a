package runstate

import (
	"maps"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Input has the questions of a call to people, and their answers. It is immutable: With and Asking
// return new values.
type Input struct {
	// Times counts how often the call has asked.
	Times int                    `json:"times"`
	Needs contracts.InputRequest `json:"needs"`
	// Answers are by question id; nil means that the question was skipped.
	Answers map[string]any `json:"answers,omitempty"`
	// Before are the answers to earlier requests.
	Before []contracts.EvidenceItem `json:"before,omitempty"`
}

// Asking returns the input after the call has asked again.
func (in *Input) Asking(node string, needs contracts.InputRequest) *Input {
	if in == nil {
		return &Input{Times: 1, Needs: needs}
	}
	return &Input{Times: in.Times + 1, Needs: needs, Before: in.Evidence(node)}
}

// Open returns the first unanswered question, nil if there is none.
func (in *Input) Open() *contracts.InputQuestion {
	for n := range in.Needs.Questions {
		if _, answered := in.Answers[in.Needs.Questions[n].ID]; !answered {
			return &in.Needs.Questions[n]
		}
	}
	return nil
}

// Rest reports whether all open questions may be skipped.
func (in *Input) Rest() bool {
	return !slices.ContainsFunc(in.Needs.Questions, func(q contracts.InputQuestion) bool {
		_, answered := in.Answers[q.ID]
		return !answered && !q.Optional
	})
}

// With returns the input with the answer to a question; nil skips it.
func (in *Input) With(question string, answer any) *Input {
	out := *in
	out.Answers = map[string]any{question: answer}
	maps.Copy(out.Answers, in.Answers)
	return &out
}

// Given returns the answers to send with the call, nil if nothing was asked.
func (in *Input) Given() *contracts.GivenInput {
	if in == nil {
		return nil
	}
	out := &contracts.GivenInput{State: in.Needs.State, Answers: map[string]any{}}
	for id, answer := range in.Answers {
		if answer != nil {
			out.Answers[id] = answer
		}
	}
	return out
}

// Evidence returns the answers for approvers: they are part of the action. Answers about a linked
// page are not included.
func (in *Input) Evidence(node string) []contracts.EvidenceItem {
	if in == nil {
		return nil
	}
	out := slices.Clone(in.Before)
	for _, q := range in.Needs.Questions {
		if answer := in.Answers[q.ID]; answer != nil && q.Link == "" {
			out = append(out, contracts.EvidenceItem{NodeID: node, Path: contracts.EvidenceShown + "answer to " + q.Prompt, Value: answer})
		}
	}
	return out
}
