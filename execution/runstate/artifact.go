package runstate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// Materialize replaces references to artifacts by their content, except where the schema takes the
// reference itself.
func Materialize(params, schema map[string]any, load func(sha256 string) ([]byte, error)) (map[string]any, error) {
	m := materializer{load: load}
	full, err := m.replace(params, schema)
	if err != nil {
		return nil, err
	}
	out, _ := full.(map[string]any)
	return out, nil
}

// materializer replaces {"$artifact":"sha256:…"} by contents and counts their size.
type materializer struct {
	load func(sha256 string) ([]byte, error)
	size int
}

func (m *materializer) replace(v any, schema map[string]any) (any, error) {
	switch v := v.(type) {
	case map[string]any:
		if sha, ok := artifactRef(v); ok {
			if schema["x-manifold-artifact"] == "ref" {
				return v, nil
			}
			return m.content(sha)
		}
		out := make(map[string]any, len(v))
		for name, item := range v {
			replaced, err := m.replace(item, child(schema, "properties", name))
			if err != nil {
				return nil, err
			}
			out[name] = replaced
		}
		return out, nil
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			replaced, err := m.replace(item, child(schema, "items", ""))
			if err != nil {
				return nil, err
			}
			out[i] = replaced
		}
		return out, nil
	default:
		return v, nil
	}
}

func (m *materializer) content(sha string) (any, error) {
	body, err := m.load(sha)
	if err != nil {
		return nil, fmt.Errorf("artifact sha256:%s: %w", sha, err)
	}
	if m.size += len(body); m.size > contracts.MaxCallBytes {
		return nil, contracts.Errorf(contracts.CodeTooLarge, "the artifacts of one call are over %d bytes", contracts.MaxCallBytes)
	}
	var v any
	if err := contracts.Decode(body, &v); err != nil {
		return nil, fmt.Errorf("artifact sha256:%s: %w", sha, err)
	}
	return v, nil
}

// HasArtifacts reports whether there is a reference anywhere in a value.
func HasArtifacts(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := artifactRef(v); ok {
			return true
		}
		for _, item := range v {
			if HasArtifacts(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, HasArtifacts)
	}
	return false
}

// artifactRef returns the digest of a reference, and false if v is not a reference.
func artifactRef(v map[string]any) (string, bool) {
	ref, ok := v["$artifact"].(string)
	if !ok || len(v) != 1 {
		return "", false
	}
	return strings.CutPrefix(ref, "sha256:")
}

func child(schema map[string]any, keyword, name string) map[string]any {
	sub, _ := schema[keyword].(map[string]any)
	if name == "" {
		return sub
	}
	named, _ := sub[name].(map[string]any)
	return named
}
