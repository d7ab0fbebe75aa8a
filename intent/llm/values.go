package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxSpread bounds the calls that lists for single values are spread to.
const maxSpread = 50

// spread makes several calls of one whose parameter takes one value and was given a list,
// unless a list parameter stands for it.
func spread(entry *contracts.CapabilityEntry, params map[string]any) []map[string]any {
	out := []map[string]any{params}
	schema, err := entry.Input()
	if err != nil || schema == nil {
		return out
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		items, list := params[name].([]any)
		property, declared := schema.Property(name)
		if !list || !declared || len(items) == 0 || len(property.Validate(params[name])) == 0 || takesLists(property) {
			continue
		}
		if rule, ok := listFor(entry, name); ok {
			for _, p := range out {
				p[rule] = items
				delete(p, name)
			}
			continue
		}
		var more []map[string]any
		for _, p := range out {
			for _, item := range items {
				one := maps.Clone(p)
				one[name] = item
				more = append(more, one)
			}
		}
		if len(more) <= maxSpread {
			out = more
		}
	}
	return out
}

// listFor is the list parameter that stands for several values of a single one.
func listFor(entry *contracts.CapabilityEntry, name string) (string, bool) {
	d := entry.Capability.Metadata.Decomposition
	if d == nil {
		return "", false
	}
	for _, rule := range d.ArrayParams {
		if rule.SingleParamName == name && rule.ParamName != name {
			return rule.ParamName, true
		}
	}
	return "", false
}

// fit makes values of what a model gave: what is null is not given; numbers in strings,
// dates in words, other words for the values of an enumeration, and one value where a list
// is expected are repaired; what is looked up by name may be any text. It says what does
// not fit.
func (m *message) fit(entry *contracts.CapabilityEntry, params map[string]any) (values map[string]any, faults []string) {
	values = map[string]any{}
	schema, err := entry.Input()
	if err != nil {
		return values, []string{err.Error()}
	}
	for _, name := range slices.Sorted(maps.Keys(params)) {
		v := params[name]
		if v == nil {
			continue
		}
		property, declared := (*contracts.Schema)(nil), false
		if schema != nil {
			property, declared = schema.Property(name)
		}
		if !declared {
			if schema != nil && open(schema) {
				values[name] = v
				continue
			}
			faults = append(faults, fmt.Sprintf("there is no parameter %q", name))
			continue
		}
		if v, ok := m.fitOne(entry, name, property, v); ok {
			values[name] = v
			continue
		}
		wrong := property.Validate(v)
		faults = append(faults, fmt.Sprintf("/%s%s: %s", contracts.EscapeToken(name), wrong[0].Pointer, wrong[0].Message))
	}
	return values, faults
}

// open tells a schema that takes keys which it does not declare.
func open(schema *contracts.Schema) bool {
	return schema.View().Open
}

func (m *message) fitOne(entry *contracts.CapabilityEntry, name string, property *contracts.Schema, v any) (any, bool) {
	if len(property.Validate(v)) == 0 {
		return v, true
	}
	for _, other := range repairs(entry, name, v) {
		if len(property.Validate(other)) == 0 {
			return other, true
		}
	}
	if items, ok := v.([]any); ok && takesLists(property) {
		if out, ok := m.fitItems(entry, name, property, items); ok {
			return out, true
		}
	}
	words, ok := v.(string)
	if !ok {
		return nil, false
	}
	if read, _ := m.local.Fill(entry, words, []string{name}, m.now); len(property.Validate(read[name])) == 0 && read[name] != nil {
		return read[name], true
	}
	return words, lookedUp(entry, name)
}

// fitItems fits each item of a list as if it were said by itself.
func (m *message) fitItems(entry *contracts.CapabilityEntry, name string, property *contracts.Schema, items []any) ([]any, bool) {
	each, ok := property.Items()
	if !ok {
		return nil, false
	}
	out := make([]any, 0, len(items))
	for _, item := range items {
		fitted, ok := m.fitOne(entry, name, each, item)
		if !ok {
			return nil, false
		}
		out = append(out, fitted)
	}
	return out, true
}

// repairs are other forms of a value, the nearest first.
func repairs(entry *contracts.CapabilityEntry, name string, v any) []any {
	var out []any
	switch v := v.(type) {
	case string:
		text := strings.TrimSpace(v)
		spec := entry.Capability.Metadata.ParameterSpecs[name]
		for alias, value := range spec.Aliases {
			if strings.EqualFold(alias, text) {
				out = append(out, value)
			}
		}
		out = append(out, enumValue(entry, name, text)...)
		if f, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err == nil && !math.IsInf(f, 0) && !math.IsNaN(f) {
			out = append(out, f)
		}
		if b, err := strconv.ParseBool(strings.ToLower(text)); err == nil {
			out = append(out, b)
		}
		var structured any
		if json.Unmarshal([]byte(text), &structured) == nil && structured != nil {
			out = append(out, structured)
		}
		out = append(out, text, []any{text})
	case float64, json.Number:
		out = append(out, fmt.Sprint(v), []any{v})
	case []any:
		if len(v) == 1 {
			out = append(out, v[0])
		}
	default:
		out = append(out, []any{v})
	}
	return out
}

// enumValue finds the values of an enumeration whatever their case, with spaces, dashes or
// underscores between their words.
func enumValue(entry *contracts.CapabilityEntry, name, text string) []any {
	property, ok := entry.View().Property(name)
	if !ok {
		return nil
	}
	if property.Items != nil {
		property = property.Items
	}
	var out []any
	for i, v := range property.Enum {
		if plainWords(fmt.Sprint(v)) == plainWords(text) || plainWords(property.Label(i)) == plainWords(text) {
			out = append(out, v)
		}
	}
	return out
}

func plainWords(s string) string {
	return strings.ToLower(strings.NewReplacer(" ", "", "-", "", "_", "").Replace(s))
}

// takesLists reports whether a schema is one of lists.
func takesLists(property *contracts.Schema) bool {
	_, items := property.Items()
	return items || property.View().Type == "array"
}

// lookedUp reports whether the words of a parameter are looked up before the call.
func lookedUp(entry *contracts.CapabilityEntry, name string) bool {
	flow := entry.Capability.Metadata.Flow
	return flow != nil && slices.ContainsFunc(flow.Pre, func(s contracts.PreStep) bool { return s.Param == name && !s.IsLookup() })
}
