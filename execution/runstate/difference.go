package runstate

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// Difference lists the differences of two values as JSON, ordered by pointer. It returns nil for
// values that cannot be encoded.
func Difference(before, after any) []contracts.FieldDifference {
	a, errA := contracts.Normalize(before)
	b, errB := contracts.Normalize(after)
	if cmp.Or(errA, errB) != nil {
		return nil
	}
	return appendDifference(nil, "", a, b)
}

func appendDifference(out []contracts.FieldDifference, pointer string, a, b any) []contracts.FieldDifference {
	x, isMapA := a.(map[string]any)
	y, isMapB := b.(map[string]any)
	if isMapA && isMapB {
		names := maps.Clone(x)
		maps.Copy(names, y)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			out = appendDifference(out, pointer+"/"+contracts.EscapeToken(name), x[name], y[name])
		}
		return out
	}
	list, isListA := a.([]any)
	other, isListB := b.([]any)
	if isListA && isListB && len(list) == len(other) {
		for i := range list {
			out = appendDifference(out, fmt.Sprintf("%s/%d", pointer, i), list[i], other[i])
		}
		return out
	}
	if !reflect.DeepEqual(a, b) {
		out = append(out, contracts.FieldDifference{Pointer: pointer, Before: a, After: b})
	}
	return out
}
