package flow

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// FormField is one input that an AGENTFLOW asks for before it runs.
type FormField struct {
	Name  string `json:"name"`
	Label string `json:"label,omitempty"`
	// Type is string, number, boolean or options.
	Type    string   `json:"type"`
	Options []string `json:"options,omitempty"`
}

// String describes a field briefly.
func (f FormField) String() string {
	if len(f.Options) > 0 {
		return fmt.Sprintf("%s (one of %s)", f.Name, listed(f.Options))
	}
	return fmt.Sprintf("%s (%s)", f.Name, f.Type)
}

// FormOf returns the form with which a flow starts. begins is false if the flow starts with a
// question instead.
func FormOf(g *Graph) (fields []FormField, begins bool) {
	for _, n := range g.Nodes() {
		if n.name != nodeStart || textAt(n.part(partInputs), "startInputType") != "formInput" {
			continue
		}
		value, _ := n.Input("formInputTypes")
		for _, item := range elements(value) {
			f := FormField{Name: textAt(item, "name"), Label: clip(textAt(item, "label")), Type: textAt(item, "type")}
			if options, _ := get(item, "addOptions"); f.Type == "options" {
				for _, o := range elements(options) {
					f.Options = append(f.Options, textAt(o, "option"))
				}
			}
			fields = append(fields, f)
		}
		return fields, true
	}
	return nil, false
}

// CheckForm returns the problems of form values. The server validates none: a missing field stays
// as "{{ $form.name }}" in the flow's texts, and an invalid option is accepted.
func CheckForm(fields []FormField, values map[string]any) []string {
	var out, names []string
	for _, f := range fields {
		names = append(names, f.Name)
		value, given := values[f.Name]
		if !given {
			out = append(out, fmt.Sprintf("%s is missing; \"\" leaves it empty", f))
		} else if !f.takes(value) {
			out = append(out, fmt.Sprintf("%s does not take this value", f))
		}
	}
	for name := range values {
		if !slices.Contains(names, name) {
			out = append(out, unknown("field", name, names))
		}
	}
	slices.Sort(out)
	return out
}

// takes reports whether a value fits the field, also if it is written as text.
func (f FormField) takes(value any) bool {
	switch v := value.(type) {
	case string:
		text := strings.TrimSpace(v)
		switch f.Type {
		case "number":
			_, err := strconv.ParseFloat(text, 64)
			return text == "" || err == nil
		case "boolean":
			return text == "" || text == "true" || text == "false"
		case "options":
			return text == "" || slices.Contains(f.Options, v)
		}
		return true
	case float64, json.Number:
		return f.Type == "number"
	case bool:
		return f.Type == "boolean"
	}
	return false
}
