package workflow

import (
	"maps"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// maxDepth limits the nesting of workflows.
const maxDepth = 3

// Report is the result of checking the workflows of a manifest.
type Report struct {
	// Findings have JSON pointers into the manifest; an error refuses the manifest.
	Findings []contracts.Finding
	// Missing maps a workflow to what it names and nobody offers now. Such a workflow is inactive
	// until that is registered; the rest of the manifest is not affected.
	Missing map[string][]string
}

// Check checks every workflow of a manifest that is in the catalog. It lists all faults at once.
func Check(m *contracts.Manifest, catalog *contracts.Catalog) Report {
	r := Report{Missing: map[string][]string{}}
	for i := range m.Workflows {
		c := newCheck(m, catalog, &m.Workflows[i])
		c.run()
		base := at("workflows", i)
		for _, f := range c.faults {
			r.Findings = append(r.Findings, contracts.Finding{Pointer: base + f.Pointer, Message: f.Message, Severity: contracts.SeverityError})
		}
		for _, f := range c.doubts {
			r.Findings = append(r.Findings, contracts.Finding{Pointer: base + f.Pointer, Message: f.Message, Severity: contracts.SeverityWarning})
		}
		if len(c.missing) > 0 {
			r.Missing[m.Workflows[i].Name] = slices.Sorted(maps.Keys(c.missing))
		}
	}
	return r
}

// check is the state of checking one workflow.
type check struct {
	m       *contracts.Manifest
	catalog *contracts.Catalog
	w       *contracts.Workflow
	s       *shape
	params  *contracts.Schema // nil if it does not compile, which is reported elsewhere
	faults  faultList
	// doubts are constructs that are valid but probably a mistake.
	doubts  faultList
	missing map[string]bool
	// draft is set for a draft. Then probable mistakes are faults, because the author of the draft
	// can repair them at once.
	draft *draftCheck
}

func newCheck(m *contracts.Manifest, catalog *contracts.Catalog, w *contracts.Workflow) *check {
	c := &check{m: m, catalog: catalog, w: w, missing: map[string]bool{}}
	if schema, err := contracts.CompileSchema(w.Schema); err == nil {
		c.params = schema
	}
	return c
}

func (c *check) run() {
	c.s, c.faults = readShape(c.w)
	c.recursion()
	for i := range c.w.Steps {
		c.step(i)
	}
	c.budgets()
	c.result()
}

// budgets checks the limits: built-in ones are numbers, own ones may be expressions over steps.
func (c *check) budgets() {
	for _, name := range slices.Sorted(maps.Keys(c.w.Budgets)) {
		b, place := c.w.Budgets[name], at("budgets", name)
		number, isNumber := wholeNumber(b.Limit)
		switch {
		case isNumber && number < 0:
			c.faults.add(place, "must not be negative")
		case isBuiltin(name) && !isNumber:
			c.faults.add(place, "the limit of %s is a whole number", name)
		case isBuiltin(name) && b.Per != "":
			c.faults.add(place+"/per", "%s is counted over the whole run", name)
		}
		if _, ok := c.s.index[b.Per]; b.Per != "" && !ok {
			c.faults.add(place+"/per", "there is no step %q%s", b.Per, near(b.Per, c.s.index))
		}
		if text, ok := b.Limit.(string); ok {
			c.values(place, text, reader{step: -1})
			if !oneExpression(text) {
				c.faults.add(place, "must be a number or one expression ${…}")
			}
		}
	}
}

func isBuiltin(name string) bool {
	switch name {
	case contracts.BudgetNodes, contracts.BudgetRetries, contracts.BudgetToolCalls, contracts.BudgetTokens:
		return true
	default:
		return false
	}
}

func oneExpression(text string) bool {
	parts, err := contracts.SplitTemplate(text)
	return err != nil || len(parts) == 1 && parts[0].IsExpression() // a broken one is reported elsewhere
}

func (c *check) result() {
	if c.w.Result == nil {
		return
	}
	c.values("/result/summary", c.w.Result.Summary, reader{step: -1})
	c.values("/result/facts", c.w.Result.Facts, reader{step: -1})
}

// recursion checks the nesting of the workflows inside this one.
func (c *check) recursion() {
	var visit func(home *contracts.Manifest, w *contracts.Workflow, path []string)
	visit = func(home *contracts.Manifest, w *contracts.Workflow, path []string) {
		for i, step := range w.Steps {
			if step.Workflow == "" {
				continue
			}
			place := at("steps", i, "workflow")
			inner, of := c.workflow(home, step.Workflow)
			if inner == nil {
				continue // reported where the step is checked
			}
			name := of.Domain + "." + inner.Name
			if slices.Contains(path, name) {
				if len(path) == 1 || home == c.m && w == c.w {
					c.faults.add(place, "a workflow cannot stand in itself: %s", strings.Join(append(path, name), " → "))
				}
				continue
			}
			if len(path) >= maxDepth {
				if w == c.w {
					c.faults.add(place, "workflows may stand in each other %d deep, not deeper", maxDepth)
				}
				c.faults.add(place, "%s stands more than %d deep: %s", name, maxDepth, strings.Join(append(path, name), " → "))
				continue
			}
			visit(of, inner, append(slices.Clone(path), name))
		}
	}
	visit(c.m, c.w, []string{c.m.Domain + "." + c.w.Name})
}

// workflow finds a workflow by the reference of a step, and its manifest.
func (c *check) workflow(home *contracts.Manifest, ref string) (*contracts.Workflow, *contracts.Manifest) {
	return findWorkflow(c.catalog, home, ref)
}

func findWorkflow(catalog *contracts.Catalog, home *contracts.Manifest, ref string) (*contracts.Workflow, *contracts.Manifest) {
	domain, name, qualified := strings.Cut(ref, ".")
	if !qualified {
		name = ref
	}
	if !qualified || domain == home.Domain {
		w, _ := home.Workflow(name)
		return w, home
	}
	d, ok := catalog.Domain(domain)
	if !ok || d.Manifest == nil {
		return nil, nil
	}
	w, _ := d.Manifest.Workflow(name)
	return w, d.Manifest
}
