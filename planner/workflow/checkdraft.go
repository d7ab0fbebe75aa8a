package workflow

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/expr"
)

// checkDraft checks the first n steps of a workflow that was made from a draft; the others
// represent the existing nodes of the run.
func checkDraft(w *contracts.Workflow, n int, catalog *contracts.Catalog, earlier []Earlier) []contracts.Fault {
	c := newCheck(&contracts.Manifest{}, catalog, w)
	d := &draftCheck{c: c, known: n, earlier: earlier}
	c.draft = d
	for i := range w.Steps[:n] {
		if w.Steps[i].DependsOn == nil {
			w.Steps[i].DependsOn = d.readBy(i)
		}
	}
	c.s, c.faults = readShape(w)
	for i := range w.Steps[:n] {
		c.name(i, w.Steps[i].ID)
		d.step(i, &w.Steps[i])
	}
	return c.faults
}

// draftCheck has the additional state of checking a draft.
type draftCheck struct {
	c       *check
	known   int
	earlier []Earlier
}

func (d *draftCheck) step(i int, step *contracts.Step) {
	c := d.c
	r := reader{step: i}
	if step.When != nil {
		c.condition(at("steps", i, "when"), *step.When, r)
	}
	if step.ForEach != nil {
		c.values(at("steps", i, "for_each"), step.ForEach.Items, r)
		d.kind(at("steps", i, "for_each"), step.ForEach.Items, []string{"array"})
	}
	r.item = step.ForEach != nil
	c.values(at("steps", i, "params"), step.Params, r)
	entry, ok := c.catalog.Capability(step.Tool)
	if !ok {
		return // already reported
	}
	for _, name := range keys(step.Params) {
		d.kind(at("steps", i, "params", name), step.Params[name], takes(entry, name))
	}
	if step.ForEach != nil && entry.Workflow != nil {
		c.faults.add(at("steps", i, "for_each"), "%s is a procedure of several steps; it cannot be repeated", entry.Ref())
	}
}

// readBy returns the steps that a step reads.
func (d *draftCheck) readBy(i int) []string {
	c := d.c
	step := c.w.Steps[i]
	var refs []expr.Ref
	add := func(found []expr.Ref, _ []contracts.Fault) { refs = append(refs, found...) }
	add(expr.References(step.Params))
	if step.When != nil {
		add(expr.ReferencesOf(*step.When))
	}
	if step.ForEach != nil {
		add(expr.References(step.ForEach.Items))
	}
	var out []string
	for _, ref := range refs {
		id := stepOf(ref.Path)
		known := slices.ContainsFunc(c.w.Steps, func(s contracts.Step) bool { return s.ID == id })
		if known && id != step.ID && !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// kind checks the type of a value that is one reference, if both types are declared.
func (d *draftCheck) kind(place string, v any, wanted []string) {
	text, ok := v.(string)
	if !ok || len(wanted) == 0 {
		return
	}
	parts, err := contracts.SplitTemplate(text)
	if err != nil || len(parts) != 1 || parts[0].Path == nil {
		return
	}
	path := parts[0].Path
	j, known := d.c.s.index[stepOf(path)]
	if !known || len(path) < 3 {
		return
	}
	given := d.gives(j, path)
	if len(given) == 0 || slices.ContainsFunc(given, func(t string) bool {
		return slices.Contains(wanted, t) || t == "integer" && slices.Contains(wanted, "number")
	}) {
		return
	}
	if slices.Contains(given, "number") && slices.Contains(wanted, "integer") {
		return // it may be whole
	}
	d.c.faults.add(place, "%s is declared as %s; %s is needed here", path, strings.Join(given, " or "), strings.Join(wanted, " or "))
}

// gives returns the types of what a path reads of a step, nil if they are not declared.
func (d *draftCheck) gives(j int, path contracts.Path) []string {
	switch path[2].Name {
	case "summary", "state":
		return []string{"string"}
	case "ok":
		return []string{"boolean"}
	case "facts":
	default:
		return nil
	}
	entry, ok := d.c.catalog.Capability(d.c.w.Steps[j].Tool)
	if !ok || d.several(j) {
		return nil
	}
	return typesAt(entry.Capability.OutputSchema, path[3:])
}

// several reports whether a step makes more than one call, so that each has its own facts.
func (d *draftCheck) several(j int) bool {
	step := &d.c.w.Steps[j]
	if step.ForEach != nil {
		return true
	}
	if j >= d.known {
		return slices.ContainsFunc(d.earlier, func(e Earlier) bool { return e.Name == step.ID && e.Several })
	}
	entry, ok := d.c.catalog.Capability(step.Tool)
	if !ok || entry.Capability.Metadata.Decomposition == nil {
		return false
	}
	return slices.ContainsFunc(entry.Capability.Metadata.Decomposition.ArrayParams, func(r contracts.ArrayRule) bool {
		items, list := step.Params[r.ParamName].([]any)
		_, whole := step.Params[r.ParamName].(string)
		return list && len(items) > 1 || whole
	})
}

// facts returns the fact names of a step of a draft, nil if they are not declared.
func (d *draftCheck) facts(step *contracts.Step) []string {
	entry, ok := d.c.catalog.Capability(step.Tool)
	if !ok {
		return nil
	}
	names := declared(entry.Capability.OutputSchema)
	if entry.Workflow != nil && entry.Workflow.Result != nil {
		names = keys(entry.Workflow.Result.Facts)
	}
	if j := d.c.s.index[step.ID]; len(names) > 0 && d.several(j) {
		names = append(names, "items", "missing", "failed")
	}
	return names
}

// takes returns the types of a parameter, nil if they are not declared.
func takes(entry *contracts.CapabilityEntry, name string) []string {
	return typesAt(entry.Capability.Schema, contracts.Path{{Name: name}})
}

// typesAt returns the types that a schema declares at a path.
func typesAt(raw json.RawMessage, path contracts.Path) []string {
	var schema map[string]any
	if json.Unmarshal(raw, &schema) != nil {
		return nil
	}
	for _, step := range path {
		member := any(nil)
		if properties, ok := schema["properties"].(map[string]any); ok && !step.IsIndex {
			member = properties[step.Name]
		} else if step.IsIndex {
			member = schema["items"]
		}
		schema, _ = member.(map[string]any)
	}
	switch t := schema["type"].(type) {
	case string:
		return []string{t}
	case []any:
		var out []string
		for _, one := range t {
			if text, ok := one.(string); ok {
				out = append(out, text)
			}
		}
		return out
	}
	return nil
}
