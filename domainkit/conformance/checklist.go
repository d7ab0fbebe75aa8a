package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

const (
	wantedExamples  = 5
	wantedNegatives = 2
)

// checkList warns of what makes a capability hard to find, to approve or to verify.
func (s *suite) checkList(_ context.Context, p *probe) {
	m := s.manifest
	if m.Title == "" || m.Description == "" {
		p.warn("described", "", "Say in a sentence what the domain is for.", "the domain has no title or no description")
	}
	if len(m.Tests) == 0 {
		p.warn("tests", "/tests", "Add sentences with the capability that they must lead to.", "the manifest has no tests")
	} else if !slices.ContainsFunc(m.Tests, func(t contracts.RoutingTest) bool { return t.Expect == nil }) {
		p.warn("tests", "/tests", `Add a sentence with "expect": null.`, "no test says what the domain must not take")
	}
	read := s.readByRules()
	for i := range m.Capabilities {
		c := &m.Capabilities[i]
		pointer := capabilityPointer(i)
		s.listCapability(p, c, pointer)
		if rule, ok := read[c.Name]; ok && len(c.OutputSchema) == 0 {
			p.warn("output-schema", pointer+"/output_schema", "Describe the facts.", "%s of %s reads facts of %s, which declares none", rule.kind, rule.of, c.Name)
		}
		if c.Metadata.SideEffectClass.Writes() {
			listWrite(p, c, pointer)
		} else if len(c.Metadata.Examples) == 0 {
			p.warn("examples", pointer+"/metadata/examples", "Add calls with parameters that work.", "%s has no examples, so it cannot be checked", c.Name)
		}
		if c.Metadata.Routable == nil || *c.Metadata.Routable {
			s.listRoutable(p, c, pointer)
		}
	}
}

func (s *suite) listCapability(p *probe, c *contracts.Capability, pointer string) {
	if c.Description == "" {
		p.warn("described", pointer+"/description", "Say what it does; approvers read it.", "%s has no description", c.Name)
	}
	if c.Metadata.SideEffectClass == "" {
		p.warn("side-effect-class", pointer+"/metadata/side_effect_class", "Say read, suggest, write_reversible or write_irreversible.",
			"%s does not say what it does to the world and counts as an irreversible write", c.Name)
	}
}

func listWrite(p *probe, c *contracts.Capability, pointer string) {
	meta := pointer + "/metadata/"
	if c.Metadata.Idempotency == "" {
		p.warn("idempotency", meta+"idempotency", "Say keyed, natural or none.", "%s does not say what a repeat does", c.Name)
	}
	if c.Metadata.Verify == nil {
		p.warn("verify", meta+"verify", "Name a read and what must hold of it.", "%s is not verified: its runs end at best as unverified", c.Name)
	}
	if c.Metadata.Reconcile == nil && c.Metadata.Idempotency != contracts.IdempotencyNatural {
		p.warn("reconcile", meta+"reconcile", "Name a read that answers facts.applied.", "after a lost answer of %s a person must find out whether it happened", c.Name)
	}
	if c.Metadata.Compensation == nil && c.Metadata.SideEffectClass == contracts.ClassWriteReversible {
		p.warn("compensation", meta+"compensation", "Name the capability that undoes it.", "%s is called reversible and is read as irreversible", c.Name)
	}
}

func (s *suite) listRoutable(p *probe, c *contracts.Capability, pointer string) {
	meta := pointer + "/metadata/"
	hints := contracts.IntentHints{}
	if c.Metadata.IntentHints != nil {
		hints = *c.Metadata.IntentHints
	}
	if n := distinct(hints.Examples); n < wantedExamples {
		p.warn("intent-examples", meta+"intent_hints/examples", "Add sentences that people would say, in their languages.",
			"%s has %d distinct examples; %d are asked for", c.Name, n, wantedExamples)
	}
	if n := distinct(hints.Not); n < wantedNegatives {
		p.warn("intent-not", meta+"intent_hints/not", "Add sentences that sound alike and mean something else.",
			"%s has %d negatives; %d are asked for", c.Name, n, wantedNegatives)
	}
	if c.Metadata.Present == nil {
		p.warn("present", meta+"present", "Name the columns of its table.", "%s does not say how its result is shown", c.Name)
	}
	for _, name := range requiredParameters(c) {
		if c.Metadata.ParameterSpecs[name].Ask == "" {
			p.warn("ask", meta+"parameter_specs/"+name+"/ask", "Write the question for it.", "%s does not say how to ask for %s", c.Name, name)
		}
	}
	tested := slices.ContainsFunc(s.manifest.Tests, func(t contracts.RoutingTest) bool { return t.Expect != nil && t.Expect.Capability == c.Name })
	if !tested {
		p.warn("tests", "/tests", "Add a sentence that must lead to it.", "no test leads to %s", c.Name)
	}
}

func distinct(sentences []string) int {
	seen := map[string]bool{}
	for _, sentence := range sentences {
		seen[strings.ToLower(strings.Join(strings.Fields(sentence), " "))] = true
	}
	return len(seen)
}

func requiredParameters(c *contracts.Capability) []string {
	schema, err := contracts.CompileSchema(c.Schema)
	if err != nil {
		return nil
	}
	return schema.View().Required
}

// reader is a rule that reads the facts of a capability.
type reader struct{ kind, of string }

// readByRules returns the capabilities whose facts are read by rules.
func (s *suite) readByRules() map[string]reader {
	out := map[string]reader{}
	for _, c := range s.manifest.Capabilities {
		note := func(kind, name string) {
			name = strings.TrimPrefix(name, s.manifest.Domain+".")
			if _, known := out[name]; !known {
				out[name] = reader{kind, c.Name}
			}
		}
		meta := c.Metadata
		if meta.Verify != nil {
			note("verify", meta.Verify.Capability)
			noteOwn(note, c.Name, "verify", meta.Verify.ParamMap)
		}
		if meta.Reconcile != nil {
			note("reconcile", meta.Reconcile.Capability)
		}
		if meta.Compensation != nil {
			noteOwn(note, c.Name, "compensation", meta.Compensation.ParamMap)
		}
		if meta.Composition != nil {
			noteOwn(note, c.Name, "composition", meta.Composition.ParamMap)
		}
		if meta.Flow != nil {
			for _, step := range meta.Flow.Pre {
				note("flow.pre", step.SearchCapability)
			}
		}
	}
	return out
}

// noteOwn notes a rule that reads the result of the capability itself.
func noteOwn(note func(kind, name string), name, kind string, paramMap map[string]any) {
	for _, v := range paramMap {
		if strings.Contains(fmt.Sprint(v), "result.facts") {
			note(kind, name)
			return
		}
	}
}
