package domainkit

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// Schemer is implemented by a type that defines its own JSON Schema. JSONSchema is called on a
// pointer to a zero value.
type Schemer interface {
	JSONSchema() json.RawMessage
}

// generator generates the schema of one type. Input schemas forbid unknown properties, so that a
// misspelt parameter is rejected; output schemas allow them.
type generator struct {
	input bool
	// path is the types from the root to the current one, to detect recursion.
	path []reflect.Type
}

func (g *generator) of(t reflect.Type) (*object, error) {
	if s, err := ownSchema(t); s != nil || err != nil {
		return s, err
	}
	switch t.Kind() {
	case reflect.Bool:
		return typed("boolean"), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return typed("integer"), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		s := typed("integer")
		s.set("minimum", 0)
		return s, nil
	case reflect.Float32, reflect.Float64:
		return typed("number"), nil
	case reflect.String:
		return typed("string"), nil
	case reflect.Interface:
		return &object{}, nil
	case reflect.Pointer:
		return g.of(t.Elem())
	case reflect.Slice, reflect.Array:
		return g.list(t)
	case reflect.Map:
		return g.mapping(t)
	case reflect.Struct:
		return g.structure(t)
	default:
		return nil, fmt.Errorf("%s has no JSON form", t)
	}
}

func typed(name string) *object { return &object{members: []member{{"type", name}}} }

// ownSchema returns the schema of a type that defines its own or has a custom encoding. It returns
// nil for a type whose schema must be derived.
func ownSchema(t reflect.Type) (*object, error) {
	if t.Kind() == reflect.Interface {
		return nil, nil //nolint:nilnil // nil means that the type does not describe itself
	}
	zero := reflect.New(t)
	if s, ok := reflect.TypeAssert[Schemer](zero); ok {
		v, err := parseOrdered(s.JSONSchema())
		if err != nil {
			return nil, fmt.Errorf("JSONSchema of %s: %w", t, err)
		}
		if o, ok := v.(*object); ok {
			return o, nil
		}
		return nil, fmt.Errorf("JSONSchema of %s is no object", t)
	}
	switch zero.Interface().(type) {
	case *time.Time:
		s := typed("string")
		s.set("format", "date-time")
		return s, nil
	case *json.Number:
		return typed("number"), nil
	case *json.RawMessage, json.Marshaler, json.Unmarshaler:
		return &object{}, nil
	case encoding.TextUnmarshaler, encoding.TextMarshaler:
		return typed("string"), nil
	}
	return nil, nil //nolint:nilnil // nil means that the type does not describe itself
}

func (g *generator) list(t reflect.Type) (*object, error) {
	if t.Elem().Kind() == reflect.Uint8 && t.Kind() == reflect.Slice {
		s := typed("string")
		s.set("contentEncoding", "base64")
		return s, nil
	}
	items, err := g.of(t.Elem())
	if err != nil {
		return nil, err
	}
	s := typed("array")
	s.set("items", items)
	return s, nil
}

func (g *generator) mapping(t reflect.Type) (*object, error) {
	if t.Key().Kind() != reflect.String {
		return nil, fmt.Errorf("%s: the keys of a map must be strings", t)
	}
	values, err := g.of(t.Elem())
	if err != nil {
		return nil, err
	}
	s := typed("object")
	if len(values.members) > 0 {
		s.set("additionalProperties", values)
	}
	return s, nil
}

func (g *generator) structure(t reflect.Type) (*object, error) {
	if slices.Contains(g.path, t) {
		return nil, fmt.Errorf("%s contains itself; write its schema by hand (AddRaw or JSONSchema)", t)
	}
	g.path = append(g.path, t)
	defer func() { g.path = g.path[:len(g.path)-1] }()
	properties, required := &object{}, []any{}
	for _, f := range reflect.VisibleFields(t) {
		name, ok := jsonName(f)
		if !ok || hidden(t, f) {
			continue
		}
		s, err := g.field(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		properties.set(name, s)
		must, err := isRequired(f)
		if err != nil {
			return nil, fmt.Errorf("field %s: %w", f.Name, err)
		}
		if must {
			required = append(required, name)
		}
	}
	s := typed("object")
	s.set("properties", properties)
	if len(required) > 0 {
		s.set("required", required)
	}
	if g.input {
		s.set("additionalProperties", false)
	}
	return s, nil
}

// hidden reports whether a promoted field belongs to an embedded struct with a JSON name, and is
// therefore part of that member.
func hidden(t reflect.Type, f reflect.StructField) bool {
	for i := range len(f.Index) - 1 {
		outer := t.FieldByIndex(f.Index[:i+1])
		if tag, _, _ := strings.Cut(outer.Tag.Get("json"), ","); tag != "" || !outer.Anonymous {
			return true
		}
	}
	return false
}

// jsonName returns the JSON name of a field by the rules of encoding/json.
func jsonName(f reflect.StructField) (string, bool) {
	tag, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if tag == "-" || !f.IsExported() {
		return "", false
	}
	if f.Anonymous && tag == "" && structOf(f.Type) {
		return "", false // its fields are promoted
	}
	if tag == "" {
		return f.Name, true
	}
	return tag, true
}

func structOf(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() == reflect.Struct
}

func isRequired(f reflect.StructField) (bool, error) {
	switch said := f.Tag.Get("required"); said {
	case "":
	case "true", "false":
		return said == "true", nil
	default:
		return false, fmt.Errorf(`required is %q; say "true" or "false"`, said)
	}
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	for option := range strings.SplitSeq(options, ",") {
		if option == "omitempty" || option == "omitzero" {
			return false, nil
		}
	}
	_, hasDefault := f.Tag.Lookup("default")
	return f.Type.Kind() != reflect.Pointer && !hasDefault, nil
}
