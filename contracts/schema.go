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

// schemaURL is the name of the only document that a compiler knows. It does not resolve to a
// location.
const schemaURL = "schema:///it"

// Schema is a compiled JSON Schema (draft 2020-12, formats asserted). It may
// be used by several goroutines.
type Schema struct {
	raw       json.RawMessage
	text      json.RawMessage // the whole document as it was written
	root      map[string]any  // the whole document
	place     string          // JSON pointer of this schema in root
	compiled  *jsonschema.Schema
	levels    int     // how deep a value may nest; 0 means unlimited
	unchecked []Fault // rules that are not enforced
}

// keptSchemas caches compiled schemas. The same schemas are needed for each manifest check, plan
// and gate, and at each start of a domain. The limit fits about forty domains with a hundred
// capabilities each.
var keptSchemas = newResultCache[*Schema](8 << 20)

// CompileSchema compiles a schema from an untrusted source. It rejects references out of the
// document, references that loop without descending into a value, and, with every $ref followed,
// depth beyond MaxSchemaDepth or size beyond MaxSchemaSize. A recursive schema is expanded as far
// as these limits allow, and values that nest deeper are invalid. The Error lists every fault by
// its location in the schema. Compiled schemas are cached by text and may be shared.
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

// compileSchema compiles a document that guardSchema accepted.
func compileSchema(doc map[string]any) (out *jsonschema.Schema, err error) {
	// The guard rejects everything known to make the library panic. Recover anyway, because an
	// untrusted schema must not end the process.
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

// withoutIdentity removes $id, so that every reference stays inside the document, and $schema,
// which the guard has checked.
func withoutIdentity(doc map[string]any) map[string]any {
	out := maps.Clone(doc)
	delete(out, "$id")
	delete(out, "$schema")
	return out
}

// Validate returns the faults of v by JSON pointer, or nil if v is valid. v is decoded JSON; Go
// integers, structs and typed maps are converted through their JSON encoding.
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

// Unchecked lists the rules of the schema that are not enforced, by location.
func (s *Schema) Unchecked() []Fault { return slices.Clone(s.unchecked) }

// nesting returns how many levels of lists and objects a value has.
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

// Raw returns a copy of the schema as it was written.
func (s *Schema) Raw() json.RawMessage { return slices.Clone(s.raw) }

// Properties returns the sorted names of the properties that the schema describes at its top
// level, including those inside applicators such as allOf and oneOf.
func (s *Schema) Properties() []string {
	found := map[string]*jsonschema.Schema{}
	collect(s.compiled, found)
	return sortedKeys(found)
}

// Property returns the schema of one top-level property.
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

// inner returns the Schema of a subschema of the same document.
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

// collect adds the top-level properties to found. The first description of a name wins.
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

// View returns a simplified view of the schema.
func (s *Schema) View() *SchemaView {
	r := newViewer(s.text)
	v := r.read(s.raw, 0, 0)
	return &v
}

// compileFaults returns the faults for an error of the library.
func compileFaults(err error) []Fault {
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return plainFaults(flatten(invalid))
	}
	if schema, ok := errors.AsType[*jsonschema.SchemaError](err); ok && schema.Err != nil {
		err = schema.Err
	}
	return []Fault{{Message: strings.TrimPrefix(err.Error(), "jsonschema: ")}}
}
