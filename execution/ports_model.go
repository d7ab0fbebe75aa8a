package execution

import (
	"context"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// LanguageModel calls a configured language model. Its answers are data: this package validates
// them again against the schema of the step, and they decide nothing.
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
	// SkillSHA256 is the digest of the skill that the plan has pinned; it is recorded.
	SkillSHA256 string
	Inputs      map[string]contracts.Compact
	// Output is the JSON Schema of the answer; an opinion has a fixed schema.
	Output          map[string]any
	MaxOutputTokens int // 0 for the default
	Size            contracts.ModelSize
	// Rejected is the answer to repair, nil for the first call.
	Rejected *RejectedAnswer
}

// ModelResponse is the result of one call. Exactly one of Facts, Opinion, Rejected and Fault
// is set.
type ModelResponse struct {
	Facts    map[string]any
	Opinion  *contracts.Opinion
	Rejected *RejectedAnswer
	// Fault explains to people why there is no answer.
	Fault string
	Calls []contracts.ModelCall
}

// RejectedAnswer is an answer that does not match the schema.
type RejectedAnswer = runstate.RejectedAnswer

// JudgeMode specifies when a model is asked for an opinion on a verdict.
type JudgeMode string

// The judge modes.
const (
	// JudgeNever never asks.
	JudgeNever JudgeMode = "off"
	// JudgeSteps asks for workflow steps that are declared so.
	JudgeSteps JudgeMode = "steps"
	// JudgeRuns also asks at the end of every run.
	JudgeRuns JudgeMode = "runs"
)

// JudgeModes lists the modes, for flags and their help.
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

// ReplanRequest has what is known when a replan node starts.
type ReplanRequest struct {
	RunID, SessionID string
	Goal             string
	// Number counts from 1. Last reports that no further replan can follow.
	Number int
	Last   bool
	Facts  []ReplanFact
	// Plan is the run's plan, with all nodes that were added to it.
	Plan contracts.Plan
}

// ReplanFact is the outcome of one step: its summary and its facts, never raw output.
type ReplanFact struct {
	NodeID string
	// Step is the intent, or the step of the draft, that the node belongs to.
	Step, Tool, Title string
	State             contracts.NodeState
	// Summary of a failed step explains the failure.
	Summary string
	Facts   contracts.Compact
}

// ReplanReply has further nodes, or a question, or neither if the run needs no more.
type ReplanReply struct {
	// Plan has the nodes, compiled for the current state of the run, the digests of the
	// capabilities that they call, and whether a further replan is wanted.
	Plan     *contracts.Plan
	Question *ReplanQuestion
	// Held are the writes of the plan that the requester must confirm first: the intent or step of
	// a node → the question.
	Held  map[string]string
	Calls []contracts.ModelCall
	// Read lists the nodes whose results were given to a model; empty means all.
	Read []string
}

// ReplanQuestion is a question to the requester.
type ReplanQuestion struct {
	Prompt  string
	Options []string
}

// LateWrites specifies what happens to writes that are proposed after reading.
type LateWrites string

// The choices for late writes.
const (
	LateWritesAsk    LateWrites = "ask"
	LateWritesForbid LateWrites = "forbid"
)

// LateWritesChoices lists the choices, for flags and their help.
func LateWritesChoices() []LateWrites { return []LateWrites{LateWritesAsk, LateWritesForbid} }
