package planner

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// capability is a catalog entry with its parsed schema.
type capability struct {
	*contracts.CapabilityEntry

	view *contracts.SchemaView

	// names are the patterns of names that are allowed besides the declared ones.
	names []*regexp.Regexp
}

func newCapability(e *contracts.CapabilityEntry) *capability {
	c := &capability{CapabilityEntry: e, view: e.View()}
	for _, pattern := range c.view.NamePatterns {
		if re, err := regexp.Compile(pattern); err == nil {
			c.names = append(c.names, re)
		}
	}
	return c
}

// combining are the keywords that constrain several parameters together.
var combining = []string{
	"required", "oneOf", "anyOf", "allOf", "not", "if", "then", "else", "dependentRequired",
	"dependentSchemas", "minProperties", "maxProperties", "unevaluatedProperties", "propertyNames", "$id",
}

// checkWhole validates the parameters of a call against the schema.
func (c *capability) checkWhole(params map[string]any) ([]contracts.Fault, error) {
	schema, err := c.Input()
	if err != nil {
		return nil, fmt.Errorf("compile the schema of %s: %w", c.Ref(), err)
	}
	return schema.Validate(params), nil
}

// checkEach validates each parameter by itself, without the constraints on combinations.
func (c *capability) checkEach(params map[string]any) []contracts.Fault {
	schema := c.Each(c.loosened)
	if schema == nil {
		return nil
	}
	return schema.Validate(params)
}

// checkKnown validates the known parameters; all means that they are complete.
func (c *capability) checkKnown(params map[string]any, all bool) ([]contracts.Fault, error) {
	if all {
		return c.checkWhole(params)
	}
	return c.checkEach(params), nil
}

// loosened returns the schema without constraints on combinations, nil if that does not compile.
// Then single parameters are not validated early, but the whole schema still is, here and in the
// run.
func (c *capability) loosened() *contracts.Schema {
	whole, err := c.Input()
	if err != nil {
		return nil
	}
	loose := whole.SelfContained()
	for _, keyword := range combining {
		delete(loose, keyword)
	}
	raw, err := json.Marshal(loose)
	if err != nil {
		return nil
	}
	compiled, err := contracts.CompileSchema(raw)
	if err != nil {
		return nil
	}
	return compiled
}

// knows reports whether a parameter, or a field of one, may be given.
func (c *capability) knows(name string) bool {
	if _, declared := c.at(name); declared || c.view.Open {
		return true
	}
	return slices.ContainsFunc(c.names, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

// at returns the view of a parameter, or of a field of one.
func (c *capability) at(name string) (*contracts.SchemaView, bool) {
	view := c.view
	for _, step := range contracts.FieldPath(name) {
		inner, ok := view.Property(step)
		if !ok {
			return &contracts.SchemaView{}, false
		}
		view = inner
	}
	return view, true
}

// property returns the view of a parameter, empty if it is not declared.
func (c *capability) property(name string) *contracts.SchemaView {
	view, _ := c.at(name)
	return view
}

// declared reports whether the schema declares a parameter.
func (c *capability) declared(name string) bool {
	_, ok := c.at(name)
	return ok
}

// plansOnly reports whether a parameter is only for the planner.
func (c *capability) plansOnly(name string) bool { return c.property(name).OnlyHere }

func (c *capability) spec(name string) contracts.ParameterSpec {
	return c.Capability.Metadata.ParameterSpecs[name]
}

// title describes the capability in a few words.
func (c *capability) title() string {
	text := contracts.CleanSummary(c.Capability.Description)
	if text == "" {
		return strings.ReplaceAll(c.Capability.Name, "_", " ")
	}
	for _, end := range []string{". ", ": ", "; "} { // the rest is an explanation
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(cut(text, 80), ".")
}

// missing returns the missing required parameters, including fields of objects that are incomplete.
func (c *capability) missing(params map[string]any) []string {
	return lacking(c.view, nil, params)
}

// lacking returns the missing required members of an object; within is the path of the object.
func lacking(view *contracts.SchemaView, within []string, object map[string]any) []string {
	var out []string
	demand := func(names []string) {
		for _, name := range names {
			path := contracts.FieldName(append(slices.Clone(within), name)...)
			if _, given := object[name]; !given && !slices.Contains(out, path) {
				out = append(out, path)
			}
		}
	}
	demand(view.Required)
	for _, name := range slices.Sorted(maps.Keys(view.Dependent)) {
		if _, given := object[name]; given {
			demand(view.Dependent[name])
		}
	}
	for _, group := range view.Choices {
		demand(nearest(group, object))
	}
	if len(within) >= maxFieldDepth {
		return out
	}
	for i := range view.Properties {
		p := &view.Properties[i]
		if inner, ok := object[p.Name].(map[string]any); ok && p.Type == "object" {
			out = append(out, lacking(&p.SchemaView, append(slices.Clone(within), p.Name), inner)...)
		}
	}
	return out
}

// maxFieldDepth limits how deep missing fields of objects are asked for one by one.
const maxFieldDepth = 3

// nearest returns what the closest of several alternatives still needs, nil if one of them is
// complete.
func nearest(group []contracts.Choice, params map[string]any) []string {
	var best []string
	for _, choice := range group {
		if contradicts(choice, params) {
			continue
		}
		absent := slices.DeleteFunc(slices.Clone(choice.Required), func(name string) bool { _, given := params[name]; return given })
		if len(absent) == 0 {
			return nil
		}
		if best == nil || len(absent) < len(best) {
			best = absent
		}
	}
	return best
}

// contradicts reports whether a given value conflicts with the constants of an alternative.
func contradicts(choice contracts.Choice, params map[string]any) bool {
	for name, want := range choice.Fixed {
		if given, ok := params[name]; ok && !reflect.DeepEqual(want, given) {
			return true
		}
	}
	return false
}

// exclusive reports whether a parameter belongs to one of several alternatives.
func (c *capability) exclusive(name string) bool {
	return slices.ContainsFunc(c.view.Choices, func(group []contracts.Choice) bool {
		return slices.ContainsFunc(group, func(choice contracts.Choice) bool { return slices.Contains(choice.Required, name) })
	})
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// pointerOf returns the pointer of a parameter, or of a field of one.
func pointerOf(name string) string {
	if len(contracts.FieldPath(name)) > 1 {
		return name
	}
	return "/" + contracts.EscapeToken(name)
}

// cut shortens a text to n characters.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
