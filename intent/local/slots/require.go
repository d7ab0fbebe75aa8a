package slots

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// missing lists the required parameters without a value. Of several alternatives it selects the
// one with the fewest missing, the first on a tie.
func (s *Set) missing(values map[string]any) []string {
	var out []string
	add := func(names []string) {
		for _, n := range names {
			if !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(s.lacking(s.required.All, values))
	for _, group := range s.required.Groups {
		best := s.lacking(group[0], values)
		for _, alt := range group[1:] {
			if l := s.lacking(alt, values); len(l) < len(best) {
				best = l
			}
		}
		add(best)
	}
	return out
}

// lacking returns the names without a value. A list parameter and its single-value counterpart
// stand for each other.
func (s *Set) lacking(names []string, values map[string]any) []string {
	var out []string
	for _, n := range names {
		if _, ok := values[n]; ok {
			continue
		}
		if fields, isObject := lackingFields(s, n, values); isObject {
			out = append(out, fields...)
			continue
		}
		p := s.byName(n)
		if p != nil && (p.hasDefault || has(values, p.single) || has(values, p.list)) {
			continue
		}
		if p != nil && p.single != "" {
			n = p.single // ask for one; the answer may give several
		}
		if !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// lackingFields returns the required fields of an object that have no value, or the object itself
// if no field has a value and none is required.
func lackingFields(s *Set, name string, values map[string]any) (fields []string, isObject bool) {
	view, ok := s.view.Property(name)
	if !ok || !slices.ContainsFunc(s.params, func(p *param) bool { return within(p.single, name) || within(p.list, name) }) {
		return nil, false
	}
	for _, needed := range view.Required {
		path := contracts.FieldName(name, needed)
		if p := s.byName(path); p != nil && !p.hasDefault && !has(values, path) {
			fields = append(fields, path)
		}
	}
	given := slices.ContainsFunc(sortedKeys(values), func(n string) bool { return within(n, name) })
	if !given && len(fields) == 0 {
		fields = []string{name}
	}
	return fields, true
}

func has(values map[string]any, name string) bool {
	_, ok := values[name]
	return name != "" && ok
}
