// Package schema reads of a capability's JSON Schema, and of its descriptions, what helps to
// find values in words.
package schema

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Schema is the part of a JSON Schema that helps to read values.
type Schema struct {
	Type        TypeName                   `json:"type"`
	Title       string                     `json:"title"`
	Description string                     `json:"description"`
	Format      string                     `json:"format"`
	Pattern     string                     `json:"pattern"`
	Enum        []any                      `json:"enum"`
	Const       any                        `json:"const"`
	Default     json.RawMessage            `json:"default"`
	Minimum     *float64                   `json:"minimum"`
	Maximum     *float64                   `json:"maximum"`
	ExMinimum   *float64                   `json:"exclusiveMinimum"`
	ExMaximum   *float64                   `json:"exclusiveMaximum"`
	MinLength   *int                       `json:"minLength"`
	MaxLength   *int                       `json:"maxLength"`
	MaxItems    *int                       `json:"maxItems"`
	Items       json.RawMessage            `json:"items"`
	Properties  json.RawMessage            `json:"properties"`
	Required    []string                   `json:"required"`
	OneOf       []Schema                   `json:"oneOf"`
	AnyOf       []Schema                   `json:"anyOf"`
	Ref         string                     `json:"$ref"`
	Defs        map[string]json.RawMessage `json:"$defs"`
	Definitions map[string]json.RawMessage `json:"definitions"`
}

// TypeName is the first type that is not null.
type TypeName string

// UnmarshalJSON accepts a name as well as a list of names.
func (t *TypeName) UnmarshalJSON(data []byte) error {
	var one string
	if json.Unmarshal(data, &one) == nil {
		*t = TypeName(one)
		return nil
	}
	var many []string
	if err := json.Unmarshal(data, &many); err != nil {
		return err
	}
	for _, name := range many {
		if name != "null" {
			*t = TypeName(name)
			return nil
		}
	}
	return nil
}

// Property is one named member of an object schema, in the author's order.
type Property struct {
	Name   string
	Schema Schema
}

// Members reads the members of an object schema in order. What cannot be
// read is left out: admission has refused it, or it is not for text.
func (s *Schema) Members() []Property {
	dec := json.NewDecoder(bytes.NewReader(s.Properties))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []Property
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return out
		}
		name, ok := key.(string)
		var raw json.RawMessage
		if !ok || dec.Decode(&raw) != nil {
			return out
		}
		out = append(out, Property{Name: name, Schema: s.resolve(raw, 0)})
	}
	return out
}

// resolve reads a schema and follows local references a few steps.
func (s *Schema) resolve(raw json.RawMessage, depth int) Schema {
	var out Schema
	if json.Unmarshal(raw, &out) != nil {
		return Schema{}
	}
	if out.Ref != "" && depth < 4 {
		for prefix, defs := range map[string]map[string]json.RawMessage{"#/$defs/": s.Defs, "#/definitions/": s.Definitions} {
			if name, ok := strings.CutPrefix(out.Ref, prefix); ok && defs[name] != nil {
				return s.resolve(defs[name], depth+1)
			}
		}
	}
	return out
}

// Item is the schema of the elements of a list.
func (s *Schema) Item(root *Schema) Schema {
	if len(s.Items) == 0 {
		return Schema{Type: "string"}
	}
	return root.resolve(s.Items, 0)
}

// Options collects the constants that oneOf and anyOf of a member list.
func (s *Schema) Options() []any {
	out := s.Enum
	if s.Const != nil {
		out = append(out, s.Const)
	}
	for _, alt := range append(s.OneOf, s.AnyOf...) {
		if alt.Const != nil {
			out = append(out, alt.Const)
		}
		out = append(out, alt.Enum...)
	}
	return out
}
