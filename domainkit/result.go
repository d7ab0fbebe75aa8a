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

// Result is an Out with more than facts. A handler that only returns facts uses their struct as its
// Out.
type Result[T any] struct {
	// Facts are the small structured result; T is a struct.
	Facts T
	// Summary is one line. If it is empty, it comes from Facts.Summary() or is made from the facts.
	Summary string
	// Data is raw output for debugging. It is never part of an answer to a user or of a prompt.
	Data any
	// Artifacts are large values, stored once and passed by reference.
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

// Summarizer is implemented by an Out that writes its own summary.
type Summarizer interface {
	Summary() string
}

func factsType(out reflect.Type) reflect.Type {
	if c, ok := reflect.TypeAssert[composite](reflect.Zero(out)); ok {
		return c.typeOfFacts()
	}
	return out
}

// resultOf converts the return value of a handler.
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

// factsOf stores the facts in result and returns them in the order of the Go fields.
func factsOf(facts any, result *contracts.ToolResult) (*object, error) {
	raw, err := json.Marshal(facts)
	if err != nil {
		return nil, fmt.Errorf("facts: %w", err)
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber() // large integers keep their digits
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

// fillLists replaces the null that Go encodes for a nil slice or map by [] or {}, as the schema
// requires.
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
