package domainkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// build is a fixed manifest with its capabilities ready to execute. It is immutable.
type build struct {
	manifest *contracts.Manifest
	raw      []byte
	etag     string
	byName   map[string]*served
	// instances are the ids in the manifest; instance is the id of the default one.
	instances []string
	instance  string
}

// served is a declared capability, ready to be executed.
type served struct {
	name    string
	handler RawHandler
	resolve Resolver
	input   *contracts.Schema
	output  *contracts.Schema // nil if the capability declares none
	// inputSchema holds the defaults; outputSchema says where nil becomes [] or {}.
	inputSchema  *object
	outputSchema *object
	writes       bool
	keyed        bool
	dryRun       bool
	timeout      time.Duration
	window       time.Duration
	slots        *limiter
}

// Manifest builds the manifest from code and hints and returns it. The manifest is then fixed:
// adding a capability later is an error. The error lists every fault.
func (s *Service) Manifest() (*contracts.Manifest, error) {
	b, err := s.build()
	if err != nil {
		return nil, err
	}
	return b.manifest, nil
}

func (s *Service) build() (*build, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.built != nil {
		return s.built, nil
	}
	b, err := s.assemble()
	if err != nil {
		return nil, fmt.Errorf("domain %q: %w", s.config.Domain, err)
	}
	s.built = b
	s.warn(b)
	return b, nil
}

// assemble builds the manifest. The caller holds mu.
func (s *Service) assemble() (*build, error) {
	raw, err := s.manifestJSON()
	if err != nil {
		return nil, err
	}
	manifest, err := contracts.ParseManifest(raw)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	b := &build{manifest: manifest, raw: raw, etag: `"` + contracts.HashBytes(raw) + `"`, byName: map[string]*served{}}
	for i := range manifest.Instances {
		b.instances = append(b.instances, manifest.Instances[i].ID)
		if manifest.Instances[i].Default || len(manifest.Instances) == 1 {
			b.instance = manifest.Instances[i].ID
		}
	}
	var faults []error
	for i := range manifest.Capabilities {
		c, err := newServed(&manifest.Capabilities[i], s.declared[i])
		if err != nil {
			faults = append(faults, fmt.Errorf("capability %q: %w", manifest.Capabilities[i].Name, err))
			continue
		}
		b.byName[c.name] = c
	}
	return b, errors.Join(faults...)
}

func newServed(c *contracts.Capability, declared *capability) (*served, error) {
	policy := c.Metadata.Policy(c.Metadata.Compensation != nil)
	out := &served{
		name: c.Name, handler: declared.handler, resolve: declared.declared.Resolve,
		writes:  policy.SideEffectClass.Writes(),
		keyed:   policy.Idempotency == contracts.IdempotencyKeyed,
		dryRun:  policy.DryRun,
		timeout: min(policy.Timeout(), contracts.MaxTimeout),
		window:  time.Duration(policy.IdempotencyWindowS) * time.Second,
		slots:   newLimiter(policy.MaxConcurrency, policy.RateLimitPerMin),
	}
	if out.resolve != nil && !out.keyed {
		return nil, errors.New("a Resolve is only for idempotency keyed")
	}
	var err error
	if out.input, out.inputSchema, err = compiled(c.Schema); err != nil {
		return nil, fmt.Errorf("schema: %w", err)
	}
	if len(c.OutputSchema) > 0 {
		if out.output, out.outputSchema, err = compiled(c.OutputSchema); err != nil {
			return nil, fmt.Errorf("output_schema: %w", err)
		}
	}
	return out, nil
}

func compiled(raw json.RawMessage) (*contracts.Schema, *object, error) {
	schema, err := contracts.CompileSchema(raw)
	if err != nil {
		return nil, nil, err
	}
	v, err := parseOrdered(raw)
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.(*object)
	if !ok {
		return nil, nil, errors.New("is no object")
	}
	return schema, o, nil
}

// manifestJSON encodes the declared capabilities and merges the hints into them.
func (s *Service) manifestJSON() ([]byte, error) {
	m := contracts.Manifest{
		SchemaVersion: contracts.SchemaVersion, Domain: s.config.Domain, Version: s.config.Version,
		Title: s.config.Title, Description: s.config.Description, Instances: s.config.Instances,
		Skills: s.config.Skills, Tests: s.config.Tests, Capabilities: []contracts.Capability{},
	}
	for _, c := range s.declared {
		m.Capabilities = append(m.Capabilities, contracts.Capability{
			Name: c.declared.Name, Description: c.declared.Description, Schema: c.declared.Schema,
			OutputSchema: c.declared.OutputSchema, Metadata: c.declared.Metadata,
		})
	}
	raw, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("manifest: %w", err)
	}
	if len(s.config.Hints) == 0 {
		return raw, nil
	}
	merged, err := mergeHints(raw, s.config.Hints)
	if err != nil {
		return nil, fmt.Errorf("hints: %w", err)
	}
	return merged, nil
}

// warn logs settings that are allowed but probably unintended.
func (s *Service) warn(b *build) {
	_, inMemory := s.config.Store.(*MemoryStore)
	keyed := slices.ContainsFunc(b.manifest.Capabilities, func(c contracts.Capability) bool { return b.byName[c.Name].keyed })
	if inMemory && keyed {
		s.log.Warn("idempotency keys are kept in memory and forgotten at a restart; use a durable store for writes that matter")
	}
	if len(s.config.Tokens) == 0 {
		s.log.Warn("no tokens are configured: everyone who reaches this service may use it")
	}
}
