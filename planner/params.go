package planner

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// maxParamDepth limits the nesting of a parameter.
const maxParamDepth = 64

// cleaner copies external parameters into plain JSON values and lists values that JSON cannot
// encode.
type cleaner struct {
	// templates means that texts are already templates and are not escaped.
	templates bool
	faults    []contracts.Fault
}

func (c *cleaner) object(params map[string]any, pointer string, depth int) map[string]any {
	out := make(map[string]any, len(params))
	for _, name := range slices.Sorted(maps.Keys(params)) {
		out[name] = c.value(params[name], pointer+"/"+contracts.EscapeToken(name), depth)
	}
	return out
}

func (c *cleaner) value(v any, pointer string, depth int) any {
	if depth > maxParamDepth {
		return c.refuse(pointer, "nests deeper than %d levels", maxParamDepth)
	}
	switch v := v.(type) {
	case nil, bool:
		return v
	case string:
		if c.templates {
			return v
		}
		return expr.Escape(v) // data is never evaluated
	case map[string]any:
		return c.object(v, pointer, depth+1)
	case []any:
		return c.list(v, pointer, depth+1)
	default:
		return c.foreign(v, pointer, depth)
	}
}

func (c *cleaner) list(items []any, pointer string, depth int) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = c.value(item, pointer+"/"+strconv.Itoa(i), depth)
	}
	return out
}

// foreign converts numbers and other Go values, such as []string, to plain JSON values.
func (c *cleaner) foreign(v any, pointer string, depth int) any {
	plain, err := contracts.Normalize(v)
	if err != nil {
		return c.refuse(pointer, "is not a JSON value: %s", err)
	}
	switch plain.(type) {
	case map[string]any, []any, string:
		return c.value(plain, pointer, depth+1)
	default:
		return plain
	}
}

func (c *cleaner) refuse(pointer, format string, args ...any) any {
	c.faults = append(c.faults, fault(pointer, format, args...))
	return nil
}

// param returns the parameter of a pointer.
func param(pointer string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/")
	return contracts.UnescapeToken(first)
}

// fieldAt returns the parameter of a pointer, or the deepest declared field of it.
func (c *capability) fieldAt(pointer string) string {
	path := contracts.FieldPath(pointer)
	for ; len(path) > 1; path = path[:len(path)-1] {
		if name := contracts.FieldName(path...); c.declared(name) {
			return name
		}
	}
	return param(pointer)
}

// unknown lists the parameters that the capability does not have.
func (c *capability) unknown(params map[string]any) []contracts.Fault {
	var faults []contracts.Fault
	for _, name := range slices.Sorted(maps.Keys(params)) {
		if !c.knows(name) {
			faults = append(faults, fault("/"+contracts.EscapeToken(name), "%s has no parameter %q", c.Ref(), name))
		}
	}
	return faults
}

// applyAliases replaces spoken words by their values. The aliases of a single parameter also apply
// to the items of its list parameter.
func (c *capability) applyAliases(params map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(c.Capability.Metadata.ParameterSpecs)) {
		aliases := c.spec(name).Aliases
		if len(aliases) == 0 {
			continue
		}
		if given, ok := params[name]; ok {
			params[name] = aliased(given, aliases)
		}
		for _, rule := range c.arrayRules() {
			if given, ok := params[rule.ParamName]; ok && rule.SingleParamName == name && rule.ParamName != name {
				params[rule.ParamName] = aliased(given, aliases)
			}
		}
	}
}

func aliased(v any, aliases map[string]any) any {
	switch v := v.(type) {
	case string:
		return meaning(v, aliases)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = item
			if text, ok := item.(string); ok {
				out[i] = meaning(text, aliases)
			}
		}
		return out
	default:
		return v
	}
}

// meaning looks up a word, ignoring case. A value of an alias is left unchanged, so that aliases
// may be applied twice.
func meaning(word string, aliases map[string]any) any {
	if value, ok := aliases[word]; ok {
		return expr.Escape(value)
	}
	spoken := slices.Sorted(maps.Keys(aliases))
	if slices.ContainsFunc(spoken, func(s string) bool { return reflect.DeepEqual(aliases[s], word) }) {
		return word
	}
	trimmed := strings.TrimSpace(word)
	for _, s := range spoken {
		if strings.EqualFold(s, trimmed) {
			return expr.Escape(aliases[s])
		}
	}
	return word
}

// applyDefaults sets absent parameters to their defaults. Parameters of other alternatives get no
// default if one alternative was chosen.
func (c *capability) applyDefaults(params map[string]any) {
	chosen := !slices.ContainsFunc(c.view.Choices, func(group []contracts.Choice) bool { return len(nearest(group, params)) > 0 })
	for i := range c.view.Properties {
		name := c.view.Properties[i].Name
		value, ok := c.standard(name)
		if _, given := params[name]; given || !ok || (chosen && c.exclusive(name)) || c.listed(name, params) {
			continue
		}
		params[name] = value
	}
}

// dropNulls removes optional parameters that are null: they count as not given.
func (c *capability) dropNulls(params map[string]any) {
	maps.DeleteFunc(params, func(name string, v any) bool { return v == nil && !slices.Contains(c.view.Required, name) })
}

// standard returns the default of a parameter from its schema or its spec. Like an alias it is data
// and is escaped: an expression in it could otherwise read the results of other domains.
func (c *capability) standard(name string) (any, bool) {
	value := c.property(name).Default
	if value == nil {
		value = c.spec(name).Default
	}
	return expr.Escape(value), value != nil
}

// listed reports whether the other parameter of an array rule was given.
func (c *capability) listed(name string, params map[string]any) bool {
	for _, rule := range c.arrayRules() {
		other := ""
		switch name {
		case rule.SingleParamName:
			other = rule.ParamName
		case rule.ParamName:
			other = rule.SingleParamName
		}
		if _, given := params[other]; given && other != "" && other != name {
			return true
		}
	}
	return false
}

func (c *capability) arrayRules() []contracts.ArrayRule {
	if d := c.Capability.Metadata.Decomposition; d != nil {
		return d.ArrayParams
	}
	return nil
}

// sent returns the parameters without those that are only for the planner.
func (c *capability) sent(params map[string]any) map[string]any {
	out := maps.Clone(params)
	maps.DeleteFunc(out, func(name string, _ any) bool { return c.plansOnly(name) })
	return out
}
