package slots

import "github.com/manifold-run/manifold/contracts"

// Mentioned returns the only name in a run of tokens as the value of a parameter that takes names
// or free text: "someone mentioned Blue Harbour, what is its address".
func Mentioned(s *Set, m *Message, run Range, name string) (v any, ev contracts.Evidence, ok bool) {
	r := &reading{passage: s.passage(m, run, []string{name})}
	frees := r.near.frees()
	first, last, found := r.spelling.Only()
	if !found || len(frees) != 1 || frees[0].single != name {
		return nil, ev, false
	}
	v, ok = s.parse(frees[0], r.wording.Text(first, last), r.now)
	return v, contracts.Evidence{Kind: kindName, P: floorOptional, Span: [2]int{r.doc.Tokens[first].Start, r.doc.Tokens[last].End}}, ok
}
