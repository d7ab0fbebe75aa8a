package contracts

import "github.com/manifold-run/manifold/contracts/metrics"

// Strategy is the shape of a plan.
type Strategy string

// The strategies; a workflow's is "workflow:<name>".
const (
	StrategySingle       Strategy = "single"
	StrategyParallelRead Strategy = "parallel-read-then-summarize"
	StrategyReadWrite    Strategy = "read-then-write"
	StrategyComposed     Strategy = "composed"
	// StrategyWorkflow is the prefix of a plan that is one workflow.
	StrategyWorkflow Strategy = "workflow:"
)

// NodeKind describes what a node does.
type NodeKind string

// The kinds that this release plans and runs.
const (
	KindTool   NodeKind = "tool"
	KindHuman  NodeKind = "human"
	KindJoin   NodeKind = "join"
	KindSet    NodeKind = "set"
	KindReason NodeKind = "reason"
	KindVerify NodeKind = "verify"
	// KindResult gives the result of a workflow once all its steps have ended.
	KindResult NodeKind = "result"
	// KindUndo takes writes back by their compensations, the last one first.
	KindUndo NodeKind = "undo"
	// KindReplan asks the replanner for further nodes once everything before it has ended.
	KindReplan NodeKind = "round"
	// KindAnswer words what a run found. It is no part of a plan: a run that has
	// ended all else appends it.
	KindAnswer NodeKind = "answer"
)

// Plan is a DAG of nodes. It never changes after it was made; it expands.
type Plan struct {
	PlanID   string   `json:"plan_id"`
	RunID    string   `json:"run_id,omitempty"`
	Goal     string   `json:"goal"`
	Strategy Strategy `json:"strategy"`
	Nodes    []Node   `json:"nodes"`
	Budgets  Budgets  `json:"budgets"`
	// Instances is domain → instance id.
	Instances map[string]string `json:"instances,omitempty"`
	// CapabilityDigests is "domain.name" → digest, for every capability that
	// the run may call: tools, and their verify, reconcile and compensation.
	CapabilityDigests map[string]string `json:"capability_digests"`
	Owner             Principal         `json:"owner"`
	DryRun            bool              `json:"dry_run,omitempty"`
	// Unattended means that nobody is there to answer: human steps take the
	// answer that they name for it, or fail.
	Unattended bool `json:"unattended,omitempty"`
	// Phase is the one that the request is held to: every step is of it.
	Phase string `json:"phase,omitempty"`
	// Frames are the workflows of the plan, by the prefix of their nodes' ids:
	// "" for a plan that is one workflow.
	Frames map[string]Frame `json:"frames,omitempty"`
	// More means that whoever proposed the plan decides what comes next when its
	// results are there; its last node is then a round.
	More bool `json:"more,omitempty"`
	// Flags are what the site has switched on for the run; nil means everything. They
	// are pinned when the run is made, and no part of the plan's hash.
	Flags *metrics.Flags `json:"flags,omitempty"`
	// PlanHash is the hash of the plan without plan_id, run_id, flags and plan_hash.
	PlanHash string `json:"plan_hash"`
}

// InWorkflow reports whether a node is a step of a workflow that the plan has.
func (p Plan) InWorkflow(n Node) bool {
	_, ok := p.Frames[n.Frame]
	return ok && n.Merge != MergeAllCompleted
}

// Frame is one workflow of a plan: what the expressions of its steps read beside
// each other's results.
type Frame struct {
	// Workflow is the namespaced name, Digest pins the template.
	Workflow string `json:"workflow"`
	Digest   string `json:"digest"`
	// Params are what the workflow was asked for. One that stands in the place of
	// a step has Entry instead: the node whose facts they are.
	Params map[string]any `json:"params,omitempty"`
	Entry  string         `json:"entry,omitempty"`
	// Budgets are the workflow's own.
	Budgets map[string]Budget `json:"budgets,omitempty"`
	// Skills are the texts that its steps are given to models with, as they were
	// when the plan was made: name → Markdown.
	Skills map[string]string `json:"skills,omitempty"`
	// Result is the node that gives the result.
	Result string `json:"result"`
}

// MergeRule specifies when a node runs by the outcome of those that it depends on.
type MergeRule string

// The merge rules.
const (
	// MergeAllCompleted: whatever was skipped dooms what depends on it. It is the
	// rule of plans that are not workflows, and of old ones.
	MergeAllCompleted MergeRule = ""
	// MergeNoneFailed: none failed, and at least one completed.
	MergeNoneFailed MergeRule = "none_failed_min_one_success"
)

// Budgets bound what a run may use; 0 means the default.
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
	// Title is for people: what this step does, in a few words.
	Title string `json:"title,omitempty"`
	// Tool is the namespaced capability of a tool node.
	Tool string `json:"tool,omitempty"`
	// Params are literals or "${expr}" over steps, item and context.
	Params map[string]any `json:"params,omitempty"`
	// Binds names the parameters that a look-up binds the call to; nobody asks for them.
	Binds     []string   `json:"binds,omitempty"`
	DependsOn []string   `json:"depends_on,omitempty"`
	When      *Condition `json:"when,omitempty"`
	Phase     string     `json:"phase,omitempty"`
	BranchID  string     `json:"branch_id,omitempty"`
	JoinKey   string     `json:"join_key,omitempty"`
	// Required false means: a failure of this node does not fail the run, and
	// what depends on it runs all the same only where a join says so.
	Required bool `json:"required"`
	// IntentID is the intent that the node serves.
	IntentID string `json:"intent_id,omitempty"`

	// Policy is the effective policy of a tool node, flattened into the node.
	Policy *Policy `json:"policy,omitempty"`
	// Locks are templates such as "thing:{id}", already prefixed by domain and
	// instance unless shared.
	Locks    []string `json:"locks,omitempty"`
	Instance string   `json:"instance,omitempty"`
	// ForEach repeats the node for the items of an expression; the copies are
	// appended by an expand record as n3[0], n3[1], …
	ForEach *ForEach `json:"for_each,omitempty"`
	// Group bounds how many nodes of the same group run at once.
	Group      string     `json:"group,omitempty"`
	GroupLimit int        `json:"group_limit,omitempty"`
	Human      *HumanStep `json:"human,omitempty"`
	// Role explains why the planner made the node: "" for the intent's own call,
	// else pre_search, pre_choose, post, followup, join.
	Role string `json:"role,omitempty"`
	// ForNode is the node that a pre_search, pre_choose, post or followup serves, or
	// the for_each node that an appended copy came from.
	ForNode string `json:"of,omitempty"`
	// Item is the element of for_each that an appended copy is bound to.
	Item any `json:"item,omitempty"`
	// Evidence is what the literals of the parameters were chosen by, before this
	// plan; it is shown to the approver.
	Evidence []EvidenceItem `json:"evidence,omitempty"`
	// Utterance is what the node's intent was read from; only the intent's own call has
	// it.
	Utterance *Utterance `json:"said,omitempty"`

	// Rationale is the purpose of the step, in the words of the model that drafted it.
	Rationale string `json:"say,omitempty"`
	// ReplanNumber is which round a node of kind round is; AddedBy is the round that
	// has added the node to the run.
	ReplanNumber int    `json:"round_number,omitempty"`
	AddedBy      string `json:"added_by,omitempty"`
	// AfterReading names the answers of domains that a model had read when it
	// proposed the node; empty for what it proposed by the request alone.
	AfterReading []string `json:"after_reading,omitempty"`
	// Digest pins the capability of an added node, as CapabilityDigests do those of
	// the plan's.
	Digest string `json:"digest,omitempty"`

	// Merge, and all that follows, is for the steps of workflows. Frame is the
	// prefix of the workflow that the step belongs to.
	Merge MergeRule `json:"merge,omitempty"`
	Frame string    `json:"frame,omitempty"`
	// RunAfter are nodes that must have ended before, whatever their outcome.
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
	// Undo are the calls that take writes back, for a node of kind undo; CompensatesNode is
	// the write that an appended call takes back.
	Undo            []Undo `json:"undo,omitempty"`
	CompensatesNode string `json:"undoes,omitempty"`
	// Round explains why an instance exists that a rule made again; ForNode is its step.
	Round *Round `json:"round,omitempty"`
}

// Undo is a call that takes a write back.
type Undo struct {
	// ForNode is the write. The parameters read its params, result and context.
	ForNode  string         `json:"of"`
	Title    string         `json:"title,omitempty"`
	Tool     string         `json:"tool"`
	Params   map[string]any `json:"params,omitempty"`
	Phase    string         `json:"phase,omitempty"`
	Policy   *Policy        `json:"policy,omitempty"`
	Locks    []string       `json:"locks,omitempty"`
	Instance string         `json:"instance,omitempty"`
}

// Node is the call as a step of the workflow of a node.
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

// HumanStep asks a person. With OptionsFrom it offers the list found there:
// one option is taken without asking, several are handled by Choose, none
// leads to a question. The answer is the node's facts.value.
type HumanStep struct {
	Interrupt InterruptType `json:"interrupt"`
	Prompt    string        `json:"prompt"`
	// OptionsFrom is an expression that gives a list of {value, label}.
	OptionsFrom string `json:"options_from,omitempty"`
	// Choose is for plans that are compiled from intents; a workflow always asks.
	Choose Choose `json:"choose,omitempty"`
	// Param is the parameter that the answer sets, for the prompt.
	Param string `json:"param,omitempty"`
	// Ask is for plans that are compiled from intents: what to ask where the search
	// is for the requester and says that it does not know them (AskerUnknown).
	Ask string `json:"ask,omitempty"`
	// LooksUp is for plans that are compiled from intents: the options follow from other
	// parameters alone, so that where there are none, nobody can say others.
	LooksUp bool `json:"looks_up,omitempty"`
	// ResponseSchema is what an answer must satisfy.
	ResponseSchema map[string]any `json:"response_schema,omitempty"`

	// What follows is for the steps of workflows. Value is what is approved or
	// edited, Show what the question rests on, Allow which answers there are.
	Value any            `json:"value,omitempty"`
	Show  map[string]any `json:"show,omitempty"`
	Allow []Allowed      `json:"allow,omitempty"`
	// Roles may answer beside the requester.
	Roles      []string    `json:"roles,omitempty"`
	Unattended *Unattended `json:"unattended,omitempty"`
}

// NodeState is the state of one node of a run.
type NodeState string

// The node states; the last five are terminal.
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

// RunState is the state of a run, a function of its nodes' states and of the
// wish to cancel it.
type RunState string

// The run states; the last five are terminal.
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

// OpenRunStates are the states of runs that go on.
func OpenRunStates() []RunState { return []RunState{RunRunning, RunWaiting, RunCancelling} }

// EndRunStates are the states that are final.
func EndRunStates() []RunState {
	return []RunState{RunFailed, RunRejected, RunCancelled, RunDegraded, RunCompleted}
}

// Terminal reports whether the state is final.
func (s RunState) Terminal() bool { return s != RunRunning && s != RunWaiting && s != RunCancelling }
