package conformance

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// lookUp adds the parameters that the core would look up before calling a capability (flow.pre with
// a param_map). It reports whether it could.
func (s *suite) lookUp(ctx context.Context, p *probe, c *contracts.Capability, pointer string, request *call) bool {
	if c.Metadata.Flow == nil {
		return true
	}
	for i, step := range c.Metadata.Flow.Pre {
		if _, given := request.Parameters[step.Param]; given || !step.IsLookup() {
			continue
		}
		at := fmt.Sprintf("%s/metadata/flow/pre/%d", pointer, i)
		target := s.capabilityNamed(step.SearchCapability)
		if target == nil {
			p.skip("%s is looked up in another domain", step.Param)
			return false
		}
		got, err := s.execute(ctx, target, s.call(target, writeScope(*request, outcome{}).given(step.ParamMap)))
		if err != nil {
			p.fail("reachable", at, "", "%s", err)
			return false
		}
		if s.absent(p, got) {
			return false
		}
		value, found := firstMatch(got, cmp.Or(step.ResultPath, "facts.matches"))
		if !found {
			p.fail("look-up", at, "Answer a list of {value, label} at result_path.", "%s gives %s no value: %s", target.Name, step.Param, got.excerpt())
			return false
		}
		request.Parameters[step.Param] = value
	}
	return true
}

// lookedUp returns the names of the parameters that the core looks up.
func lookedUp(c *contracts.Capability) []string {
	var out []string
	if c.Metadata.Flow != nil {
		for _, step := range c.Metadata.Flow.Pre {
			if step.IsLookup() {
				out = append(out, step.Param)
			}
		}
	}
	return out
}

// firstMatch returns the value of the first match of a search.
func firstMatch(got outcome, path string) (value any, found bool) {
	list, _, err := scope{"facts": got.result.Facts}.lookup(path)
	items, _ := list.([]any)
	if err != nil || len(items) == 0 {
		return nil, false
	}
	first, ok := items[0].(map[string]any)
	return first["value"], ok && first["value"] != nil
}

// given evaluates a parameter map and leaves out what cannot be evaluated.
func (s scope) given(paramMap map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range paramMap {
		if members, ok := v.(map[string]any); ok {
			out[name] = s.given(members)
		} else if value, err := s.value(v); err == nil {
			out[name] = value
		}
	}
	return out
}

// absent skips the check if an example names an object that the system behind the domain does not
// have, which is not a fault of the domain.
func (s *suite) absent(p *probe, got outcome) bool {
	if !got.isResult || got.result.OK || got.result.Error == nil || got.result.Error.Type != contracts.ErrNotFound {
		return false
	}
	p.skip("its example speaks of what is not there (%s); check it against a system that has it", strings.TrimSuffix(got.result.Error.Message, "."))
	return true
}
