package flow

import (
	"fmt"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Options configures Compile.
type Options struct {
	// Kind is the type of the chatflow. "" guesses it from the base, or for an empty base from the
	// first added node.
	Kind Kind
}

// Result is the result of Compile.
type Result struct {
	// Graph is the new graph, for further ops.
	Graph *Graph
	Kind  Kind
	// FlowData is the data to send to Flowise, and SHA256 its hash in hex.
	FlowData []byte
	SHA256   string
	Diff     Diff
	// Added are the ids of the added nodes, in the order of the ops.
	Added []string
}

// maxFaults is the number of faults after which a compilation stops.
const maxFaults = 50

// Compile applies ops to a graph in order. It is all or nothing: if an op does not fit, Compile
// returns an Error of code invalid with one fault per problem, whose pointer starts with the op's
// index. Faults that only follow from an earlier failed op are not listed. It stops after
// maxFaults.
func Compile(base *Graph, ops []Op, defs Definitions, opts Options) (Result, error) {
	kind, err := kindFor(base, ops, defs, opts)
	if err != nil {
		return Result{}, err
	}
	if len(ops) > MaxOps {
		return Result{}, contracts.Errorf(contracts.CodeTooLarge, "%d ops are too many; %d are allowed", len(ops), MaxOps)
	}
	d := newDraft(base, defs, kind)
	var faults []contracts.Fault
	for i, op := range ops {
		if op == nil {
			faults = append(faults, contracts.Fault{Pointer: fmt.Sprintf("/%d", i), Message: "is no op"})
			continue
		}
		if len(faults) >= maxFaults {
			break // enough to fix
		}
		for _, f := range op.apply(d) {
			text := fmt.Sprintf("op %d %s: %s", i, op.Type(), f.Message)
			faults = append(faults, contracts.Fault{Pointer: fmt.Sprintf("/%d%s", i, f.Pointer), Message: text})
		}
	}
	if len(faults) > 0 {
		return Result{}, contracts.Invalid("the ops do not fit the flow", faults...)
	}
	d.layOut()
	return d.result(base), nil
}

func kindFor(base *Graph, ops []Op, defs Definitions, opts Options) (Kind, error) {
	if opts.Kind != "" {
		if !opts.Kind.Valid() {
			return "", contracts.Errorf(contracts.CodeInvalid, "there is no kind of flow %q; there are CHATFLOW, AGENTFLOW and MULTIAGENT", opts.Kind)
		}
		return opts.Kind, nil
	}
	if len(base.Nodes()) > 0 {
		return KindOf(base), nil
	}
	kind := Chatflow
	for _, op := range ops {
		add, ok := op.(*AddNode)
		if !ok {
			continue
		}
		if def, known := defs.Node(add.NodeName); known {
			switch def.Category {
			case categoryAgentflow:
				return Agentflow, nil
			case categoryMultiagent, categorySequential:
				kind = Multiagent
			}
		}
	}
	return kind, nil
}

// draft is a graph to which ops are being applied.
type draft struct {
	kind  Kind
	defs  Definitions
	nodes []*draftNode
	// times is how often each id occurs.
	times map[string]int
	edges []Edge
	// failed are the ids of nodes that an AddNode failed to add.
	failed map[string]bool
	added  []string
}

type draftNode struct {
	Node
	// added means that the automatic layout may place the node.
	added bool
}

func newDraft(base *Graph, defs Definitions, kind Kind) *draft {
	d := &draft{kind: kind, defs: defs, edges: slices.Clone(base.Edges()), failed: map[string]bool{}, times: map[string]int{}}
	for _, n := range base.Nodes() {
		d.put(&draftNode{Node: n})
	}
	return d
}

func (d *draft) put(n *draftNode) {
	d.nodes = append(d.nodes, n)
	d.times[n.id]++
}

func (d *draft) result(base *Graph) Result {
	nodes := make([]Node, 0, len(d.nodes))
	for _, n := range d.nodes {
		nodes = append(nodes, n.Node)
	}
	g := base.with(nodes, d.edges)
	return Result{
		Graph: g, Kind: d.kind, FlowData: g.FlowData(), SHA256: g.SHA256(),
		Diff: Compare(base, g, d.defs), Added: d.added,
	}
}

// node returns the node of an id, or the faults to report. There are no faults if an earlier op is
// the cause.
func (d *draft) node(pointer, id string) (*draftNode, []contracts.Fault) {
	var found *draftNode
	for _, n := range d.nodes {
		if n.id != id {
			continue
		}
		if found != nil {
			return nil, fault(pointer, "the id %q stands on several nodes; remove all but one in Flowise's canvas", id)
		}
		found = n
	}
	if found == nil && !d.failed[id] {
		return nil, fault(pointer, "%s", unknown("node", id, d.ids()))
	}
	return found, nil
}

func (d *draft) ids() []string {
	out := make([]string, 0, len(d.nodes))
	for _, n := range d.nodes {
		out = append(out, n.id)
	}
	return out
}

func (d *draft) has(id string) bool { return d.times[id] > 0 }

// set replaces a value in a node.
func (n *draftNode) set(value []byte, path ...string) {
	if len(path) > 1 && path[0] == "data" {
		if which := slices.Index(partKeys[:], path[1]); which >= 0 && n.part(which) != nil {
			n.splice(n.parts[which], set(n.part(which), value, path[2:]...))
			return
		}
	}
	if at, ok := findSpan(n.raw, path[0]); ok && len(path) == 1 {
		n.splice(at, value)
		return
	}
	n.raw = set(n.raw, value, path...)
	data, _ := findSpan(n.raw, "data")
	readData(&n.Node, data)
}

// splice replaces the bytes of a span; the positions of the parts are adjusted.
func (n *draftNode) splice(at span, value []byte) {
	n.raw = splice(n.raw, at.from, at.to, value)
	grown := len(value) - (at.to - at.from)
	for i, part := range n.parts {
		switch {
		case part.to == 0:
		case part.from >= at.to:
			n.parts[i] = span{part.from + grown, part.to + grown}
		case part.to >= at.to:
			n.parts[i].to += grown
		}
	}
}

func fault(pointer, format string, args ...any) []contracts.Fault {
	return []contracts.Fault{{Pointer: pointer, Message: fmt.Sprintf(format, args...)}}
}
