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

// MaxRounds bounds how often a run asks what comes next.
const MaxRounds = 4

// Rounds says what comes next in a run whose plan has it that more can only be said
// when its results are there. What it says is data: it is held to the graph of the run
// here, and every write of it has a gate.
type Rounds interface {
	// Next is asked once for each round; its answer is recorded, so that a replay
	// does not ask. An error ends the rounds: the run finishes with what it has.
	Next(ctx context.Context, req RoundRequest) (RoundReply, error)
}

// RoundRequest is what is known when a round begins.
type RoundRequest struct {
	RunID, SessionID string
	Goal             string
	// Round counts from 1; Last tells that no further one can follow.
	Round int
	Last  bool
	Facts []RoundFact
	// Plan is the run's, with all nodes that were added to it.
	Plan contracts.Plan
}

// RoundFact is what one step came to: its summary and its facts, never raw output.
type RoundFact struct {
	NodeID string
	// Step is the intent or the step of the draft that the node serves.
	Step, Tool, Title string
	State             contracts.NodeState
	// Summary is why it failed, for a step that did.
	Summary string
	Facts   contracts.Compact
}

// RoundReply says what comes next: nodes, a question, or, with neither, nothing.
type RoundReply struct {
	// Plan has the nodes, compiled for the run as it is, the digests of what they
	// call, and whether a further round is wanted.
	Plan     *contracts.Plan
	Question *RoundQuestion
	// Held are the writes of the plan that whoever asked confirms first: the intent or
	// step that a node serves → the question.
	Held  map[string]string
	Calls []contracts.ModelCall
	// Read are the nodes whose answers were given to a model; none means all.
	Read []string
}

// RoundQuestion is asked of whoever asked for the run.
type RoundQuestion struct {
	Prompt  string
	Options []string
}

// LateWrites says what becomes of writes that are proposed after reading.
type LateWrites string

// What becomes of them.
const (
	LateWritesAsk    LateWrites = "ask"
	LateWritesForbid LateWrites = "forbid"
)

// LateWritesChoices lists them, for flags and their help.
func LateWritesChoices() []LateWrites { return []LateWrites{LateWritesAsk, LateWritesForbid} }
