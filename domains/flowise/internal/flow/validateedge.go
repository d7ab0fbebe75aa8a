package flow

import (
	"fmt"
	"slices"
)

// checkEdge checks the two ends of an edge. The server never reads handles and edge ids; the canvas
// does.
func (c *checker) checkEdge(e Edge, at string) {
	if firstByte(e.raw) != '{' {
		c.add(SeverityError, Structure, "edge_not_object", at, "", "the edge is no object", "remove it")
		return
	}
	source, target := c.nodes[e.Source], c.nodes[e.Target]
	if source == nil {
		c.add(SeverityError, Structure, "edge_source", at+"/source", e.Source,
			fmt.Sprintf("the edge begins at %q, which does not exist; the run fails", e.Source), "remove the edge, or add the node")
	}
	if target == nil {
		c.add(SeverityWarning, Structure, "edge_target", at+"/target", e.Target,
			fmt.Sprintf("the edge ends at %q, which does not exist", e.Target), "remove the edge, or add the node")
	}
	if source == nil || target == nil {
		return
	}
	if want := edgeID(e.Source, e.SourceHandle, e.Target, e.TargetHandle); e.ID != want {
		c.add(SeverityWarning, Structure, "edge_id", at+"/id", "", fmt.Sprintf("the id of the edge is not %q", want), "connect the nodes again")
	}
	out, in := c.checkHandles(e, at, source, target)
	if out != nil && in != nil {
		c.checkTypes(e, at, source, out, in)
	}
}

// checkHandles finds the anchors named by the handles. A handle of another node or an old version
// is a warning.
func (c *checker) checkHandles(e Edge, at string, source, target *checkedNode) (out, in field) {
	outs, _ := source.outputs()
	out, known := byID(outs, e.SourceHandle)
	if !known && len(outs) > 0 {
		c.add(SeverityWarning, Structure, "source_handle", at+"/sourceHandle", source.id,
			fmt.Sprintf("%s has no output %q", source.id, e.SourceHandle), "connect the nodes again")
	}
	if source.category == categoryAgentflow {
		if e.TargetHandle != e.Target {
			c.add(SeverityWarning, Structure, "target_handle", at+"/targetHandle", target.id,
				"an edge of an AGENTFLOW ends at the node itself", "connect the nodes again")
		}
		return nil, nil
	}
	ins := append(target.anchors(), target.params()...)
	in, found := byID(ins, e.TargetHandle)
	if !found && len(ins) > 0 {
		c.add(SeverityWarning, Structure, "target_handle", at+"/targetHandle", target.id,
			fmt.Sprintf("%s has no input %q", target.id, e.TargetHandle), "connect the nodes again")
	}
	return out, in
}

// checkTypes compares the types of the two anchors. If the value does not go to the anchor named by
// the handle, the handle is reported.
func (c *checker) checkTypes(e Edge, at string, source *checkedNode, out, in field) {
	value, _ := c.nodes[e.Target].Input(in.text("name"))
	if !compatible(e.SourceHandle, e.TargetHandle) && slices.Contains(referencesIn(value), e.Source) {
		c.add(SeverityError, Logic, "edge_types", at, e.Target,
			fmt.Sprintf("%s gives %s, but %s.%s takes %s", e.Source, out.text("type"), e.Target, in.text("name"), in.text("type")),
			"disconnect them and connect a node that fits")
	}
	if _, choice := source.outputs(); choice && out.text("name") != source.output() && source.output() != "" {
		c.add(SeverityError, Logic, "output_mismatch", at+"/sourceHandle", e.Source,
			fmt.Sprintf("the edge begins at output %q of %s, which gives %q", out.text("name"), e.Source, source.output()),
			"connect the output that the node gives, or add a second node")
	}
}
