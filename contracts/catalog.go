package contracts

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Catalog is an immutable snapshot of all active domains, used by the intent matcher and the
// planner. The registry creates a new one for every change. It is safe for concurrent use.
type Catalog struct {
	// Snapshot is the hash of all active manifest digests and policies.
	Snapshot string
	// Domains are sorted by name.
	Domains []*DomainEntry
	// Roles maps a role to the capability ("domain.name") that the site selected for it.
	Roles map[string]string

	byRef  map[string]*CapabilityEntry
	byBare map[string][]*CapabilityEntry
}

// DomainEntry is one active domain.
type DomainEntry struct {
	Name     string
	Digest   string
	Manifest *Manifest
	// Capabilities are in manifest order, followed by the workflows.
	Capabilities []*CapabilityEntry
	// Roles are the roles that the site allows the domain's workflows to call in other domains.
	Roles []string
	// Inactive maps a workflow to the references in it that no active domain provides.
	Inactive map[string][]string
}

// CapabilityEntry is one capability with its effective policy.
type CapabilityEntry struct {
	Domain     string
	Capability *Capability
	Policy     Policy
	// Digest is the hash that a run pins; see CapabilityDigest.
	Digest string
	// Accept is the minimum confidence that the registration and the site require of an intent.
	Accept float64
	// Workflow is set if the entry is a workflow. A workflow is never called: the planner inserts
	// its steps. Capability and Policy are then derived from it.
	Workflow *Workflow

	input, output lazySchema
	each          struct {
		once   sync.Once
		schema *Schema
	}
	view struct {
		once sync.Once
		of   *SchemaView
	}
}

// View returns the view of the parameter schema. It is computed once.
func (e *CapabilityEntry) View() *SchemaView {
	e.view.once.Do(func() { e.view.of = ViewSchema(e.Capability.Schema) })
	return e.view.of
}

// Input returns the compiled schema of the parameters. It is compiled once.
func (e *CapabilityEntry) Input() (*Schema, error) { return e.input.compile(e.Capability.Schema) }

// Output returns the compiled schema of the facts, or nil if there is none. It is compiled once.
func (e *CapabilityEntry) Output() (*Schema, error) {
	return e.output.compile(e.Capability.OutputSchema)
}

// Each returns the schema that validates parameters one by one. derive builds it from the input
// schema and is called only once per entry. Each returns nil if derive did.
func (e *CapabilityEntry) Each(derive func() *Schema) *Schema {
	e.each.once.Do(func() { e.each.schema = derive() })
	return e.each.schema
}

// lazySchema compiles a schema at its first use. A catalog holds thousands of schemas, of which a
// run needs few.
type lazySchema struct {
	once   sync.Once
	schema *Schema
	err    error
}

func (l *lazySchema) compile(raw json.RawMessage) (*Schema, error) {
	l.once.Do(func() {
		if len(raw) > 0 {
			l.schema, l.err = CompileSchema(raw)
		}
	})
	return l.schema, l.err
}

// Ref returns the qualified name, "domain.name".
func (e *CapabilityEntry) Ref() string { return e.Domain + "." + e.Capability.Name }

// Routable reports whether the capability may be selected from text.
func (e *CapabilityEntry) Routable() bool {
	return e.Capability.Metadata.Routable == nil || *e.Capability.Metadata.Routable
}

// NewCatalog indexes the domains. It takes ownership of the slice and sorts it.
func NewCatalog(snapshot string, domains []*DomainEntry, roles map[string]string) *Catalog {
	c := &Catalog{
		Snapshot: snapshot, Domains: domains, Roles: roles,
		byRef: map[string]*CapabilityEntry{}, byBare: map[string][]*CapabilityEntry{},
	}
	slices.SortFunc(c.Domains, func(a, b *DomainEntry) int { return strings.Compare(a.Name, b.Name) })
	for _, d := range c.Domains {
		for _, e := range d.Capabilities {
			c.byRef[e.Ref()] = e
			c.byBare[e.Capability.Name] = append(c.byBare[e.Capability.Name], e)
		}
	}
	return c
}

// Domain returns the named domain.
func (c *Catalog) Domain(name string) (*DomainEntry, bool) {
	for _, d := range c.Domains {
		if d.Name == name {
			return d, true
		}
	}
	return nil, false
}

// Capability returns the capability with the full reference "domain.name".
func (c *Catalog) Capability(ref string) (*CapabilityEntry, bool) {
	e, ok := c.byRef[ref]
	return e, ok
}

// Resolve returns the capability of a reference, which is "domain.name" or a bare name. A bare
// name belongs to the domain home; a capability of the same name in another domain is unrelated.
// If home is empty, a bare name is searched in all domains. The error is not_found, or conflict
// with the candidates if the name is ambiguous.
func (c *Catalog) Resolve(ref, home string) (*CapabilityEntry, error) {
	if home != "" && !strings.Contains(ref, ".") {
		ref = home + "." + ref
	}
	if e, ok := c.byRef[ref]; ok {
		return e, nil
	}
	if strings.Contains(ref, ".") {
		return nil, Errorf(CodeNotFound, "there is no capability %q", ref)
	}
	found := c.byBare[ref]
	switch len(found) {
	case 0:
		return nil, Errorf(CodeNotFound, "there is no capability %q", ref)
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, e := range found {
		names[i] = e.Ref()
	}
	return nil, Errorf(CodeConflict, "%q is ambiguous; say one of %s", ref, strings.Join(names, ", "))
}

// Playing returns the capabilities that play a role, with their parameter maps, in catalog order.
func (c *Catalog) Playing(role string) (out []RolePlayer) {
	for _, d := range c.Domains {
		for _, e := range d.Capabilities {
			for _, p := range e.Capability.Metadata.Plays {
				if p.Role == role {
					out = append(out, RolePlayer{Entry: e, ParamMap: p.ParamMap})
				}
			}
		}
	}
	return out
}

// RolePlayer is a capability that plays a role.
type RolePlayer struct {
	Entry    *CapabilityEntry
	ParamMap map[string]any
}

// CapabilityDigest returns the hash that a run pins. It covers name, schemas, effective policy,
// locks, verify, reconcile and compensation.
func CapabilityDigest(c *Capability, p Policy) (string, error) {
	if p.Reason == p.ruleReason() {
		p.Reason = p.ruleName() // the digest does not depend on the text shown to people, because stored runs pin it
	}
	return Hash(struct {
		Name         string          `json:"name"`
		Schema       any             `json:"schema"`
		OutputSchema any             `json:"output_schema,omitempty"`
		Policy       Policy          `json:"policy"`
		Locks        []string        `json:"locks,omitempty"`
		Verify       *VerifyRule     `json:"verify,omitempty"`
		Reconcile    *CapabilityCall `json:"reconcile,omitempty"`
		Compensation *CapabilityCall `json:"compensation,omitempty"`
	}{
		c.Name, rawOrNil(c.Schema), rawOrNil(c.OutputSchema), p, c.Metadata.Locks,
		c.Metadata.Verify, c.Metadata.Reconcile, c.Metadata.Compensation,
	})
}

func rawOrNil(raw []byte) any {
	if len(raw) == 0 {
		return nil
	}
	return json.RawMessage(raw)
}
