package contracts

import (
	"encoding/json"
	"slices"
	"strings"
	"sync"
)

// Catalog is an immutable snapshot of every active domain: what the intent
// matcher and the planner work on. It is made by the registry and never
// changed after; a new registration makes a new one.
type Catalog struct {
	// Snapshot identifies the content: the hash of all active manifest digests
	// and policies.
	Snapshot string
	// Domains are sorted by name.
	Domains []*DomainEntry
	// Roles is the site's choice of a capability ("domain.name") for a role.
	Roles map[string]string

	byRef  map[string]*CapabilityEntry
	byBare map[string][]*CapabilityEntry
}

// DomainEntry is one active domain.
type DomainEntry struct {
	Name     string
	Digest   string
	Manifest *Manifest
	// Capabilities are in manifest order, the workflows after them.
	Capabilities []*CapabilityEntry
	// Roles are those that the site lets the domain's workflows call elsewhere.
	Roles []string
	// Inactive is workflow → what it names that nobody offers now.
	Inactive map[string][]string
}

// CapabilityEntry is one capability with its effective policy.
type CapabilityEntry struct {
	Domain     string
	Capability *Capability
	Policy     Policy
	// Digest pins what a run depends on; see CapabilityDigest.
	Digest string
	// Accept is the least confidence that registration and site ask for of a reading.
	Accept float64
	// Workflow is set if the entry is a workflow, which is never called: a plan is
	// made of its steps. Capability and Policy are then made from it.
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

// View returns what the schema of the parameters asks for, read once.
func (e *CapabilityEntry) View() *SchemaView {
	e.view.once.Do(func() { e.view.of = ViewSchema(e.Capability.Schema) })
	return e.view.of
}

// Input returns the schema of the parameters, compiled once.
func (e *CapabilityEntry) Input() (*Schema, error) { return e.input.compile(e.Capability.Schema) }

// Output returns the schema of the facts, compiled once; nil if there is none.
func (e *CapabilityEntry) Output() (*Schema, error) {
	return e.output.compile(e.Capability.OutputSchema)
}

// Each returns the schema that judges parameters one by one, which derive makes of
// the input's: once, however many plans are compiled. Nil says that there is none.
func (e *CapabilityEntry) Each(derive func() *Schema) *Schema {
	e.each.once.Do(func() { e.each.schema = derive() })
	return e.each.schema
}

// lazySchema compiles a schema at its first use: a catalog holds thousands, a
// run needs a few.
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

// Ref is the namespaced name, "domain.name".
func (e *CapabilityEntry) Ref() string { return e.Domain + "." + e.Capability.Name }

// Routable reports whether the capability may be chosen from text.
func (e *CapabilityEntry) Routable() bool {
	return e.Capability.Metadata.Routable == nil || *e.Capability.Metadata.Routable
}

// NewCatalog indexes the domains; the caller gives them up.
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

// Capability returns the capability of a full reference "domain.name".
func (c *Catalog) Capability(ref string) (*CapabilityEntry, bool) {
	e, ok := c.byRef[ref]
	return e, ok
}

// Resolve finds a capability by reference: "domain.name", or a bare name. A
// bare name with a home is the home's: whatever another domain calls by that
// name is something else. Without a home it is looked up in all domains, and
// the error says which candidates there are.
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

// Playing returns the capabilities that play a role, with how, in catalog order.
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

// CapabilityDigest is what a run pins: the hash of name, schemas, effective
// policy, locks, verify, reconcile and compensation.
func CapabilityDigest(c *Capability, p Policy) (string, error) {
	if p.Reason == p.ruleReason() {
		p.Reason = p.ruleName() // however people are told: stored runs hold by the digest
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
