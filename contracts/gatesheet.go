package contracts

// GateView is how a gate or a question reads, the same in every interface, and what the
// caller may do about it.
type GateView struct {
	Asks string `json:"asks"`
	// Mark describes what a model had read before it proposed this.
	Mark  string        `json:"mark,omitempty"`
	Rows  []GateViewRow `json:"rows,omitempty"`
	Lines [][]string    `json:"lines,omitempty"`
	Terms [][]string    `json:"terms,omitempty"`
	// People is how many must approve, Approvals how many have.
	People    int             `json:"people"`
	Approvals int             `json:"approvals"`
	May       GatePermissions `json:"may"`
	Schema    any             `json:"schema,omitempty"` // of the parameters that may be edited
	Verify    string          `json:"verify,omitempty"` // what reads the write back
	Undo      string          `json:"undo,omitempty"`   // what undoes it
	After     []StepID        `json:"after,omitempty"`  // the steps that wait for it, for those who may read the run
}

// GateViewRow is one parameter of what will be sent.
type GateViewRow struct {
	Parameter string     `json:"parameter"`
	Name      string     `json:"name"`
	Value     any        `json:"value"`
	Label     string     `json:"label,omitempty"`
	From      Provenance `json:"from,omitempty"`
	// Opaque means that the value says nothing to a person.
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
