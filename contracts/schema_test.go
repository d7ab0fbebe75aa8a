package contracts_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

func TestCompileSchemaRefusesWhatIsUnsafe(t *testing.T) {
	t.Parallel()
	outside := "only references inside the schema are allowed, such as #/$defs/name"
	const tooLarge = "the schema expands to more than 20000 places, or 800 below allOf, anyOf and the like, every $ref followed"
	cases := map[string]struct {
		in      string
		pointer string
		message string
	}{
		"a file reference":         {`{"properties":{"a":{"$ref":"file:///etc/passwd"}}}`, "/properties/a/$ref", outside},
		"a network reference":      {`{"allOf":[{"$ref":"http://127.0.0.1/x.json"}]}`, "/allOf/0/$ref", outside},
		"a relative reference":     {`{"$ref":"other.json#/a"}`, "/$ref", outside},
		"a reference by anchor":    {`{"$ref":"#thing"}`, "/$ref", outside},
		"a reference to nothing":   {`{"$ref":"#/$defs/none"}`, "/$ref", "#/$defs/none points to nothing"},
		"a reference to a number":  {`{"$ref":"#/maximum","maximum":1}`, "/maximum", "a schema must be an object, true or false, but is a number"},
		"a schema that is itself":  {`{"properties":{"a":{"anyOf":[{"$ref":"#/properties/a"},{}]}}}`, "/properties/a", "the schema refers to itself for the same value, without an end"},
		"two that are each other":  {`{"$defs":{"a":{"not":{"$ref":"#/$defs/b"}},"b":{"allOf":[{"$ref":"#/$defs/a"}]}}}`, "/$defs/a", "the schema refers to itself for the same value, without an end"},
		"one that hides behind":    {`{"properties":{"a":{"$ref":"#/$defs/b"}},"$ref":"#/$defs/b","$defs":{"b":{"$ref":"#"}}}`, "", "the schema refers to itself for the same value, without an end"},
		"recursion that explodes":  {`{"$ref":"#/$defs/a","$defs":{"a":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"items":{"$ref":"#/$defs/a"}},`, 9), ",") + `]}}}`, "", "the schema holds itself and expands within 4 levels to more than 20000 places, or 800 below allOf, anyOf and the like"},
		"an unknown draft":         {`{"$schema":"http://json-schema.org/draft-03/schema#"}`, "/$schema", "the draft is not supported; those from 04 to 2020-12 are (https://json-schema.org/draft/2020-12/schema)"},
		"a dynamic reference":      {`{"$dynamicRef":"#x"}`, "/$dynamicRef", "the keyword is not supported"},
		"an inner base address":    {`{"properties":{"a":{"$id":"http://x/"}}}`, "/properties/a/$id", "the keyword is not supported"},
		"a bad pattern property":   {`{"patternProperties":{"(":{}}}`, "/patternProperties/(", "is no RE2 pattern: missing closing ): `(`"},
		"an unknown own keyword":   {`{"x-manifold-foo":1}`, "/x-manifold-foo", "the keyword is unknown; known are x-manifold-only, x-manifold-artifact"},
		"a wrong own keyword":      {`{"properties":{"a":{"x-manifold-artifact":"copy"}}}`, "/properties/a/x-manifold-artifact", `must be "ref"`},
		"a number out of range":    {`{"maximum":1e4000}`, "/maximum", "the number 1e4000 is out of range"},
		"a list":                   {`[]`, "", "must be an object, but is a list"},
		"broken syntax":            {`{`, "", "is not JSON: unexpected end of JSON input at byte 1"},
		"too deep":                 {nested(33), "", "the schema nests deeper than 32 levels, every $ref followed"},
		"too deep by definitions":  {chain(33, 1), "/$defs/d32", "the schema nests deeper than 32 levels, every $ref followed"},
		"a small one that expands": {chain(20, 2), "/$defs/d8", tooLarge},
		"a large one":              {`{"properties":{` + wide(20001) + `}}`, "", tooLarge},
		"too many alternatives":    {`{"items":{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{},`, 801), ",") + `]}}`, "/items", tooLarge},
		"a wrong type":             {`{"type":5}`, "/type", ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := contracts.CompileSchema(json.RawMessage(tc.in))
			if contracts.CodeOf(err) != contracts.CodeInvalid {
				t.Fatalf("code %q, want invalid: %v", contracts.CodeOf(err), err)
			}
			got := faultsOf(t, err)[0]
			if got.Pointer != tc.pointer || tc.message != "" && got.Message != tc.message {
				t.Errorf("got %q at %q, want %q at %q", got.Message, got.Pointer, tc.message, tc.pointer)
			}
		})
	}
}

// nested returns a schema with depth levels and no references.
func nested(depth int) string {
	return strings.Repeat(`{"not":`, depth-1) + `{}` + strings.Repeat(`}`, depth-1)
}

// wide returns a schema with n properties.
func wide(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"p%d":{}`, i)
	}
	return b.String()[1:]
}

// chain returns definitions of which each contains the previous one fan times.
func chain(length, fan int) string {
	var b strings.Builder
	b.WriteString(`{"$defs":{"d0":{}`)
	for i := 1; i < length; i++ {
		ref := fmt.Sprintf(`{"$ref":"#/$defs/d%d"}`, i-1)
		fmt.Fprintf(&b, `,"d%d":{"allOf":[%s]}`, i, strings.TrimSuffix(strings.Repeat(ref+",", fan), ","))
	}
	b.WriteString(`}}`)
	return b.String()
}

func TestSchemaKeepsDataApartFromKeywords(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$id":"https://example.org/s","$schema":"https://json-schema.org/draft/2020-12/schema","type":"object",
		"properties":{"$ref":{"type":"string"},"pattern":{"const":{"$ref":"http://data/"}}},
		"default":{"$ref":"http://data/"},"x-note":{"$dynamicRef":1}}`)
	if faults := s.Validate(map[string]any{"$ref": "a", "pattern": map[string]any{"$ref": "http://data/"}}); faults != nil {
		t.Errorf("unexpected faults %v", faults)
	}
}

func TestSchemaSurvivesNumbersThatTakeLong(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"n":{"enum":[1e-999999999,9007199254740993],"multipleOf":1e-300}}}`)
	if s.Validate(map[string]any{"n": 0}) != nil || s.Validate(map[string]any{"n": json.Number("9007199254740993")}) != nil {
		t.Error("both values are in the list")
	}
	if s.Validate(map[string]any{"n": json.Number("9007199254740992")}) == nil {
		t.Error("a neighbour beyond 2^53 is not")
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	stock := `{"type":"object","properties":{"symbol":{"type":"string","pattern":"^[A-Z]+$"},"symbols":{"type":"array","items":{"type":"string"},"maxItems":2},
		"day":{"type":"string","format":"date"},"n":{"$ref":"#/$defs/n"},"a/b":{"type":"object","properties":{"ü":{"type":"boolean"}}}},
		"oneOf":[{"required":["symbol"]},{"required":["symbols"]}],"$defs":{"n":{"type":"integer","minimum":1}},"additionalProperties":false}`
	cases := map[string]struct {
		v    any
		want []contracts.Fault
	}{
		"what fits has no faults":            {map[string]any{"symbol": "A", "n": 9.0}, nil},
		"Go integers are numbers":            {map[string]any{"symbol": "A", "n": int64(3)}, nil},
		"typed values count by their JSON":   {map[string]any{"symbols": []string{"a", "b"}}, nil},
		"digits beyond 2^53 are an integer":  {map[string]any{"symbol": "A", "n": json.Number("9007199254740993")}, nil},
		"every fault is listed in order":     {map[string]any{"symbol": "a", "day": "tomorrow", "n": 0.0}, []contracts.Fault{{Pointer: "/day", Message: "is not a valid date"}, {Pointer: "/n", Message: "must be >= 1 but found 0"}, {Pointer: "/symbol", Message: "does not match pattern '^[A-Z]+$'"}}},
		"a list element has an index":        {map[string]any{"symbols": []any{"a", 1.0}}, []contracts.Fault{{Pointer: "/symbols/1", Message: "expected string, but got number"}}},
		"pointers are escaped once":          {map[string]any{"symbol": "A", "a/b": map[string]any{"ü": 1.0}}, []contracts.Fault{{Pointer: "/a~1b/ü", Message: "expected boolean, but got number"}}},
		"no alternative fits":                {map[string]any{}, []contracts.Fault{{Message: "fits none of the alternatives: missing properties: 'symbol'; or missing properties: 'symbols'"}}},
		"two alternatives fit":               {map[string]any{"symbol": "A", "symbols": []any{}}, []contracts.Fault{{Message: "fits more than one of the alternatives: 0 and 1"}}},
		"unknown names come in order":        {map[string]any{"symbol": "A", "z": 1.0, "y": 1.0}, []contracts.Fault{{Message: "unknown: 'y', 'z'"}}},
		"a value that is no JSON is a fault": {map[string]any{"symbol": make(chan int)}, []contracts.Fault{{Message: "is not JSON: symbol: json: unsupported type: chan int"}}},
	}
	s := compile(t, stock)
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(tc.want, s.Validate(tc.v)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestSchemaProperties(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"a":{"$ref":"#/$defs/list"}},"allOf":[{"$ref":"#/$defs/more"}],
		"if":{},"then":{"properties":{"c":{"type":"string"}}},"required":["a"],
		"$defs":{"list":{"type":"array","items":{"$ref":"#/$defs/item"}},"item":{"enum":["x"]},"more":{"properties":{"b":{"type":"integer","default":7}}}}}`)
	if diff := cmp.Diff([]string{"a", "b", "c"}, s.Properties()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"a"}, s.View().Required); diff != "" {
		t.Error(diff)
	}
	a, ok := s.Property("a")
	if !ok || a.Validate([]any{"x"}) != nil || a.Validate([]any{"y"}) == nil {
		t.Error("property a keeps its definition")
	}
	item, ok := a.Items()
	if !ok || item.Validate("x") != nil || item.Validate("y") == nil {
		t.Error("the items of a follow the reference")
	}
	b, ok := s.Property("b")
	if !ok || b.View().Default != 7.0 {
		t.Errorf("property b has default 7, got %+v", b)
	}
	if _, ok := s.Property("d"); ok {
		t.Error("there is no property d")
	}
}

func TestSchemaIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"type":"object","properties":{"a":{"anyOf":[{"type":"string"},{"type":"null"}]}}}`)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if len(s.Validate(map[string]any{"a": 1})) != 1 || s.Validate(map[string]any{"a": "x"}) != nil {
					t.Error("wrong answer")
				}
			}
		})
	}
	wg.Wait()
}

func compile(t *testing.T, raw string) *contracts.Schema {
	t.Helper()
	s, err := contracts.CompileSchema(json.RawMessage(raw))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestTheSameTextGivesTheSameSchema checks that compiled schemas are cached, and errors are not.
func TestTheSameTextGivesTheSameSchema(t *testing.T) {
	t.Parallel()
	var first *contracts.Schema
	for range 2 {
		if _, err := contracts.CompileSchema([]byte(`{"type": "objekt"}`)); contracts.CodeOf(err) != contracts.CodeInvalid {
			t.Error(err)
		}
		s, err := contracts.CompileSchema([]byte(`{"type": "object", "title": "kept"}`))
		if err != nil || first != nil && s != first {
			t.Errorf("it is compiled again: %v", err)
		}
		first = s
	}
}
