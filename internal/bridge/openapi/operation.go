package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/manifold-run/manifold/internal/bridge"
)

// operation is one operation of the API with the places of its parameters.
type operation struct {
	method, path string
	places       map[string]place // by parameter of the capability
	// media is the media type of the body, "" without one. whole is the parameter that is the body,
	// "" if its fields are parameters.
	media, whole string
	// keyHeader is the header for the idempotency key, if the document names one.
	keyHeader string
	// pages is the pagination of the result, if the document reveals it.
	pages bridge.Pages
	// defaults are the default values of query parameters.
	defaults   map[string]any
	definition bridge.Definition
}

// place is where a parameter is sent.
type place struct {
	in, name string
	style    string
	explode  bool
}

// inBody is the place of a field of the body.
const inBody = "body"

// operations lists the operations of the document, by path and method.
func (d document) operations() []*operation {
	out := slices.Clone(d.broken)
	if d.api.Paths == nil {
		return out
	}
	all := d.api.Paths.Map()
	for _, path := range slices.Sorted(maps.Keys(all)) {
		methods := all[path].Operations()
		for _, method := range slices.Sorted(maps.Keys(methods)) {
			out = append(out, d.operation(path, method, all[path].Parameters, methods[method]))
		}
	}
	return out
}

func (d document) operation(path, method string, shared openapi3.Parameters, from *openapi3.Operation) *operation {
	op := &operation{method: method, path: path, places: map[string]place{}}
	read := method == http.MethodGet || method == http.MethodHead
	op.definition = bridge.Definition{
		Name: cmp.Or(from.OperationID, method+" "+path), Description: cmp.Or(from.Summary, from.Description), Path: path, Tags: from.Tags,
		Plain: true, Claims: &bridge.Claims{ReadOnly: read},
	}
	b := &building{schema: &jsonSchema{from: d, defs: map[string]any{}}, op: op, properties: map[string]any{}}
	b.parameters(shared, from.Parameters)
	b.body(from.RequestBody)
	op.pages = bridge.Pages{By: bridge.PagesNone}
	if method == http.MethodGet {
		queries := b.queries()
		op.pages, op.defaults = recognise(queries, d.answers[path]), map[string]any{}
		for _, q := range queries {
			op.defaults[q.name] = q.schema["default"]
		}
	}
	op.definition.Fault = b.fault
	raw, err := json.Marshal(b.whole())
	if err != nil {
		op.definition.Fault = "its schema cannot be written"
		raw = json.RawMessage(`{"type":"object"}`)
	}
	op.definition.InputSchema = raw
	return op
}

// building collects the schema of an operation.
type building struct {
	schema     *jsonSchema
	op         *operation
	properties map[string]any
	required   []string
	fault      string
}

func (b *building) whole() map[string]any {
	out := map[string]any{"type": "object", "properties": b.properties, "additionalProperties": false}
	if len(b.required) > 0 {
		slices.Sort(b.required)
		out["required"] = b.required
	}
	if len(b.schema.defs) > 0 {
		out["$defs"] = b.schema.defs
	}
	return out
}

// parameters adds the parameters of an operation, which override those of its path.
func (b *building) parameters(shared, own openapi3.Parameters) {
	byPlace := map[[2]string]*openapi3.Parameter{}
	for _, ref := range slices.Concat(shared, own) {
		if ref == nil || ref.Value == nil {
			b.fault = "one of its parameters is not described"
			continue
		}
		byPlace[[2]string{ref.Value.In, ref.Value.Name}] = ref.Value
	}
	keys := slices.SortedFunc(maps.Keys(byPlace), func(x, y [2]string) int { return cmp.Or(cmp.Compare(rank(x[0]), rank(y[0])), cmp.Compare(x[1], y[1])) })
	for _, k := range keys {
		b.parameter(byPlace[k])
	}
}

// rank decides which of two parameters with the same name keeps it.
func rank(in string) int {
	return slices.Index([]string{openapi3.ParameterInPath, openapi3.ParameterInQuery, openapi3.ParameterInHeader, openapi3.ParameterInCookie}, in)
}

// reserved are headers that the bridge sets itself.
var reserved = []string{"authorization", "accept", "content-type", "host", "content-length", "cookie", "transfer-encoding", "connection"}

func (b *building) parameter(p *openapi3.Parameter) {
	lower := strings.ToLower(p.Name)
	if p.In == openapi3.ParameterInHeader {
		if slices.Contains(reserved, lower) {
			return
		}
		if lower == "idempotency-key" || lower == "x-idempotency-key" {
			b.op.keyHeader = p.Name
			return
		}
	}
	var schema any
	var err error
	switch {
	case p.Schema != nil:
		schema, err = b.schema.from.schema(p.Schema)
	case len(p.Content) == 0:
		schema = map[string]any{"type": "string"}
	default:
		err = fmt.Errorf("content")
	}
	if err != nil {
		b.fault = fmt.Sprintf("its parameter %s has a form that is not supported", p.Name)
		return
	}
	style := cmp.Or(p.Style, map[bool]string{true: "form", false: "simple"}[p.In == openapi3.ParameterInQuery || p.In == openapi3.ParameterInCookie])
	explode := style == "form"
	if p.Explode != nil {
		explode = *p.Explode
	}
	shown := withExample(withText(b.schema.of(schema), p.Description), cmp.Or(p.Example, object(schema)["example"]))
	b.put(p.Name, place{in: p.In, name: p.Name, style: style, explode: explode}, shown, p.Required)
}

// put adds a parameter under its own name, or with its place as prefix if the name is taken.
func (b *building) put(name string, at place, schema any, required bool) {
	if _, taken := b.op.places[name]; taken {
		name = at.in + "_" + name
	}
	b.op.places[name] = at
	b.properties[name] = schema
	if required {
		b.required = append(b.required, name)
	}
}

// queries returns the query parameters.
func (b *building) queries() (out []query) {
	for name, at := range b.op.places {
		if at.in == openapi3.ParameterInQuery {
			out = append(out, query{name, b.schema.followed(b.properties[name])})
		}
	}
	return out
}

func withText(schema any, text string) any {
	s, ok := schema.(map[string]any)
	if ok && s["description"] == nil && text != "" {
		s["description"] = text
	}
	return schema
}

// withExample adds the example of a parameter to its schema.
func withExample(schema, example any) any {
	s, ok := schema.(map[string]any)
	text, err := scalar(example)
	if ok && err == nil && s["examples"] == nil && text != "" && len(text) <= maxExample {
		s["examples"] = []any{example}
	}
	return schema
}

// maxExample bounds an example: a longer one says no more.
const maxExample = 100

// body adds the body: its fields if it is a plain object, or else the body as one parameter.
func (b *building) body(ref *openapi3.RequestBodyRef) {
	if ref == nil || ref.Value == nil || len(ref.Value.Content) == 0 {
		return
	}
	media, content := readable(ref.Value.Content)
	if media == "" {
		b.fault = "its body is " + strings.Join(slices.Sorted(maps.Keys(ref.Value.Content)), ", ") + ", which is not supported"
		return
	}
	b.op.media = media
	schema, err := any(map[string]any{}), error(nil)
	if content.Schema != nil {
		schema, err = b.schema.from.schema(content.Schema)
	}
	if err != nil {
		b.fault = "the schema of its body cannot be read"
		return
	}
	properties, required, flat := b.schema.flat(schema)
	if flat && ref.Value.Required && !b.collides(properties) {
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			described := object(object(b.schema.resolved(schema)["properties"])[name])
			b.put(name, place{in: inBody, name: name}, withExample(properties[name], described["example"]), slices.Contains(required, name))
		}
		return
	}
	b.put(inBody, place{in: inBody}, b.schema.of(schema), ref.Value.Required)
	b.op.whole = inBody
	if _, taken := b.op.places["body_body"]; taken {
		b.op.whole = "body_body"
	}
}

func (b *building) collides(properties map[string]any) bool {
	for name := range properties {
		if _, taken := b.op.places[name]; taken {
			return true
		}
	}
	return false
}

const (
	mediaJSON = "application/json"
	mediaForm = "application/x-www-form-urlencoded"
)

// readable returns the media type of a body that a bridge can write.
func readable(all openapi3.Content) (string, *openapi3.MediaType) {
	for _, want := range []func(string) bool{
		func(m string) bool { return m == mediaJSON },
		func(m string) bool { return strings.HasSuffix(m, "+json") || m == "*/*" },
		func(m string) bool { return m == mediaForm },
	} {
		for _, name := range slices.Sorted(maps.Keys(all)) {
			media, _, err := mime.ParseMediaType(name)
			if err != nil || !want(media) || all[name] == nil {
				continue
			}
			if media == "*/*" {
				media = mediaJSON
			}
			return media, all[name]
		}
	}
	return "", nil
}
