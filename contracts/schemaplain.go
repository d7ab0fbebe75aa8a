package contracts

import (
	"math"
	"reflect"
	"regexp"
	"slices"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// plainSchema is a schema of the commonest keywords. It only says of a value that it
// fits, in a fraction of the time and memory that the library takes, which is asked about
// all other schemas and values, and what is wrong with one.
type plainSchema struct {
	types, required      []string
	enum                 []any // texts
	properties           map[string]*plainSchema
	closed               bool // to other properties
	items                *plainSchema
	minItems, maxItems   int // -1 for none
	minLength, maxLength int // -1 for none
	pattern              *regexp.Regexp
}

// plainKeywords are the fields of the library's schema that plainSchema reads, or that
// say nothing of what fits.
var plainKeywords = map[string]bool{ //nolint:gochecknoglobals // a table
	"Types": true, "Required": true, "Enum": true, "Properties": true, "AdditionalProperties": true, "Items2020": true,
	"MinItems": true, "MaxItems": true, "MinLength": true, "MaxLength": true, "Pattern": true,
	"Location": true, "Draft": true, "ContainsEval": true, "meta": true, "vocab": true, "enumError": true,
	"Title": true, "Description": true, "Default": true, "Comment": true, "ReadOnly": true, "WriteOnly": true, "Examples": true, "Deprecated": true,
}

// plainOf gives nil for a schema that has any other keyword, wherever that stands.
func plainOf(s *jsonschema.Schema) *plainSchema {
	open := s.AdditionalProperties == nil || s.AdditionalProperties == true
	if !open && s.AdditionalProperties != false || hasOtherKeywords(s) {
		return nil
	}
	p := &plainSchema{
		types: s.Types, required: s.Required, enum: s.Enum, closed: !open,
		minItems: s.MinItems, maxItems: s.MaxItems, minLength: s.MinLength, maxLength: s.MaxLength, pattern: s.Pattern,
	}
	for _, v := range p.enum {
		if _, text := v.(string); !text {
			return nil
		}
	}
	if s.Items2020 != nil {
		if p.items = plainOf(s.Items2020); p.items == nil {
			return nil
		}
	}
	p.properties = make(map[string]*plainSchema, len(s.Properties))
	for name, property := range s.Properties {
		if p.properties[name] = plainOf(property); p.properties[name] == nil {
			return nil
		}
	}
	return p
}

func hasOtherKeywords(s *jsonschema.Schema) bool {
	fields := reflect.ValueOf(*s)
	for i := range fields.NumField() {
		name, f := fields.Type().Field(i).Name, fields.Field(i)
		switch {
		case plainKeywords[name] || f.IsZero():
		case f.Kind() == reflect.Int && (f.Int() == -1 || name == "MinContains" && f.Int() == 1): // not given
		case (f.Kind() == reflect.Map || f.Kind() == reflect.Slice) && f.Len() == 0:
		default:
			return true
		}
	}
	return false
}

// fits tells that a normalized value certainly fits; false says nothing.
func (p *plainSchema) fits(v any) bool {
	if text, ok := v.(string); ok {
		return p.is("string") && p.fitsText(text)
	}
	if len(p.enum) > 0 {
		return false
	}
	switch v := v.(type) {
	case nil:
		return p.is("null")
	case bool:
		return p.is("boolean")
	case float64:
		return p.is("number") || p.is("integer") && v == math.Trunc(v)
	case []any:
		return p.is("array") && (p.minItems < 0 || len(v) >= p.minItems) && (p.maxItems < 0 || len(v) <= p.maxItems) &&
			(p.items == nil || !slices.ContainsFunc(v, func(item any) bool { return !p.items.fits(item) }))
	case map[string]any:
		return p.is("object") && p.fitsObject(v)
	}
	return false
}

func (p *plainSchema) is(kind string) bool {
	return len(p.types) == 0 || slices.Contains(p.types, kind)
}

func (p *plainSchema) fitsText(text string) bool {
	if p.minLength >= 0 || p.maxLength >= 0 {
		n := utf8.RuneCountInString(text)
		if p.minLength >= 0 && n < p.minLength || p.maxLength >= 0 && n > p.maxLength {
			return false
		}
	}
	return (p.pattern == nil || p.pattern.MatchString(text)) && (len(p.enum) == 0 || slices.Contains(p.enum, any(text)))
}

func (p *plainSchema) fitsObject(v map[string]any) bool {
	for _, name := range p.required {
		if _, ok := v[name]; !ok {
			return false
		}
	}
	for name, item := range v {
		property, known := p.properties[name]
		if known && !property.fits(item) || !known && p.closed {
			return false
		}
	}
	return true
}
