package contracts

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
)

// DecodeStrict decodes an input. It returns an Error of code invalid that lists every fault by
// JSON pointer: unknown keys (keys that begin with "x-" are reserved for authors, except
// "x-manifold-"), wrong types, duplicate keys, trailing data, a top-level null, and nesting
// beyond MaxJSONDepth. It does not check the inside of raw JSON, such as a schema. Numbers follow
// the rule of Decode.
func DecodeStrict(data []byte, v any) error {
	_, err := decodeStrict(data, v)
	return err
}

// decodeStrict also returns the parsed tree, for further checks.
func decodeStrict(data []byte, v any) (any, error) {
	parsed, faults := parseTree(data)
	if parsed == nil && len(faults) == 0 {
		faults = []Fault{{Message: "must not be null"}}
	}
	if parsed != nil {
		w := strictWalker{faults: faults, fields: map[reflect.Type]map[string]reflect.Type{}}
		w.check("", parsed, reflect.TypeOf(v).Elem())
		faults = w.faults
	}
	if len(faults) > 0 {
		return parsed, Invalid("the input is not valid", faults...)
	}
	if err := Decode(data, v); err != nil {
		return parsed, Errorf(CodeInvalid, "the input is not valid: %w", err)
	}
	return parsed, nil
}

// strictWalker checks a parsed tree against a Go type.
type strictWalker struct {
	faults faultList
	fields map[reflect.Type]map[string]reflect.Type
}

var (
	unmarshalerType = reflect.TypeFor[json.Unmarshaler]()
	timeType        = reflect.TypeFor[time.Time]()
	// shortForms are the types that may be written as a string.
	shortForms = []reflect.Type{
		reflect.TypeFor[RolePlay](), reflect.TypeFor[Condition](), reflect.TypeFor[Allowed](),
		reflect.TypeFor[Unattended](), reflect.TypeFor[Fallback](), reflect.TypeFor[Budget](),
	}
	opaqueTypes = []reflect.Type{reflect.TypeFor[json.RawMessage](), reflect.TypeFor[Opaque]()}
)

func (w *strictWalker) check(at string, v any, t reflect.Type) {
	switch {
	case slices.Contains(opaqueTypes, t):
	case t == timeType:
		w.checkTime(at, v)
	case slices.Contains(shortForms, t):
		if !isShort(v, t) {
			w.checkKind(at, v, t)
		}
	case t.Kind() != reflect.Pointer && reflect.PointerTo(t).Implements(unmarshalerType):
		w.checkCustom(at, v, t)
	default:
		w.checkKind(at, v, t)
	}
}

// isShort reports whether a value is the short form of a type: a string, or for a budget also a
// number.
func isShort(v any, t reflect.Type) bool {
	_, text := v.(string)
	_, number := v.(json.Number)
	return text || number && t == reflect.TypeFor[Budget]()
}

// checkKind checks a value by the kind of its type. A null counts as absent for types that have
// nil.
func (w *strictWalker) checkKind(at string, v any, t reflect.Type) {
	switch t.Kind() {
	case reflect.Interface:
	case reflect.Pointer:
		if v != nil {
			w.check(at, v, t.Elem())
		}
	case reflect.Struct:
		w.checkStruct(at, v, t)
	case reflect.Map:
		w.checkMap(at, v, t)
	case reflect.Slice, reflect.Array:
		w.checkList(at, v, t)
	case reflect.String:
		if _, ok := v.(string); !ok {
			w.mismatch(at, "a string", v)
		}
	case reflect.Bool:
		if _, ok := v.(bool); !ok {
			w.mismatch(at, "true or false", v)
		}
	default:
		w.checkNumber(at, v, t)
	}
}

func (w *strictWalker) checkStruct(at string, v any, t reflect.Type) {
	members, ok := v.(map[string]any)
	if !ok {
		w.mismatch(at, "an object", v)
		return
	}
	fields := w.fieldsOf(t)
	for _, name := range sortedKeys(members) {
		field, known := fields[name]
		switch {
		case known:
			w.check(child(at, name), members[name], field)
		case strings.HasPrefix(name, "x-") && !strings.HasPrefix(name, "x-manifold-"):
		default:
			w.faults.add(child(at, name), "the key is unknown%s", suggest(name, fields))
		}
	}
}

func (w *strictWalker) checkMap(at string, v any, t reflect.Type) {
	members, ok := v.(map[string]any)
	if !ok && v != nil {
		w.mismatch(at, "an object", v)
	}
	for _, name := range sortedKeys(members) {
		w.check(child(at, name), members[name], t.Elem())
	}
}

func (w *strictWalker) checkList(at string, v any, t reflect.Type) {
	items, ok := v.([]any)
	if !ok && (v != nil || t.Kind() == reflect.Array) {
		w.mismatch(at, "a list", v)
		return
	}
	if t.Kind() == reflect.Array && len(items) != t.Len() {
		w.faults.add(at, "must be a list of %d", t.Len())
	}
	for i, item := range items {
		w.check(child(at, i), item, t.Elem())
	}
}

func (w *strictWalker) checkNumber(at string, v any, t reflect.Type) {
	n, ok := v.(json.Number)
	if !ok {
		w.mismatch(at, "a number", v)
		return
	}
	if t.Kind() == reflect.Float64 || t.Kind() == reflect.Float32 {
		return
	}
	if _, err := strconv.ParseInt(string(n), 10, t.Bits()); err != nil {
		w.faults.add(at, "must be a whole number, but is %.40s", n)
	}
}

func (w *strictWalker) checkTime(at string, v any) {
	text, ok := v.(string)
	if !ok {
		w.mismatch(at, "a time as in RFC 3339", v)
		return
	}
	if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
		w.faults.add(at, "must be a time as in RFC 3339")
	}
}

// checkCustom calls the UnmarshalJSON method of a type that has one.
func (w *strictWalker) checkCustom(at string, v any, t reflect.Type) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, reflect.New(t).Interface())
	}
	if err != nil {
		w.faults.add(at, "%s", err)
	}
}

func (w *strictWalker) mismatch(at, want string, got any) {
	w.faults.add(at, "must be %s, but is %s", want, jsonKind(got))
}

// fieldsOf returns the types of a struct's fields by JSON name, with embedded structs flattened.
func (w *strictWalker) fieldsOf(t reflect.Type) map[string]reflect.Type {
	if known, ok := w.fields[t]; ok {
		return known
	}
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-" || !f.IsExported():
		case f.Anonymous && name == "":
			maps.Copy(fields, w.fieldsOf(f.Type))
		case name == "":
			fields[f.Name] = f.Type
		default:
			fields[name] = f.Type
		}
	}
	w.fields[t] = fields
	return fields
}

// suggest returns a hint if a known key differs only in case or separators.
func suggest(name string, fields map[string]reflect.Type) string {
	plain := func(s string) string {
		return strings.ToLower(strings.NewReplacer("_", "", "-", "").Replace(s))
	}
	for _, known := range sortedKeys(fields) {
		if plain(known) == plain(name) {
			return "; did you mean " + known + "?"
		}
	}
	return ""
}

func jsonKind(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case string:
		return "a string"
	case json.Number, float64:
		return "a number"
	case []any:
		return "a list"
	default:
		return "an object"
	}
}
