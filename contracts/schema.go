package contracts

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// schemaURL names the one document that a compiler knows; the name resolves
// nowhere.
const schemaURL = "schema:///it"

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted). It may
// be used by several goroutines.
type Schema struct {
	raw       json.RawMessage
	text      json.RawMessage // the whole document, as it was written
	root      map[string]any  // the whole document
	place     string          // pointer of this schema in it
	compiled  *jsonschema.Schema
	levels    int     // how deep a value may nest, 0 for any depth
	unchecked []Fault // the rules that are not held to
}

// keptSchemas are those compiled lately: the same ones are wanted by each look at a
// manifest, by each plan and gate, and by each start of a domain in a process. The
// bound is that of some forty domains with a hundred capabilities each.
var keptSchemas = newResultCache[*Schema](8 << 20)

// CompileSchema compiles a schema that a stranger may have written. It refuses
// references that leave the document or lead back without going into a value, depth
// beyond MaxSchemaDepth and size beyond MaxSchemaSize, both counted with every $ref
// followed; one that holds itself is followed as deep as these allow, and values that
// nest deeper do not fit. The Error lists every fault by its place in the schema. The
// same text gives the same Schema, for as long as it is kept.
func CompileSchema(raw json.RawMessage) (*Schema, error) {
	if s, ok := keptSchemas.Get(raw); ok {
		return s, nil
	}
	parsed, faults := parseTree(raw)
	if len(faults) > 0 {
		return nil, Invalid("the schema does not compile", faults...)
	}
	doc, ok := parsed.(map[string]any)
	if !ok {
		return nil, Invalid("the schema does not compile", Fault{Message: "must be an object, but is " + jsonKind(parsed)})
	}
	plain, ok := settled(doc).(map[string]any) // a copy, in which no number takes long to compute with
	if !ok {
		return nil, Invalid("the schema does not compile")
	}
	g := guardSchema(plain)
	if len(g.faults) > 0 {
		return nil, Invalid("the schema does not compile", g.faults...)
	}
	compiled, err := compileSchema(plain)
	if err != nil {
		return nil, Invalid("the schema does not compile", compileFaults(err)...)
	}
	text := slices.Clone(raw)
	s := &Schema{raw: text, text: text, root: doc, compiled: compiled, levels: g.levels, unchecked: g.unchecked}
	keptSchemas.Put(raw, s)
	return s, nil
}

// compileSchema compiles a guarded document.
func compileSchema(doc map[string]any) (out *jsonschema.Schema, err error) {
	// The guard has looked at everything known to make the library panic; a
	// stranger's schema must not end the process even if it missed something.
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("does not compile: %v", r)
		}
	}()
	raw, err := json.Marshal(withoutIdentity(doc))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.Draft = jsonschema.Draft2020
	c.AssertFormat = true
	c.LoadURL = func(url string) (io.ReadCloser, error) {
		return nil, fmt.Errorf("%s is outside the schema", url)
	}
	if err := c.AddResource(schemaURL, bytes.NewReader(raw)); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}

// withoutIdentity drops $id, so that every reference stays inside, and
// $schema, which the guard has checked.
func withoutIdentity(doc map[string]any) map[string]any {
	out := maps.Clone(doc)
	delete(out, "$id")
	delete(out, "$schema")
	return out
}

// Validate returns what is wrong with v, by JSON pointer; nil means that v fits.
// v is decoded JSON; Go integers, structs and typed maps are taken by their
// JSON form.
func (s *Schema) Validate(v any) []Fault {
	norm, err := NormalizeShared(v)
	if err != nil {
		return []Fault{{Message: "is not JSON: " + err.Error()}}
	}
	if s.levels > 0 && nesting(norm) > s.levels {
		return []Fault{{Message: fmt.Sprintf("nests deeper than %d levels, as deep as this schema, which holds itself, is followed", s.levels)}}
	}
	return plainFaults(validate(s.compiled, norm))
}

// Unchecked lists the rules of the schema that no value is held to, by their places.
func (s *Schema) Unchecked() []Fault { return slices.Clone(s.unchecked) }

// nesting is how many levels of lists and objects a value has.
func nesting(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, member := range v {
			deepest = max(deepest, nesting(member))
		}
	case []any:
		for _, item := range v {
			deepest = max(deepest, nesting(item))
		}
	default:
		return 0
	}
	return deepest + 1
}

// Raw returns the schema as it was written.
func (s *Schema) Raw() json.RawMessage { return slices.Clone(s.raw) }

// Properties names the parameters that the schema describes at its top,
// applicators such as allOf and oneOf included, in order.
func (s *Schema) Properties() []string {
	found := map[string]*jsonschema.Schema{}
	collect(s.compiled, found)
	return sortedKeys(found)
}

// Property returns the schema of one property at the top.
func (s *Schema) Property(name string) (*Schema, bool) {
	found := map[string]*jsonschema.Schema{}
	collect(s.compiled, found)
	return s.inner(found[name])
}

// Items returns the schema of the elements of a list.
func (s *Schema) Items() (*Schema, bool) {
	for at := s.compiled; at != nil; at = at.Ref {
		if at.Items2020 != nil {
			return s.inner(at.Items2020)
		}
	}
	return nil, false
}

// inner returns a schema of the same document.
func (s *Schema) inner(compiled *jsonschema.Schema) (*Schema, bool) {
	if compiled == nil {
		return nil, false
	}
	place := placeOf(compiled)
	target, ok := lookupPointer(s.root, place)
	if !ok {
		return nil, false
	}
	raw, err := json.Marshal(target)
	if err != nil {
		return nil, false
	}
	return &Schema{raw: raw, text: s.text, root: s.root, place: place, compiled: compiled, levels: s.levels}, true
}

// placeOf returns the JSON pointer of a compiled schema in its document.
func placeOf(compiled *jsonschema.Schema) string {
	_, fragment, _ := strings.Cut(compiled.Location, "#")
	if place, err := url.PathUnescape(fragment); err == nil {
		return place
	}
	return fragment
}

// collect notes the top-level properties; the first description of one wins.
func collect(s *jsonschema.Schema, found map[string]*jsonschema.Schema) {
	if s == nil {
		return
	}
	for name, property := range s.Properties {
		if _, known := found[name]; !known {
			found[name] = property
		}
	}
	for _, branches := range [][]*jsonschema.Schema{s.AllOf, s.AnyOf, s.OneOf, {s.If, s.Then, s.Else, s.Ref}} {
		for _, branch := range branches {
			collect(branch, found)
		}
	}
}

// View returns what the schema asks for, in one simple form.
func (s *Schema) View() *SchemaView {
	r := newViewer(s.text)
	v := r.read(s.raw, 0, 0)
	return &v
}

// compileFaults explains why the library refused a schema.
func compileFaults(err error) []Fault {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return plainFaults(flatten(invalid))
	}
	if schema, ok := errors.AsType[*jsonschema.SchemaError](err); ok && schema.Err != nil {
		err = schema.Err
	}
	return []Fault{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}
