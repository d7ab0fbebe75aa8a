package flow

import (
	"fmt"
	"strconv"

	"github.com/manifold-run/manifold/contracts"
)

// Check configures Validate.
type Check struct {
	// Kind is the type under which the flow is stored; "" guesses it.
	Kind Kind
	// Template marks a flow from an export, which strips credentials, secrets, files and values
	// specific to an installation. Such missing values are only warnings.
	Template bool
	// Credentials are the types of the server's credentials by id; nil means unknown.
	Credentials map[string]string
}

// Validate finds what Flowise rejects, and what it accepts but fails on at run time. It accepts any
// bytes and reports invalid ones in the report.
func Validate(flowData []byte, defs Definitions, check Check) Report {
	c := &checker{kind: check.Kind, template: check.Template, credentials: check.Credentials, defs: defs, nodes: map[string]*checkedNode{}, into: map[string][]Edge{}, holders: map[string]bool{}}
	c.run(flowData)
	return Report{Kind: c.kind, Findings: c.findings, SHA256: contracts.HashBytes(flowData)}
}

// checker validates one flow.
type checker struct {
	kind        Kind
	template    bool
	credentials map[string]string
	defs        Definitions
	findings    []Finding
	order       []*checkedNode
	nodes       map[string]*checkedNode
	edges       []Edge
	// into are the edges by target node; holders are the nodes that contain others.
	into    map[string][]Edge
	holders map[string]bool
	// modelled and sequential are computed on first use.
	modelled   map[string]bool
	sequential *sequentialNames
	// errors and warnings count all findings, including those beyond maxReported.
	errors, warnings int
}

// checkedNode is a node whose basic form is valid.
type checkedNode struct {
	Node
	at       string
	name     string
	category string
	// live means that the node is part of the run.
	live bool
	// listed and anchored cache the results of Node.params and Node.anchors.
	listed, anchored []field
}

func (n *checkedNode) params() []field  { return n.listed }
func (n *checkedNode) anchors() []field { return n.anchored }

func (c *checker) run(flowData []byte) {
	if err := checkJSON(flowData); err != nil {
		c.add(SeverityError, Structure, "not_json", "", "", "the flowData "+err.Error(), "write JSON with the lists nodes and edges")
		return
	}
	if c.kind != "" && !c.kind.Valid() {
		c.add(SeverityError, Structure, "kind_unknown", "", "", fmt.Sprintf("there is no kind of flow %q", c.kind), "use CHATFLOW, AGENTFLOW or MULTIAGENT")
		return
	}
	g, err := Decompile(flowData)
	if err != nil {
		for _, f := range faultsOf(err) {
			c.add(SeverityError, Structure, "not_a_flow", f.Pointer, "", "the flowData "+f.Message, `write at least {"nodes":[],"edges":[]}`)
		}
		return
	}
	if c.kind == "" {
		c.kind = KindOf(g)
	}
	c.edges = g.Edges()
	for _, e := range c.edges {
		c.into[e.Target] = append(c.into[e.Target], e)
	}
	for i, n := range g.Nodes() {
		c.holders[n.Parent()] = true
		c.checkShape(n, "/nodes/"+strconv.Itoa(i))
	}
	for i, raw := range g.Edges() {
		c.checkEdge(raw, "/edges/"+strconv.Itoa(i))
	}
	if c.kind == Agentflow {
		c.checkAgentRun()
	} else {
		c.checkChatRun()
	}
	for _, n := range c.order {
		c.checkNode(n)
	}
}

// maxReported bounds the reported errors, and the reported warnings.
const maxReported = 1000

func (c *checker) add(s Severity, k Category, code, pointer, node, message, fix string) {
	count := &c.warnings
	if s == SeverityError {
		count = &c.errors
	}
	if *count++; *count > maxReported {
		return
	}
	c.findings = append(c.findings, Finding{
		Pointer: pointer, Severity: s, Category: k, Code: code, NodeID: node, Message: message, Fix: fix,
	})
}

// at adds a finding about a node. If the node is not part of the run, it is a warning.
func (c *checker) at(n *checkedNode, k Category, code, place, message, fix string) {
	s := SeverityError
	if !n.live {
		s = SeverityWarning
	}
	c.add(s, k, code, n.at+place, n.id, message, fix)
}

func (c *checker) warn(n *checkedNode, k Category, code, place, message, fix string) {
	c.add(SeverityWarning, k, code, n.at+place, n.id, message, fix)
}

// lacking adds a finding about a value that an export leaves out.
func (c *checker) lacking(n *checkedNode, k Category, code, place, message, fix string) {
	if c.template {
		c.warn(n, k, code, place, message, fix)
		return
	}
	c.at(n, k, code, place, message, fix)
}

// checkShape checks the members that the server reads unconditionally.
func (c *checker) checkShape(node Node, at string) {
	n := &checkedNode{Node: node, at: at, listed: node.params(), anchored: node.anchors()}
	fail := func(code, place, message, fix string) {
		c.add(SeverityError, Structure, code, at+place, node.id, message, fix)
	}
	if firstByte(node.raw) != '{' {
		fail("node_not_object", "", "the node is no object", "write the node as an object, or remove it")
		return
	}
	if node.id == "" {
		fail("id_missing", "/id", "the node has no id", "give it an id such as chatOpenAI_0")
		return
	}
	if data, ok := get(node.raw, "data"); !ok || firstByte(data) != '{' {
		fail("data_missing", "/data", "the node has no data; the server refuses it", "add the node again with AddNode")
		return
	}
	if n.name = node.Name(); n.name == "" {
		fail("name_missing", "/data/name", "the node does not say which kind it is", "add the node again with AddNode")
		return
	}
	n.category = node.Category()
	if _, twice := c.nodes[node.id]; twice {
		c.warn(n, Structure, "id_twice", "/id", fmt.Sprintf("the id %q stands on another node, too", node.id), "give each node an id of its own")
	} else {
		c.nodes[node.id] = n
	}
	c.order = append(c.order, n)
	if !isNote(n.name) {
		c.checkParts(n)
	}
}

// checkParts checks the members of a node's data.
func (c *checker) checkParts(n *checkedNode) {
	parts := []struct {
		key   string
		value []byte
		first byte
		fatal bool
	}{
		{"inputParams", n.part(partInputParams), '[', true},
		{"inputs", n.part(partInputs), '{', true},
		{"inputAnchors", n.part(partInputAnchors), '[', false},
		{"outputAnchors", n.part(partOutputAnchors), '[', n.name == nodeIfElse || n.category == categoryLoader},
		{"outputs", n.part(partOutputs), '{', false}, // checkChatRun reports it if needed
	}
	for _, part := range parts {
		if firstByte(part.value) == part.first {
			continue
		}
		severity := SeverityWarning
		if part.fatal || part.value != nil && part.key == "outputs" {
			severity = SeverityError
		}
		what := "list"
		if part.first == '{' {
			what = "object"
		}
		c.add(severity, Structure, part.key+"_missing", n.at+"/data/"+part.key, n.id,
			fmt.Sprintf("%s has no %s %s", n.id, what, part.key), "add the node again with AddNode")
	}
	for i, p := range n.params() {
		if string(p) == "null" {
			c.add(SeverityError, Structure, "param_invalid", fmt.Sprintf("%s/data/inputParams/%d", n.at, i), n.id,
				fmt.Sprintf("parameter %d of %s is null; the server reads its name without asking", i, n.id), "add the node again with AddNode")
		}
	}
	if id := unquoteText(n.part(partID)); id != n.id {
		c.add(SeverityError, Structure, "data_id", n.at+"/data/id", n.id,
			fmt.Sprintf("data.id is %q, but the node's id is %q; the server uses both", id, n.id), "make data.id the id of the node")
	}
}
