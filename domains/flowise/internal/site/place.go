package site

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domainkit"
)

// Place selects the server of a call, if the call names one.
type Place struct {
	Instance string `json:"instance,omitempty" max:"100" description:"Which Flowise; the one of the conversation unless given"`
}

func (p Place) place() string { return p.Instance }

// placed is implemented by parameters that embed Place.
type placed interface{ place() string }

// Add adds a capability like domainkit.Add. If its parameters embed Place, the call and its Resolve
// use that server, and the servers are added to the schema and the parameter specs.
func Add[In, Out any](svc *domainkit.Service, s *Site, c domainkit.Capability, fn func(context.Context, domainkit.Call, In) (Out, error)) error {
	var none In
	if _, has := any(none).(placed); !has {
		return domainkit.Add(svc, c, fn)
	}
	schema, err := s.withInstances(c.Schema)
	if err != nil {
		return fmt.Errorf("capability %q: %w", c.Name, err)
	}
	c.Schema = schema
	specs := map[string]contracts.ParameterSpec{"instance": {Aliases: s.titles(), Ask: "On which Flowise?"}}
	maps.Copy(specs, c.Metadata.ParameterSpecs)
	c.Metadata.ParameterSpecs = specs
	if look := c.Resolve; look != nil {
		c.Resolve = func(ctx context.Context, call domainkit.Call, parameters json.RawMessage) (domainkit.Resolution, error) {
			var at Place
			if err := json.Unmarshal(parameters, &at); err != nil {
				return domainkit.Resolution{}, fmt.Errorf("parameters: %w", err)
			}
			call.Instance = cmp.Or(at.Instance, call.Instance)
			return look(ctx, call, parameters)
		}
	}
	return domainkit.Add(svc, c, func(ctx context.Context, call domainkit.Call, in In) (Out, error) {
		if p, ok := any(in).(placed); ok {
			call.Instance = cmp.Or(p.place(), call.Instance)
		}
		return fn(ctx, call, in)
	})
}

// withInstances adds the servers to a schema that is merged over a generated one.
func (s *Site) withInstances(schema json.RawMessage) (json.RawMessage, error) {
	merged := map[string]any{}
	if len(schema) > 0 {
		if err := json.Unmarshal(schema, &merged); err != nil {
			return nil, fmt.Errorf("the schema to merge: %w", err)
		}
	}
	properties, _ := merged["properties"].(map[string]any)
	if properties == nil {
		properties = map[string]any{}
	}
	var ids []string
	for _, in := range s.Pool.Instances() {
		ids = append(ids, in.ID)
	}
	properties["instance"] = map[string]any{"enum": ids}
	merged["properties"] = properties
	return json.Marshal(merged)
}

// titles maps the display names of the servers to their ids.
func (s *Site) titles() map[string]any {
	out := map[string]any{}
	for _, in := range s.Pool.Instances() {
		if title := strings.ToLower(strings.TrimSpace(in.Title)); title != "" && title != strings.ToLower(in.ID) {
			out[title] = in.ID
		}
	}
	return out
}
