package flow_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

func sortedKeys(m object) []string { return slices.Sorted(maps.Keys(m)) }

// differences returns the paths at which two documents differ.
func differences(a, b []byte) string {
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		return "not comparable"
	}
	return strings.Join(differ("", x, y), "\n")
}

func differ(at string, a, b any) []string {
	var out []string
	switch x := a.(type) {
	case object:
		y, ok := b.(object)
		if !ok {
			break
		}
		for _, k := range sortedKeys(x) {
			if v, there := y[k]; there {
				out = append(out, differ(at+"/"+k, x[k], v)...)
			} else {
				out = append(out, at+"/"+k+" is gone")
			}
		}
		return out
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			break
		}
		for i := range x {
			out = append(out, differ(fmt.Sprintf("%s/%d", at, i), x[i], y[i])...)
		}
		return out
	}
	if p, q := fmt.Sprint(a), fmt.Sprint(b); p != q {
		out = append(out, fmt.Sprintf("%s: %.60s is now %.60s", at, p, q))
	}
	return out
}
