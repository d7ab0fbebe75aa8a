package contracts

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ParseManifest parses and validates the manifest of one domain: size and depth, strict decoding,
// JSON Schema, and all checks that need only this manifest. It returns an error with every fault
// by JSON pointer and never part of a manifest. References to other domains are not checked.
func ParseManifest(data []byte) (*Manifest, error) {
	m, err := AdmitManifest(data)
	if err == nil && len(m.Unserved) > 0 {
		return nil, Invalid("the manifest is not valid", m.UnservedFaults()...)
	}
	return m, err
}

// AdmitManifest is ParseManifest for a manifest of a third party. A capability whose schema is
// not supported is excluded without affecting the others. The manifest is rejected if none
// remains.
func AdmitManifest(data []byte) (*Manifest, error) {
	if len(data) > MaxManifestBytes {
		return nil, Errorf(CodeTooLarge, "the manifest has %d bytes; %d are allowed", len(data), MaxManifestBytes)
	}
	if err := supported(data); err != nil {
		return nil, err
	}
	var m Manifest
	if err := Parse(SchemaManifest, data, &m); err != nil {
		return nil, withMeaning(err, data)
	}
	faults, unserved := meaningFaults(&m)
	m.Unserved = unserved
	if len(faults) > 0 || len(unserved) > 0 && len(unserved) == len(m.Capabilities) {
		return nil, Invalid("the manifest is not valid", append(faults, m.UnservedFaults()...)...)
	}
	return &m, nil
}

// withMeaning adds semantic faults to the structural faults of a manifest, so that its author
// sees all of them at once. It adds nothing if the manifest does not decode, and no second fault
// at the same location.
func withMeaning(err error, data []byte) error {
	form, ok := errors.AsType[*Error](err)
	var m Manifest
	if !ok || len(form.Faults) == 0 || Decode(data, &m) != nil {
		return err
	}
	all := faultList(slices.Clone(form.Faults))
	faults, unserved := meaningFaults(&m)
	m.Unserved = unserved
	for _, f := range append(faults, m.UnservedFaults()...) {
		told := func(of Fault) bool { return f.Pointer == of.Pointer }
		if !slices.ContainsFunc(form.Faults, told) {
			all.add(f.Pointer, "%s", f.Message)
		}
	}
	return Invalid(form.Message, all...)
}

// supported rejects manifests of other schema versions early, so that the author gets one clear
// message instead of a list of unknown keys.
func supported(data []byte) error {
	var head struct {
		SchemaVersion any `json:"schema_version"`
	}
	if err := Decode(data, &head); err != nil {
		head.SchemaVersion = nil // the strict decoder reports the location
	}
	if version, ok := head.SchemaVersion.(string); ok && version != SchemaVersion {
		return &Error{
			Code:    CodeUnsupported,
			Message: fmt.Sprintf("schema_version %.20q is not supported; this release reads %q", version, SchemaVersion),
			Faults:  []Fault{{Pointer: "/schema_version", Message: "must be " + SchemaVersion}},
		}
	}
	return nil
}

// Capability returns the capability of a reference in this manifest, which is a bare name or is
// qualified by the manifest's own domain.
func (m *Manifest) Capability(ref string) (*Capability, bool) {
	name := ownName(m.Domain, ref)
	for i := range m.Capabilities {
		if m.Capabilities[i].Name == name {
			return &m.Capabilities[i], true
		}
	}
	return nil, false
}

func ownName(domain, ref string) string { return strings.TrimPrefix(ref, domain+".") }

// manifestCheck holds the shared state of the semantic checks of one manifest.
type manifestCheck struct {
	m      *Manifest
	caps   []*checkedCapability // in manifest order
	byName map[string]*checkedCapability
	// workflows are the workflows, checked like capabilities because they are also selected from
	// text and take parameters.
	workflows map[string]*checkedCapability
	faults    faultList
	unserved  map[string][]Fault
}

// checkedCapability is a capability with its location and compiled schemas. A schema that does
// not compile is nil.
type checkedCapability struct {
	*Capability
	at  string
	in  *Schema
	out *Schema
}

// meaningFaults returns the semantic faults of a manifest, and the capabilities to exclude with
// the reasons.
func meaningFaults(m *Manifest) (faultList, map[string][]Fault) {
	c := &manifestCheck{m: m, byName: map[string]*checkedCapability{}, workflows: map[string]*checkedCapability{}, unserved: map[string][]Fault{}}
	for i := range m.Capabilities {
		checked := &checkedCapability{Capability: &m.Capabilities[i], at: child("/capabilities", i)}
		c.caps = append(c.caps, checked)
		if _, twice := c.byName[checked.Name]; twice {
			c.faults.add(checked.at+"/name", "the name %q stands here twice", checked.Name)
			continue
		}
		c.byName[checked.Name] = checked
	}
	for i := range m.Workflows {
		w := &m.Workflows[i]
		checked := &checkedCapability{Capability: w.AsCapability(), at: child("/workflows", i)}
		if c.byName[w.Name] != nil || c.workflows[w.Name] != nil {
			c.faults.add(checked.at+"/name", "the name %q stands here twice", w.Name)
			continue
		}
		c.workflows[w.Name] = checked
	}
	c.run()
	c.spreadUnserved()
	return c.faults, c.unserved
}

// spreadUnserved excludes capabilities that call an excluded one, transitively.
func (c *manifestCheck) spreadUnserved() {
	for grown := len(c.unserved) > 0; grown; {
		grown = false
		for _, checked := range c.caps {
			if c.unserved[checked.Name] != nil {
				continue
			}
			for _, ref := range checked.Metadata.calls() {
				if name := ownName(c.m.Domain, ref); c.unserved[name] != nil {
					c.unserved[checked.Name] = []Fault{{Pointer: checked.at, Message: fmt.Sprintf("it calls %q, which is not served", name)}}
					grown = true
					break
				}
			}
		}
	}
}

func (c *manifestCheck) run() {
	if c.m.Domain == "shared" {
		c.faults.add("/domain", "the name is reserved for locks that domains share")
	}
	if c.m.Capabilities == nil && len(c.m.Workflows) == 0 {
		c.faults.add("", "must have capabilities, or, in a pack, workflows")
	}
	c.checkInstances()
	for _, checked := range c.caps {
		c.compile(checked)
	}
	c.checkWorkflows()
	for _, checked := range c.caps {
		c.checkCapability(checked)
	}
	for i, test := range c.m.Tests {
		c.checkTest(child("/tests", i), test)
	}
}

// checkWorkflows checks the parts that workflows share with capabilities. Their steps are checked
// elsewhere, with the catalog at hand.
func (c *manifestCheck) checkWorkflows() {
	for _, name := range sortedKeys(c.workflows) {
		checked := c.workflows[name]
		c.compile(checked)
		c.checkSpecs(checked)
		c.checkPresent(checked)
		c.checkExamples(checked)
	}
}

func (c *manifestCheck) checkInstances() {
	seen, defaults := map[string]bool{}, 0
	for i, instance := range c.m.Instances {
		at := child("/instances", i)
		if seen[instance.ID] {
			c.faults.add(at+"/id", "the instance %q stands here twice", instance.ID)
		}
		seen[instance.ID] = true
		if instance.Default {
			if defaults++; defaults > 1 {
				c.faults.add(at+"/default", "another instance is the default already")
			}
		}
	}
}

// compile compiles the schemas. An invalid schema excludes its capability. In a workflow it is a
// fault, because the author controls it.
func (c *manifestCheck) compile(cap *checkedCapability) {
	var faults faultList
	cap.in = compileObject(&faults, cap.at+"/schema", cap.Schema)
	if len(cap.OutputSchema) > 0 {
		cap.out = compileObject(&faults, cap.at+"/output_schema", cap.OutputSchema)
	}
	if len(faults) > 0 && c.byName[cap.Name] == cap {
		c.unserved[cap.Name] = faults
		return
	}
	c.faults.addAt("", faults)
}

func compileObject(faults *faultList, at string, raw []byte) *Schema {
	schema, err := CompileSchema(raw)
	if err != nil {
		faults.addAt(at, faultsOf(err))
		return nil
	}
	if schema.View().Type != typeObject {
		faults.add(at+"/type", `must be "object"`)
		return nil
	}
	return schema
}

// resolve returns the capability of a reference of this manifest. It returns nil for a capability
// of another domain, which is not known here.
func (c *manifestCheck) resolve(at, ref string) *checkedCapability {
	domain, name, qualified := strings.Cut(ref, ".")
	if !qualified {
		name = ref
	} else if domain != c.m.Domain {
		return nil
	}
	found, ok := c.byName[name]
	if !ok {
		c.faults.add(at, "there is no capability %q in this manifest", name)
		return nil
	}
	return found
}

func (c *manifestCheck) checkTest(at string, test RoutingTest) {
	if test.Expect == nil {
		return
	}
	at += "/expect"
	if domain, _, ok := strings.Cut(test.Expect.Capability, "."); ok && domain != c.m.Domain {
		c.faults.add(at+"/capability", "a test speaks of its own domain; null says that nothing of it is meant")
		return
	}
	target := c.workflows[ownName(c.m.Domain, test.Expect.Capability)]
	if target == nil {
		target = c.resolve(at+"/capability", test.Expect.Capability)
	}
	if target == nil {
		return
	}
	if target.Metadata.Routable != nil && !*target.Metadata.Routable {
		c.faults.add(at+"/capability", "%q is not routable", target.Name)
	}
	for _, name := range sortedKeys(test.Expect.Parameters) {
		place := child(at+"/parameters", name)
		if property := c.property(place, target, name); property != nil {
			c.faults.addAt(place, property.Validate(test.Expect.Parameters[name]))
		}
	}
}

// property returns the schema of a parameter, or nil and adds a fault if there is none.
func (c *manifestCheck) property(at string, cap *checkedCapability, name string) *Schema {
	if cap.in == nil {
		return nil // the schema does not compile, which was reported already
	}
	property, ok := cap.in.Property(name)
	if !ok {
		c.faults.add(at, "%q has no parameter %q in its schema", cap.Name, name)
		return nil
	}
	return property
}
