package contracts

import "encoding/json"

// Condition compares the value at a path with a literal or "${path}"; exactly one of the
// comparisons is set. In workflows and plans it may instead be a single boolean expression
// "${…}"; then only Expr is set.
type Condition struct {
	Path   string `json:"path"`
	Equals *any   `json:"equals,omitempty"`
	In     []any  `json:"in,omitempty"`
	Exists *bool  `json:"exists,omitempty"`
	GTE    *any   `json:"gte,omitempty"`
	LTE    *any   `json:"lte,omitempty"`

	// Expr is the whole condition if it was written as a string.
	Expr string `json:"-"`
}

// UnmarshalJSON accepts "${…}" as well as {"path": …}.
func (c *Condition) UnmarshalJSON(data []byte) error {
	*c = Condition{}
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &c.Expr)
	}
	type plain Condition
	return Decode(data, (*plain)(c))
}

// MarshalJSON writes the form that was decoded.
func (c Condition) MarshalJSON() ([]byte, error) {
	if c.Expr != "" {
		return json.Marshal(c.Expr)
	}
	type plain Condition
	return json.Marshal(plain(c))
}

// Operand is the name of a comparison and its right-hand value.
type Operand struct {
	Name  string
	Value any
}

// Operands returns the comparisons that are set, in a fixed order; a valid condition has exactly
// one. A null right-hand side sets none: absence is written as "exists": false.
func (c Condition) Operands() []Operand {
	var out []Operand
	add := func(name string, set bool, value func() any) {
		if set {
			out = append(out, Operand{name, value()})
		}
	}
	add("equals", c.Equals != nil, func() any { return *c.Equals })
	add("in", c.In != nil, func() any { return c.In })
	add("exists", c.Exists != nil, func() any { return *c.Exists })
	add("gte", c.GTE != nil, func() any { return *c.GTE })
	add("lte", c.LTE != nil, func() any { return *c.LTE })
	return out
}
