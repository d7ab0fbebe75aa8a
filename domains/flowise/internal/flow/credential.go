package flow

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// nestedCredential is the key under which Flowise looks for the credential of a component that a
// parameter of an AGENTFLOW node selects.
const nestedCredential = "FLOWISE_CREDENTIAL_ID"

func (op *BindCredential) apply(d *draft) []contracts.Fault {
	n, faults := d.node("/node_id", op.NodeID)
	if n == nil {
		return faults
	}
	p, has := ownCredential(n.Node, d.defs)
	if has && op.ParamName == "" {
		if problem := misfit(op.CredentialType, p.CredentialNames); problem != "" {
			return fault("/credential_type", "%s", problem)
		}
		n.set(encode(op.CredentialID), "data", "credential")
		return nil
	}
	return op.bindNested(d, n)
}

func misfit(kind string, fits []string) string {
	if kind == "" || len(fits) == 0 || slices.Contains(fits, kind) {
		return ""
	}
	return "a credential of type " + kind + " does not fit; these do: " + strings.Join(fits, ", ")
}

// bindNested binds a credential to a component that a parameter of the node selects.
func (op *BindCredential) bindNested(d *draft, n *draftNode) []contracts.Fault {
	places := d.components(n.Node)
	known := make([]string, 0, len(places))
	for _, p := range places {
		known = append(known, p.path)
	}
	name := op.ParamName
	switch {
	case len(known) == 0:
		return fault("/node_id", "%s takes no credential", n.id)
	case name == "" && len(known) == 1:
		name = known[0]
	case name == "":
		return fault("/param_name", "%s has several parameters that take a credential; name one of %s", n.id, strings.Join(known, ", "))
	}
	i := slices.Index(known, name)
	if i < 0 {
		return fault("/param_name", "%s", unknown("parameter with a credential", name, known))
	}
	if problem := misfit(op.CredentialType, places[i].def.Credential.CredentialNames); problem != "" {
		return fault("/credential_type", "%s", problem)
	}
	steps, _ := parsePath(name + "Config." + nestedCredential)
	whole, problem := n.inside(steps, encode(op.CredentialID))
	if problem != "" {
		return fault("/param_name", "%s", problem)
	}
	n.set(whole, "data", "inputs", steps[0].key)
	return nil
}

// component is a selected component that takes a credential.
type component struct {
	path string
	def  *knowledge.Definition
}

// components returns the selected components of a node that take a credential.
func (d *draft) components(n Node) []component {
	var out []component
	for _, c := range chosen(n, d.defs) {
		if c.def != nil && c.def.Credential != nil {
			out = append(out, component{c.path, c.def})
		}
	}
	return out
}

// choice is a component that a parameter of a node selects.
type choice struct {
	path   string
	name   string
	def    *knowledge.Definition
	config []byte
	// keys is the path from the node's inputs to the component's configuration.
	keys []string
	item int
}

// chosen returns the components that the parameters of a node select, including those in array
// items.
func chosen(n Node, defs Definitions) []choice {
	var out []choice
	if !bytes.Contains(n.part(partInputParams), []byte(`"loadConfig"`)) {
		return nil // the case for most nodes
	}
	inputs := n.part(partInputs)
	for _, f := range n.params() {
		name := f.text("name")
		value, ok := get(inputs, name)
		switch {
		case ok && f.flag("loadConfig"):
			out = appendChoice(out, inputs, name, name, noIndex, defs)
		case ok && f.text("type") == "array" && firstByte(value) == '[':
			p := f.decode()
			for i, item := range elements(value) {
				for j := range p.Array {
					if p.Array[j].LoadConfig {
						path := name + "[" + strconv.Itoa(i) + "]." + p.Array[j].Name
						out = appendChoice(out, item, p.Array[j].Name, path, i, defs)
					}
				}
			}
		}
	}
	return out
}

func appendChoice(out []choice, object []byte, name, path string, item int, defs Definitions) []choice {
	component := textAt(object, name)
	if component == "" || strings.Contains(component, "{{") {
		return out
	}
	def, _ := defs.Node(component)
	config, _ := get(object, name+"Config")
	root, _, _ := strings.Cut(path, "[")
	keys := []string{root}
	if item >= 0 {
		keys = []string{root, strconv.Itoa(item), name}
	}
	keys[len(keys)-1] += "Config"
	return append(out, choice{path: path, name: component, def: def, config: config, keys: keys, item: item})
}

// CredentialPlace is a place in a graph that takes a credential.
type CredentialPlace struct {
	NodeID string
	// ParamName is the parameter whose selected component takes the credential. If empty, the node
	// itself takes it.
	ParamName string
	Types     []string
	// Optional means that the flow works without a credential.
	Optional bool
	// Bound is the id of the bound credential, or "".
	Bound string
}

// Bind returns the op that binds a credential here.
func (p CredentialPlace) Bind(id string) *BindCredential {
	return &BindCredential{OpType: OpBindCredential, NodeID: p.NodeID, ParamName: p.ParamName, CredentialID: id}
}

// CredentialPlaces returns the places of a graph that take credentials.
func CredentialPlaces(g *Graph, defs Definitions) []CredentialPlace {
	var out []CredentialPlace
	for _, n := range g.Nodes() {
		if own, has := ownCredential(n, defs); has {
			out = append(out, CredentialPlace{NodeID: n.id, Types: own.CredentialNames, Optional: own.Optional, Bound: n.Credential()})
		}
		for _, c := range chosen(n, defs) {
			if c.def != nil && c.def.Credential != nil {
				own := c.def.Credential
				out = append(out, CredentialPlace{
					NodeID: n.id, ParamName: c.path, Types: own.CredentialNames, Optional: own.Optional, Bound: textAt(c.config, nestedCredential),
				})
			}
		}
	}
	return out
}

// ownCredential returns the credential parameter of a node: as the node describes it or, because a
// node may be older than its definition, as its kind is defined now. The server itself only reads
// data.credential.
func ownCredential(n Node, defs Definitions) (knowledge.Param, bool) {
	def, known := defs.Node(n.name)
	own, has := byName(n.params(), "credential")
	switch {
	case has:
		p := own.decode()
		// A node may have an unrelated parameter with this name, and its kind may no longer take a
		// credential.
		p.Optional = p.Optional || p.Type != "credential" || known && (def.Credential == nil || def.Credential.Optional)
		return p, true
	case known && def.Credential != nil:
		return *def.Credential, true
	}
	return knowledge.Param{}, false
}
