package change_test

import (
	"reflect"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/conversation/change"
)

// A new name is stored in the only name parameter, and nowhere if there are two or none.
func TestANewNameGoesToTheOneName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has  map[string]any
		text string
		want map[string]any
	}{
		"a name":          {map[string]any{"name": "A", "template": "agent"}, `"Sales Bot"`, map[string]any{"name": "Sales Bot"}},
		"a title":         {map[string]any{"worker_id": "1", "new_title": "Lead"}, "Chief", map[string]any{"new_title": "Chief"}},
		"two names":       {map[string]any{"name": "A", "title": "B"}, "C", nil},
		"a number no one": {map[string]any{"name": 3.0}, "C", nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, where := change.Renamed(contracts.Intent{Parameters: c.has}, c.text)
			if !reflect.DeepEqual(got, c.want) || len(where) != len(got) {
				t.Errorf("%v %v", got, where)
			}
		})
	}
}

func TestAnAnswerContradictsWhatWasSaid(t *testing.T) {
	t.Parallel()
	in := contracts.Intent{Parameters: map[string]any{"days": 2.0, "who": []any{"Vera"}}}
	for name, c := range map[string]struct {
		values map[string]any
		want   bool
	}{
		"what was asked":           {map[string]any{"start": "2026-12-16"}, false},
		"and something new":        {map[string]any{"start": "2026-12-16", "note": "at noon"}, false},
		"and the same":             {map[string]any{"start": "2026-12-16", "days": 2.0, "who": []any{"Vera"}}, false},
		"and another number":       {map[string]any{"start": "2026-12-16", "days": 1.0}, true},
		"and somebody else":        {map[string]any{"start": "2026-12-16", "who": []any{"Max"}}, true},
		"another of what is asked": {map[string]any{"days": 1.0}, true},
	} {
		asked := "start"
		if got := change.Contradicts(in, c.values, asked); got != c.want {
			t.Errorf("%s contradicts: %v", name, got)
		}
	}
}
