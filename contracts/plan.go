package contracts

import "github.com/manifold-run/manifold/contracts/metrics"

// Strategy is the shape of a plan.
type Strategy string

// The strategies. That of a workflow is "workflow:<name>".
const (
	StrategySingle       Strategy = "single"
	StrategyParallelRead Strategy = "parallel-read-then-summarize"
	StrategyReadWrite    Strategy = "read-then-write"
	StrategyComposed     Strategy = "composed"
	// StrategyWorkflow is the prefix for a plan that is one workflow.
	StrategyWorkflow Strategy = "workflow:"
)

// NodeKind is the kind of a node.
type NodeKind string

// The kinds that this release plans and runs.
const (
	KindTool   NodeKind = "tool"
	KindHuman  NodeKind = "human"
	KindJoin   NodeKind = "join"
	KindSet    NodeKind = "set"
	KindReason NodeKind = "reason"
	KindVerify NodeKind = "verify"
	// KindResult computes the result of a workflow after all its steps have ended.
	KindResult NodeKind = "result"
	// KindUndo reverts writes by their compensations, the last write first.
	KindUndo NodeKind = "undo"
	// KindReplan asks the replanner for further nodes after all earlier nodes have ended.
	KindReplan NodeKind = "round"
	// KindAnswer words the results of a run. It is not part of a plan: the run appends it when
	// all other nodes have ended.
	KindAnswer NodeKind = "answer"
)

// Plan is a DAG of nodes. It is immutable; a run can only append nodes by expansion.
type Plan struct {
	PlanID   string   `json:"plan_id"`
	RunID    string   `json:"run_id,omitempty"`
	Goal     string   `json:"goal"`
	Strategy Strategy `json:"strategy"`
	Nodes    []Node   `json:"nodes"`
	Budgets  Budgets  `json:"budgets"`
	// Instances maps a domain to an instance id.
	Instances map[string]string `json:"instances,omitempty"`
	// CapabilityDigests maps "domain.name" to the digest for every capability that the run may
	// call: tools, and their verify, reconcile and compensation capabilities.
	CapabilityDigests map[string]string `json:"capability_digests"`
	Owner             Principal         `json:"owner"`
	DryRun            bool              `json:"dry_run,omitempty"`
	// Unattended means that no person is available to answer. Human steps take their configured
	// unattended answer, or fail.
	Unattended bool `json:"unattended,omitempty"`
	// Phase restricts the request: every step belongs to this phase.
	Phase string `json:"phase,omitempty"`
	// Frames are the workflows of the plan, by the prefix of their node ids, which is "" for a
	// plan that is one workflow.
	Frames map[string]Frame `json:"frames,omitempty"`
	// More means that the proposer adds steps after it has seen the results. The last node is
	// then of kind round.
	More bool `json:"more,omitempty"`
	// Flags are the site's feature flags for the run; nil means all on. They are pinned when the
	// run is created and are not part of the plan hash.
	Flags *metrics.Flags `json:"flags,omitempty"`
	// PlanHash is the hash of the plan without plan_id, run_id, flags and plan_hash.
	PlanHash string `json:"plan_hash"`
}

// InWorkflow reports whether a node is a step of a workflow of the plan.
func (p Plan) InWorkflow(n Node) bool {
	_, ok := p.Frames[n.Frame]
	return ok && n.Merge != MergeAllCompleted
}

// Frame is one workflow of a plan. It holds the values that expressions of its steps read besides
// each other's results.
type Frame struct {
	// Workflow is the qualified name. Digest pins the template.
	Workflow string `json:"workflow"`
	Digest   string `json:"digest"`
	// Params are the parameters of the workflow. A workflow that replaces a step has Entry
	// instead: the node whose facts are its parameters.
	Params map[string]any `json:"params,omitempty"`
	Entry  string         `json:"entry,omitempty"`
	// Budgets are the budgets of the workflow itself.
	Budgets map[string]Budget `json:"budgets,omitempty"`
	// Skills maps names to the Markdown that models get for the steps, as of the creation of the
	// plan.
	Skills map[string]string `json:"skills,omitempty"`
	// Result is the node that computes the result.
	Result string `json:"result"`
}

// MergeRule decides whether a node runs, given the outcomes of its dependencies.
type MergeRule string

// The merge rules.
const (
	// MergeAllCompleted: all must have completed; a skipped one makes its dependents skipped. It
	// is the rule of plans that are not workflows, and of old plans.
	MergeAllCompleted MergeRule = ""
	// MergeNoneFailed: none failed, and at least one completed.
	MergeNoneFailed MergeRule = "none_failed_min_one_success"
)

// Budgets limits what a run may use; 0 means the default.
type Budgets struct {
	MaxNodes     int `json:"max_nodes,omitempty"`
	MaxRetries   int `json:"max_retries,omitempty"`
	MaxToolCalls int `json:"max_tool_calls,omitempty"`
	MaxTokens    int `json:"max_tokens,omitempty"`
}

// Node is one step of a plan.
type Node struct {
	NodeID string   `json:"node_id"`
	Kind   NodeKind `json:"kind"`
	// Title is a short description of the step, for display.
	Title string `json:"title,omitempty"`
	// Tool is the qualified capability of a tool node.
	Tool string `json:"tool,omitempty"`
	// Params are literals or "${expr}" over steps, item and context.
	Params map[string]any `json:"params,omitempty"`
	// Binds names the parameters that a lookup sets; they are not requested.
	Binds     []string   `json:"binds,omitempty"`
	DependsOn []string   `json:"depends_on,omitempty"`
	When      *Condition `json:"when,omitempty"`
	Phase     string     `json:"phase,omitempty"`
	BranchID  string     `json:"branch_id,omitempty"`
	JoinKey   string     `json:"join_key,omitempty"`
	// Required is false if a failure of this node does not fail the run. Its dependents then run
	// only if they are joins that allow it.
	Required bool `json:"required"`
	// IntentID is the intent that the node serves.
	IntentID string `json:"intent_id,omitempty"`

	// Policy is the effective policy of a tool node.
	Policy *Policy `json:"policy,omitempty"`
	// Locks are templates such as "thing:{id}", already prefixed by domain and instance unless
	// they are shared.
	Locks    []string `json:"locks,omitempty"`
	Instance string   `json:"instance,omitempty"`
	// ForEach repeats the node for each item of an expression. The copies are appended by an
	// expand record as n3[0], n3[1], …
	ForEach *ForEach `json:"for_each,omitempty"`
	// Group limits how many nodes of the same group run at once, to GroupLimit.
	Group      string     `json:"group,omitempty"`
	GroupLimit int        `json:"group_limit,omitempty"`
	Human      *HumanStep `json:"human,omitempty"`
	// Role is the reason why the planner added the node: "" for the intent's own call, otherwise
	// pre_search, pre_choose, post, followup or join.
	Role string `json:"role,omitempty"`
	// ForNode is the node that a pre_search, pre_choose, post or followup node serves, or the
	// for_each node of an appended copy.
	ForNode string `json:"of,omitempty"`
	// Item is the for_each element of an appended copy.
	Item any `json:"item,omitempty"`
	// Evidence is the origin of literal parameters that were chosen before this plan. It is shown
	// to the approver.
	Evidence []EvidenceItem `json:"evidence,omitempty"`
	// Utterance is the annotated source text of the node's intent. Only the intent's own call has
	// it.
	Utterance *Utterance `json:"said,omitempty"`

	// Rationale is the purpose of the step, as the model that drafted it wrote it.
	Rationale string `json:"say,omitempty"`
	// ReplanNumber is the number of a node of kind round. AddedBy is the node of kind round that
	// added this node to the run.
	ReplanNumber int    `json:"round_number,omitempty"`
	AddedBy      string `json:"added_by,omitempty"`
	// AfterReading names the domain answers that a model had read when it proposed the node. It
	// is empty if the proposal was based on the request alone.
	AfterReading []string `json:"after_reading,omitempty"`
	// Digest pins the capability of an added node, as Plan.CapabilityDigests does for nodes of
	// the plan.
	Digest string `json:"digest,omitempty"`

	// Merge and the fields below apply to steps of workflows. Frame is the prefix of the workflow
	// of the step.
	Merge MergeRule `json:"merge,omitempty"`
	Frame string    `json:"frame,omitempty"`
	// RunAfter are nodes that must have ended first, with any outcome.
	RunAfter        []string          `json:"after,omitempty"`
	ContinueOnError bool              `json:"continue_on_error,omitempty"`
	Set             map[string]any    `json:"set,omitempty"`
	Show            map[string]any    `json:"show,omitempty"`
	Spend           map[string]string `json:"spend,omitempty"`
	On              []Rule            `json:"on,omitempty"`
	Reason          *ReasonStep       `json:"reason,omitempty"`
	Verify          *VerifyStep       `json:"verify,omitempty"`
	Result          *WorkflowResult   `json:"result,omitempty"`
	Importance      Importance        `json:"importance,omitempty"`
	// Undo are the compensations that a node of kind undo calls. CompensatesNode is the write
	// that an appended call reverts.
	Undo            []Undo `json:"undo,omitempty"`
	CompensatesNode string `json:"undoes,omitempty"`
	// Round is the reason for an instance that a rule repeated; ForNode is then its step.
	Round *Round `json:"round,omitempty"`
}

// Undo is a call that reverts a write.
type Undo struct {
	// ForNode is the write. Params may read the write's params, its result and context.
	ForNode  string         `json:"of"`
	Title    string         `json:"title,omitempty"`
	Tool     string         `json:"tool"`
	Params   map[string]any `json:"params,omitempty"`
	Phase    string         `json:"phase,omitempty"`
	Policy   *Policy        `json:"policy,omitempty"`
	Locks    []string       `json:"locks,omitempty"`
	Instance string         `json:"instance,omitempty"`
}

// Node returns the call as a step of the workflow of node by.
func (u Undo) Node(by Node) Node {
	return Node{
		NodeID: by.NodeID, Kind: KindTool, Title: u.Title, Tool: u.Tool, Params: u.Params, Phase: u.Phase, Policy: u.Policy,
		Locks: u.Locks, Instance: u.Instance, DependsOn: by.DependsOn, Required: by.Required, Merge: by.Merge, Frame: by.Frame,
		IntentID: by.IntentID, ForNode: u.ForNode,
	}
}

// The values of Node.Role.
const (
	RolePreSearch = "pre_search"
	RolePreChoose = "pre_choose"
	RolePost      = "post"
	RoleFollowup  = "followup"
	RoleJoin      = "join"
)

// ForEach binds item to each element of Items.
type ForEach struct {
	Items          string `json:"items"`
	MaxConcurrency int    `json:"max_concurrency,omitempty"`
}

// HumanStep asks a person. With OptionsFrom it offers a list of options: a single option is taken
// without asking, several are handled by Choose, and an empty list leads to a question. The
// answer is the node's facts.value.
type HumanStep struct {
	Interrupt InterruptType `json:"interrupt"`
	Prompt    string        `json:"prompt"`
	// OptionsFrom is an expression that evaluates to a list of {value, label}.
	OptionsFrom string `json:"options_from,omitempty"`
	// Choose applies to plans compiled from intents; a workflow always asks.
	Choose Choose `json:"choose,omitempty"`
	// Param is the parameter that the answer sets, for the prompt.
	Param string `json:"param,omitempty"`
	// Ask applies to plans compiled from intents. It is the question if the search is for the
	// requester and reports AskerUnknown.
	Ask string `json:"ask,omitempty"`
	// LooksUp applies to plans compiled from intents. The options follow from other parameters
	// only, so that a person cannot supply others if there are none.
	LooksUp bool `json:"looks_up,omitempty"`
	// ResponseSchema is the schema of a valid answer.
	ResponseSchema map[string]any `json:"response_schema,omitempty"`

	// The fields below apply to steps of workflows. Value is the value to approve or edit, Show
	// the context of the question, Allow the allowed answers.
	Value any            `json:"value,omitempty"`
	Show  map[string]any `json:"show,omitempty"`
	Allow []Allowed      `json:"allow,omitempty"`
	// Roles may answer in addition to the requester.
	Roles      []string    `json:"roles,omitempty"`
	Unattended *Unattended `json:"unattended,omitempty"`
}

// NodeState is the state of one node of a run.
type NodeState string

// The node states. The last five are terminal.
const (
	NodePending          NodeState = "pending"
	NodeReady            NodeState = "ready"
	NodeQueued           NodeState = "queued"
	NodeRunning          NodeState = "running"
	NodeAwaitingApproval NodeState = "awaiting_approval"
	NodeAwaitingInput    NodeState = "awaiting_input"
	NodeBlocked          NodeState = "blocked"
	NodeOutcomeUnknown   NodeState = "outcome_unknown"
	NodeCompleted        NodeState = "completed"
	NodeFailed           NodeState = "failed"
	NodeSkipped          NodeState = "skipped"
	NodeRejected         NodeState = "rejected"
	NodeCancelled        NodeState = "cancelled"
)

// Terminal reports whether the state is final.
func (s NodeState) Terminal() bool {
	switch s {
	case NodeCompleted, NodeFailed, NodeSkipped, NodeRejected, NodeCancelled:
		return true
	default:
		return false
	}
}

// RunState is the state of a run. It is a function of the states of its nodes and of a
// cancellation request.
type RunState string

// The run states. The last five are terminal.
const (
	RunRunning    RunState = "running"
	RunWaiting    RunState = "waiting"
	RunCancelling RunState = "cancelling"
	RunFailed     RunState = "failed"
	RunRejected   RunState = "rejected"
	RunCancelled  RunState = "cancelled"
	RunDegraded   RunState = "degraded"
	RunCompleted  RunState = "completed"
)

// OpenRunStates returns the states that are not final.
func OpenRunStates() []RunState { return []RunState{RunRunning, RunWaiting, RunCancelling} }

// EndRunStates returns the final states.
func EndRunStates() []RunState {
	return []RunState{RunFailed, RunRejected, RunCancelled, RunDegraded, RunCompleted}
}

// Terminal reports whether the state is final.
func (s RunState) Terminal() bool { return s != RunRunning && s != RunWaiting && s != RunCancelling }
