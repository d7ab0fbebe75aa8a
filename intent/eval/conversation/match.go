package conversation

import (
	"maps"
	"slices"
)

// Capability is what the grader has to know of a capability.
type Capability struct {
	Ref         string `json:"ref"`
	Name        string `json:"name"`
	Description string `json:"description"`
	// Defaults are the values that the schema gives parameters, for all that it
	// declares; nil where it gives none.
	Defaults map[string]any `json:"defaults,omitempty"`
	Required []string       `json:"required,omitempty"`
	// Asks are the texts that ask for its parameters.
	Asks []string `json:"asks,omitempty"`
}

// Catalog holds the capabilities of a server by reference.
type Catalog map[string]Capability

// Expand turns a list of values of one parameter into one call for each value.
func (r Rules) Expand(wanted []Action) []Action {
	var out []Action
	for _, a := range wanted {
		rest := []map[string]any{a.Params}
		for _, key := range slices.Sorted(maps.Keys(a.Params)) {
			if list, ok := a.Params[key].([]any); ok && !slices.Contains(r.Lists, key) {
				rest = spread(rest, key, list)
			}
		}
		for _, params := range rest {
			a.Params = params
			out = append(out, a)
		}
	}
	return out
}

func spread(rest []map[string]any, key string, list []any) []map[string]any {
	var out []map[string]any
	for _, params := range rest {
		for _, v := range list {
			one := maps.Clone(params)
			one[key] = v
			out = append(out, one)
		}
	}
	return out
}

// matcher compares calls by the rules of a set.
type matcher struct {
	rules   Rules
	catalog Catalog
}

// fits reports whether a call is what was wanted, with no other values.
func (m matcher) fits(want Action, got Call) bool {
	if want.Capability != got.Capability {
		return false
	}
	c := m.catalog[want.Capability]
	for key, value := range want.Params {
		have := got.Params[key]
		if have == nil {
			have = c.Defaults[key]
		}
		named := got.Named[key]
		if have == nil || !m.rules.Equal(key, value, have) && (named == nil || !m.rules.Equal(key, value, named)) {
			return false
		}
	}
	for key, value := range got.Params {
		if _, wanted := want.Params[key]; !wanted && !m.harmless(c, key, value) {
			return false
		}
	}
	return true
}

// harmless reports whether a value that nobody expected may be there: a free
// parameter, an empty value, or a default.
func (m matcher) harmless(c Capability, key string, value any) bool {
	_, declared := c.Defaults[key]
	if declared && slices.Contains(m.rules.Free, key) && !slices.Contains(c.Required, key) {
		return true
	}
	if value == nil || value == false || value == "" || value == "ALL" {
		return true
	}
	return c.Defaults[key] != nil && m.rules.Equal(key, c.Defaults[key], value)
}

// same reports whether the calls are those that were wanted, no more and no less.
func (m matcher) same(wanted []Action, got []Call) bool {
	left := slices.Clone(got)
	for _, w := range m.rules.Expand(wanted) {
		at := slices.IndexFunc(left, func(g Call) bool { return m.fits(w, g) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return len(left) == 0
}

// subset reports whether each call is one of the wanted ones.
func (m matcher) subset(wanted []Action, got []Call) bool {
	left := m.rules.Expand(wanted)
	for _, g := range got {
		at := slices.IndexFunc(left, func(w Action) bool { return m.fits(w, g) })
		if at < 0 {
			return false
		}
		left = slices.Delete(left, at, at+1)
	}
	return true
}

func (m matcher) anySame(choices [][]Action, got []Call) bool {
	return slices.ContainsFunc(choices, func(c []Action) bool { return m.same(c, got) })
}

// within reports whether the calls are part of one of the choices; without
// choices, whether there are none.
func (m matcher) within(choices [][]Action, got []Call) bool {
	if len(choices) == 0 {
		return len(got) == 0
	}
	return slices.ContainsFunc(choices, func(c []Action) bool { return m.subset(c, got) })
}
