package eval_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/manifold-run/manifold/intent/eval"
)

// dataVariable names the folder with public data sets, which are not part of
// the repository.
const dataVariable = "MANIFOLD_INTENT_DATA"

// The settled matcher must not fall below what it reached on public sets.
func TestTheMatcherStaysAboveTheFloor(t *testing.T) {
	t.Parallel()
	dir := os.Getenv(dataVariable)
	if dir == "" {
		t.Skipf("%s is not set: the public sets are not measured", dataVariable)
	}
	draws := []eval.Draw{{Examples: 10, Seed: 1}, {Examples: 10, Seed: 2}, {Examples: 10, Seed: 3}}
	hurried := []eval.Draw{{Examples: 10, Seed: 1, Perturb: true}, {Examples: 10, Seed: 2, Perturb: true}}
	cases := map[string]struct {
		file  string
		split string
		draws []eval.Draw
		floor map[string]float64
		top   map[string]float64
	}{
		"150 intents with 10 examples each": {
			file: "clinc150.json", split: "test", draws: draws,
			floor: map[string]float64{"accuracy": 0.81, "recall_at_10": 0.95, "oos_auroc": 0.90, "precision_of_accepted_20_oos": 0.93},
			top:   map[string]float64{"out_of_scope_accepted": 0.08, "in_scope_declined": 0.20, "ece": 0.10},
		},
		"the same, written in a hurry": {
			file: "clinc150.json", split: "test", draws: hurried,
			floor: map[string]float64{"accuracy": 0.75, "precision_of_accepted_20_oos": 0.87},
			top:   map[string]float64{"out_of_scope_accepted": 0.08},
		},
		"functions without examples, and requests for none of them": {
			file: "bfcl.json", split: "simple_python,irrelevance",
			floor: map[string]float64{"accuracy": 0.97, "oos_below_90_kept": 0.84, "slot_precision_required": 0.75, "in_scope_accepted_right": 0.75, "exact_call": 0.67},
			top:   map[string]float64{"out_of_scope_accepted": 0.08, "in_scope_declined": 0.08, "ece": 0.10},
		},
		"one of several functions without examples": {
			file: "bfcl.json", split: "multiple",
			floor: map[string]float64{"accuracy": 0.97, "slot_precision_required": 0.75, "exact_call": 0.67},
		},
		"requests for intents that are left out": {
			file: "clinc150.json", split: "test", draws: []eval.Draw{{Examples: 10, Seed: 1, Hold: 0.25}, {Examples: 10, Seed: 2, Hold: 0.25}, {Examples: 10, Seed: 3, Hold: 0.25}},
			floor: map[string]float64{"left_out_auroc": 0.80, "precision_of_accepted_20_oos": 0.87},
			top:   map[string]float64{"left_out_accepted": 0.16, "ece": 0.10},
		},
		"seven intents, of which some are left out": {
			file: "snips.json", draws: []eval.Draw{{Examples: 10, Seed: 1, Hold: 0.3}, {Examples: 10, Seed: 2, Hold: 0.3}, {Examples: 10, Seed: 3, Hold: 0.3}},
			floor: map[string]float64{"accuracy": 0.90, "left_out_auroc": 0.80, "precision_of_accepted_20_oos": 0.87},
			top:   map[string]float64{"left_out_accepted": 0.15, "ece": 0.10},
		},
		"tools with vague descriptions, of which some are left out": {
			file: "metatool.json", draws: []eval.Draw{{Examples: 10, Seed: 1, Hold: 0.25}, {Examples: 10, Seed: 2, Hold: 0.25}, {Examples: 10, Seed: 3, Hold: 0.25}},
			floor: map[string]float64{"recall_at_10": 0.90, "left_out_auroc": 0.80, "precision_of_accepted_20_oos": 0.87},
			top:   map[string]float64{"left_out_accepted": 0.15, "ece": 0.10},
		},
		"4,076 tools without examples": {
			file: "seal.json", split: "dev",
			floor: map[string]float64{"recall_at_10": 0.98, "several_recall_at_10": 0.94, "several_all_recall_at_10": 0.85, "slot_precision_required": 0.75},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			raw, err := os.ReadFile(filepath.Join(dir, c.file))
			if err != nil {
				t.Fatal(err)
			}
			set, err := eval.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			report, err := eval.Run(t.Context(), set.Select(strings.FieldsFunc(c.split, func(r rune) bool { return r == ',' })...), eval.Options{Draws: c.draws})
			if err != nil {
				t.Fatal(err)
			}
			for key, floor := range c.floor {
				if v, ok := report.Value(key); !ok || v < floor {
					t.Errorf("%s is %.3f, must be at least %.3f", key, v, floor)
				}
			}
			for key, top := range c.top {
				if v, ok := report.Value(key); !ok || v > top {
					t.Errorf("%s is %.3f, must be at most %.3f", key, v, top)
				}
			}
			t.Log(report.Text())
		})
	}
}
