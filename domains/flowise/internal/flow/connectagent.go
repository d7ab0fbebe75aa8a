package flow

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// connectAgent connects two AGENTFLOW nodes. Such an edge defines what runs next, and ends at the
// node itself.
func (op *Connect) connectAgent(d *draft, source, target *draftNode) []contracts.Fault {
	outs := source.ends()
	switch {
	case len(outs) == 0:
		return fault("/source_node_id", "nothing can follow %s", source.id)
	case target.Name() == nodeStart:
		return fault("/target_node_id", "nothing comes before the start node")
	case source.Parent() != target.Parent():
		return fault("/target_node_id", "%s and %s do not stand in the same iteration", source.id, target.id)
	case op.TargetAnchor != "" && op.TargetAnchor != target.id && op.TargetAnchor != target.Name() && op.TargetAnchor != "input":
		return fault("/target_anchor", "nodes of an AGENTFLOW have no named anchors; leave target_anchor out")
	}
	handle, faults := op.agentOutput(source, outs)
	if len(faults) > 0 {
		return faults
	}
	for _, e := range d.edges {
		if e.Source == source.id && e.Target == target.id && e.SourceHandle == handle {
			return fault("/target_node_id", "%s is connected to %s already", source.id, target.id)
		}
	}
	if d.reaches(target.id, source.id) {
		return fault("/target_node_id", "the connection would close a circle: %s leads to %s already; use a loop node to go back", target.id, source.id)
	}
	d.connect(source.id, handle, target.id, target.id, `"agentFlow"`, func(b *objectBuilder) {
		b.add("data", agentEdgeData(source, target, handle))
		if source.Parent() != "" {
			b.add("zIndex", []byte("9999"))
		}
	})
	return nil
}

// agentOutput returns the handle of an output, by number or common name; the name may be omitted if
// there is only one.
func (op *Connect) agentOutput(source *draftNode, outs []field) (handle string, faults []contracts.Fault) {
	name := op.SourceAnchor
	if len(outs) == 1 {
		if name != "" && name != source.Name() && name != source.id && name != "output" && name != "0" {
			return "", fault("/source_anchor", "%s has one output; leave source_anchor out", source.id)
		}
		return outs[0].text("id"), nil
	}
	known := agentOutputNames(source.Name(), len(outs))
	i := slices.Index(known, strings.ToLower(name))
	if n, err := strconv.Atoi(name); err == nil {
		i = n
	}
	if i < 0 || i >= len(outs) {
		if name == "" {
			return "", fault("/source_anchor", "%s has several outputs; name one of %s", source.id, strings.Join(known, ", "))
		}
		return "", fault("/source_anchor", "%s", unknown("output of "+source.id, name, known))
	}
	return outs[i].text("id"), nil
}

// agentOutputNames returns the common names of several outputs, in order.
func agentOutputNames(node string, count int) []string {
	if node == nodeHuman {
		return []string{"proceed", "reject"}
	}
	out := make([]string, count)
	for i := range out {
		out[i] = strconv.Itoa(i)
	}
	if node == nodeCondition {
		out[count-1] = "else"
	}
	return out
}

func agentEdgeData(source, target *draftNode, handle string) []byte {
	var b objectBuilder
	b.add("sourceColor", encode(textAt(source.raw, "data", "color")))
	b.add("targetColor", encode(textAt(target.raw, "data", "color")))
	number := handle[strings.LastIndexByte(handle, '-')+1:]
	human := source.Name() == nodeHuman
	switch {
	case human && number == "0":
		b.add("edgeLabel", []byte(`"proceed"`))
	case human:
		b.add("edgeLabel", []byte(`"reject"`))
	case source.Name() == nodeCondition || source.Name() == nodeScenario:
		b.add("edgeLabel", encode(number))
	}
	b.add("isHumanInput", encode(human))
	return b.bytes()
}

// resizeOutputs gives a condition node as many outputs as it has cases. The edge of "else" stays
// the edge of "else".
func (d *draft) resizeOutputs(n *draftNode, param string, value []byte) []contracts.Fault {
	name := n.Name()
	rest := 0
	switch {
	case name == nodeCondition && param == "conditions":
		rest = 1
	case name == nodeScenario && param == "conditionAgentScenarios":
	default:
		return nil
	}
	was, now := len(n.ends())-rest, len(elements(value))
	if was == now || firstByte(value) != '[' {
		return nil
	}
	for _, e := range d.edges {
		if i, ok := outputIndex(e, n.id); ok && i >= now && i < was {
			return fault("/value", "output %d of %s leads to %s; Disconnect it before its case is removed", i, n.id, e.Target)
		}
	}
	if rest == 1 {
		d.moveOutput(n.id, was, now)
	}
	items := make([][]byte, 0, now+rest)
	for i := range now + rest {
		text := fmt.Sprintf("Condition %d", i)
		if i == now {
			text = "Else"
		}
		var b objectBuilder
		b.add("id", encode(outputHandle(n.id, i)))
		b.add("label", encode(i))
		b.add("name", encode(i))
		b.add("description", encode(text))
		items = append(items, b.bytes())
	}
	n.set(joinArray(items), "data", "outputAnchors")
	return nil
}

func outputHandle(id string, index int) string { return id + "-output-" + strconv.Itoa(index) }

func outputIndex(e Edge, id string) (int, bool) {
	number, ok := strings.CutPrefix(e.SourceHandle, id+"-output-")
	if e.Source != id || !ok {
		return 0, false
	}
	i, err := strconv.Atoi(number)
	return i, err == nil
}

// moveOutput moves the edges of one output to another.
func (d *draft) moveOutput(id string, from, to int) {
	for i, e := range d.edges {
		if at, ok := outputIndex(e, id); !ok || at != from {
			continue
		}
		handle := outputHandle(id, to)
		raw := set(e.raw, encode(handle), "sourceHandle")
		raw = set(raw, encode(edgeID(e.Source, handle, e.Target, e.TargetHandle)), "id")
		if _, labelled := get(raw, "data", "edgeLabel"); labelled {
			raw = set(raw, encode(strconv.Itoa(to)), "data", "edgeLabel")
		}
		d.edges[i] = readEdge(raw)
	}
}
