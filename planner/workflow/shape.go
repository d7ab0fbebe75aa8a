package workflow

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"github.com/manifold-run/manifold/contracts"
)

// shape is a template with its edges and regions. It is immutable.
type shape struct {
	w     *contracts.Workflow
	index map[string]int
	// deps are the dependencies of each step; after are the steps that it only waits for: the
	// jumper of a region that it depends on from outside.
	deps, after [][]int
	// up has all ancestors by depends_on; nil if there is a cycle.
	up      []bits
	regions []region
}

// region is the set of steps that one rule instantiates again.
type region struct {
	at           string // the rule's pointer
	jumper, rule int
	target       int
	members      bits
}

// readShape computes the edges and regions of a template. The faults concern only these; if there
// are any, regions and ancestors may be missing.
func readShape(w *contracts.Workflow) (*shape, []contracts.Fault) {
	s := &shape{w: w, index: make(map[string]int, len(w.Steps))}
	var faults faultList
	for i, step := range w.Steps {
		if _, twice := s.index[step.ID]; twice {
			faults.add(at("steps", i, "id"), "the id %q stands here twice", step.ID)
			continue
		}
		s.index[step.ID] = i
	}
	s.readDeps(&faults)
	order, circle := sorted(s.deps, nil)
	if circle != nil {
		faults.add(at("steps", circle[0], "depends_on"), "the steps wait for each other: %s", s.names(circle))
		return s, faults
	}
	s.findAncestors(order)
	s.findRegions(&faults)
	s.checkCrossing(&faults)
	s.orderOutside()
	if _, circle := sorted(s.deps, s.after); circle != nil && len(faults) == 0 {
		faults.add(at("steps", circle[0], "depends_on"),
			"the steps wait for each other, because what depends on a step of a loop waits for the end of the loop: %s", s.names(circle))
	}
	return s, faults
}

func (s *shape) readDeps(faults *faultList) {
	s.deps, s.after = make([][]int, len(s.w.Steps)), make([][]int, len(s.w.Steps))
	for i, step := range s.w.Steps {
		for k, id := range step.DependsOn {
			place := at("steps", i, "depends_on", k)
			dep, ok := s.index[id]
			switch {
			case !ok:
				faults.add(place, "there is no step %q%s", id, near(id, s.index))
			case dep == i:
				faults.add(place, "a step cannot depend on itself")
			case slices.Contains(s.deps[i], dep):
				faults.add(place, "%q stands here twice", id)
			default:
				s.deps[i] = append(s.deps[i], dep)
			}
		}
	}
}

func (s *shape) findAncestors(order []int) {
	s.up = make([]bits, len(s.w.Steps))
	for _, i := range order {
		s.up[i] = newBits(len(s.w.Steps))
		for _, dep := range s.deps[i] {
			s.up[i].set(dep)
			s.up[i].add(s.up[dep])
		}
	}
}

func (s *shape) findRegions(faults *faultList) {
	for i, step := range s.w.Steps {
		for k, rule := range step.On {
			place := at("steps", i, "on", k)
			target, ok := s.index[rule.Goto]
			switch {
			case !ok:
				faults.add(place+"/goto", "there is no step %q%s", rule.Goto, near(rule.Goto, s.index))
				continue
			case target != i && !s.up[i].has(target):
				faults.add(place+"/goto", "%q is not before %q: a rule goes back to its own step or to an ancestor", rule.Goto, step.ID)
				continue
			}
			s.regions = append(s.regions, region{at: place, jumper: i, rule: k, target: target, members: s.between(target, i)})
		}
	}
}

// between returns the descendants of target that are ancestors of jumper, including both.
func (s *shape) between(target, jumper int) bits {
	members := newBits(len(s.w.Steps))
	members.set(target)
	members.set(jumper)
	for i := range s.w.Steps {
		if s.up[jumper].has(i) && s.up[i].has(target) {
			members.set(i)
		}
	}
	return members
}

// checkCrossing requires that two regions are equal, nested or disjoint: otherwise a loop would
// repeat only a part of another.
func (s *shape) checkCrossing(faults *faultList) {
	for i, a := range s.regions {
		for _, b := range s.regions[:i] {
			if a.members.meets(b.members) && !a.members.within(b.members) && !b.members.within(a.members) {
				faults.add(a.at+"/goto", "the loop from %q to %q and the loop from %q to %q cross; one must lie within the other, or apart",
					s.id(a.jumper), s.id(a.target), s.id(b.jumper), s.id(b.target))
			}
		}
	}
}

// orderOutside makes a step outside of a region that depends on one inside also wait for the
// jumper, so that it never reads a round that is repeated.
func (s *shape) orderOutside() {
	for _, r := range s.regions {
		for i := range s.w.Steps {
			if r.members.has(i) || s.up[i].has(r.jumper) || slices.Contains(s.after[i], r.jumper) {
				continue
			}
			if slices.ContainsFunc(s.deps[i], r.members.has) {
				s.after[i] = append(s.after[i], r.jumper)
			}
		}
	}
}

// planOrder returns the steps in the order of the manifest, but each after those that it waits for.
func (s *shape) planOrder() []int {
	order := make([]int, 0, len(s.w.Steps))
	placed := make([]bool, len(s.w.Steps))
	var place func(i int)
	place = func(i int) {
		if placed[i] {
			return
		}
		placed[i] = true
		for _, dep := range s.deps[i] {
			place(dep)
		}
		for _, dep := range s.after[i] {
			place(dep)
		}
		order = append(order, i)
	}
	for i := range s.w.Steps {
		place(i)
	}
	return order
}

func (s *shape) id(i int) string { return s.w.Steps[i].ID }

func (s *shape) names(path []int) string {
	parts := make([]string, len(path))
	for i, at := range path {
		parts[i] = s.id(at)
	}
	return strings.Join(parts, " → ")
}

// before reports whether step i has always ended when step j begins.
func (s *shape) before(i, j int) bool { return s.up != nil && s.up[j].has(i) }

// sorted sorts nodes topologically, or returns a cycle, with its first node repeated at the end.
func sorted(deps, after [][]int) (order, circle []int) {
	const (
		unseen = iota
		open
		done
	)
	state := make([]int, len(deps))
	var path []int
	var visit func(i int) []int
	visit = func(i int) []int {
		state[i] = open
		path = append(path, i)
		waits := deps[i]
		if after != nil {
			waits = slices.Concat(deps[i], after[i])
		}
		for _, dep := range waits {
			if state[dep] == open {
				return append(slices.Clone(path[slices.Index(path, dep):]), dep)
			}
			if state[dep] == unseen {
				if circle := visit(dep); circle != nil {
					return circle
				}
			}
		}
		state[i] = done
		path = path[:len(path)-1]
		order = append(order, i)
		return nil
	}
	for i := range deps {
		if state[i] == unseen {
			if circle := visit(i); circle != nil {
				return nil, circle
			}
		}
	}
	return order, nil
}

// bits is a set of steps.
type bits []uint64

func newBits(n int) bits { return make(bits, (n+63)/64) }

func (b bits) set(i int)      { b[i/64] |= 1 << (i % 64) }
func (b bits) has(i int) bool { return b[i/64]&(1<<(i%64)) != 0 }

func (b bits) add(other bits) {
	for i, word := range other {
		b[i] |= word
	}
}

func (b bits) meets(other bits) bool {
	for i, word := range other {
		if b[i]&word != 0 {
			return true
		}
	}
	return false
}

func (b bits) within(other bits) bool {
	for i, word := range b {
		if word&^other[i] != 0 {
			return false
		}
	}
	return true
}

// faultList collects faults.
type faultList []contracts.Fault

func (l *faultList) add(pointer, format string, args ...any) {
	*l = append(*l, contracts.Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)})
}

// at returns a JSON pointer of names and indexes.
func at(tokens ...any) string {
	var b strings.Builder
	for _, token := range tokens {
		text := fmt.Sprint(token)
		b.WriteString("/" + strings.ReplaceAll(strings.ReplaceAll(text, "~", "~0"), "/", "~1"))
	}
	return b.String()
}

// near suggests the known name that a misspelled one resembles.
func near[V any](name string, known map[string]V) string {
	best, least := "", 3
	for candidate := range known {
		if d := levenshtein.ComputeDistance(name, candidate); d < least || d == least && candidate < best {
			best, least = candidate, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}
