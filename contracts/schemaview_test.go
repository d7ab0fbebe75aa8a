package contracts_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// TestAViewIsTheSameHoweverTheSchemaIsWritten checks several ways to write the same property, as
// tool servers use them.
func TestAViewIsTheSameHoweverTheSchemaIsWritten(t *testing.T) {
	t.Parallel()
	text := contracts.SchemaView{Type: "string", Open: true}
	maybe := text
	maybe.Nullable = true
	colours := contracts.SchemaView{Type: "string", Enum: []any{"red", "blue"}, Open: true}
	labelled := colours
	labelled.Labels = []string{"Red", "Deep blue"}
	for name, tc := range map[string]struct {
		in   string
		want contracts.SchemaView
	}{
		"a type":                         {`{"type":"string"}`, text},
		"a type with null":               {`{"type":["null","string"]}`, maybe},
		"anyOf with null":                {`{"anyOf":[{"type":"string"},{"type":"null"}]}`, maybe},
		"oneOf with a constant null":     {`{"oneOf":[{"const":null},{"type":"string"}]}`, maybe},
		"OpenAPI's nullable":             {`{"type":"string","nullable":true}`, maybe},
		"null by default":                {`{"type":["string","null"],"default":null}`, maybe},
		"a reference":                    {`{"$ref":"#/$defs/t"}`, text},
		"a reference with null beside":   {`{"anyOf":[{"$ref":"#/$defs/t"},{"type":"null"}]}`, maybe},
		"allOf with one reference":       {`{"allOf":[{"$ref":"#/definitions/t"}]}`, text},
		"a reference to another member":  {`{"$ref":"#/properties/other"}`, text},
		"an enum":                        {`{"enum":["red","blue"]}`, colours},
		"an enum with null":              {`{"type":["string","null"],"enum":["red","blue",null]}`, contracts.SchemaView{Type: "string", Nullable: true, Enum: []any{"red", "blue"}, Open: true}},
		"constants":                      {`{"oneOf":[{"const":"red","title":"Red"},{"const":"blue","title":"Deep blue"}]}`, labelled},
		"constants without names":        {`{"anyOf":[{"const":"red"},{"enum":["blue"]}]}`, colours},
		"a text or a list of texts":      {`{"anyOf":[{"type":"array","items":{"type":"string"}},{"type":"string"}]}`, text},
		"several types":                  {`{"type":["array","integer","null"]}`, contracts.SchemaView{Type: "integer", Nullable: true, Open: true}},
		"bounds of draft 04":             {`{"type":"number","minimum":0,"exclusiveMinimum":true}`, contracts.SchemaView{Type: "number", Minimum: new(0.0), MinOpen: true, Open: true}},
		"bounds of draft 06":             {`{"type":"number","exclusiveMinimum":0}`, contracts.SchemaView{Type: "number", Minimum: new(0.0), MinOpen: true, Open: true}},
		"a look-ahead":                   {`{"type":"string","pattern":"^(?=.*[A-Z])[A-Z0-9-]{4,}$"}`, contracts.SchemaView{Type: "string", Pattern: "^[A-Z0-9-]{4,}$", Open: true}},
		"a pattern that RE2 has not":     {`{"type":"string","pattern":"^(a+)\\1$"}`, text},
		"no schema at all":               {`true`, contracts.SchemaView{Open: true}},
		"keywords of the wrong types":    {`{"type":"string","required":true,"properties":5,"enum":"x"}`, text},
		"a reference that leads nowhere": {`{"$ref":"#/$defs/none"}`, contracts.SchemaView{Open: true}},
		"a reference to itself":          {`{"$ref":"#/properties/it"}`, contracts.SchemaView{Open: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := contracts.ViewSchema(json.RawMessage(`{"type":"object","properties":{"it":` + tc.in + `,"other":{"type":"string"}},
				"$defs":{"t":{"type":"string"}},"definitions":{"t":{"type":"string"}}}`))
			got, ok := root.Property("it")
			if !ok {
				t.Fatal("the property is not there")
			}
			if diff := cmp.Diff(tc.want, *got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestAViewOfAnObject checks the properties in document order, including those of all branches,
// and the required ones.
func TestAViewOfAnObject(t *testing.T) {
	t.Parallel()
	v := contracts.ViewSchema(json.RawMessage(`{"$ref":"#/$defs/Args","$defs":{
		"Args":{"type":"object","properties":{"zone":{"type":"string"},"area":{"type":"string"},
			"range":{"allOf":[{"$ref":"#/$defs/Range"}],"description":"From when to when"}},
			"required":["range"],"oneOf":[{"required":["zone"]},{"required":["area"]}],"additionalProperties":false,
			"if":{"properties":{"zone":{"const":"EU"}}},"then":{"properties":{"state":{"type":"string"}},"required":["state"]},
			"dependentRequired":{"area":["range"]}},
		"Range":{"type":"object","description":"a range","properties":{"from":{"type":"string","format":"date"},"to":{"type":"string"}},"required":["from"]}}}`))
	var names []string
	for _, p := range v.Properties {
		names = append(names, p.Name)
	}
	if diff := cmp.Diff([]string{"zone", "area", "range", "state"}, names); diff != "" {
		t.Errorf("names: %s", diff)
	}
	if v.Open || v.Type != "object" {
		t.Errorf("a closed object, got %+v", v)
	}
	if diff := cmp.Diff([]string{"range"}, v.Required); diff != "" {
		t.Errorf("required: %s", diff)
	}
	want := [][]contracts.Choice{{{Required: []string{"zone"}, Fixed: map[string]any{}}, {Required: []string{"area"}, Fixed: map[string]any{}}}}
	if diff := cmp.Diff(want, v.Choices); diff != "" {
		t.Errorf("choices: %s", diff)
	}
	span, _ := v.Property("range")
	from, ok := span.Property("from")
	if !ok || from.Format != "date" || span.Description != "From when to when" || len(span.Required) != 1 {
		t.Errorf("the range is %+v", span)
	}
	if diff := cmp.Diff(map[string][]string{"area": {"range"}}, v.Dependent); diff != "" {
		t.Errorf("dependent: %s", diff)
	}
}

// TestAViewOfObjectsThatAreToldApartByAValue checks that the constants become an enumeration.
func TestAViewOfObjectsThatAreToldApartByAValue(t *testing.T) {
	t.Parallel()
	v := contracts.ViewSchema(json.RawMessage(`{"type":"object","properties":{"target":{"anyOf":[
		{"type":"object","properties":{"kind":{"const":"mail"},"address":{"type":"string"}},"required":["kind","address"]},
		{"type":"object","properties":{"kind":{"const":"phone"},"number":{"type":"string"}},"required":["kind","number"]},{"type":"null"}]}}}`))
	target, _ := v.Property("target")
	kind, ok := target.Property("kind")
	if !ok || !target.Nullable || target.Type != "object" || len(target.Properties) != 3 {
		t.Fatalf("the target is %+v", target)
	}
	if diff := cmp.Diff([]any{"mail", "phone"}, kind.Enum); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"kind"}, target.Required); diff != "" {
		t.Error(diff)
	}
	if len(target.Choices) != 1 || len(target.Choices[0]) != 2 || target.Choices[0][1].Fixed["kind"] != "phone" {
		t.Errorf("choices: %+v", target.Choices)
	}
}

// TestAViewOfAHostileSchemaIsBounded checks that reading a recursive schema ends.
func TestAViewOfAHostileSchemaIsBounded(t *testing.T) {
	t.Parallel()
	for name, in := range map[string]string{
		"a tree of itself":    `{"properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"items":{"$ref":"#"}}},"allOf":[{"$ref":"#/properties/a"}],"anyOf":[{"$ref":"#"},{"$ref":"#"}]}`,
		"a chain that widens": chain(30, 3),
		"nested very deep":    strings.Repeat(`{"items":`, 90) + `{}` + strings.Repeat(`}`, 90),
		"alternatives":        `{"anyOf":[` + strings.TrimSuffix(strings.Repeat(`{"type":"string"},`, 9000), ",") + `]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if n := places(contracts.ViewSchema(json.RawMessage(in))); n > 5000 {
				t.Errorf("it has %d places", n)
			}
		})
	}
}

func places(v *contracts.SchemaView) int {
	n := 1
	for i := range v.Properties {
		n += places(&v.Properties[i].SchemaView)
	}
	if v.Items != nil {
		n += places(v.Items)
	}
	return n
}

// TestSchemasOfTheWorldCompile checks schemas of several drafts, of OpenAPI and with ECMA
// patterns, with valid and invalid values.
func TestSchemasOfTheWorldCompile(t *testing.T) {
	t.Parallel()
	tree := `{"type":"object","properties":{"shelf":{"$ref":"#/$defs/Shelf"}},"$defs":{"Shelf":{"type":"object",
		"properties":{"label":{"type":"string"},"inside":{"type":"array","items":{"$ref":"#/$defs/Shelf"}}},"required":["label"]}}}`
	shelf := func(depth int) any {
		var v any = map[string]any{"label": "last"}
		for range depth {
			v = map[string]any{"label": "x", "inside": []any{v}}
		}
		return map[string]any{"shelf": v}
	}
	any8 := `{"$ref":"#/$defs/v","$defs":{"v":{"anyOf":[{"type":"string"},{"type":"array","items":{"$ref":"#/$defs/v"}},{"type":"object","additionalProperties":{"$ref":"#/$defs/v"}}]}}}`
	for name, tc := range map[string]struct {
		schema  string
		fit     []any
		wrong   []any
		notHeld int
	}{
		"draft 07 with a tuple": {
			schema: `{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"p":{"items":[{"type":"string"},{"type":"number"}],"additionalItems":false}},"properties":{"p":{"$ref":"#/definitions/p"}}}`,
			fit:    []any{map[string]any{"p": []any{"a", 1.0}}}, wrong: []any{map[string]any{"p": []any{1.0}}, map[string]any{"p": []any{"a", 1.0, 2.0}}},
		},
		"bounds of draft 04":          {schema: `{"minimum":1,"exclusiveMinimum":true,"maximum":3,"exclusiveMaximum":false}`, fit: []any{2.0, 3.0}, wrong: []any{1.0, 4.0}},
		"nullable of OpenAPI":         {schema: `{"type":"string","enum":["a"],"nullable":true}`, fit: []any{"a", nil}, wrong: []any{"b"}},
		"dependencies of draft 07":    {schema: `{"dependencies":{"a":["b"],"c":{"required":["d"]}}}`, fit: []any{map[string]any{"a": 1.0, "b": 1.0}}, wrong: []any{map[string]any{"a": 1.0}, map[string]any{"c": 1.0}}},
		"required of draft 03":        {schema: `{"properties":{"a":{"type":"string","required":true}}}`, fit: []any{map[string]any{}}, wrong: []any{map[string]any{"a": 1.0}}},
		"look-aheads at the begin":    {schema: `{"pattern":"^(?=.*\\d)(?!.*--)[a-z0-9-]+$"}`, fit: []any{"a-1", 7.0}, wrong: []any{"a-b", "a--1", "A1"}},
		"letters by their number":     {schema: `{"pattern":"^[\\u00e0-\\u00ff]+$"}`, fit: []any{"éü"}, wrong: []any{"e"}},
		"anything but nothing":        {schema: `{"pattern":"^[^]{2}$"}`, fit: []any{"a\n"}, wrong: []any{"a"}},
		"a reference back":            {schema: `{"pattern":"^(a|b)\\1$","maxLength":2}`, fit: []any{"ab"}, wrong: []any{"aaa"}, notHeld: 1},
		"a count beyond RE2":          {schema: `{"pattern":"^.{1,5000}$"}`, fit: []any{"x", ""}, notHeld: 1},
		"a look-behind":               {schema: `{"pattern":"(?<!a)b$","minLength":1}`, fit: []any{"ab"}, wrong: []any{""}, notHeld: 1},
		"one of several looks ahead":  {schema: `{"pattern":"^(?=a)a|b$"}`, fit: []any{"c"}, notHeld: 1},
		"names that look ahead":       {schema: `{"patternProperties":{"^(?!x-)":{"type":"string"}},"additionalProperties":false}`, fit: []any{map[string]any{"a": "b"}}, notHeld: 1},
		"a tree":                      {schema: tree, fit: []any{shelf(0), shelf(3)}, wrong: []any{map[string]any{"shelf": map[string]any{"label": "x", "inside": []any{map[string]any{}}}}, shelf(20)}},
		"any JSON value":              {schema: any8, fit: []any{[]any{[]any{"a"}, map[string]any{"b": "c"}}}, wrong: []any{[]any{1.0}}},
		"a definition that is unused": {schema: `{"$defs":{"a":{"properties":{"a":{"$ref":"#/$defs/a"}}}},"type":"string"}`, fit: []any{"a"}, wrong: []any{1.0}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := compile(t, tc.schema)
			for _, v := range tc.fit {
				if faults := s.Validate(v); faults != nil {
					t.Errorf("%v does not fit: %v", v, faults)
				}
			}
			for _, v := range tc.wrong {
				if s.Validate(v) == nil {
					t.Errorf("%v fits", v)
				}
			}
			if got := s.Unchecked(); len(got) != tc.notHeld {
				t.Errorf("not held to: %v", got)
			}
		})
	}
}

// TestADeepValueOfASchemaThatHoldsItselfIsRefusedQuickly uses a schema for which each level
// doubles the work.
func TestADeepValueOfASchemaThatHoldsItselfIsRefusedQuickly(t *testing.T) {
	t.Parallel()
	s := compile(t, `{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["x"]},{"properties":{"a":{"$ref":"#/$defs/n"}},"required":["y"]}]}}}`)
	var v any = map[string]any{}
	for range 90 {
		v = map[string]any{"a": v}
	}
	faults := s.Validate(v)
	if len(faults) != 1 || !strings.Contains(faults[0].Message, "nests deeper") {
		t.Errorf("faults %v", faults)
	}
}
