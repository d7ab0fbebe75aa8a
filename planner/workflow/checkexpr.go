package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// reader specifies where an expression is evaluated, and so which steps it may read.
type reader struct {
	// step is the index of the step, -1 after all steps have ended.
	step int
	// self means that the step itself has ended; item means that there is an item.
	self, item bool
	// noArtifacts refuses artifacts, because the inputs of a model are small and plain.
	noArtifacts bool
}

// values checks the expressions in a value.
func (c *check) values(place string, v any, r reader) {
	refs, faults := expr.References(v)
	c.found(place, refs, faults, r)
}

// condition checks a condition in either form.
func (c *check) condition(place string, cond contracts.Condition, r reader) {
	refs, faults := expr.ReferencesOf(cond)
	c.found(place, refs, faults, r)
}

func (c *check) found(place string, refs []expr.Ref, faults []contracts.Fault, r reader) {
	for _, f := range faults {
		c.faults.add(place+f.Pointer, "%s", f.Message)
	}
	for _, ref := range refs {
		c.read(place+ref.At, ref.Path, r)
	}
}

// read checks one path by its root.
func (c *check) read(place string, path contracts.Path, r reader) {
	for _, member := range path[1:] {
		if strings.Contains(member.Name, "-") && path.Root() != "context" {
			c.doubts.add(place, "%s is read as the name %q; write it as [%q], or a difference with spaces", path, member.Name, member.Name)
		}
	}
	if c.draft != nil && path.Root() != "steps" && path.Root() != "item" {
		c.faults.add(place, "%s cannot be read in a draft, only steps and, with for_each, item", path)
		return
	}
	switch path.Root() {
	case "params":
		c.param(place, path)
	case "steps":
		c.stepRead(place, path, r)
	case "round":
		c.oneOf(place, path, "n", "by", "with")
	case "budgets":
		c.budgetRead(place, path, r)
	case "item":
		if !r.item {
			c.faults.add(place, "item is only there in the params or inputs of a step with for_each")
		}
	case "context":
	default:
		c.faults.add(place, "%s cannot be read in a workflow; roots are params, steps, round, item, context, budgets", path)
	}
}

func (c *check) param(place string, path contracts.Path) {
	if c.params == nil || len(path) < 2 {
		return
	}
	known := c.params.Properties()
	if len(known) > 0 && !slices.Contains(known, path[1].Name) {
		c.faults.add(place, "the workflow has no parameter %q", path[1].Name)
	}
}

func (c *check) oneOf(place string, path contracts.Path, members ...string) bool {
	if len(path) > 1 && !slices.Contains(members, path[1].Name) {
		c.faults.add(place, "%s has no %q, only %s", path[:1], path[1].Name, strings.Join(members, ", "))
		return false
	}
	return true
}

// stepRead requires a step that has always ended by then.
func (c *check) stepRead(place string, path contracts.Path, r reader) {
	if len(path) < 2 {
		c.faults.add(place, "must name the step that it reads, as in steps.x.facts; a name that is only known when it runs cannot be checked")
		return
	}
	id := path[1].Name
	j, known := c.s.index[id]
	switch {
	case !known:
		c.faults.add(place, "there is no step %q%s", id, near(id, c.s.index))
		return
	case r.step >= 0 && j == r.step && !r.self:
		c.faults.add(place, "%q cannot read itself before it has ended", id)
		return
	case r.step >= 0 && j != r.step && c.s.up != nil && !c.s.before(j, r.step):
		c.faults.add(place, "%q is no ancestor of %q: name it in depends_on, of this step or of one before it", id, c.s.id(r.step))
		return
	}
	if len(path) < 3 {
		return
	}
	if !slices.Contains(stepMembers, path[2].Name) {
		c.faults.add(place, "a step has no %q, only state, ok, summary, facts, artifacts, error", path[2].Name)
		return
	}
	if path[2].Name == "artifacts" && r.noArtifacts {
		c.faults.add(place, "an input cannot read an artifact: reason over facts, or pass the artifact to the fallback's params")
	}
	if path[2].Name == "facts" && len(path) > 3 {
		c.fact(place, &c.w.Steps[j], path[3].Name)
	}
}

// fact checks that a step has a fact. It is a fault if the engine makes the facts, and a doubt if a
// domain declares them.
func (c *check) fact(place string, step *contracts.Step, name string) {
	known, sure := c.factsOf(step)
	if len(known) == 0 || slices.Contains(known, name) {
		return
	}
	list := &c.doubts
	if sure {
		list = &c.faults
	}
	list.add(place, "%q has no fact %q, only %s", step.ID, name, strings.Join(known, ", "))
}

func (c *check) factsOf(step *contracts.Step) (names []string, sure bool) {
	if c.draft != nil {
		return c.draft.facts(step), true
	}
	if step.ForEach != nil || step.Kind == contracts.StepJoin || several(step.Players) {
		return []string{"items", "missing", "failed"}, true
	}
	switch step.Kind {
	case contracts.StepSet:
		return keys(step.Set), true
	case contracts.StepHuman:
		return []string{"decision", "value", "label", "approach", "feedback"}, true
	case contracts.StepVerify:
		return []string{"verdict", "score", "checks", "judge"}, true
	case contracts.StepWorkflow:
		if w, _ := c.workflow(c.m, step.Workflow); w != nil && w.Result != nil {
			return keys(w.Result.Facts), true
		}
	case contracts.StepTool:
		if entry, ok := c.catalog.Capability(qualified(c.m.Domain, step.Tool)); ok {
			return declared(entry.Capability.OutputSchema), false
		}
	case contracts.StepReason:
		if step.Reason != nil {
			raw, err := json.Marshal(step.Reason.OutputSchema)
			if err == nil {
				return declared(raw), false
			}
		}
	case contracts.StepJoin, contracts.StepPlays:
	}
	return nil, false
}

func qualified(domain, ref string) string {
	if strings.Contains(ref, ".") {
		return ref
	}
	return domain + "." + ref
}

// declared returns the names that a schema of facts declares.
func declared(raw json.RawMessage) []string {
	var schema struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	return keys(schema.Properties)
}

func keys[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for name := range m {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// budgetRead requires that the budget exists, and that the reader is ordered with all steps that
// spend from it.
func (c *check) budgetRead(place string, path contracts.Path, r reader) {
	if len(path) < 2 {
		c.faults.add(place, "must name the budget that it reads, as in budgets.x.left")
		return
	}
	name := path[1].Name
	b, known := c.w.Budgets[name]
	if !known && !isBuiltin(name) {
		c.faults.add(place, "there is no budget %q%s", name, near(name, c.w.Budgets))
		return
	}
	if len(path) > 2 && !slices.Contains([]string{"used", "limit", "left"}, path[2].Name) {
		c.faults.add(place, "a budget has no %q, only used, limit, left", path[2].Name)
	}
	if r.step < 0 || isBuiltin(name) || c.s.up == nil {
		return
	}
	c.limitKnown(place, r.step, name, b)
	for j, step := range c.w.Steps {
		if _, spends := step.Spend[name]; spends && j != r.step && !c.s.before(j, r.step) && !c.s.before(r.step, j) {
			c.faults.add(place, "%q spends from %s beside %q: what is read would depend on which of them is faster; let one depend on the other",
				step.ID, name, c.s.id(r.step))
		}
	}
}

func stepOf(path contracts.Path) string {
	if path.Root() != "steps" || len(path) < 2 {
		return ""
	}
	return path[1].Name
}
