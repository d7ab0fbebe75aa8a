package contracts

import (
	"maps"
	"slices"
	"strings"
)

// SelfContained returns the schema with all references inlined or in $defs.
func (s *Schema) SelfContained() map[string]any {
	w := schemaInliner{root: s.root}
	node, _ := lookupPointer(s.root, s.place)
	return w.document(w.followed(node))
}

// ForPrompt is like SelfContained, for a schema that a person or a model must answer: null is not
// accepted, and constants become an enumeration.
func (s *Schema) ForPrompt() map[string]any {
	w := schemaInliner{root: s.root}
	node, _ := lookupPointer(s.root, s.place)
	out := w.followed(node)
	for range MaxSchemaDepth {
		if !w.simpler(out) {
			break
		}
		out = w.followed(out)
	}
	if view := s.View(); len(view.Enum) > 0 {
		delete(out, "oneOf")
		delete(out, "anyOf")
		delete(out, "const")
		out["enum"] = slices.Clone(view.Enum)
	}
	if out["default"] == nil {
		delete(out, "default")
	}
	delete(out, "nullable")
	return w.document(out)
}

// schemaInliner extracts schemas from their document.
type schemaInliner struct{ root map[string]any }

// followed returns a copy of a schema with its top-level references resolved.
func (w schemaInliner) followed(node any) map[string]any {
	schema, _ := settled(node).(map[string]any)
	out := maps.Clone(schema)
	for range MaxSchemaDepth {
		ref, ok := out["$ref"].(string)
		if !ok || ref != "#" && !strings.HasPrefix(ref, "#/") {
			break
		}
		target, _ := lookupPointer(w.root, refPointer(ref))
		delete(out, "$ref")
		under(out, target)
	}
	if out == nil {
		out = map[string]any{}
	}
	return out
}

// under adds the keywords of other that schema does not have.
func under(schema map[string]any, other any) {
	more, _ := settled(other).(map[string]any)
	for keyword, v := range more {
		if _, said := schema[keyword]; !said {
			schema[keyword] = v
		}
	}
}

// simpler removes null and resolves groups with a single alternative. It reports whether it
// resolved a group, so that it must be called again.
func (w schemaInliner) simpler(schema map[string]any) bool {
	if types, ok := schema["type"].([]any); ok {
		if kept := slices.DeleteFunc(slices.Clone(types), func(t any) bool { return t == "null" }); len(kept) == 1 {
			schema["type"] = kept[0]
		}
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = slices.DeleteFunc(slices.Clone(values), func(v any) bool { return v == nil })
	}
	for _, keyword := range []string{"anyOf", "oneOf", "allOf"} {
		group := listOf(schema[keyword])
		kept := slices.DeleteFunc(slices.Clone(group), func(v any) bool { return keyword != "allOf" && onlyNull(v) })
		if len(kept) == 1 {
			delete(schema, keyword)
			under(schema, w.followed(kept[0]))
			return true
		}
	}
	return false
}

func onlyNull(schema any) bool {
	node, _ := schema.(map[string]any)
	fixed, constant := node["const"]
	return node["type"] == "null" || constant && fixed == nil
}

// document adds the definitions to a schema that refers to them. References to other locations
// are redirected to a copy of the whole document.
func (w schemaInliner) document(schema map[string]any) map[string]any {
	for _, keyword := range definitionKeywords {
		if defs, ok := w.root[keyword]; ok && refersTo(schema, func(string) bool { return true }) {
			schema[keyword] = settled(defs)
		}
	}
	elsewhere := func(ref string) bool {
		return !strings.HasPrefix(ref, "#/$defs/") && !strings.HasPrefix(ref, "#/definitions/")
	}
	if !refersTo(schema, elsewhere) {
		return schema
	}
	const copied = "document"
	out, _ := moved(schema, "#/$defs/"+copied).(map[string]any)
	for _, keyword := range definitionKeywords {
		delete(out, keyword)
	}
	out["$defs"] = map[string]any{copied: moved(settled(withoutIdentity(w.root)), "#/$defs/"+copied)}
	return out
}

// refersTo reports whether a schema contains a reference that kind accepts.
func refersTo(v any, kind func(ref string) bool) bool {
	switch v := v.(type) {
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok && kind(ref) {
			return true
		}
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), func(member any) bool { return refersTo(member, kind) })
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return refersTo(item, kind) })
	}
	return false
}

// moved returns a copy whose references are prefixed by the location to.
func moved(v any, to string) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			if ref, ok := member.(string); ok && name == "$ref" && strings.HasPrefix(ref, "#") {
				member = to + strings.TrimPrefix(ref, "#")
			}
			out[name] = moved(member, to)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = moved(item, to)
		}
		return out
	}
	return v
}
