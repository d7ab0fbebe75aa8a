package execution

import (
	"encoding/json"
	"sync"

	"github.com/manifold-run/manifold/contracts"
)

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
