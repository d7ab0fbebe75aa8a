package contracts

// GateView is the presentation of an interrupt, the same in every interface, with the decisions
// that the caller may make.
type GateView struct {
	Asks string `json:"asks"`
	// Mark names what a model had read before it proposed the action.
	Mark  string        `json:"mark,omitempty"`
	Rows  []GateViewRow `json:"rows,omitempty"`
	Lines [][]string    `json:"lines,omitempty"`
	Terms [][]string    `json:"terms,omitempty"`
	// People is the number of approvals needed, Approvals the number given.
	People    int             `json:"people"`
	Approvals int             `json:"approvals"`
	May       GatePermissions `json:"may"`
	Schema    any             `json:"schema,omitempty"` // the schema of the editable parameters
	Verify    string          `json:"verify,omitempty"` // the capability that reads the write back
	Undo      string          `json:"undo,omitempty"`   // the capability that undoes the write
	After     []StepID        `json:"after,omitempty"`  // the waiting steps, for callers who may read the run
}

// GateViewRow is one parameter of the call.
type GateViewRow struct {
	Parameter string     `json:"parameter"`
	Name      string     `json:"name"`
	Value     any        `json:"value"`
	Label     string     `json:"label,omitempty"`
	From      Provenance `json:"from,omitempty"`
	// Opaque means that the value is not readable by a person.
	Opaque bool `json:"opaque,omitempty"`
}

// GatePermissions are the decisions that the caller may make on a gate.
type GatePermissions struct {
	Approve bool   `json:"approve"`
	Edit    bool   `json:"edit"`
	Reject  bool   `json:"reject"`
	Answer  bool   `json:"answer"`
	Why     string `json:"why,omitempty"`
}

// StepID names a step of a run.
type StepID struct {
	NodeID string `json:"node_id"`
	Title  string `json:"title,omitempty"`
	Tool   string `json:"tool,omitempty"`
}
