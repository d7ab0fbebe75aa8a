package execution

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/model"
)

// Mind is a model, where one is configured. It answers with data that is held to
// the step's own schema here again; it decides nothing.
type Mind interface {
	// Needs is the most tokens that one call for a thought may use: its input as
	// estimated, and the output that it is allowed.
	Needs(t Thought) int
	// Think makes one call. A wrong answer is given back, to be mended by another
	// call with it. It never returns an error; everything that can happen is a
	// Thinking.
	Think(ctx context.Context, t Thought) Thinking
}

// Thought is what a model is asked for: the output of a reason step, or an opinion
// of a verdict.
type Thought struct {
	Purpose contracts.ModelPurpose
	Skill   contracts.Compact
	// SkillSHA256 is the digest of the skill that the plan has pinned, for the record.
	SkillSHA256 string
	Inputs      map[string]contracts.Compact
	// Output is the JSON Schema of the answer; an opinion has one of its own.
	Output          map[string]any
	MaxOutputTokens int // 0 for the default
	Size            contracts.ModelSize
	// Wrong is the answer to mend, nil for the first call.
	Wrong *Wrong
}

// Thinking is what came of one call. Exactly one of Facts, Opinion, Wrong and
// Fault is set.
type Thinking struct {
	Facts   map[string]any
	Opinion *contracts.Opinion
	Wrong   *Wrong
	// Fault says why there is no answer, for people.
	Fault string
	Calls []contracts.ModelCall
}

// Wrong is an answer that does not fit.
type Wrong = model.Wrong

// Judging says when a model is asked for an opinion of a verdict.
type Judging string

// The ways to judge.
const (
	// JudgeNever asks for none.
	JudgeNever Judging = "off"
	// JudgeSteps asks where a step of a workflow says so.
	JudgeSteps Judging = "steps"
	// JudgeRuns asks at the end of every run besides.
	JudgeRuns Judging = "runs"
)

// Judgings lists the ways, for flags and their help.
func Judgings() []Judging { return []Judging{JudgeNever, JudgeSteps, JudgeRuns} }
