package contracts

// DomainState is the state of a run by domain. Data of one domain never overwrites that of
// another. Within a domain the later step in plan order wins, and of a repeated step the newest
// instance.
type DomainState struct {
	RunID string   `json:"run_id"`
	State RunState `json:"state"`
	// Facts maps domain → name → value, Artifacts maps domain → name → reference.
	Facts     map[string]map[string]any `json:"facts"`
	Artifacts map[string]ArtifactRefs   `json:"artifacts"`
	// Debug maps a domain to the details of each call of the run, including those of reverted
	// rounds.
	Debug map[string][]StepDebug `json:"debug"`
}

// StepDebug holds the details of one call.
type StepDebug struct {
	NodeID   string    `json:"node_id"`
	Tool     string    `json:"tool"`
	State    NodeState `json:"state"`
	Attempts int       `json:"attempts"`
	// DurationMS is the machine time of the call in milliseconds. It is set when the call has
	// ended.
	DurationMS int64 `json:"duration_ms,omitempty"`
	// Round is the number of a repeated instance. By is the step whose rule requested it, such as
	// a repair or an iteration.
	Round  int        `json:"round,omitempty"`
	By     string     `json:"by,omitempty"`
	Error  *ToolError `json:"error,omitempty"`
	Checks []Check    `json:"checks,omitempty"`
}
