package llm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// takeDraft fits the values of a draft's steps to the schemas, notes where each comes
// from, and gives the faults by their places. Calls beside a plan are steps of it.
func (m *message) takeDraft(d *contracts.Draft) []string {
	for i, c := range m.calls {
		d.Steps = append(d.Steps, contracts.DraftStep{ID: fmt.Sprintf("call%d", i+1), Tool: c.entry.Ref(), Params: c.values})
	}
	m.calls = nil
	var faults []string
	for i := range d.Steps {
		step := &d.Steps[i]
		entry, ok := m.req.Catalog.Capability(step.Tool)
		if !ok {
			faults = append(faults, fmt.Sprintf("/steps/%d/tool: there is no function %.64q", i, step.Tool))
			continue
		}
		fixed, wrong := m.fit(entry, literals(step.Params))
		for _, w := range wrong {
			faults = append(faults, fmt.Sprintf("/steps/%d/params%s", i, w))
		}
		c := call{entry: entry, values: fixed}
		m.source(&c)
		m.withhold(&c)
		step.Params = references(step.Params)
		maps.Copy(step.Params, c.values)
		step.Said = said(m.req.Message, c)
		m.calls = append(m.calls, c)
	}
	if len(faults) > 0 || m.check == nil {
		return faults
	}
	for _, f := range m.check(m.req, *d) {
		faults = append(faults, strings.TrimSpace(f.Pointer+": "+f.Message))
	}
	return faults
}

// literals are the parameters of a step that read nothing of other steps.
func literals(params map[string]any) map[string]any {
	out := maps.Clone(params)
	maps.DeleteFunc(out, func(_ string, v any) bool { return refers(v) || v == nil })
	return out
}

// references are those that do.
func references(params map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range params {
		if refers(v) {
			out[name] = v
		}
	}
	return out
}

// refers reports whether a value holds a reference to another step.
func refers(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.Contains(v, "${")
	case []any:
		if slices.ContainsFunc(v, refers) {
			return true
		}
	case map[string]any:
		for _, item := range v {
			if refers(item) {
				return true
			}
		}
	}
	return false
}
