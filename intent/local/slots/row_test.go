package slots_test

import (
	"slices"
	"testing"
)

// Names in a row are several for what takes one, also with articles between; with another
// word between they are not.
func TestNamesInARowAreSeveral(t *testing.T) {
	t.Parallel()
	const paint = `{"name":"repaint","description":"Repaints a boat.","schema":{"type":"object","properties":{"boat_id":{"type":"string","pattern":"^[0-9]{8}$"}},"required":["boat_id"]},
 "metadata":{"side_effect_class":"write_reversible","intent_hints":{"examples":["repaint the boat Sea Rose","repaint Old Tern"]},"parameter_specs":{"boat_id":{"examples":["Sea Rose","Old Tern"]}},
 "flow":{"pre":[{"type":"resolve","param":"boat_id","search_capability":"find"}]}}}`
	for say, want := range map[string][]any{
		"repaint the KITE and the Grey Heron":            {"KITE", "Grey Heron"},
		"repaint both the Grey Heron and the KITE":       {"Grey Heron", "KITE"},
		"streich die KITE, die Grey Heron und die PLUM":  {"KITE", "Grey Heron", "PLUM"},
		"pinta o Grey Heron e o KITE":                    {"Grey Heron", "KITE"},
		"repaint the Grey Heron but leave the KITE":      nil,
		"repaint the Grey Heron like the KITE":           nil,
		"repaint the Grey Heron and not the KITE please": nil,
	} {
		var got []any
		for _, m := range fill(t, paint, say).Several["boat_id"] {
			got = append(got, m.Value)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", say, got, want)
		}
	}
}
