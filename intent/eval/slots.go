package eval

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// slotCount counts the parameters of one case.
type slotCount struct {
	wanted int // parameters that the message gives
	filled int // parameters that were read
	right  int // of these, those with a right value
	// required and requiredRight count only required parameters that were read.
	required, requiredRight int
	calls, exact            int
}

func (s *slotCount) add(o slotCount) {
	s.wanted += o.wanted
	s.filled += o.filled
	s.right += o.right
	s.required += o.required
	s.requiredRight += o.requiredRight
	s.calls += o.calls
	s.exact += o.exact
}

// countSlots compares what was read with what is right.
func countSlots(entry *contracts.CapabilityEntry, gold map[string][]any, got map[string]any) slotCount {
	if len(gold) == 0 && len(got) == 0 {
		return slotCount{}
	}
	var schema struct {
		Required []string `json:"required"`
	}
	// A schema that cannot be read has no required parameters here.
	if err := json.Unmarshal(entry.Capability.Schema, &schema); err != nil {
		schema.Required = nil
	}
	n := slotCount{calls: 1, exact: 1}
	for name, values := range gold {
		v, read := got[name]
		n.one(values, v, read, slices.Contains(schema.Required, name))
	}
	n.filled = len(got)
	for name := range got {
		if _, meant := gold[name]; meant {
			continue
		}
		n.exact = 0
		if slices.Contains(schema.Required, name) {
			n.required++
		}
	}
	return n
}

// Right reports whether a value of a parameter is one of those that are meant.
func (g Gold) Right(name string, value any) bool {
	return slices.ContainsFunc(g.Parameters[name], func(want any) bool { return same(want, value) })
}

// MayLack reports whether a parameter need not have a value.
func (g Gold) MayLack(name string) bool {
	values, meant := g.Parameters[name]
	return !meant || slices.ContainsFunc(values, func(v any) bool { return v == "" })
}

// one compares one parameter.
func (s *slotCount) one(values []any, got any, read, required bool) {
	optional := slices.ContainsFunc(values, func(v any) bool { return v == "" })
	right := read && slices.ContainsFunc(values, func(want any) bool { return same(want, got) })
	if read || !optional {
		s.wanted++
		if !right {
			s.exact = 0
		}
	}
	if right {
		s.right++
	}
	if read && required {
		s.required++
		if right {
			s.requiredRight++
		}
	}
}

// same compares values as people do: numbers by value, texts without case and
// punctuation, lists in order.
func same(want, got any) bool {
	if w, ok := number(want); ok {
		g, ok := number(got)
		return ok && math.Abs(w-g) <= 1e-9*max(1, math.Abs(w))
	}
	switch w := want.(type) {
	case []any:
		g, ok := got.([]any)
		return ok && slices.EqualFunc(w, g, same)
	case bool:
		return got == want
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok || len(g) != len(w) {
			return false
		}
		for k, v := range w {
			if list, many := v.([]any); !same(v, g[k]) && (!many || !slices.ContainsFunc(list, func(v any) bool { return same(v, g[k]) })) {
				return false
			}
		}
		return true
	}
	return plain(want) == plain(got)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case float64:
		return n, true
	case int:
		return float64(n), true
	case int64:
		return float64(n), true
	}
	return 0, false
}

func plain(v any) string {
	text := strings.ToLower(fmt.Sprint(v))
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" ,.;:'\"’“”_-()!?", r) }), " ")
}
