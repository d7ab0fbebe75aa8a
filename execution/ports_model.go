package execution

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// LanguageModel calls a configured language model. Its answers are data: they are validated
// against the schema of the step here again, and they decide nothing.
type LanguageModel interface {
	// EstimateTokens returns the most tokens that one call for a request may use: the estimated
	// input and the output that it is allowed.
	EstimateTokens(t ModelRequest) int
	// Complete makes one call. A rejected answer is returned, so that another call can repair
	// it. Complete never returns an error: every outcome is a ModelResponse.
	Complete(ctx context.Context, t ModelRequest) ModelResponse
}

// ModelRequest asks a model for the output of a reason step, or for an opinion on a verdict.
type ModelRequest struct {
	Purpose contracts.ModelPurpose
	Skill   contracts.Compact
	// SkillSHA256 is the digest of the skill that the plan has pinned, for the record.
	SkillSHA256 string
	Inputs      map[string]contracts.Compact
	// Output is the JSON Schema of the answer; an opinion has one of its own.
	Output          map[string]any
	MaxOutputTokens int // 0 for the default
	Size            contracts.ModelSize
	// Rejected is the answer to mend, nil for the first call.
	Rejected *RejectedAnswer
}

// ModelResponse is the result of one call. Exactly one of Facts, Opinion, Rejected and Fault
// is set.
type ModelResponse struct {
	Facts    map[string]any
	Opinion  *contracts.Opinion
	Rejected *RejectedAnswer
	// Fault explains why there is no answer, for people.
	Fault string
	Calls []contracts.ModelCall
}

// RejectedAnswer is an answer that does not fit.
type RejectedAnswer = runstate.RejectedAnswer

// JudgeMode specifies when a model is asked for an opinion of a verdict.
type JudgeMode string

// The ways to judge.
const (
	// JudgeNever asks for none.
	JudgeNever JudgeMode = "off"
	// JudgeSteps asks where a step of a workflow says so.
	JudgeSteps JudgeMode = "steps"
	// JudgeRuns asks at the end of every run besides.
	JudgeRuns JudgeMode = "runs"
)

// JudgeModes lists the ways, for flags and their help.
func JudgeModes() []JudgeMode { return []JudgeMode{JudgeNever, JudgeSteps, JudgeRuns} }

// MaxReplans limits how often one run is replanned.
const MaxReplans = 4

// Replanner proposes further nodes for a run whose plan is marked More, when the results of
// the plan are known. A proposal is data: it is validated against the graph of the run here,
// and each of its writes has a gate.
type Replanner interface {
	// Replan is called once for each replan node. Its answer is recorded, so that a replay does
	// not call it. After an error the run finishes with what it has.
	Replan(ctx context.Context, req ReplanRequest) (ReplanReply, error)
}

// ReplanRequest is what is known when a replan node starts.
type ReplanRequest struct {
	RunID, SessionID string
	Goal             string
	// Number counts from 1; Last tells that no further one can follow.
	Number int
	Last   bool
	Facts  []ReplanFact
	// Plan is the run's, with all nodes that were added to it.
	Plan contracts.Plan
}

// ReplanFact is the outcome of one step: its summary and its facts, never raw output.
type ReplanFact struct {
	NodeID string
	// Step is the intent or the step of the draft that the node serves.
	Step, Tool, Title string
	State             contracts.NodeState
	// Summary is why it failed, for a step that did.
	Summary string
	Facts   contracts.Compact
}

// ReplanReply has further nodes, or a question, or neither if the run needs no more.
type ReplanReply struct {
	// Plan has the nodes, compiled for the run as it is, the digests of what they
	// call, and whether a further round is wanted.
	Plan     *contracts.Plan
	Question *ReplanQuestion
	// Held are the writes of the plan that the requester confirms first: the intent or
	// step that a node serves → the question.
	Held  map[string]string
	Calls []contracts.ModelCall
	// Read are the nodes whose answers were given to a model; none means all.
	Read []string
}

// ReplanQuestion is put to the requester.
type ReplanQuestion struct {
	Prompt  string
	Options []string
}

// LateWrites describes what becomes of writes that are proposed after reading.
type LateWrites string

// What becomes of them.
const (
	LateWritesAsk    LateWrites = "ask"
	LateWritesForbid LateWrites = "forbid"
)

// LateWritesChoices lists them, for flags and their help.
func LateWritesChoices() []LateWrites { return []LateWrites{LateWritesAsk, LateWritesForbid} }
