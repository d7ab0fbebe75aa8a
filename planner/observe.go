package planner

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// mayObserve reports whether a read may see the effect of a write: they share a value (including
// those of the write's locks), may share one after look-ups, or one of them concerns the whole
// domain.
func (a *plannedIntent) mayObserve(write *plannedIntent) bool {
	all := a.target.Domain == write.target.Domain && (!a.hasObject() || !write.hasObject())
	return all || slices.ContainsFunc(slices.Collect(maps.Keys(a.intent.Parameters)), func(name string) bool {
		return write.mentions(name, a.call.given[name], a.searched(name))
	})
}

// mentions reports whether a parameter of the intent has the value, or may have it after a look-up:
// the same name with a text that is still to be searched for.
func (a *plannedIntent) mentions(name string, value any, open bool) bool {
	for other := range a.intent.Parameters {
		same := other == name
		if same && (open || a.searched(other)) {
			return true
		}
		for _, mine := range elements(a.call.given[other]) {
			if slices.ContainsFunc(elements(value), func(v any) bool { return sameValue(mine, v, same) }) {
				return true
			}
		}
	}
	return false
}

// elements returns the items of a list, or the value itself.
func elements(v any) []any {
	if items, ok := v.([]any); ok {
		return items
	}
	return []any{v}
}

// sameValue compares two values. Under different names only texts can be equal: a count is not an
// age.
func sameValue(x, y any, sameName bool) bool {
	a, textA := plain(x).(string)
	b, textB := plain(y).(string)
	_, isBool := x.(bool)
	return textA && textB && a != "" && strings.EqualFold(a, b) || sameName && !isBool && x != nil && reflect.DeepEqual(x, y)
}

// searched reports whether a parameter is resolved by a search during the run.
func (a *plannedIntent) searched(name string) bool {
	return slices.ContainsFunc(a.call.members, func(m member) bool {
		return slices.ContainsFunc(m.pre, func(s contracts.PreStep) bool { return s.Param == name })
	})
}

// hasObject reports whether the intent names a specific object: a value that is not a switch, not
// one of an enum, and not of a parameter with a default.
func (a *plannedIntent) hasObject() bool {
	for name, value := range a.intent.Parameters {
		property := a.target.property(name)
		if _, isBool := value.(bool); !isBool && value != nil && len(property.Enum) == 0 && property.Default == nil {
			return true
		}
	}
	return false
}
