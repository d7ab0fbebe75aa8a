package openapi

import (
	"maps"
	"slices"
	"strings"
)

const (
	components = "#/components/schemas/"
	defs       = "#/$defs/"
)

// jsonSchema converts schemas of a document to JSON Schema. It collects referenced schemas as
// definitions.
type jsonSchema struct {
	from document
	defs map[string]any
}

// of converts the schema of a request, without read-only properties.
func (j *jsonSchema) of(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = j.of(v[i])
		}
		return out
	case map[string]any:
		return j.object(v)
	}
	return v
}

func (j *jsonSchema) object(v map[string]any) map[string]any {
	if ref, ok := v["$ref"].(string); ok {
		return j.reference(v, ref)
	}
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(v)) {
		switch k {
		case "example", "xml", "externalDocs", "discriminator", "nullable":
		case "enum", "const", "default", "examples", "required":
			out[k] = v[k]
		case "properties":
			out[k] = j.properties(v[k])
		default:
			if !strings.HasPrefix(k, "x-") {
				out[k] = j.of(v[k])
			}
		}
	}
	writable(v, out)
	if j.from.old {
		modern(v, out)
	}
	return out
}

// properties converts a map of properties, whose names are free: one may be called "example".
func (j *jsonSchema) properties(v any) any {
	all, ok := v.(map[string]any)
	if !ok {
		return v
	}
	out := map[string]any{}
	for name, schema := range all {
		if s, ok := schema.(map[string]any); ok && s["readOnly"] == true {
			continue
		}
		out[name] = j.of(schema)
	}
	return out
}

// writable removes read-only properties from the required ones.
func writable(v, out map[string]any) {
	required, ok := v["required"].([]any)
	properties, has := v["properties"].(map[string]any)
	if !ok || !has {
		return
	}
	left := slices.DeleteFunc(slices.Clone(required), func(name any) bool {
		text, _ := name.(string)
		s, _ := properties[text].(map[string]any)
		return s["readOnly"] == true
	})
	out["required"] = left
	if len(left) == 0 {
		delete(out, "required")
	}
}

// modern converts keywords of OpenAPI 3.0 that differ from JSON Schema.
func modern(v, out map[string]any) {
	for limit, exclusive := range map[string]string{"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"} {
		if is, ok := v[exclusive].(bool); ok {
			delete(out, exclusive)
			if is {
				out[exclusive] = out[limit]
				delete(out, limit)
			}
		}
	}
	kind, typed := v["type"].(string)
	if v["nullable"] != true || !typed {
		return
	}
	out["type"] = []any{kind, "null"}
	if values, ok := v["enum"].([]any); ok && !slices.Contains(values, nil) {
		out["enum"] = append(slices.Clone(values), nil)
	}
}

// reference converts a reference and collects its target.
func (j *jsonSchema) reference(v map[string]any, ref string) map[string]any {
	name, ok := strings.CutPrefix(ref, components)
	if !ok {
		return map[string]any{"$ref": ref} // not supported, and reported as such
	}
	if name, _, deep := strings.Cut(name, "/"); deep {
		return map[string]any{"$ref": components + name} // the same
	}
	if _, known := j.defs[name]; !known {
		j.defs[name] = true // stops recursion
		j.defs[name] = j.of(j.from.schemas[name])
	}
	out := map[string]any{"$ref": defs + name}
	if text, ok := v["description"]; ok {
		out["description"] = text
	}
	return out
}

// resolved follows references to the schema itself.
func (j *jsonSchema) resolved(v any) map[string]any {
	s, _ := v.(map[string]any)
	for range 10 {
		ref, ok := s["$ref"].(string)
		if !ok {
			return s
		}
		s, _ = j.from.schemas[strings.TrimPrefix(ref, components)].(map[string]any)
	}
	return s
}

// followed follows references of a converted schema.
func (j *jsonSchema) followed(v any) map[string]any {
	s := object(v)
	for range 10 {
		ref, ok := s["$ref"].(string)
		if !ok {
			break
		}
		s = object(j.defs[strings.TrimPrefix(ref, defs)])
	}
	return s
}

// flat returns the properties of a body that is a plain object, so that they can be separate
// parameters.
func (j *jsonSchema) flat(v any) (properties map[string]any, required []string, ok bool) {
	s := j.resolved(v)
	if s["type"] != "object" {
		return nil, nil, false
	}
	for _, k := range []string{"allOf", "anyOf", "oneOf", "not", "if", "patternProperties", "propertyNames", "dependentRequired"} {
		if s[k] != nil {
			return nil, nil, false
		}
	}
	if more, ok := s["additionalProperties"]; ok && more != false {
		return nil, nil, false
	}
	if properties, ok = j.properties(s["properties"]).(map[string]any); !ok || len(properties) == 0 {
		return nil, nil, false
	}
	for _, name := range list(j.object(s)["required"]) {
		if text, ok := name.(string); ok {
			required = append(required, text)
		}
	}
	return properties, required, true
}
