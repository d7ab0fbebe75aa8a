package openapi

import (
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/oasdiff/yaml"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/internal/bridge"
)

// outline is a document as plain JSON, before the library reads it. Everything that requests do not
// need is removed first: it is most of a large document, and errors in it affect no call.
type outline struct {
	root  map[string]any
	place *url.URL
	read  func(*url.URL) ([]byte, error)
	// targets caches the result of each reference.
	targets map[string]target
	// answers describes the successful response of each GET, by path.
	answers map[string]described
}

// target is the result of following a reference.
type target struct {
	refs  []string // the references on the way
	fault string   // why it cannot be resolved
	other bool     // it leads to another document
}

func parseOutline(text []byte) (map[string]any, error) {
	if trimmed := strings.TrimLeft(string(text[:min(len(text), 64)]), " \t\r\n\ufeff"); !strings.HasPrefix(trimmed, "{") {
		var err error
		if text, err = yaml.YAMLToJSON(text); err != nil {
			return nil, err
		}
	}
	var root map[string]any
	return root, contracts.Decode(text, &root)
}

// methods are the HTTP methods of a path item, in alphabetical order.
var methods = []string{
	http.MethodConnect, http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodOptions,
	http.MethodPatch, http.MethodPost, http.MethodPut, http.MethodTrace,
}

// ofOperation are the members of an operation that requests need.
var ofOperation = []string{"operationId", "summary", "description", "tags", "parameters", "requestBody", "security"}

// left returns the operations that are not selected, by path and method. An operation without a unique
// id is named by its method and path: it is kept here, and the bridge selects.
func (o *outline) left(selected *bridge.Select) map[string]map[string]bool {
	ids, out := map[string]int{}, map[string]map[string]bool{}
	paths := object(o.root["paths"])
	for _, item := range paths {
		for _, method := range methods {
			id, _ := object(object(item)[strings.ToLower(method)])["operationId"].(string)
			ids[id]++
		}
	}
	for path, item := range paths {
		out[path] = map[string]bool{}
		for _, method := range methods {
			op := object(object(item)[strings.ToLower(method)])
			id, _ := op["operationId"].(string)
			out[path][method] = op == nil || id != "" && ids[id] == 1 && !selected.Takes(brokenOperation(method, path, op, "").definition)
		}
	}
	return out
}

func allLeft(of map[string]bool) bool {
	return !slices.Contains(slices.Collect(maps.Values(of)), false)
}

// reduce removes everything that requests of the selected operations do not need. It returns the
// operations with unresolvable references.
func (o *outline) reduce(selected *bridge.Select) []*operation {
	for k := range o.root {
		if !slices.Contains([]string{"openapi", "info", "servers", "paths", "components", "jsonSchemaDialect"}, k) {
			delete(o.root, k)
		}
	}
	used := map[string]bool{}
	paths, left := object(o.root["paths"]), o.left(selected)
	broken := o.takeBroken(paths, left, used)
	o.answers = map[string]described{}
	for path, item := range paths { // after takeBroken: parameters may refer to parts of responses
		if get := object(object(item)["get"]); get != nil && !left[path][http.MethodGet] {
			o.answers[path] = o.describe(get)
		}
	}
	for path, item := range paths {
		if object(item)["$ref"] == nil && allLeft(left[path]) {
			delete(paths, path) // its parameters may refer to removed parts
		}
		trim(object(item), left[path])
	}
	o.reduceComponents(used)
	return broken
}

// takeBroken removes and returns the operations with unresolvable references. It adds the references of
// the others to used.
func (o *outline) takeBroken(paths map[string]any, left map[string]map[string]bool, used map[string]bool) (broken []*operation) {
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		item := object(paths[path])
		if item["$ref"] == nil && allLeft(left[path]) {
			continue
		}
		if fault := o.reach(map[string]any{"$ref": item["$ref"], "parameters": item["parameters"]}, used); fault != "" {
			broken = append(broken, brokenOperation("", path, nil, fault))
			delete(paths, path)
			continue
		}
		for _, method := range methods {
			if left[path][method] {
				continue
			}
			op := object(item[strings.ToLower(method)])
			if fault := o.reach([]any{op["parameters"], op["requestBody"]}, used); fault != "" {
				broken = append(broken, brokenOperation(method, path, op, fault))
				delete(item, strings.ToLower(method))
			}
		}
	}
	return broken
}

// trim removes the excluded operations of a path, and the members that requests do not need.
func trim(item map[string]any, left map[string]bool) {
	for method, out := range left {
		if out {
			delete(item, strings.ToLower(method))
		}
	}
	for _, method := range methods {
		if op, ok := item[strings.ToLower(method)].(map[string]any); ok {
			maps.DeleteFunc(op, func(k string, _ any) bool { return !slices.Contains(ofOperation, k) })
			op["responses"] = map[string]any{"default": map[string]any{"description": ""}} // the library requires one
		}
	}
}

// reduceComponents removes the components that no operation refers to.
func (o *outline) reduceComponents(used map[string]bool) {
	whole := false // another document may refer to any of them
	for ref := range used {
		whole = whole || o.targets[ref].other
	}
	all := object(o.root["components"])
	for kind, members := range all {
		switch kind {
		case "securitySchemes":
		case "schemas", "parameters", "requestBodies", "pathItems", "headers":
			for name, member := range object(members) {
				ref := "#/components/" + kind + "/" + contracts.EscapeToken(name)
				if !used[ref] && (!whole || o.reach(member, map[string]bool{}) != "") {
					delete(object(members), name)
				}
			}
		default:
			delete(all, kind)
		}
	}
}

func brokenOperation(method, path string, from map[string]any, fault string) *operation {
	name, _ := from["operationId"].(string)
	if name == "" {
		name = strings.TrimSpace(method + " " + path)
	}
	text, _ := from["summary"].(string)
	op := &operation{method: method, path: path}
	op.definition = bridge.Definition{Name: name, Description: text, Path: path, Plain: true, Fault: fault, InputSchema: json.RawMessage(`{"type":"object"}`)}
	for _, tag := range list(from["tags"]) {
		if text, ok := tag.(string); ok {
			op.definition.Tags = append(op.definition.Tags, text)
		}
	}
	return op
}

// reach adds all references in v, transitively, to used. If one cannot be resolved, it returns the
// reason and adds nothing.
func (o *outline) reach(v any, used map[string]bool) (fault string) {
	var next []string
	o.references(v, &next)
	met := map[string]bool{}
	for len(next) > 0 {
		ref := next[len(next)-1]
		next = next[:len(next)-1]
		if met[ref] || used[ref] {
			continue
		}
		met[ref] = true
		t := o.target(ref)
		if t.fault != "" {
			return t.fault
		}
		next = append(next, t.refs...)
	}
	maps.Copy(used, met)
	return ""
}

// references lists the references in a part of the document. It removes references that no request
// needs and that the library would follow.
func (o *outline) references(v any, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			o.references(item, out)
		}
	case map[string]any:
		if ref, ok := v["$ref"].(string); ok {
			v["$ref"] = o.hoisted(ref)
			*out = append(*out, o.hoisted(ref))
		}
		for k, member := range v {
			_, isObject := member.(map[string]any)
			switch k {
			case "enum", "const", "default":
			case "properties", "patternProperties", "$defs", "dependentSchemas": // names are free here
				for _, schema := range object(member) {
					o.references(schema, out)
				}
			case "discriminator", "xml", "externalDocs":
				delete(v, k)
			case "example":
				if _, err := scalar(member); err != nil {
					delete(v, k)
				}
			case "examples":
				if isObject { // of a parameter or a body; those of a schema are a list
					delete(v, k)
				}
			default:
				o.references(member, out)
			}
		}
	}
}

// hoisted moves a referenced part of the document that is not a component to the components, and
// returns the reference to it.
func (o *outline) hoisted(ref string) string {
	pointer, local := strings.CutPrefix(ref, "#/")
	tokens := strings.Split(pointer, "/")
	if !local || len(tokens) == 3 && tokens[0] == "components" {
		return ref
	}
	v, there := o.at(tokens)
	if !there {
		return ref
	}
	kind := "schemas"
	switch parent, last := tokens[len(tokens)-2], tokens[len(tokens)-1]; {
	case parent == "parameters":
		kind = parent
	case last == "requestBody" && tokens[0] == "paths":
		kind = "requestBodies"
	}
	name := "part_" + contracts.HashBytes([]byte(pointer))[:12]
	all := object(o.root["components"])
	if all == nil {
		all = map[string]any{}
		o.root["components"] = all
	}
	if object(all[kind]) == nil {
		all[kind] = map[string]any{}
	}
	object(all[kind])[name] = v
	return "#/components/" + kind + "/" + name
}

// at follows a JSON pointer.
func (o *outline) at(tokens []string) (v any, there bool) {
	v = o.root
	for _, token := range tokens {
		if plain, err := url.PathUnescape(token); err == nil {
			token = plain
		}
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		switch parent := v.(type) {
		case map[string]any:
			v = parent[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(parent) {
				return nil, false
			}
			v = parent[i]
		default:
			return nil, false
		}
	}
	return v, v != nil
}

// target resolves a reference.
func (o *outline) target(ref string) target {
	if t, known := o.targets[ref]; known {
		return t
	}
	t := o.resolve(ref)
	o.targets[ref] = t
	return t
}

func (o *outline) resolve(ref string) target {
	elsewhere, pointer, _ := strings.Cut(ref, "#")
	if elsewhere != "" {
		at, err := url.Parse(elsewhere)
		if err == nil {
			_, err = o.read(o.place.ResolveReference(at))
		}
		if err != nil {
			return target{fault: "it refers to " + contracts.CleanSummary(ref) + ": " + contracts.CleanSummary(err.Error())}
		}
		return target{other: true}
	}
	v, there := o.at(strings.Split(strings.TrimPrefix(pointer, "/"), "/"))
	if !there {
		return target{fault: "it refers to " + contracts.CleanSummary(ref) + ", which the document does not have"}
	}
	var t target
	o.references(v, &t.refs)
	return t
}

func object(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func list(v any) []any {
	l, _ := v.([]any)
	return l
}

// document parses the rest with the library. If all of it is in one document, the schemas are withheld
// from the library and used unchanged.
func (o *outline) document(ctx context.Context, read openapi3.ReadFromURIFunc) (document, error) {
	d := document{schemas: object(object(o.root["components"])["schemas"]), answers: o.answers}
	whole := !slices.ContainsFunc(slices.Collect(maps.Values(o.targets)), func(t target) bool { return t.other })
	if whole {
		d.kept = o.keepSchemas()
	}
	raw, err := json.Marshal(o.root)
	if err != nil {
		return d, err
	}
	loader := &openapi3.Loader{Context: ctx, IsExternalRefsAllowed: true, ReadFromURIFunc: read}
	if d.api, err = loader.LoadFromDataWithPath(raw, o.place); err != nil {
		return d, contracts.Errorf(contracts.CodeInvalid, "the document cannot be read: %w", err)
	}
	d.old = strings.HasPrefix(d.api.OpenAPI, "3.0")
	if whole {
		return d, nil
	}
	d.api.InternalizeRefs(ctx, nil)
	d.schemas = map[string]any{}
	if d.api.Components == nil {
		return d, nil
	}
	for name, schema := range d.api.Components.Schemas {
		if d.schemas[name], err = plain(schema); err != nil {
			return d, err
		}
	}
	return d, nil
}

// keptSchema is the extension that refers to a withheld schema.
const keptSchema = "x-kept-schema"

// keepSchemas replaces the schemas of parameters and bodies in the document by numbers, and returns
// them.
func (o *outline) keepSchemas() []any {
	var kept []any
	for _, item := range object(o.root["paths"]) {
		keep(item, &kept)
	}
	components := object(o.root["components"])
	delete(components, "schemas")
	for kind, members := range components {
		for _, member := range object(members) {
			if kind != "securitySchemes" {
				keep(member, &kept)
			}
		}
	}
	return kept
}

func keep(v any, kept *[]any) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			keep(item, kept)
		}
	case map[string]any:
		delete(v, "encoding") // its property names are free, and the bridge does not use it
		for k, member := range v {
			if k != "schema" {
				keep(member, kept)
				continue
			}
			if object(member)[keptSchema] != nil {
				continue // a referenced part is reached from both of its places
			}
			if member == nil {
				member = map[string]any{}
			}
			v[k] = map[string]any{keptSchema: strconv.Itoa(len(*kept))}
			*kept = append(*kept, member)
		}
	}
}

// schema returns a schema that the library has read, as JSON values.
func (d document) schema(ref *openapi3.SchemaRef) (any, error) {
	if ref.Value != nil {
		if text, ok := ref.Value.Extensions[keptSchema].(string); ok {
			if i, err := strconv.Atoi(text); err == nil && i < len(d.kept) {
				return d.kept[i], nil
			}
		}
	}
	return plain(ref)
}
