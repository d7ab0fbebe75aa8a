package reasoning

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxDescription bounds what a model is told of one capability.
const maxDescription = 400

// toolsOf makes the tools of capabilities and the way back from their names.
func toolsOf(offered []*contracts.CapabilityEntry) ([]Tool, map[string]*contracts.CapabilityEntry, error) {
	offered = offered[:min(len(offered), MaxOffered)]
	tools, byName := make([]Tool, 0, len(offered)), make(map[string]*contracts.CapabilityEntry, len(offered))
	for _, e := range offered {
		input, err := e.Input()
		if err != nil {
			return nil, nil, fmt.Errorf("schema of %s: %w", e.Ref(), err)
		}
		schema := map[string]any{"type": "object", "properties": map[string]any{}}
		if input != nil {
			if schema, err = asMap(input); err != nil {
				return nil, nil, err
			}
		}
		name := ToolName(e, byName)
		byName[name] = e
		tools = append(tools, Tool{Name: name, Description: describe(e), Schema: schema})
	}
	return tools, byName, nil
}

// describe is what a model is told of a capability: its description, and two sentences
// that ask for it.
func describe(e *contracts.CapabilityEntry) string {
	d := e.Capability.Description
	if len(d) > maxDescription {
		d = strings.ToValidUTF8(d[:maxDescription], "") + "…"
	}
	if hints := e.Capability.Metadata.IntentHints; hints != nil && len(hints.Examples) > 0 {
		d += ` For example: "` + strings.Join(hints.Examples[:min(len(hints.Examples), 2)], `", "`) + `".`
	}
	if facts := factsOf(e); facts != "" {
		d += " Facts: " + facts + "."
	}
	return d
}

// maxFacts bounds what a model is told of the facts of one capability, factDepth how far
// into them.
const (
	maxFacts  = 240
	factDepth = 2
)

// factsOf names the facts that a capability declares, as a plan refers to them.
func factsOf(e *contracts.CapabilityEntry) string {
	if e.Workflow != nil && e.Workflow.Result != nil {
		return listed(slices.Sorted(maps.Keys(e.Workflow.Result.Facts)))
	}
	output, err := e.Output()
	if err != nil || output == nil {
		return ""
	}
	return listed(members(output.View(), factDepth))
}

// members name the members of an object, lists and objects with what is in them.
func members(v *contracts.SchemaView, depth int) []string {
	out := make([]string, 0, len(v.Properties))
	for _, p := range v.Properties {
		in := &p.SchemaView
		name := p.Name
		if in.Items != nil {
			name, in = name+"[]", in.Items
		}
		if depth > 1 && len(in.Properties) > 0 {
			name += "{" + strings.Join(members(in, depth-1), ", ") + "}"
		}
		out = append(out, name)
	}
	return out
}

// listed joins names as far as there is room.
func listed(names []string) string {
	out := ""
	for i, name := range names {
		if len(out)+len(name) > maxFacts {
			return strings.TrimSuffix(out, ", ") + ", …"
		}
		out += name
		if i < len(names)-1 {
			out += ", "
		}
	}
	return out
}

// notInToolNames are the characters that vendors refuse in names of functions.
var notInToolNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// maxToolName is the vendors' bound.
const maxToolName = 64

// ToolName is the namespaced name as vendors take it, and no other tool's.
func ToolName(e *contracts.CapabilityEntry, taken map[string]*contracts.CapabilityEntry) string {
	base := notInToolNames.ReplaceAllString(e.Domain, "_") + "-" + notInToolNames.ReplaceAllString(e.Capability.Name, "_")
	name := base[:min(len(base), maxToolName)]
	for n := 2; taken[name] != nil; n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	return name
}
