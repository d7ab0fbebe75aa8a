package reasoning

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxDescription bounds the description of one capability, in bytes.
const maxDescription = 400

// toolsOf returns the tools of capabilities, and the capabilities by tool name.
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

// describe returns the description of a capability for a model, with at most two example
// sentences.
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

// maxFacts bounds the listed facts of one capability in bytes, factDepth the nesting depth.
const (
	maxFacts  = 240
	factDepth = 2
)

// factsOf lists the facts that a capability declares, in the form that a plan refers to them.
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

// members lists the members of an object, including those nested in lists and objects.
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

// listed joins names up to maxFacts bytes.
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

// notInToolNames matches the characters that vendors reject in function names.
var notInToolNames = regexp.MustCompile(`[^A-Za-z0-9_-]`)

// maxToolName is the vendors' limit.
const maxToolName = 64

// ToolName returns a unique tool name for a capability, in the form that vendors accept.
func ToolName(e *contracts.CapabilityEntry, taken map[string]*contracts.CapabilityEntry) string {
	base := notInToolNames.ReplaceAllString(e.Domain, "_") + "-" + notInToolNames.ReplaceAllString(e.Capability.Name, "_")
	name := base[:min(len(base), maxToolName)]
	for n := 2; taken[name] != nil; n++ {
		suffix := fmt.Sprintf("-%d", n)
		name = base[:min(len(base), maxToolName-len(suffix))] + suffix
	}
	return name
}
