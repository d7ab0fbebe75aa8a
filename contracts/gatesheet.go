package contracts

// GateSheet is how a gate or a question reads, the same in every interface, and what the
// caller may do about it.
type GateSheet struct {
	Asks string `json:"asks"`
	// Mark says what a model had read before it proposed this.
	Mark  string     `json:"mark,omitempty"`
	Rows  []SheetRow `json:"rows,omitempty"`
	Lines [][]string `json:"lines,omitempty"`
	Terms [][]string `json:"terms,omitempty"`
	// People is how many must approve, Approvals how many have.
	People    int      `json:"people"`
	Approvals int      `json:"approvals"`
	May       GateMay  `json:"may"`
	Schema    any      `json:"schema,omitempty"` // of the parameters that may be edited
	Verify    string   `json:"verify,omitempty"` // what reads the write back
	Undo      string   `json:"undo,omitempty"`   // what undoes it
	After     []StepID `json:"after,omitempty"`  // the steps that wait for it, for those who may read the run
}

// SheetRow is one parameter of what will be sent.
type SheetRow struct {
	Parameter string     `json:"parameter"`
	Name      string     `json:"name"`
	Value     any        `json:"value"`
	Label     string     `json:"label,omitempty"`
	From      Provenance `json:"from,omitempty"`
	// Opaque tells that the value says nothing to a person.
	Opaque bool `json:"opaque,omitempty"`
}

// GateMay is what the caller may decide; Why is the refusal of the first that they
// may not.
type GateMay struct {
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
