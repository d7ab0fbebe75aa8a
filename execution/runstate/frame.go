package runstate

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// InWorkflow reports whether the node is a step of a workflow.
func (n *Node) InWorkflow() bool {
	return n.Spec.Merge != contracts.MergeAllCompleted || n.Spec.Kind == contracts.KindResult
}

// Step returns the step that the node is an instance of.
func (n *Node) Step() string {
	if n.Spec.Round != nil {
		return n.Spec.ForNode
	}
	return n.ID()
}

// StepID returns the node id of a step in a frame.
func StepID(frame, step string) string {
	if frame == "" {
		return step
	}
	return frame + ":" + step
}

// OuterFrame returns the frame in which the rules of a node are evaluated. For the result node of
// an inner workflow, it is the frame that contains the workflow.
func OuterFrame(s *State, n *Node) string {
	frame := n.Spec.Frame
	if n.Spec.Kind != contracts.KindResult || s.Run.Plan.Frames[frame].Entry == "" {
		return frame
	}
	if i := strings.LastIndexByte(frame, ':'); i >= 0 {
		return frame[:i]
	}
	return ""
}

// Reader specifies the scope of an expression: a node in a frame, before or after it has ended. If
// After is set, the node's own step has that row.
type Reader struct {
	Node  *Node
	Frame string
	After *Row
}

// ScopeOf returns the values that the expressions of a reader may use. It returns an error if the
// limit of a budget cannot be computed.
func (s *State) ScopeOf(r Reader, refs []string) (expr.Scope, error) {
	scope := expr.Scope{"steps": s.stepValues(r, refs)}
	if slices.ContainsFunc(refs, func(ref string) bool { return strings.HasPrefix(ref, "context") }) {
		scope["context"] = contextValue(s)
	}
	if r.Node.Spec.Item != nil {
		scope["item"] = r.Node.Spec.Item
	}
	if !r.Node.InWorkflow() {
		return scope, nil
	}
	scope["params"] = s.frameParams(r.Frame)
	scope["round"] = roundValue(r.Node.Spec.Round)
	budgets := map[string]any{}
	for _, ref := range refs {
		name := memberOf(ref, "budgets")
		if name == "" || budgets[name] != nil {
			continue
		}
		b, err := BudgetOf(s, r.Frame, name)
		if err != nil {
			return nil, err
		}
		budgets[name] = b.value()
	}
	scope["budgets"] = budgets
	return scope, nil
}

func (s *State) stepValues(r Reader, refs []string) map[string]any {
	steps := map[string]any{}
	for _, ref := range refs {
		step := stepOf(ref)
		n := s.LatestInstance(StepID(r.Frame, step))
		switch {
		case n == nil || steps[step] != nil:
		case n == r.Node && r.After != nil:
			after := *n
			after.Row = r.After
			steps[step] = stepValue(s, &after)
		case n.Ended():
			steps[step] = stepValue(s, n)
		}
	}
	return steps
}

// memberOf returns the x of root.x, with or without a suffix.
func memberOf(ref, root string) string {
	rest, ok := strings.CutPrefix(ref, root+".")
	if !ok {
		return ""
	}
	if i := strings.IndexAny(rest, ".["); i >= 0 {
		rest = rest[:i]
	}
	return rest
}

func (s *State) frameParams(frame string) map[string]any {
	f := s.Run.Plan.Frames[frame]
	if f.Entry == "" {
		return orEmpty(f.Params)
	}
	if entry := s.LatestInstance(f.Entry); entry != nil && entry.Row.Result != nil {
		return orEmpty(entry.Row.Result.Facts)
	}
	return map[string]any{}
}

func roundValue(r *contracts.Round) map[string]any {
	if r == nil {
		return map[string]any{"n": 1, "by": "", "with": map[string]any{}}
	}
	return map[string]any{"n": r.N, "by": r.By, "with": orEmpty(r.With)}
}

// Region returns the nodes of a new round: an instance of every step that a rule repeats, in plan
// order.
func Region(s *State, jumper *Node, rule int, with map[string]any) []contracts.Node {
	region := jumper.Spec.On[rule].Region
	planned := plannedNodes(s, region)
	out := make([]contracts.Node, 0, len(region))
	by := lastName(jumper.Step())
	for _, step := range region {
		spec, ok := planned[step]
		if !ok {
			continue
		}
		n := roundOf(s.LatestInstance(step)) + 1
		spec.NodeID, spec.ForNode = instanceID(step, n), step
		spec.Round = &contracts.Round{N: n, By: by, With: with, Rule: rule}
		out = append(out, spec)
	}
	return out
}

func plannedNodes(s *State, ids []string) map[string]contracts.Node {
	out := make(map[string]contracts.Node, len(ids))
	for _, id := range ids {
		if n := s.Node(id); n != nil {
			out[id] = n.Spec
		}
	}
	return out
}

// lastName returns the id of a step within its own workflow.
func lastName(id string) string { return id[strings.LastIndexByte(id, ':')+1:] }

func roundOf(n *Node) int {
	if n == nil || n.Spec.Round == nil {
		return 1
	}
	return n.Spec.Round.N
}

// Taken returns how often a rule was taken since the last new round of an enclosing region: an
// iteration that a person asks for starts a new count.
func Taken(s *State, n *Node, rule int) int {
	taken := 0
	own := n.Spec.On[rule].Region
	for at := n; at != nil && at.Spec.Round != nil; at = Before(s, at) {
		by := at.Spec.Round
		switch {
		case by.By != lastName(n.Step()):
			return taken // an enclosing step started this round
		case by.Rule == rule:
			taken++
		case len(n.Spec.On[by.Rule].Region) > len(own):
			return taken
		}
	}
	return taken
}

// Before returns the previous instance of the same step, nil if there is none.
func Before(s *State, n *Node) *Node {
	if n.Spec.Round == nil {
		return nil
	}
	if n.Spec.Round.N == 2 {
		return s.Node(n.Spec.ForNode)
	}
	return s.Node(instanceID(n.Spec.ForNode, n.Spec.Round.N-1))
}

// Contributors returns the people whose values, choices or texts a node depends on, through all
// dependencies and rounds.
func Contributors(s *State, n *Node) []string {
	var out []string
	seen := map[*Node]bool{}
	open := []*Node{n}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if at == nil || seen[at] {
			continue
		}
		seen[at] = true
		for _, who := range at.Row.Editors {
			if !slices.Contains(out, who) {
				out = append(out, who)
			}
		}
		open = append(open, Before(s, at))
		for _, dep := range at.Spec.DependsOn {
			open = append(open, s.LatestInstance(dep))
		}
		if f := s.Run.Plan.Frames[at.Spec.Frame]; f.Entry != "" && at.ID() != f.Entry {
			open = append(open, s.LatestInstance(f.Entry))
		}
		if r := at.Spec.Round; r != nil { // the parameters of the round came from the step that caused it
			open = append(open, s.Node(StepID(OuterFrame(s, at), r.By)), s.LatestInstance(StepID(OuterFrame(s, at), r.By)))
		}
	}
	slices.Sort(out)
	return out
}

// ServesReviewed reports whether the node is, or contributes to, a write whose contributors may not
// approve it.
func (s *State) ServesReviewed(n *Node) bool {
	seen, open := map[*Node]bool{n: true}, []*Node{n}
	for len(open) > 0 {
		at := open[len(open)-1]
		open = open[:len(open)-1]
		if at.Writes() && at.Spec.Policy.Eyes().Rank() >= contracts.EyesFour.Rank() {
			return true
		}
		for _, d := range at.dependents {
			if !seen[d] {
				seen[d] = true
				open = append(open, d)
			}
		}
	}
	return false
}

// Budget is the use and the limit of a budget of a frame.
type Budget struct {
	Name  string
	Used  float64
	Limit float64
	// Bound reports whether there is a limit.
	Bound bool
}

// Over reports whether more is used than allowed.
func (b Budget) Over() bool { return b.Bound && b.Used > b.Limit }

func (b Budget) value() map[string]any {
	out := map[string]any{"used": b.Used}
	if b.Bound {
		out["limit"], out["left"] = b.Limit, max(b.Limit-b.Used, 0)
	}
	return out
}

// BudgetOf returns a budget of a frame by name: one of the workflow's own, or one of the run. The
// use is the sum over the rows; nothing is counted twice.
func BudgetOf(s *State, frame, name string) (Budget, error) {
	own, ok := s.Run.Plan.Frames[frame].Budgets[name]
	if !ok {
		return runBudget(s, name), nil
	}
	key := StepID(frame, name)
	from := 0
	if own.Per != "" {
		if per := s.LatestInstance(own.Per); per != nil && per.Spec.Round != nil {
			from = per.index
		}
	}
	b := Budget{Name: name, Bound: true}
	raised := 0.0
	for _, n := range s.graph.nodes[from:] {
		b.Used += n.Row.Spent[key]
		raised = max(raised, n.Row.Raised[key])
	}
	limit, err := limitOf(s, frame, own)
	b.Limit = max(limit, raised)
	return b, err
}

// limitOf computes the limit of a budget.
func limitOf(s *State, frame string, b contracts.Budget) (float64, error) {
	text, ok := b.Limit.(string)
	if !ok {
		limit, _ := Number(b.Limit)
		return limit, nil
	}
	refs, err := expr.Refs(text)
	if err != nil {
		return 0, err
	}
	scope := expr.Scope{
		"steps": s.stepValues(Reader{Frame: frame}, refs), "params": s.frameParams(frame), "context": contextValue(s),
		"round": roundValue(nil),
	}
	value, _, err := expr.Resolve(text, scope)
	if err != nil {
		return 0, err
	}
	limit, ok := Number(value)
	if !ok {
		return 0, contracts.Errorf(contracts.CodeInvalid, "the limit %s is no number", text)
	}
	return limit, nil
}

// TokenBudget returns the budget of the run for model tokens.
func TokenBudget(s *State) Budget { return runBudget(s, contracts.BudgetTokens) }

func runBudget(s *State, name string) Budget {
	b := s.Run.Plan.Budgets
	calls, retries := s.Calls()
	out := Budget{Name: name}
	limit := 0
	switch name {
	case contracts.BudgetNodes:
		out.Used, limit = float64(s.Len()), b.MaxNodes
	case contracts.BudgetRetries:
		out.Used, limit = float64(retries), b.MaxRetries
	case contracts.BudgetToolCalls:
		out.Used, limit = float64(calls), b.MaxToolCalls
	case contracts.BudgetTokens:
		used := s.Tokens()
		out.Used, limit = float64(used.In+used.Out), b.MaxTokens
	}
	for _, n := range s.graph.nodes {
		limit = max(limit, int(n.Row.Raised[name]))
	}
	out.Limit, out.Bound = float64(limit), limit > 0
	return out
}

// OwnBudgets returns the names of a frame's own budgets, sorted.
func OwnBudgets(s *State, frame string) []string {
	return slices.Sorted(maps.Keys(s.Run.Plan.Frames[frame].Budgets))
}

// FailedBefore reports whether a dependency of the node has failed.
func FailedBefore(s *State, n *Node) bool {
	return slices.ContainsFunc(n.Spec.DependsOn, func(dep string) bool {
		d := s.LatestInstance(dep)
		return d != nil && d.failed()
	})
}
