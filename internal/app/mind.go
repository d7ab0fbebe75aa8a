package app

import (
	"context"
	"encoding/json"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/reasoning"
)

// mind lets a model think for the steps of runs.
type mind struct{ model *reasoning.Model }

var _ execution.Mind = mind{}

// NewMind makes a mind of a model; nil of none.
func NewMind(model *reasoning.Model) execution.Mind {
	if model == nil {
		return nil
	}
	return mind{model}
}

// task is a thought as the model's room has it.
func task(t execution.Thought) (out reasoning.Task, err error) {
	if t.Purpose == contracts.PurposeJudge {
		out, err = reasoning.Case{Skill: t.Skill, Inputs: t.Inputs}.Task()
	} else {
		out = reasoning.Task{
			Skill: t.Skill, Inputs: t.Inputs, Size: reasoning.Size(t.Size), MaxOutputTokens: t.MaxOutputTokens, TokensLeft: reasoning.NoBudget,
		}
		var raw json.RawMessage
		if raw, err = contracts.Canonical(t.Output); err == nil {
			out.Output, err = contracts.CompileSchema(raw)
		}
	}
	if t.Wrong != nil {
		out.Wrong = &reasoning.Wrong{Answer: t.Wrong.Answer, Faults: t.Wrong.Faults}
	}
	return out, err
}

// Needs is 0 for what cannot be asked: asking says why.
func (mind) Needs(t execution.Thought) int {
	out, err := task(t)
	if err != nil {
		return 0
	}
	needs, err := out.Needs()
	if err != nil {
		return 0
	}
	return needs
}

// Think asks the model once.
func (m mind) Think(ctx context.Context, t execution.Thought) execution.Thinking {
	asked, err := task(t)
	if err != nil {
		return execution.Thinking{Fault: err.Error()}
	}
	got, err := m.model.Attempt(ctx, asked)
	out := execution.Thinking{Calls: got.Calls}
	switch {
	case err != nil:
		out.Fault = err.Error()
	case got.Wrong != nil:
		out.Wrong = &execution.Wrong{Answer: got.Wrong.Answer, Faults: got.Wrong.Faults}
	case t.Purpose == contracts.PurposeJudge:
		opinion := reasoning.OpinionOf(got.Facts)
		out.Opinion = &opinion
	default:
		out.Facts = got.Facts
	}
	return out
}
