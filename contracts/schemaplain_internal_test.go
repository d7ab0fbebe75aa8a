package contracts

import (
	"encoding/json"
	"testing"
)

// TestAPlainSchemaAndTheLibraryAgree: a value fits a schema of common keywords exactly if
// the library says so.
func TestAPlainSchemaAndTheLibraryAgree(t *testing.T) {
	t.Parallel()
	rules := []string{
		`"type":"string"`, `"type":["string","null"]`, `"type":"integer"`, `"type":"number"`, `"type":["integer","boolean"]`, `"type":"object"`, `"type":"array"`,
		`"minLength":2`, `"maxLength":2`, `"type":"string","minLength":1,"maxLength":3`, `"pattern":"^g-[0-9]{2}$"`, `"enum":["ab","ü€"]`, `"type":["string","integer"],"enum":["ab"]`,
		`"minItems":1`, `"maxItems":1`, `"items":{"type":"integer"}`, `"items":{"type":"string","maxLength":1},"minItems":2`,
		`"required":["a"]`, `"properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false`, `"properties":{"a":{"type":"integer"},"b":{}}`,
		`"properties":{"a":{"properties":{"b":{"type":"boolean"}},"additionalProperties":false}},"additionalProperties":true`, `"title":"anything","default":3`, `"minLength":0,"minItems":0`,
	}
	values := []string{
		`null`, `true`, `0`, `1`, `-3`, `1.5`, `1e21`, `9007199254740993`, `""`, `"a"`, `"ab"`, `"abc"`, `"ü€"`, `"ü€x"`, `"g-01"`, `"xg-01"`,
		`[]`, `[1]`, `["a"]`, `["a","b"]`, `["a","bc"]`, `[1,2.5]`, `[null,1]`, `{}`, `{"a":"x"}`, `{"a":1}`, `{"a":1,"b":[1]}`, `{"a":"x","c":1}`, `{"a":{"b":true}}`, `{"a":{"b":1}}`, `{"a":{"c":1}}`, `{"b":"x"}`,
	}
	for _, rule := range rules {
		s, err := CompileSchema(json.RawMessage(`{` + rule + `}`))
		if err != nil {
			t.Fatalf("%s: %v", rule, err)
		}
		plain := plainOf(s.compiled)
		if plain == nil {
			t.Fatalf("%s is not plain", rule)
		}
		for _, text := range values {
			var v any
			if err := Decode([]byte(text), &v); err != nil {
				t.Fatal(err)
			}
			_, long := v.(json.Number) // is left to the library
			if fits, library := plain.fits(v), len(validate(s.compiled, v)) == 0; fits != library && !(long && !fits) {
				t.Errorf("%s, %s: fits %t, but the library says %t", rule, text, fits, library)
			}
		}
	}
}

// TestOtherKeywordsAreLeftToTheLibrary wherever they stand.
func TestOtherKeywordsAreLeftToTheLibrary(t *testing.T) {
	t.Parallel()
	for _, rule := range []string{
		`"format":"email"`, `"minimum":1`, `"exclusiveMaximum":1`, `"multipleOf":2`, `"const":1`, `"const":null`, `"enum":[1]`, `"uniqueItems":true`, `"contains":{}`, `"prefixItems":[{}]`,
		`"not":{}`, `"allOf":[{}]`, `"anyOf":[{}]`, `"oneOf":[{}]`, `"if":{},"then":{}`, `"minProperties":1`, `"maxProperties":1`, `"propertyNames":{}`, `"patternProperties":{"a":{}}`,
		`"additionalProperties":{"type":"string"}`, `"dependentRequired":{"a":["b"]}`, `"dependentSchemas":{"a":{}}`, `"unevaluatedProperties":false`, `"unevaluatedItems":false`,
		`"$defs":{"x":{}},"$ref":"#/$defs/x"`,
	} {
		for _, text := range []string{`{` + rule + `}`, `{"properties":{"a":{"items":{` + rule + `}}}}`} {
			s, err := CompileSchema(json.RawMessage(text))
			if err != nil {
				continue // the place of a reference, or one that is refused
			}
			if plainOf(s.compiled) != nil {
				t.Errorf("%s is taken for plain", text)
			}
		}
	}
}
