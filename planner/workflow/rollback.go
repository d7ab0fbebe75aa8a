package workflow

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// rollback is a review that offers to undo what was done before it, in a workflow without its own
// later steps for that: the writes are undone by their compensations.
type rollback struct {
	review int
	// writers are the steps before the review that may write, in the order of the manifest.
	writers []int
}

// rollbacks finds the reviews of a workflow whose rollback uses the compensations of its writes.
// Missing capabilities are reported elsewhere.
func rollbacks(catalog *contracts.Catalog, home *contracts.Manifest, s *shape) []rollback {
	if s.up == nil {
		return nil // the steps have a cycle, which is reported
	}
	var out []rollback
	for i := range s.w.Steps {
		step := &s.w.Steps[i]
		if !allows(step.Human, contracts.SayRollback) {
			continue
		}
		r := rollback{review: i}
		own := false
		for j := range s.w.Steps {
			if !mayWrite(catalog, home, &s.w.Steps[j]) {
				continue
			}
			own = own || s.up[j].has(i)
			if s.up[i].has(j) {
				r.writers = append(r.writers, j)
			}
		}
		if !own {
			out = append(out, r)
		}
	}
	return out
}

// mayWrite reports whether a step may have an effect. It is true for roles and inner workflows,
// whose calls are not known before planning.
func mayWrite(catalog *contracts.Catalog, home *contracts.Manifest, step *contracts.Step) bool {
	if step.Tool == "" {
		return step.Plays != "" || step.Workflow != ""
	}
	entry, err := catalog.Resolve(step.Tool, home.Domain)
	return err != nil || entry.Policy.SideEffectClass.Writes()
}

// compensationOf returns the compensation of a capability; nil if it declares none that is
// available.
func compensationOf(catalog *contracts.Catalog, e *contracts.CapabilityEntry) *contracts.CapabilityEntry {
	rule := e.Capability.Metadata.Compensation
	if rule == nil {
		return nil
	}
	undo, err := catalog.Resolve(rule.Capability, e.Domain)
	if err != nil || undo.Workflow != nil {
		return nil
	}
	return undo
}

// rollback checks that a review which offers a rollback can do it: by later steps of its workflow,
// or by the compensation of every write before it.
func (c *check) rollback(i int, place string) {
	for _, r := range rollbacks(c.catalog, c.m, c.s) {
		if r.review != i {
			continue
		}
		if len(r.writers) == 0 {
			c.faults.add(place, `"rollback" has nothing to take back: no step before this one writes, and none after it`)
		}
		for _, j := range r.writers {
			c.takenBack(place, c.m, c.w, &c.w.Steps[j], 1)
		}
	}
}

// takenBack requires that the writes of a step can be undone.
func (c *check) takenBack(place string, home *contracts.Manifest, w *contracts.Workflow, step *contracts.Step, depth int) {
	switch {
	case step.Tool != "":
		entry, err := c.catalog.Resolve(step.Tool, home.Domain)
		if err != nil || !entry.Policy.SideEffectClass.Writes() || compensationOf(c.catalog, entry) != nil {
			return // missing capabilities are reported where they are named
		}
		c.faults.add(place, `"rollback" cannot take back %q: %s declares no compensation. Declare one, or let a step that undoes it depend on this one`,
			step.ID, entry.Ref())
	case step.Plays != "":
		for _, p := range playing(c.catalog, home, w, *step) {
			if p.Entry.Policy.SideEffectClass.Writes() && compensationOf(c.catalog, p.Entry) == nil {
				c.doubts.add(place, `"rollback" leaves what %q does: %s, which may play %s, declares no compensation`, step.ID, p.Entry.Ref(), step.Plays)
			}
		}
	case step.Workflow != "" && depth < maxDepth:
		inner, of := c.workflow(home, step.Workflow)
		if inner == nil {
			return
		}
		for k := range inner.Steps {
			c.takenBack(place, of, inner, &inner.Steps[k], depth+1)
		}
	}
}

// undo adds the undo node of a review whose rollback uses compensations. It has a call for each
// writing step before the review, and expands to as many calls as there are writes to undo.
func (f *frame) undo(r rollback) error {
	review := f.s.id(r.review)
	said := any(contracts.SayRollback)
	n := contracts.Node{
		NodeID: f.undoID(r), Kind: contracts.KindUndo, Title: "Take back what was done",
		DependsOn: []string{f.id(review)}, When: &contracts.Condition{Path: "steps." + review + ".facts.decision", Equals: &said},
		Required: f.required(), Merge: contracts.MergeNoneFailed, Frame: f.prefix,
	}
	if err := f.undoes(&n, r.writers); err != nil {
		return err
	}
	f.b.add(n)
	return nil
}

func (f *frame) undoID(r rollback) string { return f.id(f.s.id(r.review) + undoSuffix) }

// within returns the undo nodes of reviews inside a region, other than the jumper. They belong to
// the round, and the jumper waits for them.
func (f *frame) within(r region) []string {
	var out []string
	for _, b := range f.rollbacks {
		if b.review != r.jumper && r.members.has(b.review) {
			out = append(out, f.undoID(b))
		}
	}
	return out
}

// undoSuffix turns the id of a review into that of its undo node. No step can have such an id.
const undoSuffix = "-undo"

// undoes adds the calls that compensate the writes of the given steps.
func (f *frame) undoes(n *contracts.Node, writers []int) error {
	for _, w := range f.b.out.Nodes {
		if w.Policy == nil || !w.Policy.SideEffectClass.Writes() || !f.isOf(w.NodeID, writers) {
			continue
		}
		entry, ok := f.b.req.Catalog.Capability(w.Tool)
		if !ok {
			continue // its node could not have been made
		}
		undo := compensationOf(f.b.req.Catalog, entry)
		if undo == nil {
			f.b.req.Make.Note(w.Tool + " declares no compensation: a rollback leaves what it does")
			continue
		}
		call, err := f.b.req.Make.Call(undo, entry.Capability.Metadata.Compensation.ParamMap)
		if err != nil {
			return err
		}
		n.Undo = append(n.Undo, contracts.Undo{
			ForNode: w.NodeID, Title: "Take back: " + w.Title, Tool: call.Tool, Params: call.Params, Phase: call.Phase,
			Policy: call.Policy, Locks: call.Locks, Instance: call.Instance,
		})
	}
	return nil
}

// isOf reports whether a node belongs to one of the given steps of the frame.
func (f *frame) isOf(node string, steps []int) bool {
	ids := stepsOf(node)
	return slices.ContainsFunc(steps, func(i int) bool { return slices.Contains(ids, f.id(f.s.id(i))) })
}
