package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// several reports whether a step has the joined results of all called players.
func several(p contracts.Players) bool {
	return p == contracts.PlayersAll || p == contracts.PlayersPlanDomains
}

// playing returns the capabilities that may play the role of a step: those of its own domain, and
// those of other domains if the site grants the role, so that no author can pull another domain's
// facts into their calls.
func playing(catalog *contracts.Catalog, home *contracts.Manifest, w *contracts.Workflow, step contracts.Step) []contracts.RolePlayer {
	granted := grants(catalog, home, step.Plays)
	called := map[string]bool{}
	if step.Players == contracts.PlayersPlanDomains {
		addDomains(called, catalog, home, w, 1)
	}
	return slices.DeleteFunc(catalog.Playing(step.Plays), func(p contracts.RolePlayer) bool {
		domain := p.Entry.Domain
		return !granted && domain != home.Domain || len(step.Domains) > 0 && !slices.Contains(step.Domains, domain) ||
			step.Players == contracts.PlayersPlanDomains && !called[domain]
	})
}

// addDomains adds the domains that a workflow names, by their capabilities or as possible players,
// in its own steps and in those of the workflows inside it.
func addDomains(called map[string]bool, catalog *contracts.Catalog, home *contracts.Manifest, w *contracts.Workflow, depth int) {
	add := func(ref string) {
		domain, _, _ := strings.Cut(qualified(home.Domain, ref), ".")
		called[domain] = true
	}
	for _, step := range w.Steps {
		for _, domain := range step.Domains {
			called[domain] = true
		}
		switch {
		case step.Tool != "":
			add(step.Tool)
		case step.Reason != nil && step.Reason.Fallback != nil:
			add(step.Reason.Fallback.Capability)
		case step.Workflow != "" && depth < maxDepth:
			if inner, of := findWorkflow(catalog, home, step.Workflow); inner != nil {
				addDomains(called, catalog, of, inner, depth+1)
			}
		}
	}
}

// playerParams returns the parameters of a player: those of the role, or mapped by the player's
// param_map.
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

// translated replaces "${params.x}" by parameters of a role. If one was not given, the whole value
// is omitted.
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

// asTemplate returns a value as part of a text; a string is already a template.
func asTemplate(v any) (string, error) {
	if text, ok := v.(string); ok {
		return text, nil
	}
	raw, err := contracts.Canonical(v)
	return strings.ReplaceAll(string(raw), "${", `\${`), err
}

// withDefaults adds the schema's defaults of a workflow for parameters that are not given.
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
