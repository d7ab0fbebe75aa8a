package contracts

import "slices"

// edges are the schemas that the schema at a location applies to the same value, and those that
// it applies to parts of the value. A branch is applied beside others to one value.
type edges struct{ same, below []edge }

type edge struct {
	to     string
	branch bool
}

// sameValue are the keywords whose schemas apply to the value itself.
var sameValue = []string{"$ref", "allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"}

// edge records that a keyword leads from one location to another.
func (g *schemaGuard) edge(from, keyword, to string) {
	at := g.edges[from]
	if at == nil {
		at = &edges{}
		g.edges[from] = at
	}
	e := edge{to: to, branch: slices.Contains(branchingKeywords, keyword) || slices.Contains(branchingListKeywords, keyword) || slices.Contains(branchingMapKeywords, keyword)}
	switch {
	case slices.Contains(definitionKeywords, keyword): // definitions apply to nothing by themselves
	case slices.Contains(sameValue, keyword):
		at.same = append(at.same, e)
	default:
		at.below = append(at.below, e)
	}
}

// fewestLevels is the minimum nesting that a recursive schema must support to be accepted.
const fewestLevels = 4

// checkRecursion computes how deep values of a recursive schema may nest, so that validating one
// takes no longer than with other schemas. It rejects a schema that refers to itself for the same
// value, because its validation would not end.
func (g *schemaGuard) checkRecursion() {
	if !g.recursive {
		return
	}
	order, loop := g.bottomUp()
	switch {
	case loop != "":
		g.faults.add(loop[1:], "the schema refers to itself for the same value, without an end")
		return
	case len(order) > MaxSchemaSize:
		g.faults.add("", "the schema holds itself and has more than %d places", MaxSchemaSize)
		return
	}
	var above map[string]extent
	for level := 0; level <= MaxSchemaDepth; level++ {
		here := make(map[string]extent, len(order))
		for _, place := range order {
			here[place] = g.expand(place, here, above)
		}
		if e := here[""]; e.size > MaxSchemaSize || e.branched > MaxSchemaBranches {
			break
		}
		g.levels, above = level, here
	}
	if g.levels < fewestLevels {
		g.faults.add("", "the schema holds itself and expands within %d levels to more than %d places, or %d below allOf, anyOf and the like",
			fewestLevels, MaxSchemaSize, MaxSchemaBranches)
	}
}

// expand returns the size of a location for values of one level, computed from the sizes of the
// schemas for the same value and for its parts.
func (g *schemaGuard) expand(place string, same, below map[string]extent) extent {
	e := extent{size: 1}
	add := func(of []edge, sizes map[string]extent) {
		for _, to := range of {
			inner := sizes[to.to]
			if to.branch {
				inner.branched = inner.size
			}
			e.size = min(e.size+inner.size, MaxSchemaSize+1)
			e.branched = min(e.branched+inner.branched, MaxSchemaSize+1)
		}
	}
	if at := g.edges[place]; at != nil {
		add(at.same, same)
		add(at.below, below)
	}
	return e
}

// bottomUp sorts all locations so that each follows those that it applies to the same value. loop
// is "!" and a location that refers to itself, or "".
func (g *schemaGuard) bottomUp() (order []string, loop string) {
	const visiting, done = 1, 2
	state := map[string]int{}
	var visit func(place string)
	visit = func(place string) {
		switch state[place] {
		case visiting:
			loop = "!" + place
			return
		case done:
			return
		}
		state[place] = visiting
		if at := g.edges[place]; at != nil {
			for _, e := range at.same {
				visit(e.to)
			}
		}
		state[place] = done
		order = append(order, place)
	}
	for _, place := range sortedKeys(g.known) {
		visit(place)
	}
	return order, loop
}
