package contracts

// DomainState is the state of a run by domain. What one domain gave is never
// overwritten by another; within a domain the later step in plan order counts, and
// of a step that was made again the newest instance.
type DomainState struct {
	RunID string   `json:"run_id"`
	State RunState `json:"state"`
	// Facts is domain → name → value, Artifacts domain → name → reference.
	Facts     map[string]map[string]any `json:"facts"`
	Artifacts map[string]ArtifactRefs   `json:"artifacts"`
	// Debug is domain → what each call of the run took, those of rounds that were
	// taken back included.
	Debug map[string][]StepDebug `json:"debug"`
}

// StepDebug is what one call took.
type StepDebug struct {
	NodeID   string    `json:"node_id"`
	Tool     string    `json:"tool"`
	State    NodeState `json:"state"`
	Attempts int       `json:"attempts"`
	// DurationMS is what it took of machine time, once it has ended.
	DurationMS int64 `json:"duration_ms,omitempty"`
	// Round and By say of an instance that was made again which one it is and whose
	// rule asked for it: a repair, an iteration.
	Round  int        `json:"round,omitempty"`
	By     string     `json:"by,omitempty"`
	Error  *ToolError `json:"error,omitempty"`
	Checks []Check    `json:"checks,omitempty"`
}
