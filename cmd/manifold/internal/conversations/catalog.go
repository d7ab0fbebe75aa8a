package conversations

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/client"
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval/conversation"
)

// catalogOf returns the server's capabilities, and which of them write.
func catalogOf(ctx context.Context, c *client.Client) (conversation.Catalog, map[string]bool, error) {
	views, err := c.Capabilities(ctx, "")
	if err != nil {
		return nil, nil, err
	}
	catalog, writes, domains := conversation.Catalog{}, map[string]bool{}, map[string]bool{}
	for _, v := range views {
		catalog[v.Ref], domains[v.Domain] = capability(v), true
		if v.Policy.SideEffectClass != contracts.ClassRead && v.Policy.SideEffectClass != contracts.ClassSuggest {
			writes[v.Ref] = true
		}
	}
	for name := range domains {
		if err := addQuestions(ctx, c, name, catalog); err != nil {
			return nil, nil, err
		}
	}
	return catalog, writes, nil
}

func capability(v contracts.CapabilityView) conversation.Capability {
	out := conversation.Capability{Ref: v.Ref, Name: v.Name, Description: v.Description, Defaults: map[string]any{}}
	schema, _ := v.Schema.(map[string]any)
	required, _ := schema["required"].([]any)
	for _, r := range required {
		if name, ok := r.(string); ok {
			out.Required = append(out.Required, name)
		}
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		p, _ := properties[name].(map[string]any)
		out.Defaults[name] = p["default"]
		if text, ok := p["description"].(string); ok && text != "" {
			out.Asks = append(out.Asks, text)
		}
	}
	return out
}

// addQuestions adds the prompts of a domain's manifest for parameters. If the server does not show the
// manifest, grading does without.
func addQuestions(ctx context.Context, c *client.Client, domain string, catalog conversation.Catalog) error {
	detail, err := c.Domain(ctx, domain)
	if code := contracts.CodeOf(err); code == contracts.CodeForbidden || code == contracts.CodeNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	var manifest struct {
		Capabilities []struct {
			Name     string `json:"name"`
			Metadata struct {
				Specs map[string]struct {
					Ask string `json:"ask"`
				} `json:"parameter_specs"`
			} `json:"metadata"`
		} `json:"capabilities"`
	}
	if len(detail.Manifest) == 0 || json.Unmarshal(detail.Manifest, &manifest) != nil {
		return nil //nolint:nilerr // its questions are told by descriptions alone
	}
	for _, m := range manifest.Capabilities {
		known, ok := catalog[domain+"."+m.Name]
		for _, name := range slices.Sorted(maps.Keys(m.Metadata.Specs)) {
			if ask := m.Metadata.Specs[name].Ask; ok && ask != "" {
				known.Asks = append(known.Asks, ask)
			}
		}
		if ok {
			catalog[domain+"."+m.Name] = known
		}
	}
	return nil
}

// cut splits a reference into domain and capability.
func cut(ref string) (domain, name string, ok bool) { return strings.Cut(ref, ".") }
