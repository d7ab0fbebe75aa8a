package contracts

import (
	"slices"
	"strings"
)

// modernize rewrites one schema object of an earlier draft, or of OpenAPI, in draft 2020-12:
// tuples, boolean exclusive bounds, nullable, dependencies.
func modernize(schema map[string]any) {
	if tuple, ok := schema["items"].([]any); ok {
		delete(schema, "items")
		if schema["prefixItems"] == nil {
			schema["prefixItems"] = tuple
		}
		if more, ok := schema["additionalItems"]; ok {
			schema["items"] = more
		}
	}
	delete(schema, "additionalItems") // has no meaning without a tuple
	for _, bound := range [][2]string{{"exclusiveMinimum", "minimum"}, {"exclusiveMaximum", "maximum"}} {
		if open, ok := schema[bound[0]].(bool); ok {
			delete(schema, bound[0])
			if limit, ok := schema[bound[1]]; ok && open {
				schema[bound[0]] = limit
				delete(schema, bound[1])
			}
		}
	}
	if _, flag := schema["required"].(bool); flag {
		delete(schema, "required") // of draft 03, where the property itself was marked as required
	}
	admitNull(schema)
	splitDependencies(schema)
}

// admitNull translates OpenAPI's nullable.
func admitNull(schema map[string]any) {
	if nullable, _ := schema["nullable"].(bool); !nullable {
		return
	}
	if kind, ok := schema["type"].(string); ok && kind != "null" {
		schema["type"] = []any{kind, "null"}
	}
	if values, ok := schema["enum"].([]any); ok {
		schema["enum"] = append(slices.Clip(values), nil)
	}
}

// splitDependencies translates a keyword that was split in draft 2019-09.
func splitDependencies(schema map[string]any) {
	all, ok := schema["dependencies"].(map[string]any)
	if !ok {
		return
	}
	delete(schema, "dependencies")
	into := func(keyword, name string, v any) {
		to, _ := schema[keyword].(map[string]any)
		if to == nil {
			to = map[string]any{}
			schema[keyword] = to
		}
		if _, said := to[name]; !said {
			to[name] = v
		}
	}
	for name, v := range all {
		if _, names := v.([]any); names {
			into("dependentRequired", name, v)
		} else {
			into("dependentSchemas", name, v)
		}
	}
}

// translate rewrites the patterns of one schema object in RE2 and records those that RE2 cannot
// express. Values are then checked against the other keywords only.
func (g *schemaGuard) translate(at string, schema map[string]any) {
	if pattern, ok := schema["pattern"].(string); ok {
		delete(schema, "pattern")
		r := g.rulesOf(at+"/pattern", pattern)
		if main := r.main(); main != "" {
			schema["pattern"] = main
		}
		var all []any
		for _, p := range r.must[:max(len(r.must)-1, 0)] {
			all = append(all, map[string]any{"pattern": p})
		}
		for _, p := range r.never {
			all = append(all, map[string]any{"not": map[string]any{"type": "string", "pattern": p}})
		}
		if len(all) > 0 {
			schema["allOf"] = append(listOf(schema["allOf"]), all...)
		}
	}
	patterns, _ := schema["patternProperties"].(map[string]any)
	for _, pattern := range sortedKeys(patterns) {
		place := child(at+"/patternProperties", pattern)
		r := g.rulesOf(place, pattern)
		if len(r.must) == 1 && len(r.never) == 0 {
			if r.main() != pattern {
				patterns[r.main()] = patterns[pattern]
				delete(patterns, pattern)
			}
			continue
		}
		if r.unchecked == "" && len(r.must) > 0 {
			g.unchecked.add(place, "names of this form are not told from others: it looks ahead")
		}
		delete(patterns, pattern)
		delete(schema, "additionalProperties") // such names may be among the additional ones
	}
}

func (g *schemaGuard) rulesOf(at, pattern string) rules {
	r, err := readPattern(pattern)
	if err != nil {
		g.faults.add(at, "is no RE2 pattern: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	if r.unchecked != "" {
		g.unchecked.add(at, "the pattern is not checked, only lengths are: %s", r.unchecked)
	}
	return r
}
