package tokenize

import (
	"slices"
)

// The scores of a camel-case name: it shares a part with a known value, only one parameter takes
// such names, or several do.
const (
	shared = 0.86
	sole   = 0.78
	other  = 0.6
)

// AddCamelCase adds a value to the known ones if it is in camel case.
func AddCamelCase(known []string, v string) []string {
	if Humps(v) == nil || slices.Contains(known, v) {
		return known
	}
	return append(known, v)
}

// CamelCaseWorth scores a camel-case name against the known values of one of several
// parameters.
func CamelCaseWorth(name string, known []string, takers int) float64 {
	humps := Humps(name)
	switch {
	case slices.ContainsFunc(known, func(v string) bool { return kindred(humps, Humps(v)) }):
		return shared
	case takers == 1:
		return sole
	}
	return other
}

// kindred reports whether two names begin or end with the same part.
func kindred(a, b []string) bool { return a[0] == b[0] || a[len(a)-1] == b[len(b)-1] }
