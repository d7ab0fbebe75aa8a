package contracts

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// guardSchema finds unsafe or unsupported parts of a schema before the library sees it, and how
// deep its values may nest. It rewrites doc in place to draft 2020-12 and RE2.
func guardSchema(doc map[string]any) *schemaGuard {
	g := &schemaGuard{doc: doc, known: map[string]extent{}, open: map[string]bool{}, edges: map[string]*edges{}}
	g.checkRoot()
	g.visit("", doc)
	if len(g.faults) == 0 {
		g.checkRecursion()
	}
	return g
}

// schemaGuard walks a schema with every $ref followed. Each location is measured once, so that a
// small document that expands to a huge one is detected quickly.
type schemaGuard struct {
	doc    map[string]any
	known  map[string]extent
	open   map[string]bool // locations on the path from the root
	edges  map[string]*edges
	faults faultList
	// recursive means that a location contains itself. levels is then how deep a value may nest.
	recursive bool
	levels    int
	// unchecked are the rules that are not enforced.
	unchecked faultList
}

// extent is the depth and the size to which the schema at a location expands, and the part of the
// size below branching keywords.
type extent struct{ depth, size, branched int }

// The keywords of draft 2020-12 that contain other schemas, by shape. Any other keyword contains
// data, in which "$ref" has no meaning. Branching keywords apply more than one schema to the same
// value.
var (
	schemaKeywords        = []string{"additionalItems", "additionalProperties", "contentSchema", "items"}
	branchingKeywords     = []string{"contains", "else", "if", "not", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
	schemaListKeywords    = []string{"prefixItems"}
	branchingListKeywords = []string{"allOf", "anyOf", "oneOf"}
	schemaMapKeywords     = []string{"properties"}
	branchingMapKeywords  = []string{"dependentSchemas", "patternProperties"}
	definitionKeywords    = []string{"$defs", "definitions"}
	refusedKeywords       = []string{
		"$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary",
	}
	ownKeywords = []string{KeywordOnlyHere, KeywordArtifact}
)

// The keywords that Manifold adds to JSON Schema.
const (
	// KeywordOnlyHere marks a parameter that controls the core. It is removed from the parameters
	// before a domain is called.
	KeywordOnlyHere = "x-manifold-only"
	// KeywordArtifact with the value "ref" marks a location where an artifact reference is passed
	// on unresolved.
	KeywordArtifact = "x-manifold-artifact"
)

// drafts are the supported values of $schema.
var drafts = []string{
	"https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema",
	"http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-06/schema", "http://json-schema.org/draft-04/schema", "http://json-schema.org/schema",
}

func (g *schemaGuard) checkRoot() {
	dialect, ok := g.doc["$schema"]
	if !ok {
		return
	}
	text, isText := dialect.(string)
	text = strings.TrimSuffix(text, "#")
	if !isText || !slices.Contains(drafts, text) && !slices.Contains(drafts, strings.Replace(text, "https:", "http:", 1)) {
		g.faults.add("/$schema", "the draft is not supported; those from 04 to 2020-12 are (%s)", drafts[0])
	}
}

func (g *schemaGuard) visit(at string, node any) extent {
	if done, ok := g.known[at]; ok {
		return done
	}
	if g.open[at] {
		g.recursive = true
		return extent{}
	}
	schema, ok := node.(map[string]any)
	if !ok {
		if _, boolean := node.(bool); !boolean {
			g.faults.add(at, "a schema must be an object, true or false, but is %s", jsonKind(node))
		}
		return extent{depth: 1, size: 1}
	}
	g.open[at] = true
	modernize(schema)
	g.checkKeywords(at, schema)
	e := g.measure(at, schema)
	delete(g.open, at)
	g.known[at] = e
	if e.depth == MaxSchemaDepth+1 {
		g.faults.add(at, "the schema nests deeper than %d levels, every $ref followed", MaxSchemaDepth)
	}
	if e.size > MaxSchemaSize || e.branched > MaxSchemaBranches {
		g.faults.add(at, "the schema expands to more than %d places, or %d below allOf, anyOf and the like, every $ref followed",
			MaxSchemaSize, MaxSchemaBranches)
		e.size, e.branched = 1, 0 // report once; the enclosing schemas are not at fault
		g.known[at] = e
	}
	return e
}

func (g *schemaGuard) measure(at string, schema map[string]any) extent {
	e := extent{depth: 1, size: 1}
	hold := func(inner extent) {
		e.depth = max(e.depth, inner.depth+1)
		e.size += inner.size
		e.branched += inner.branched
	}
	branch := func(inner extent) {
		inner.branched = inner.size
		hold(inner)
	}
	g.visitKeywords(at, schema, schemaKeywords, schemaListKeywords, schemaMapKeywords, hold)
	g.visitKeywords(at, schema, branchingKeywords, branchingListKeywords, branchingMapKeywords, branch)
	g.visitKeywords(at, schema, nil, nil, definitionKeywords, func(extent) {})
	if ref, ok := schema["$ref"]; ok {
		target := g.follow(at, ref)
		target.depth-- // the target replaces this schema, so it is not a level deeper
		hold(target)
	}
	return e
}

// visitKeywords visits the schemas in single keywords, list keywords and map keywords.
func (g *schemaGuard) visitKeywords(at string, schema map[string]any, single, lists, maps []string, hold func(extent)) {
	visit := func(keyword, place string, inner any) {
		g.edge(at, keyword, place)
		hold(g.visit(place, inner))
	}
	for _, keyword := range single {
		if inner, ok := schema[keyword]; ok {
			visit(keyword, at+"/"+keyword, inner)
		}
	}
	for _, keyword := range lists {
		for i, inner := range listOf(schema[keyword]) {
			visit(keyword, child(at+"/"+keyword, i), inner)
		}
	}
	for _, keyword := range maps {
		members, _ := schema[keyword].(map[string]any) // the meta-schema refuses other types
		for _, name := range sortedKeys(members) {
			visit(keyword, child(at+"/"+keyword, name), members[name])
		}
	}
}

// follow measures the target of the $ref of a location.
func (g *schemaGuard) follow(from string, ref any) extent {
	at := from + "/$ref"
	text, ok := ref.(string)
	if !ok || text != "#" && !strings.HasPrefix(text, "#/") {
		g.faults.add(at, "only references inside the schema are allowed, such as #/$defs/name")
		return extent{}
	}
	pointer := refPointer(text)
	target, ok := lookupPointer(g.doc, pointer)
	if !ok {
		g.faults.add(at, "%s points to nothing", text)
		return extent{}
	}
	g.edge(from, "$ref", pointer)
	return g.visit(pointer, target)
}

func (g *schemaGuard) checkKeywords(at string, schema map[string]any) {
	for _, keyword := range sortedKeys(schema) {
		switch {
		case slices.Contains(refusedKeywords, keyword), at != "" && (keyword == "$id" || keyword == "$schema"):
			g.faults.add(child(at, keyword), "the keyword is not supported")
		case strings.HasPrefix(keyword, "x-manifold-") && !slices.Contains(ownKeywords, keyword):
			g.faults.add(child(at, keyword), "the keyword is unknown; known are %s", strings.Join(ownKeywords, ", "))
		}
	}
	g.translate(at, schema)
	if mark, ok := schema[KeywordOnlyHere]; ok {
		if _, boolean := mark.(bool); !boolean {
			g.faults.add(at+"/"+KeywordOnlyHere, "must be true or false")
		}
	}
	if mark, ok := schema[KeywordArtifact]; ok && mark != "ref" {
		g.faults.add(at+"/"+KeywordArtifact, `must be "ref"`)
	}
}

// refPointer returns the JSON pointer of a reference "#/…", percent-decoded.
func refPointer(ref string) string {
	pointer := strings.TrimPrefix(ref, "#")
	if decoded, err := url.PathUnescape(pointer); err == nil {
		pointer = decoded
	}
	return strings.TrimSuffix(pointer, "/")
}

// lookupPointer returns the value at a JSON pointer.
func lookupPointer(doc any, pointer string) (any, bool) {
	if pointer == "" {
		return doc, true
	}
	if !strings.HasPrefix(pointer, "/") {
		return nil, false
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		token = UnescapeToken(token)
		switch node := doc.(type) {
		case map[string]any:
			member, ok := node[token]
			if !ok {
				return nil, false
			}
			doc = member
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			doc = node[i]
		default:
			return nil, false
		}
	}
	return doc, true
}

// listOf returns v if it is a list, or nil.
func listOf(v any) []any {
	if items, ok := v.([]any); ok {
		return items
	}
	return nil
}
