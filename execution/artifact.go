package execution

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

// materializer puts contents in the place of {"$artifact":"sha256:…"}.
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

// hasArtifacts tells whether there is a reference anywhere in a value.
func hasArtifacts(v any) bool {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := artifactRef(v); ok {
			return true
		}
		for _, item := range v {
			if hasArtifacts(item) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, hasArtifacts)
	}
	return false
}

// artifactRef tells whether a value is a reference, and to what.
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

// schemaCache keeps compiled schemas by the digest of their capability.
type schemaCache struct {
	mu       sync.Mutex // guards compiled
	compiled map[string]*contracts.Schema
}

// maxSchemas bounds the cache; catalogs change seldom, so it is simply emptied.
const maxSchemas = 4096

func newSchemaCache() *schemaCache { return &schemaCache{compiled: map[string]*contracts.Schema{}} }

// check validates parameters against the capability's schema.
func (c *schemaCache) check(e *contracts.CapabilityEntry, params map[string]any) error {
	s, err := c.compile(e.Digest, e.Capability.Schema)
	if err != nil {
		return err
	}
	if faults := s.Validate(params); len(faults) > 0 {
		return contracts.Invalid("the parameters do not fit the schema of "+e.Ref(), faults...)
	}
	return nil
}

func (c *schemaCache) compile(digest string, raw json.RawMessage) (*contracts.Schema, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if s, ok := c.compiled[digest]; ok {
		return s, nil
	}
	s, err := contracts.CompileSchema(raw)
	if err != nil {
		return nil, err
	}
	if len(c.compiled) >= maxSchemas {
		c.compiled = map[string]*contracts.Schema{}
	}
	c.compiled[digest] = s
	return s, nil
}
