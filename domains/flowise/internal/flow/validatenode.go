package flow

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/domains/flowise/internal/knowledge"
)

// checkNode checks the kind and the values of a node.
func (c *checker) checkNode(n *checkedNode) {
	if isNote(n.name) {
		return
	}
	def, known := c.defs.Node(n.name)
	if !known {
		c.at(n, Structure, CodeNodeUnknown, "/data/name", c.noKind(n.name), "use a kind that the server has, or refresh the definitions")
		def = &knowledge.Definition{}
	}
	if c.kind != Agentflow {
		c.checkOutput(n)
		c.checkAnchors(n, def)
	}
	c.checkParams(n, def)
	c.checkCredential(n)
	c.checkComponents(n)
	c.checkSpecial(n)
}

// maxHints bounds how often a name is compared with all known ones.
const maxHints = 50

func (c *checker) noKind(name string) string {
	if c.errors+c.warnings > maxHints {
		return fmt.Sprintf("%s%s\"", unknownKind, name)
	}
	d := draft{defs: c.defs}
	return unknown("kind of node", name, d.similar(name))
}

// checkOutput checks that a node with several outputs has one selected.
func (c *checker) checkOutput(n *checkedNode) {
	outs, choice := n.outputs()
	if !choice {
		return
	}
	if _, ok := byName(outs, n.output()); !ok {
		c.at(n, Structure, "output_unknown", "/data/outputs/output",
			unknown("output of "+n.id, n.output(), names(outs)), "connect one of its outputs, or set it")
	}
}

var referencePattern = regexp.MustCompile(`\{\{\s*([^{}.]+?)\.data\.instance`)

func referencesIn(value []byte) []string {
	value = unescaped(value)
	var out []string
	for _, m := range referencePattern.FindAllSubmatch(value, -1) {
		out = append(out, string(m[1]))
	}
	return out
}

// checkAnchors compares edges with the references in the values: the server needs both.
func (c *checker) checkAnchors(n *checkedNode, def *knowledge.Definition) {
	inputs := n.part(partInputs)
	all := referencesIn(inputs)
	for _, a := range anchorsOf(n, def) {
		if firstByte(a) != '{' {
			continue // the server ignores it
		}
		name := a.text("name")
		place := "/data/inputs" + pointerTo(name)
		value, _ := get(inputs, name)
		refs := referencesIn(value)
		for _, id := range refs {
			c.checkReference(n, name, id)
		}
		if !arrives(value) || firstByte(value) == '[' && !a.flag("list") {
			c.at(n, Logic, "value_invalid", place, fmt.Sprintf("%s.%s is an anchor, but holds %s", n.id, name, told(string(value))), "disconnect it, and connect a node")
		}
		sources := c.sources(n.id, a.text("id"))
		for _, source := range sources {
			if slices.Contains(refs, source) {
				continue
			}
			message := fmt.Sprintf("%s is connected to %s.%s, but its value does not arrive there", source, n.id, name)
			if a.flag("optional") || slices.Contains(all, source) {
				c.warn(n, Logic, "reference_missing", place, message, "disconnect and connect them again")
			} else {
				c.at(n, Logic, "reference_missing", place, message, "disconnect and connect them again")
			}
		}
		if len(sources) > 1 && !a.flag("list") {
			c.warn(n, Logic, "anchor_crowded", place, fmt.Sprintf("%s.%s takes one connection and has %d", n.id, name, len(sources)), "disconnect all but one")
		}
		if falsy(value) || string(value) == "[]" {
			c.checkEmptyAnchor(n, def, a, len(sources) > 0)
		}
	}
}

// arrives reports whether an anchor's value could have been written by edges: empty, a reference,
// or a list of references.
func arrives(value []byte) bool {
	switch firstByte(value) {
	case 0:
		return true
	case '"':
		return falsy(value) || len(referencesIn(value)) > 0
	case '[':
		for _, item := range elements(value) {
			if firstByte(item) != '"' || !arrives(item) {
				return false
			}
		}
		return true
	default:
		return false
	}
}

// anchorsOf returns the anchors that the node describes, or those of its kind.
func anchorsOf(n *checkedNode, def *knowledge.Definition) []field {
	if n.part(partInputAnchors) != nil {
		return n.anchors()
	}
	_, anchors, _ := buildInputs(def, n.id)
	return fieldsOf(anchors)
}

func (c *checker) sources(target, handle string) []string {
	var out []string
	for _, e := range c.into[target] {
		if e.TargetHandle == handle && c.nodes[e.Source] != nil {
			out = append(out, e.Source)
		}
	}
	return out
}

func (c *checker) checkReference(n *checkedNode, name, id string) {
	place := "/data/inputs" + pointerTo(name)
	switch {
	case c.nodes[id] == nil:
		c.at(n, Logic, "reference_unknown", place, fmt.Sprintf("%s.%s refers to %q, which does not exist", n.id, name, id), "connect an existing node")
	case slices.ContainsFunc(c.into[n.id], func(e Edge) bool { return e.Source == id }):
	case leadsTo(c.into, id, n.id):
		c.warn(n, Logic, "edge_missing", place, fmt.Sprintf("%s.%s refers to %s, and no edge leads from there straight to it; the canvas does not show the connection", n.id, name, id), "connect the nodes")
	default:
		c.at(n, Logic, "edge_missing", place, fmt.Sprintf("%s.%s refers to %s, but no edge leads from there; the server would not run it", n.id, name, id), "connect the nodes")
	}
}

// leadsTo reports whether a path of edges leads from one node to another, that is, the server runs
// the first before the second.
func leadsTo(into map[string][]Edge, from, to string) bool {
	seen, open := map[string]bool{to: true}, []string{to}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		for _, e := range into[at] {
			if e.Source == from {
				return true
			}
			if !seen[e.Source] {
				seen[e.Source] = true
				open = append(open, e.Source)
			}
		}
	}
	return false
}

func (c *checker) checkEmptyAnchor(n *checkedNode, def *knowledge.Definition, a field, wired bool) {
	name := a.text("name")
	place := "/data/inputs" + pointerTo(name)
	now, described := def.Input(name)
	optional := a.flag("optional") || described && now.Optional
	switch {
	case name == "document" && n.category == categoryStore && !wired:
		message := fmt.Sprintf("%s has no document loader to take its content from", n.id)
		if n.name == "memoryVectorStore" {
			c.at(n, Incomplete, "document_missing", place, message+"; what is kept in memory must be loaded by the flow", "connect a document loader to its anchor document")
		} else {
			c.warn(n, Incomplete, "document_missing", place, message, "connect a document loader, unless the store is filled elsewhere")
		}
	case !optional && !wired:
		c.at(n, Incomplete, CodeAnchorMissing, place, fmt.Sprintf("%s needs a connection to %s, which takes %s", n.id, name, a.text("type")),
			"connect a node that gives "+a.text("type"))
	}
}

// checkParams checks the values that the canvas would show.
func (c *checker) checkParams(n *checkedNode, def *knowledge.Definition) {
	inputs := n.inputs()
	for _, f := range n.params() {
		p := f.decode()
		if p.Type == "credential" || !displayed(&p, inputs, noIndex) {
			continue
		}
		place := "/data/inputs" + pointerTo(p.Name)
		value, ok := n.Input(p.Name)
		if falsy(value) {
			switch {
			case c.requires(&p, def, inputs):
				c.lacking(n, Incomplete, CodeParamMissing, place, fmt.Sprintf("%s needs a value for %s", n.id, p.Name), "set "+p.Name)
			case ok && string(value) == "null":
				c.at(n, Logic, "value_invalid", place, fmt.Sprintf("%s.%s is null; no value is written as an empty text", n.id, p.Name), "set "+p.Name+"; SetParam with null gives it its default")
			case !ok && c.kind != Agentflow && !falsy(p.Default):
				c.at(n, Structure, "value_absent", place, fmt.Sprintf("%s does not hold %s, not even an empty text; the server reads it without asking", n.id, p.Name), "set "+p.Name)
			}
			continue
		}
		c.checkParamValue(n, &p, def, value, place)
	}
}

// requires reports whether an empty parameter is a fault. A parameter that is optional in the
// current definition is not required of an older node; false and 0 count as empty; a condition may
// be given in another tab.
func (c *checker) requires(p *knowledge.Param, def *knowledge.Definition, inputs map[string]any) bool {
	if p.Optional || p.Hidden {
		return false
	}
	switch p.Type {
	case "boolean", "tabs", "conditionFunction":
		return false
	case "number":
		if len(p.Default) > 0 {
			return false
		}
	}
	if def.Name == "" {
		return true
	}
	for i := range def.Inputs {
		now := &def.Inputs[i]
		if now.Name == p.Name && !now.Optional && displayed(now, inputs, noIndex) {
			return true
		}
	}
	return false
}

func (c *checker) checkParamValue(n *checkedNode, p *knowledge.Param, def *knowledge.Definition, value []byte, place string) {
	problem := checkValue(p, value)
	several := p.Type == "multiOptions" || p.Type == "asyncMultiOptions"
	switch first := firstByte(value); {
	case problem == "":
	case p.Type == "options", several && (first == '[' || first == '"'): // nodes read a list, or a text that contains one
		c.warn(n, Logic, "option_unknown", place, problem, "choose one of the options")
	default:
		c.at(n, Logic, "value_invalid", place, problem, "set "+p.Name+" to a value of its type")
	}
	if p.Type == "array" && firstByte(value) == '[' {
		c.checkItems(n, p, def, value, place)
	}
	c.checkText(n, p.Name, unquoteText(value), place)
	for _, id := range referencesIn(value) {
		if c.nodes[id] == nil {
			c.warn(n, Logic, "reference_unknown", place, fmt.Sprintf("%s.%s refers to %q, which does not exist", n.id, p.Name, id), "name an existing node")
		}
	}
	for _, m := range agentReference.FindAllSubmatch(value, -1) {
		if id := string(m[1]); c.kind == Agentflow && c.nodes[id] == nil {
			c.warn(n, Logic, "reference_unknown", place, fmt.Sprintf("%s.%s refers to %q, which does not exist", n.id, p.Name, id), "name an existing node")
		}
	}
}

var agentReference = regexp.MustCompile(`\{\{\s*([A-Za-z]+Agentflow_[0-9]+)\b`)

// checkItems checks the required values of array items. As for parameters, a value that is optional
// in the current definition is not required.
func (c *checker) checkItems(n *checkedNode, p *knowledge.Param, def *knowledge.Definition, value []byte, place string) {
	inputs := n.inputs()
	dispensable := map[string]bool{}
	if now, ok := def.Input(p.Name); ok {
		for i := range now.Array {
			dispensable[now.Array[i].Name] = dispensable[now.Array[i].Name] || now.Array[i].Optional
		}
	}
	for i, item := range elements(value) {
		scope, _ := decoded(item).(map[string]any)
		for j := range p.Array {
			m := &p.Array[j]
			v, _ := get(item, m.Name)
			shown := displayed(m, inputs, i) || displayed(m, scope, i)
			if m.Optional || dispensable[m.Name] || !shown || !falsy(v) && string(v) != `"<p></p>"` || m.Type == "boolean" || m.Type == "number" || len(m.Default) > 0 {
				continue
			}
			c.lacking(n, Incomplete, CodeParamMissing, place+"/"+strconv.Itoa(i)+pointerTo(m.Name),
				fmt.Sprintf("item %d of %s.%s needs a value for %s", i, n.id, p.Name, m.Name), "set "+m.Name)
		}
	}
}

// checkCredential checks the credential where the server reads it.
func (c *checker) checkCredential(n *checkedNode) {
	p, takes := ownCredential(n.Node, c.defs)
	if !takes {
		return
	}
	c.checkBound(n, n.Credential(), p.CredentialNames, p.Optional, "/data/credential")
	if p.Optional || n.Credential() != "" {
		return
	}
	message := fmt.Sprintf("%s needs a credential of type %s", n.id, strings.Join(p.CredentialNames, " or "))
	misplaced := slices.ContainsFunc([]string{"credential", nestedCredential}, func(key string) bool {
		value, there := n.Input(key)
		return there && !falsy(value)
	})
	if misplaced {
		message += "; the one among the inputs is not looked at"
	}
	c.lacking(n, Credential, "credential_missing", "/data/credential", message, "bind a credential of that type to it")
}

// checkComponents checks the components selected by parameters of an AGENTFLOW node.
func (c *checker) checkComponents(n *checkedNode) {
	for _, choice := range chosen(n.Node, c.defs) {
		place := "/data/inputs/" + strings.Join(choice.keys, "/")
		if choice.def == nil {
			c.at(n, Logic, CodeNodeUnknown, strings.TrimSuffix(place, "Config"), c.noKind(choice.name), "choose one that the server has")
			continue
		}
		c.checkComponent(n, choice, place)
	}
}

func (c *checker) checkComponent(n *checkedNode, choice choice, place string) {
	config, _ := decoded(choice.config).(map[string]any)
	credential := choice.def.Credential
	if credential != nil {
		c.checkBound(n, textAt(choice.config, nestedCredential), credential.CredentialNames, credential.Optional, place+"/"+nestedCredential)
	}
	if credential != nil && !credential.Optional && textAt(choice.config, nestedCredential) == "" {
		c.lacking(n, Credential, "credential_missing", place+"/"+nestedCredential,
			fmt.Sprintf("%s in %s.%s needs a credential of type %s", choice.name, n.id, choice.path, strings.Join(credential.CredentialNames, " or ")),
			"bind a credential of that type to its "+choice.path)
	}
	for i := range choice.def.Inputs {
		p := &choice.def.Inputs[i]
		value, _ := get(choice.config, p.Name)
		if p.IsAnchor() || !displayed(p, config, noIndex) {
			continue
		}
		if falsy(value) {
			if c.requires(p, choice.def, config) {
				c.lacking(n, Incomplete, CodeParamMissing, place+pointerTo(p.Name),
					fmt.Sprintf("%s in %s.%s needs a value for %s", choice.name, n.id, choice.path, p.Name), "set "+choice.path+"Config."+p.Name)
			}
			continue
		}
		c.checkParamValue(n, p, choice.def, value, place+pointerTo(p.Name))
	}
	if choice.name == nodeMCP {
		c.checkMCP(n, choice.config, place)
	}
}
