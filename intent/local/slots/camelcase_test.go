package slots_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const widgets = `{"name":"get_widget","description":"Describes a kind of widget.","schema":{"type":"object","properties":{
  "name":{"type":"string","description":"Name of the widget, such as lineChart","minLength":1,"maxLength":100}},"required":["name"]},
 "metadata":{"side_effect_class":"read","parameter_specs":{"name":{"examples":["lineChart","userTable","statusPanel"]}},
  "intent_hints":{"examples":["describe the widget lineChart","which settings does the widget userTable take"]}}}`

const keys = `{"name":"check_keys","description":"Checks that keys are there.","schema":{"type":"object","properties":{
  "types":{"type":"array","items":{"type":"string"},"description":"Types of keys, such as mapApi"},
  "widgets":{"type":"array","items":{"type":"string"},"description":"Widgets whose keys are needed, such as mapChart"}}},
 "metadata":{"side_effect_class":"read","intent_hints":{"examples":["check the keys of mapChart","is there a key of type mapApi"]},
  "parameter_specs":{"types":{"examples":[["mapApi"]]},"widgets":{"examples":[["mapChart"]]}}}}`

func TestNamesInCamelCase(t *testing.T) {
	t.Parallel()
	for say, want := range map[string]struct {
		raw    string
		values map[string]any
	}{
		"what settings does a pieChart widget take":  {widgets, map[string]any{"name": "pieChart"}},
		"what does a userTable widget take":          {widgets, map[string]any{"name": "userTable"}},
		"what is a newsTicker":                       {widgets, map[string]any{"name": "newsTicker"}},
		"describe the iPhone":                        {widgets, map[string]any{}},
		"do we have the keys that barChart needs":    {keys, map[string]any{"widgets": []any{"barChart"}}},
		"is a key of type weatherApi there":          {keys, map[string]any{"types": []any{"weatherApi"}}},
		"do we have the keys that streetPlan needs?": {keys, map[string]any{}}, // a type or a widget: nobody can tell
	} {
		if got := fill(t, want.raw, say); !cmp.Equal(got.Values, want.values) {
			t.Errorf("%s: %s", say, cmp.Diff(want.values, got.Values))
		}
	}
}
