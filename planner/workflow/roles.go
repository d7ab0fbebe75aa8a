package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// playerParams are the parameters of one who plays a role: the role's, or what
// his map makes of them.
func playerParams(p *contracts.RolePlayer, params map[string]any) (map[string]any, error) {
	if len(p.ParamMap) == 0 {
		return params, nil
	}
	out := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(p.ParamMap)) {
		value, given, err := translated(p.ParamMap[name], params)
		if err != nil {
			return nil, contracts.Errorf(contracts.CodeUnsupported, "%s plays a role with the parameter %q: %w", p.Entry.Ref(), name, err)
		}
		if given {
			out[name] = value
		}
	}
	return out, nil
}

// translated puts the parameters of a role in the place of "${params.x}". One
// that was not given leaves the whole value out.
func translated(v any, params map[string]any) (out any, given bool, err error) {
	text, ok := v.(string)
	if !ok {
		return v, true, nil
	}
	parts, err := contracts.ParseTemplate(text)
	if err != nil {
		return nil, false, err
	}
	var b strings.Builder
	for _, part := range parts {
		if part.Path == nil {
			b.WriteString(strings.ReplaceAll(part.Text, "${", `\${`))
			continue
		}
		if part.Path.Root() != "params" || len(part.Path) != 2 {
			return nil, false, contracts.Errorf(contracts.CodeInvalid, "%s cannot be read before there is a call", part.Path)
		}
		value, ok := params[part.Path[1].Name]
		if !ok || value == nil {
			return nil, false, nil
		}
		if len(parts) == 1 {
			return value, true, nil
		}
		inText, err := asTemplate(value)
		if err != nil {
			return nil, false, err
		}
		b.WriteString(inText)
	}
	return b.String(), true, nil
}

// asTemplate is a value as part of a text: a text stays the template that it is.
func asTemplate(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	raw, err := contracts.Canonical(v)
	return strings.ReplaceAll(string(raw), "${", `\${`), err
}

// withDefaults adds what the schema of a workflow says of parameters that are not
// given.
func withDefaults(w *contracts.Workflow, params map[string]any) map[string]any {
	var schema struct {
		Properties map[string]struct {
			Default any `json:"default"`
		} `json:"properties"`
	}
	out := maps.Clone(params)
	if out == nil {
		out = map[string]any{}
	}
	if json.Unmarshal(w.Schema, &schema) != nil {
		return out
	}
	for name, property := range schema.Properties {
		if _, given := out[name]; !given && property.Default != nil {
			out[name] = property.Default
		}
	}
	return out
}
