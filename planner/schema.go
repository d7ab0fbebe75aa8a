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

// onlyHere marks parameters that steer the plan and are never sent.
const onlyHere = "x-manifold-only"

// capability is a catalog entry whose schema was read.
type capability struct {
	*contracts.CapabilityEntry
	// document is the whole schema, for local references; root is the object
	// schema in it.
	document map[string]any
	root     map[string]any
	// declared are the names of all parameters; open allows any other.
	declared map[string]bool
	open     bool
	patterns []*regexp.Regexp
}

func newCapability(e *contracts.CapabilityEntry) (*capability, error) {
	c := &capability{CapabilityEntry: e, declared: map[string]bool{}}
	if err := contracts.Decode(e.Capability.Schema, &c.document); err != nil {
		return nil, contracts.Errorf(contracts.CodeInternal, "read the schema of %s: %w", e.Ref(), err)
	}
	c.root = c.follow(c.document)
	c.declare(c.root, 0)
	return c, nil
}

// combining are the keywords that speak of several parameters together.
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

// checkEach validates each parameter for itself; it demands nothing of their
// combination.
func (c *capability) checkEach(params map[string]any) []contracts.Fault {
	schema := c.Each(c.loosened)
	if schema == nil {
		return nil
	}
	return schema.Validate(params)
}

// checkKnown validates what is known of the parameters, as a whole where that
// is all of them.
func (c *capability) checkKnown(params map[string]any, all bool) ([]contracts.Fault, error) {
	if all {
		return c.checkWhole(params)
	}
	return c.checkEach(params), nil
}

// loosened is the schema without what combines parameters, nil where a
// reference leads into what was left out: then nothing can be said of single
// parameters, but the whole schema, and the run, will.
func (c *capability) loosened() *contracts.Schema {
	loose := maps.Clone(c.root)
	for _, keyword := range combining {
		delete(loose, keyword)
	}
	for _, defs := range []string{"$defs", "definitions"} {
		if d, ok := c.document[defs]; ok {
			loose[defs] = d
		}
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

// follow resolves a local reference; a schema without one is itself.
func (c *capability) follow(schema map[string]any) map[string]any {
	for range contracts.MaxSchemaDepth {
		ref, ok := schema["$ref"].(string)
		if !ok {
			return schema
		}
		target, ok := c.at(ref)
		if !ok {
			return schema
		}
		schema = target
	}
	return schema
}

// at finds the object schema that a local reference names.
func (c *capability) at(ref string) (map[string]any, bool) {
	path, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	here := any(c.document)
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		object, ok := here.(map[string]any)
		if !ok {
			return nil, false
		}
		here = object[contracts.UnescapeToken(step)]
	}
	found, ok := here.(map[string]any)
	return found, ok
}

// declare collects the parameter names of a schema and of its branches.
func (c *capability) declare(schema map[string]any, depth int) {
	if depth > contracts.MaxSchemaDepth {
		return
	}
	for name := range object(schema["properties"]) {
		c.declared[name] = true
	}
	for pattern := range object(schema["patternProperties"]) {
		if re, err := regexp.Compile(pattern); err == nil {
			c.patterns = append(c.patterns, re)
		}
	}
	if extra, ok := schema["additionalProperties"]; ok && extra != false {
		c.open = true
	}
	for _, branch := range branches(schema) {
		c.declare(c.follow(branch), depth+1)
	}
}

// branches are the schemas that apply to the same object.
func branches(schema map[string]any) []map[string]any {
	var out []map[string]any
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		for _, branch := range listOf(schema[keyword]) {
			out = append(out, object(branch))
		}
	}
	for _, keyword := range []string{"if", "then", "else"} {
		if branch := object(schema[keyword]); branch != nil {
			out = append(out, branch)
		}
	}
	dependent := object(schema["dependentSchemas"])
	for _, name := range slices.Sorted(maps.Keys(dependent)) {
		out = append(out, object(dependent[name]))
	}
	return out
}

func object(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// knows tells whether a parameter may be given.
func (c *capability) knows(name string) bool {
	return c.open || c.declared[name] ||
		slices.ContainsFunc(c.patterns, func(p *regexp.Regexp) bool { return p.MatchString(name) })
}

// property is the schema of one parameter, nil if the root does not declare it.
func (c *capability) property(name string) map[string]any {
	return c.follow(object(object(c.root["properties"])[name]))
}

// plansOnly tells whether a parameter is for the planner alone.
func (c *capability) plansOnly(name string) bool {
	marked, _ := object(object(c.root["properties"])[name])[onlyHere].(bool)
	return marked || c.property(name)[onlyHere] == true
}

func (c *capability) spec(name string) contracts.ParameterSpec {
	return c.Capability.Metadata.ParameterSpecs[name]
}

// title is what the capability does, in a few words.
func (c *capability) title() string {
	text := contracts.CleanSummary(c.Capability.Description)
	if text == "" {
		return strings.ReplaceAll(c.Capability.Name, "_", " ")
	}
	for _, end := range []string{". ", ": ", "; "} { // what follows explains it
		text, _, _ = strings.Cut(text, end)
	}
	return strings.TrimSuffix(cut(text, 80), ".")
}

// missing names the parameters without which the call cannot be made.
func (c *capability) missing(params map[string]any) []string {
	var out []string
	demand := func(names []any) {
		for _, n := range names {
			name, ok := n.(string)
			if _, given := params[name]; ok && !given && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	demand(listOf(c.root["required"]))
	for _, branch := range listOf(c.root["allOf"]) {
		demand(listOf(c.follow(object(branch))["required"]))
	}
	dependent := object(c.root["dependentRequired"])
	for _, name := range slices.Sorted(maps.Keys(dependent)) {
		if _, given := params[name]; given {
			demand(listOf(dependent[name]))
		}
	}
	for _, keyword := range []string{"oneOf", "anyOf"} {
		demand(c.nearest(keyword, params))
	}
	return out
}

// nearest gives what the closest of several alternatives still needs; nothing
// when one of them is met.
func (c *capability) nearest(keyword string, params map[string]any) []any {
	var best []any
	for _, raw := range listOf(c.root[keyword]) {
		branch := c.follow(object(raw))
		if contradicts(branch, params) {
			continue
		}
		var absent []any
		for _, name := range listOf(branch["required"]) {
			text, ok := name.(string)
			if _, given := params[text]; ok && !given {
				absent = append(absent, name)
			}
		}
		if len(absent) == 0 {
			return nil
		}
		if best == nil || len(absent) < len(best) {
			best = absent
		}
	}
	return best
}

// contradicts tells whether a given value excludes a branch by its constants.
func contradicts(branch, params map[string]any) bool {
	for name, schema := range object(branch["properties"]) {
		given, ok := params[name]
		if want, fixed := object(schema)["const"]; ok && fixed && !reflect.DeepEqual(want, given) {
			return true
		}
	}
	return false
}

// exclusive tells whether a parameter belongs to one of several alternatives.
func (c *capability) exclusive(name string) bool {
	for _, keyword := range []string{"oneOf", "anyOf"} {
		for _, branch := range listOf(c.root[keyword]) {
			if slices.Contains(listOf(c.follow(object(branch))["required"]), any(name)) {
				return true
			}
		}
	}
	return false
}

// cut shortens a text to n characters.
func cut(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	return string(runes[:n-1]) + "…"
}
