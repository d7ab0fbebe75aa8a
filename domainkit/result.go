package domainkit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Result is an Out with more than facts. Where only the facts matter, the
// facts themselves are the Out.
type Result[T any] struct {
	// Facts are small structured findings; T is a struct.
	Facts T
	// Summary is one line; empty, Facts.Summary() or the facts make it.
	Summary string
	// Data is raw output for debugging; it reaches no answer and no prompt.
	Data any
	// Artifacts are big values, stored once and passed on by reference.
	Artifacts map[string]any
}

func (r Result[T]) parts() parts {
	return parts{facts: r.Facts, summary: r.Summary, data: r.Data, artifacts: r.Artifacts}
}

func (Result[T]) typeOfFacts() reflect.Type { return reflect.TypeFor[T]() }

type parts struct {
	facts     any
	summary   string
	data      any
	artifacts map[string]any
}

// composite is implemented by every Result.
type composite interface {
	parts() parts
	typeOfFacts() reflect.Type
}

// Summarizer is an Out that words its own summary.
type Summarizer interface {
	Summary() string
}

func factsType(out reflect.Type) reflect.Type {
	if c, ok := reflect.TypeAssert[composite](reflect.Zero(out)); ok {
		return c.typeOfFacts()
	}
	return out
}

// resultOf makes a ToolResult of what a handler returned.
func resultOf(out any) (contracts.ToolResult, error) {
	p := parts{facts: out}
	if c, ok := out.(composite); ok {
		p = c.parts()
	}
	result := contracts.ToolResult{OK: true}
	ordered, err := factsOf(p.facts, &result)
	if err != nil {
		return contracts.ToolResult{}, err
	}
	result.Summary = contracts.CleanSummary(summaryOf(p, ordered))
	if p.data != nil {
		raw, err := json.Marshal(p.data)
		if err != nil {
			return contracts.ToolResult{}, fmt.Errorf("data: %w", err)
		}
		result.Data = contracts.NewOpaque(raw)
	}
	for name, value := range p.artifacts {
		raw, err := json.Marshal(value)
		if err != nil {
			return contracts.ToolResult{}, fmt.Errorf("artifact %q: %w", name, err)
		}
		if result.Artifacts == nil {
			result.Artifacts = map[string]json.RawMessage{}
		}
		result.Artifacts[name] = raw
	}
	return result, nil
}

// factsOf fills the facts in and gives them in the order of the Go fields.
func factsOf(facts any, result *contracts.ToolResult) (*object, error) {
	raw, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // large ids keep their digits
	if err := dec.Decode(&result.Facts); err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	v, err := parseOrdered(raw)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	ordered, ok := v.(*object)
	if !ok {
		return nil, errors.New("facts are no object")
	}
	return ordered, nil
}

func summaryOf(p parts, ordered *object) string {
	if p.summary != "" {
		return p.summary
	}
	if s, ok := p.facts.(Summarizer); ok {
		return s.Summary()
	}
	var words []string
	for _, m := range ordered.members {
		switch v := m.value.(type) {
		case nil, *object:
		case []any:
			words = append(words, fmt.Sprintf("%d %s", len(v), m.name))
		default:
			words = append(words, fmt.Sprintf("%s: %v", m.name, v))
		}
	}
	if len(words) == 0 {
		return "done"
	}
	return strings.Join(words, ", ")
}

// fillLists writes [] and {} where Go wrote null for a nil slice or map, as
// the schema demands.
func fillLists(facts map[string]any, schema *object) {
	v, _ := schema.get("properties")
	properties, ok := v.(*object)
	if !ok {
		return
	}
	for _, m := range properties.members {
		property, ok := m.value.(*object)
		value, present := facts[m.name]
		if !ok || !present {
			continue
		}
		facts[m.name] = filled(value, property)
	}
}

func filled(value any, schema *object) any {
	switch kindOf(schema) {
	case "array":
		items, ok := value.([]any)
		if value == nil {
			return []any{}
		}
		element, _ := schema.get("items")
		if s, isSchema := element.(*object); ok && isSchema {
			for i := range items {
				items[i] = filled(items[i], s)
			}
		}
	case "object":
		if value == nil {
			return map[string]any{}
		}
		if members, ok := value.(map[string]any); ok {
			fillLists(members, schema)
		}
	}
	return value
}
