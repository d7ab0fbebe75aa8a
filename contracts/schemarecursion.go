package contracts

import "slices"

// edges are what the schema at a place leads to: for the same value, and for what is
// in the value. Branches are those of them that stand beside others for one value.
type edges struct{ same, below []edge }

type edge struct {
	to     string
	branch bool
}

// sameValue are the keywords whose schemas are about the value itself.
var sameValue = []string{"$ref", "allOf", "anyOf", "dependentSchemas", "else", "if", "not", "oneOf", "then"}

// edge notes that a keyword leads from one place to another.
func (g *schemaGuard) edge(from, keyword, to string) {
	at := g.edges[from]
	if at == nil {
		at = &edges{}
		g.edges[from] = at
	}
	e := edge{to: to, branch: slices.Contains(branchingKeywords, keyword) || slices.Contains(branchingListKeywords, keyword) || slices.Contains(branchingMapKeywords, keyword)}
	switch {
	case slices.Contains(definitionKeywords, keyword): // applies to nothing by itself
	case slices.Contains(sameValue, keyword):
		at.same = append(at.same, e)
	default:
		at.below = append(at.below, e)
	}
}

// fewestLevels is how deep the values of a schema that holds itself must be able to
// nest, for it to be of use.
const fewestLevels = 4

// checkRecursion finds how deep values may nest where a schema holds itself, so that
// none takes longer to check than one of a schema that does not. A schema that comes
// back to itself for the same value has no end.
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

// expand is the size of a place for values of one level, from those of its places for
// the same value and of those for what is in it.
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

// bottomUp orders all places so that each comes behind those that it applies to the
// same value; loop is "!" and one that comes back to itself, "" if none does.
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
