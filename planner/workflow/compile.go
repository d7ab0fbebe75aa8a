package workflow

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// ResultNode is the result node of a plan that is one workflow.
const ResultNode = "result"

// Maker makes the nodes that call capabilities. It knows the effective policies, locks and
// instances, and the permissions.
type Maker interface {
	// Call returns a node that calls the capability, without id and edges. It returns forbidden if
	// the owner may not call it.
	Call(e *contracts.CapabilityEntry, params map[string]any) (contracts.Node, error)
	// Player chooses who plays a role; nil if a person must answer first.
	Player(role string, players []contracts.RolePlayer) (*contracts.RolePlayer, error)
	// Note explains to people what is left out of the plan.
	Note(text string)
}

// Request is the input of Compile.
type Request struct {
	Catalog *contracts.Catalog
	Entry   *contracts.CapabilityEntry
	// Params are the validated parameters of the workflow, with defaults.
	Params map[string]any
	// Frame is the prefix of all ids, "" if the workflow is the whole plan.
	Frame string
	// After are nodes that must have completed before the first step.
	After []string
	// Order are nodes that must have ended before the first step, however they did.
	Order []string
	// Outer is the node that the workflow replaces, nil if it does not replace one. Params may then
	// read other nodes, and are evaluated when it begins.
	Outer *contracts.Node
	Make  Maker
}

// Compiled is a compiled workflow.
type Compiled struct {
	Nodes  []contracts.Node
	Frames map[string]contracts.Frame
	// Result is the id of the result node.
	Result string
	// Limits are the template's limits of the built-in budgets, 0 for none.
	Limits contracts.Budgets
}

// Compile compiles a workflow to nodes, including the workflows inside it.
func Compile(req Request) (Compiled, error) {
	home, ok := req.Catalog.Domain(req.Entry.Domain)
	if !ok || req.Entry.Workflow == nil {
		return Compiled{}, contracts.Errorf(contracts.CodeNotFound, "there is no workflow %s", req.Entry.Ref())
	}
	b := &builder{req: req, out: Compiled{Frames: map[string]contracts.Frame{}}}
	if req.Outer != nil {
		return b.within(home.Manifest)
	}
	result := ResultNode
	if req.Frame != "" {
		result = req.Frame
	}
	b.out.Result = result
	f := &frame{b: b, home: home.Manifest, w: req.Entry.Workflow, prefix: req.Frame, first: req.After, order: req.Order, result: result, depth: 1}
	if err := f.build(contracts.Frame{Workflow: req.Entry.Ref(), Params: req.Params, Result: result}); err != nil {
		return Compiled{}, err
	}
	b.spreadRegions()
	return b.out, nil
}

// within replaces a node by a workflow.
func (b *builder) within(home *contracts.Manifest) (Compiled, error) {
	n := *b.req.Outer
	b.out.Result = n.NodeID
	if err := b.inner(n, home, b.req.Entry.Workflow, b.req.Params, 0); err != nil {
		return Compiled{}, err
	}
	b.spreadRegions()
	return b.out, nil
}

// spreadRegions replaces the steps of regions by their nodes, because a step may have several.
func (b *builder) spreadRegions() {
	byStep := map[string][]string{}
	for _, n := range b.out.Nodes {
		for _, step := range stepsOf(n.NodeID) {
			byStep[step] = append(byStep[step], n.NodeID)
		}
	}
	for i := range b.out.Nodes {
		for k := range b.out.Nodes[i].On {
			rule := &b.out.Nodes[i].On[k]
			var nodes []string
			for _, step := range rule.Region {
				nodes = append(nodes, byStep[step]...)
			}
			rule.Region = nodes
		}
	}
}

// stepsOf returns the steps that a node belongs to: its own, and those that its workflow replaces.
func stepsOf(id string) []string {
	id, _, _ = strings.Cut(id, "[")
	out := []string{id}
	for {
		i := strings.LastIndexByte(id, ':')
		if i < 0 {
			return out
		}
		id = id[:i]
		out = append(out, id)
	}
}

// builder collects the nodes of all frames.
type builder struct {
	req Request
	out Compiled
}

func (b *builder) add(n contracts.Node) { b.out.Nodes = append(b.out.Nodes, n) }

// frame is one workflow in the plan.
type frame struct {
	b      *builder
	home   *contracts.Manifest
	w      *contracts.Workflow
	s      *shape
	prefix string
	// first are the dependencies of the steps without dependencies; order are their predecessors.
	first, order []string
	result       string
	// outer is the step that the workflow replaces, nil at the top.
	outer *contracts.Node
	depth int
	// rollbacks are the reviews whose rollback uses compensations.
	rollbacks []rollback
}

func (f *frame) build(spec contracts.Frame) error {
	shape, faults := readShape(f.w)
	if len(faults) > 0 {
		return contracts.Invalid("the workflow "+spec.Workflow+" cannot be planned", faults...)
	}
	f.s, f.rollbacks = shape, rollbacks(f.b.req.Catalog, f.home, shape)
	digest, err := contracts.Hash(f.w)
	if err != nil {
		return err
	}
	spec.Digest, spec.Budgets, spec.Skills = digest, f.ownBudgets(), f.skills()
	f.b.out.Frames[f.prefix] = spec
	for _, i := range f.s.planOrder() {
		if err := f.step(i); err != nil {
			return err
		}
		for _, r := range f.rollbacks {
			if r.review != i {
				continue
			}
			if err := f.undo(r); err != nil {
				return err
			}
		}
	}
	f.end()
	return nil
}

// ownBudgets returns the workflow's own budgets, with steps named by their nodes, and records the
// built-in ones.
func (f *frame) ownBudgets() map[string]contracts.Budget {
	var own map[string]contracts.Budget
	for _, name := range slices.Sorted(maps.Keys(f.w.Budgets)) {
		b := f.w.Budgets[name]
		if isBuiltin(name) {
			if f.outer == nil { // inner workflows share those of the run
				f.b.out.limit(name, b)
			}
			continue
		}
		if own == nil {
			own = map[string]contracts.Budget{}
		}
		if b.Per != "" {
			b.Per = f.id(b.Per)
		}
		own[name] = b
	}
	return own
}

func (c *Compiled) limit(name string, b contracts.Budget) {
	n, ok := wholeNumber(b.Limit)
	if !ok {
		return
	}
	switch name {
	case contracts.BudgetNodes:
		c.Limits.MaxNodes = n
	case contracts.BudgetRetries:
		c.Limits.MaxRetries = n
	case contracts.BudgetToolCalls:
		c.Limits.MaxToolCalls = n
	case contracts.BudgetTokens:
		c.Limits.MaxTokens = n
	}
}

func (f *frame) id(step string) string {
	if f.prefix == "" {
		return step
	}
	return f.prefix + ":" + step
}

func (f *frame) ids(steps []int) []string {
	var out []string
	for _, i := range steps {
		out = append(out, f.id(f.s.id(i)))
	}
	return out
}

// step adds the nodes of one step.
func (f *frame) step(i int) error {
	step := &f.w.Steps[i]
	n := f.node(i)
	switch step.Kind {
	case contracts.StepTool:
		n.Show = step.Show
		return f.call(n, step.Tool, step.Params, step)
	case contracts.StepReason:
		return f.reason(n, step)
	case contracts.StepPlays:
		return f.plays(n, step)
	case contracts.StepWorkflow:
		return f.inner(n, step)
	case contracts.StepHuman:
		n.Kind, n.Human = contracts.KindHuman, step.Human
	case contracts.StepVerify:
		n.Kind, n.Verify = contracts.KindVerify, f.pinned(step.Verify)
	case contracts.StepSet:
		n.Kind, n.Set = contracts.KindSet, step.Set
	case contracts.StepJoin:
		n.Kind = contracts.KindJoin
	}
	f.b.add(n)
	return nil
}

// node returns a node with the fields that all kinds of steps have.
func (f *frame) node(i int) contracts.Node {
	step := f.w.Steps[i]
	n := contracts.Node{
		NodeID: f.id(step.ID), Title: title(step), Phase: step.Phase, When: step.When,
		DependsOn: f.ids(f.s.deps[i]), RunAfter: f.ids(f.s.after[i]), Required: !step.ContinueOnError && f.required(),
		Merge: contracts.MergeNoneFailed, Frame: f.prefix, ContinueOnError: step.ContinueOnError,
		Spend: step.Spend, Importance: step.Importance,
	}
	if len(n.DependsOn) == 0 {
		n.DependsOn, n.RunAfter = slices.Clone(f.first), append(n.RunAfter, f.order...)
	}
	for k, rule := range step.On {
		var undos []string
		rule.Region, undos = f.region(i, k)
		for _, id := range undos {
			if !slices.Contains(n.RunAfter, id) {
				n.RunAfter = append(n.RunAfter, id)
			}
		}
		rule.Goto = f.entryOf(f.s.index[rule.Goto])
		n.On = append(n.On, rule)
	}
	return n
}

// required reports whether a failure inside fails the run. It does not if the outer step continues
// after errors.
func (f *frame) required() bool { return f.outer == nil || f.outer.Required }

func title(step contracts.Step) string {
	if step.Title != "" {
		return step.Title
	}
	words := strings.ReplaceAll(step.ID, "_", " ")
	return strings.ToUpper(words[:1]) + words[1:]
}

// region returns the steps that a rule instantiates again, by their node ids, and the undo nodes
// among them; see spreadRegions.
func (f *frame) region(i, k int) (ids, undos []string) {
	for _, r := range f.s.regions {
		if r.jumper != i || r.rule != k {
			continue
		}
		for j := range f.w.Steps {
			if r.members.has(j) {
				ids = append(ids, f.id(f.s.id(j)))
			}
		}
		undos = f.within(r)
		return append(ids, undos...), undos
	}
	return nil, nil
}

// entryOf returns the first node of a step.
func (f *frame) entryOf(i int) string {
	if id := f.id(f.s.id(i)); f.w.Steps[i].Kind == contracts.StepWorkflow {
		return entryNode(id)
	}
	return f.id(f.s.id(i))
}

func entryNode(id string) string { return id + ":params" }

// call adds a node that calls a capability.
func (f *frame) call(n contracts.Node, ref string, params map[string]any, step *contracts.Step) error {
	entry, ok := f.b.req.Catalog.Capability(qualified(f.home.Domain, ref))
	if !ok {
		return contracts.Errorf(contracts.CodeUnavailable, "the step %q calls %s, which is not there", n.NodeID, ref)
	}
	made, err := f.b.req.Make.Call(entry, params)
	if err != nil {
		return err
	}
	made = over(made, n)
	if step != nil && step.ForEach != nil {
		made.ForEach = step.ForEach
		made.Group, made.GroupLimit = made.NodeID, step.ForEach.MaxConcurrency
	}
	f.b.add(made)
	return nil
}

// over applies the fields of a step to the node of a call.
func over(call, n contracts.Node) contracts.Node {
	call.NodeID, call.Title, call.DependsOn, call.RunAfter, call.When = n.NodeID, n.Title, n.DependsOn, n.RunAfter, n.When
	call.Required, call.Merge, call.Frame, call.ContinueOnError = n.Required, n.Merge, n.Frame, n.ContinueOnError
	call.Spend, call.On, call.Importance, call.Reason, call.Show = n.Spend, n.On, n.Importance, n.Reason, n.Show
	call.BranchID, call.Role = "", n.Role
	if n.Kind != "" {
		call.Kind = n.Kind
	}
	if n.Phase != "" {
		call.Phase = n.Phase
	}
	return call
}

// skills returns the texts of the skills that the steps of the frame use. They are pinned, so that
// a new manifest does not change a run in progress.
func (f *frame) skills() map[string]string {
	var out map[string]string
	pin := func(name string) {
		if out == nil {
			out = map[string]string{}
		}
		out[name] = f.home.Skills[name]
	}
	for _, step := range f.w.Steps {
		if r := step.Reason; r != nil {
			pin(r.Skill)
		}
		if v := step.Verify; v != nil && v.Judge != nil {
			pin(v.Judge.Skill)
		}
	}
	return out
}

func (f *frame) skillDigest(name string) string {
	return contracts.HashBytes([]byte(f.home.Skills[name]))
}

// pinned returns a verify step with the digest of its judge's skill.
func (f *frame) pinned(v *contracts.VerifyStep) *contracts.VerifyStep {
	if v.Judge == nil {
		return v
	}
	out, judge := *v, *v.Judge
	judge.SkillSHA256 = f.skillDigest(judge.Skill)
	out.Judge = &judge
	return &out
}

// reason adds a reason node. Its fallback is a call, so the node has all fields of a call.
func (f *frame) reason(n contracts.Node, step *contracts.Step) error {
	r := *step.Reason
	r.SkillSHA256 = f.skillDigest(r.Skill)
	n.Kind, n.Reason = contracts.KindReason, &r
	if r.Fallback == nil {
		n.ForEach = step.ForEach
		f.b.add(n)
		return nil
	}
	params := r.Fallback.Params
	if params == nil {
		params = r.Inputs
	}
	return f.call(n, r.Fallback.Capability, params, step)
}

// plays adds the calls of those that play a role: one, or all of them with a join that has the
// step's id.
func (f *frame) plays(n contracts.Node, step *contracts.Step) error {
	players := playing(f.b.req.Catalog, f.home, f.w, *step)
	if !several(step.Players) {
		p, err := f.b.req.Make.Player(step.Plays, players)
		if err != nil || p == nil {
			return err
		}
		params, err := playerParams(p, step.Params)
		if err != nil {
			return err
		}
		return f.call(n, p.Entry.Ref(), params, nil)
	}
	join := n
	join.Kind, join.Role, join.When, join.DependsOn, join.RunAfter = contracts.KindJoin, contracts.RoleJoin, nil, nil, nil
	for _, p := range players {
		params, err := playerParams(&p, step.Params)
		if err != nil {
			return err
		}
		one := n
		one.NodeID = n.NodeID + "[" + strconv.Itoa(len(join.DependsOn)) + "]"
		one.On, one.Spend, one.Required, one.ContinueOnError = nil, nil, false, false
		one.Title = n.Title + ": " + p.Entry.Domain
		err = f.call(one, p.Entry.Ref(), params, nil)
		if contracts.CodeOf(err) == contracts.CodeForbidden {
			f.b.req.Make.Note(p.Entry.Ref() + " is left out: " + err.Error())
			continue
		}
		if err != nil {
			return err
		}
		join.DependsOn = append(join.DependsOn, one.NodeID)
	}
	if len(join.DependsOn) == 0 {
		return contracts.Errorf(contracts.CodeUnavailable, "nobody whom you may use plays %s, which the step %q needs", step.Plays, n.NodeID)
	}
	f.b.add(join)
	return nil
}

// inner replaces a step by another workflow: an entry node has its parameters as facts, and the
// step's own node has its result.
func (f *frame) inner(n contracts.Node, step *contracts.Step) error {
	w, home := findWorkflow(f.b.req.Catalog, f.home, step.Workflow)
	if w == nil {
		return contracts.Errorf(contracts.CodeUnavailable, "the step %q needs the workflow %s, which is not there", n.NodeID, step.Workflow)
	}
	if f.depth >= maxDepth {
		return contracts.Errorf(contracts.CodeInvalid, "the step %q: workflows may stand in each other %d deep, not deeper", n.NodeID, maxDepth)
	}
	return f.b.inner(n, home, w, step.Params, f.depth)
}

func (b *builder) inner(n contracts.Node, home *contracts.Manifest, w *contracts.Workflow, params map[string]any, depth int) error {
	entry := n
	entry.NodeID, entry.Kind, entry.Set = entryNode(n.NodeID), contracts.KindSet, withDefaults(w, params)
	entry.On, entry.Spend, entry.ContinueOnError, entry.Importance = nil, nil, false, contracts.ImportanceQuiet
	b.add(entry)
	inside := &frame{
		b: b, home: home, w: w, prefix: n.NodeID, first: []string{entry.NodeID}, result: n.NodeID, outer: &n, depth: depth + 1,
	}
	return inside.build(contracts.Frame{Workflow: home.Domain + "." + w.Name, Entry: entry.NodeID, Result: n.NodeID})
}

// end adds the result node, which waits for all steps.
func (f *frame) end() {
	n := contracts.Node{NodeID: f.result, Title: "Result", Frame: f.prefix, Importance: contracts.ImportanceQuiet}
	if f.outer != nil {
		n = *f.outer
		n.When, n.RunAfter = nil, nil
		n.Frame = f.prefix
	}
	n.Kind, n.Result, n.DependsOn = contracts.KindResult, f.w.Result, f.leaves()
	if f.outer != nil { // the effects of an inner workflow count, even if all its last steps were skipped
		n.DependsOn = append(n.DependsOn, f.first...)
	}
	if n.Result == nil {
		n.Result = &contracts.WorkflowResult{}
	}
	f.b.add(n)
}

// leaves returns the nodes of the frame that no other waits for.
func (f *frame) leaves() []string {
	waited := map[int]bool{}
	for _, deps := range slices.Concat(f.s.deps, f.s.after) {
		for _, i := range deps {
			waited[i] = true
		}
	}
	var out []string
	for i := range f.w.Steps {
		if !waited[i] {
			out = append(out, f.id(f.s.id(i)))
		}
	}
	for _, r := range f.rollbacks {
		out = append(out, f.undoID(r))
	}
	return out
}
