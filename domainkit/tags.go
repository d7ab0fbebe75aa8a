package domainkit

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strings"
)

// field returns the schema of a field: the schema of its type with its tags applied.
func (g *generator) field(f reflect.StructField) (*object, error) {
	s, err := g.of(f.Type)
	if err != nil {
		return nil, err
	}
	if f.Type.Kind() == reflect.Pointer && !g.input && !omits(f) {
		nullable(s) // a nil pointer is encoded as null
	}
	for _, rule := range tagRules {
		text, said := f.Tag.Lookup(rule.tag)
		if !said {
			continue
		}
		if err := rule.apply(s, text); err != nil {
			return nil, fmt.Errorf("tag %s: %w", rule.tag, err)
		}
	}
	return s, nil
}

func omits(f reflect.StructField) bool {
	return strings.Contains(f.Tag.Get("json"), ",omit")
}

func nullable(s *object) {
	if name, ok := s.get("type"); ok {
		s.set("type", []any{name, "null"})
	}
}

// A tagRule turns the text of one tag into schema keywords.
type tagRule struct {
	tag   string
	apply func(s *object, text string) error
}

var tagRules = []tagRule{
	{"description", func(s *object, text string) error { s.set("description", text); return nil }},
	{"enum", setEnum},
	{"pattern", setPattern},
	{"format", func(s *object, text string) error { return onlyFor(s, "format", text, "string") }},
	{"min", func(s *object, text string) error { return setBound(s, text, "minimum", "minLength", "minItems") }},
	{"max", func(s *object, text string) error { return setBound(s, text, "maximum", "maxLength", "maxItems") }},
	{"above", func(s *object, text string) error { return setBound(s, text, "exclusiveMinimum", "", "") }},
	{"below", func(s *object, text string) error { return setBound(s, text, "exclusiveMaximum", "", "") }},
	{"default", setDefault},
	{"only", setOnly},
}

// kindOf returns the JSON type of a schema, ignoring null.
func kindOf(s *object) string {
	v, _ := s.get("type")
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	kind, _ := v.(string) // "" if the schema has no type
	return kind
}

func onlyFor(s *object, keyword string, value any, kind string) error {
	if got := kindOf(s); got != kind {
		return fmt.Errorf("is for type %s, not for %q", kind, got)
	}
	s.set(keyword, value)
	return nil
}

// element returns the schema that enum and pattern apply to: for a list, that of its items.
func element(s *object) *object {
	if kindOf(s) != "array" {
		return s
	}
	items, _ := s.get("items")
	if o, ok := items.(*object); ok {
		return o
	}
	return s
}

func setEnum(s *object, text string) error {
	target, values := element(s), []any{}
	for word := range strings.SplitSeq(text, ",") {
		v, err := literal(kindOf(target), strings.TrimSpace(word))
		if err != nil {
			return err
		}
		values = append(values, v)
	}
	target.set("enum", values)
	return nil
}

func setPattern(s *object, text string) error {
	if _, err := regexp.Compile(text); err != nil {
		return fmt.Errorf("%q is no RE2 expression: %w", text, err)
	}
	return onlyFor(element(s), "pattern", text, "string")
}

func setBound(s *object, text, ofNumber, ofText, ofList string) error {
	keyword := map[string]string{"number": ofNumber, "integer": ofNumber, "string": ofText, "array": ofList}[kindOf(s)]
	if keyword == "" {
		return fmt.Errorf("is not for type %q", kindOf(s))
	}
	n := json.Number(text)
	if _, err := n.Float64(); err != nil {
		return fmt.Errorf("%q is no number", text)
	}
	s.set(keyword, n)
	return nil
}

func setDefault(s *object, text string) error {
	v, err := literal(kindOf(s), text)
	if err != nil {
		return err
	}
	s.set("default", v)
	return nil
}

func setOnly(s *object, text string) error {
	if text != "manifold" {
		return fmt.Errorf(`%q is unknown; only "manifold" is known`, text)
	}
	s.set("x-manifold-only", true)
	return nil
}

// literal parses the text of a tag as a value of a JSON type.
func literal(kind, text string) (any, error) {
	if kind == "string" {
		return text, nil
	}
	v, err := parseOrdered([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%q is no %s", text, kind)
	}
	if kind == "" || kind == kindOfValue(v) || kind == "integer" && isInteger(v) {
		return v, nil
	}
	return nil, fmt.Errorf("%q is no %s", text, kind)
}

func kindOfValue(v any) string {
	switch v.(type) {
	case bool:
		return "boolean"
	case json.Number:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case *object:
		return "object"
	default:
		return "null"
	}
}

func isInteger(v any) bool {
	n, ok := v.(json.Number)
	if !ok {
		return false
	}
	_, err := n.Int64()
	return err == nil
}
