package knowledge

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// Definition is one kind of node.
type Definition struct {
	Name        string   `json:"name"`
	Label       string   `json:"label"`
	Version     float64  `json:"version"`
	Type        string   `json:"type"`
	Category    string   `json:"category"`
	Color       string   `json:"color"`
	Badge       string   `json:"badge"`
	Tags        []string `json:"tags"`
	BaseClasses []string `json:"baseClasses"`
	// HideInput and HideOutput mean that the node accepts or gives no connection.
	HideInput  bool     `json:"hideInput"`
	HideOutput bool     `json:"hideOutput"`
	Credential *Param   `json:"credential"`
	Inputs     []Param  `json:"inputs"`
	Outputs    []Output `json:"outputs"`
	// Raw is the definition as sent by the server, with members in order, without prose.
	Raw json.RawMessage `json:"-"`
	// Hash is the SHA-256 of the canonical form of Raw.
	Hash string `json:"-"`
}

// Param is one input of a node: a parameter or, if Type is a class of nodes, an anchor for
// connections.
type Param struct {
	Label string `json:"label"`
	Name  string `json:"name"`
	Type  string `json:"type"`
	// Default is absent, or any JSON value.
	Default json.RawMessage `json:"default"`
	// Optional is false if the node needs a value.
	Optional bool `json:"-"`
	// List marks an anchor that accepts several connections.
	List bool `json:"list"`
	// AcceptVariable means that the text may refer to other nodes.
	AcceptVariable   bool     `json:"acceptVariable"`
	AdditionalParams bool     `json:"additionalParams"`
	Hidden           bool     `json:"hidden"`
	Options          []Option `json:"options"`
	// Array describes the members of array items; Tabs are the alternatives of which one is filled
	// in.
	Array         []Param `json:"array"`
	Tabs          []Param `json:"tabs"`
	TabIdentifier string  `json:"tabIdentifier"`
	// Show and Hide are the values of other parameters that display or hide this one: a value, or a
	// list of alternatives.
	Show map[string]any `json:"show"`
	Hide map[string]any `json:"hide"`
	// LoadMethod is the server method that returns the options.
	LoadMethod string `json:"loadMethod"`
	// LoadConfig means that the selected option has parameters of its own, stored under
	// "<name>Config".
	LoadConfig bool `json:"loadConfig"`
	MinItems   int  `json:"minItems"`
	// CredentialNames are the accepted credential types; set only for a definition's Credential.
	CredentialNames []string `json:"credentialNames"`
	// Raw is the parameter as sent by the server, without prose.
	Raw json.RawMessage `json:"-"`
}

// Option is one option of a parameter.
type Option struct {
	Label string         `json:"label"`
	Name  string         `json:"name"`
	Show  map[string]any `json:"show"`
	Hide  map[string]any `json:"hide"`
}

// Output is one of several outputs of a node.
type Output struct {
	Label       string   `json:"label"`
	Name        string   `json:"name"`
	BaseClasses []string `json:"baseClasses"`
	Hidden      bool     `json:"hidden"`
	// Anchor is false only if the server says so.
	Anchor *bool `json:"isAnchor"`
}

// DeriveNode decodes a definition from GET /nodes/:name and drops prose and file paths of the
// server.
func DeriveNode(raw json.RawMessage) (*Definition, error) {
	facts, err := strip(raw)
	if err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "node definition is no JSON object: %w", err)
	}
	d := &Definition{Raw: facts}
	if err := json.Unmarshal(facts, d); err != nil {
		return nil, contracts.Errorf(contracts.CodeInvalid, "node definition %q: %w", d.Name, err)
	}
	if d.Name == "" {
		return nil, contracts.Errorf(contracts.CodeInvalid, "node definition has no name")
	}
	canonical, err := contracts.CanonicalBytes(facts)
	if err != nil {
		return nil, fmt.Errorf("hash of node %q: %w", d.Name, err)
	}
	d.Hash = contracts.HashBytes(canonical)
	return d, nil
}

// UnmarshalJSON keeps the raw text and decodes "optional", which may be a condition: the parameter
// is then optional.
func (p *Param) UnmarshalJSON(raw []byte) error {
	type plain Param
	wire := struct {
		*plain
		Optional json.RawMessage `json:"optional"`
	}{plain: (*plain)(p)}
	if err := json.Unmarshal(raw, &wire); err != nil {
		return err
	}
	p.Optional = truthy(wire.Optional)
	p.Raw = bytes.Clone(raw)
	return nil
}

func truthy(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "false" && string(raw) != "null"
}

// parameterTypes returns the types of inputs with a value. Every other type is a class of nodes, so
// its input is an anchor.
func parameterTypes() map[string]bool {
	return map[string]bool{
		"asyncOptions": true, "asyncMultiOptions": true, "options": true, "multiOptions": true,
		"array": true, "datagrid": true, "string": true, "number": true, "boolean": true,
		"password": true, "json": true, "code": true, "date": true, "file": true, "folder": true,
		"tabs": true, "conditionFunction": true, "credential": true,
	}
}

// IsAnchor reports whether the input is an anchor, by the rule of Flowise's canvas.
func (p *Param) IsAnchor() bool { return !parameterTypes()[p.Type] }

// Input returns the first input with a name. Some nodes have two, of which one is displayed at a
// time.
func (d *Definition) Input(name string) (*Param, bool) {
	for i := range d.Inputs {
		if d.Inputs[i].Name == name {
			return &d.Inputs[i], true
		}
	}
	return nil, false
}
