package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"unicode/utf8"

	"github.com/manifold-run/manifold/contracts"
)

// maxExamples bounds the executed examples per capability.
const maxExamples = 5

// checkReads executes every read with its examples.
func (s *suite) checkReads(ctx context.Context) {
	for i := range s.manifest.Capabilities {
		c := &s.manifest.Capabilities[i]
		if c.Metadata.SideEffectClass.Writes() {
			continue
		}
		s.check(ctx, "read "+c.Name, func(ctx context.Context, p *probe) {
			if len(c.Metadata.Examples) == 0 {
				p.skip("it has no examples")
			}
			for j, example := range c.Metadata.Examples[:min(maxExamples, len(c.Metadata.Examples))] {
				pointer := fmt.Sprintf("%s/metadata/examples/%d", capabilityPointer(i), j)
				request := s.call(c, sent(c, example.Parameters))
				if !s.lookUp(ctx, p, c, capabilityPointer(i), &request) {
					continue
				}
				got, err := s.execute(ctx, c, request)
				if err != nil {
					p.fail("reachable", pointer, "", "%s", err)
				} else if !s.absent(p, got) {
					checkResult(p, c, got, pointer)
				}
			}
		})
	}
}

// checkResult checks the answer to an example and reports whether the call succeeded.
func checkResult(p *probe, c *contracts.Capability, got outcome, pointer string) bool {
	if got.status != http.StatusOK {
		p.fail("execute-status", pointer, "Answer 200 with a ToolResult, also for a refused or failed execution.",
			"%s is answered with %d: %s", c.Name, got.status, got.excerpt())
		return false
	}
	if !got.isResult {
		p.fail("tool-result", pointer, `Answer a JSON object with "ok", as application/json.`, "%s: %s", c.Name, got.why)
		return false
	}
	if !got.result.OK {
		p.fail("example-fails", pointer, "Give an example that works, or mend the capability.", "%s: %s", c.Name, got.reason())
		return false
	}
	checkForm(p, c, got, pointer)
	var output *contracts.Schema
	if len(c.OutputSchema) > 0 {
		compiled, err := contracts.CompileSchema(c.OutputSchema)
		if err != nil {
			p.fail("output-schema", pointer, "", "%s: %s", c.Name, err)
			return true
		}
		output = compiled
	}
	_, faults := contracts.BoundResult(got.result, c.Metadata.SideEffectClass.Writes(), output)
	for _, f := range faults {
		p.fail("output-schema", pointer, "Answer facts that fit output_schema and the limits.", "%s: %s %s", c.Name, f.Pointer, f.Message)
	}
	return true
}

// checkForm warns of answers that are valid but could be better.
func checkForm(p *probe, c *contracts.Capability, got outcome, pointer string) {
	if got.bare {
		p.warn("bare-json", pointer, `Answer {"ok":true,"summary":…,"facts":…}: the wrapped form loses the facts' names.`,
			"%s answers bare JSON", c.Name)
		return
	}
	var raw struct {
		Summary string `json:"summary"`
	}
	if err := json.Unmarshal(got.body, &raw); err == nil {
		switch n := utf8.RuneCountInString(raw.Summary); {
		case n == 0:
			p.warn("summary", pointer, "Say the result in one line.", "%s answers without a summary", c.Name)
		case n > contracts.MaxSummaryChars || contracts.CleanSummary(raw.Summary) != raw.Summary:
			p.warn("summary", pointer, "Keep it to one line of at most 300 characters.", "the summary of %s will be cut", c.Name)
		}
	}
	if limit := policyOf(c).Timeout(); got.took > limit {
		p.fail("timeout", pointer, "Raise timeout_ms or be faster.", "%s took %s, its timeout_ms is %s", c.Name, got.took.Round(1e6), limit)
	}
}

// sent returns the parameters that the core would send: without parameters for compositions, and
// with the first item of a decomposed list.
func sent(c *contracts.Capability, parameters map[string]any) map[string]any {
	out := maps.Clone(parameters)
	if out == nil {
		out = map[string]any{}
	}
	var schema struct {
		Properties map[string]struct {
			Only bool `json:"x-manifold-only"`
		} `json:"properties"`
	}
	if err := json.Unmarshal(c.Schema, &schema); err == nil {
		maps.DeleteFunc(out, func(name string, _ any) bool { return schema.Properties[name].Only })
	}
	if c.Metadata.Decomposition == nil {
		return out
	}
	for _, rule := range c.Metadata.Decomposition.ArrayParams {
		items, ok := out[rule.ParamName].([]any)
		if !ok || len(items) == 0 {
			continue
		}
		delete(out, rule.ParamName)
		out[rule.SingleParamName] = items[0]
	}
	return out
}
