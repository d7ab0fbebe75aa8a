package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

// small is a set of two domains: what is asked for, and what nobody offers.
const small = `{"name":"small","manifests":[
 {"domain":"garden","capabilities":[
  {"name":"water_beds","description":"Waters flower beds.","schema":{"type":"object","properties":{"minutes":{"type":"integer"}},"required":["minutes"]},
   "intent_hints":{"examples":["water the flower beds for 5 minutes","give the beds water","sprinkle the flowers"]}},
  {"name":"list_plants","description":"Lists plants.","schema":{"type":"object"},
   "intent_hints":{"examples":["which plants grow here","list all plants","show me the plants"]}}]},
 {"domain":"kitchen","capabilities":[
  {"name":"bake.bread","description":"Bakes bread.","schema":{"type":"object"},
   "intent_hints":{"examples":["bake a loaf of bread","put bread into the oven","make fresh bread"]}}]}],
 "cases":[
  {"id":"a","split":"one","text":"water the flower beds for 7 minutes","gold":[{"domain":"garden","capability":"water_beds","parameters":{"minutes":[7]}}]},
  {"id":"b","split":"one","text":"list all plants","gold":[{"domain":"garden","capability":"list_plants"}]},
  {"id":"c","split":"one","text":"who won the football match yesterday evening","gold":[]},
  {"id":"d","split":"two","text":"list all plants and then bake a loaf of bread","gold":[{"domain":"garden","capability":"list_plants"},{"domain":"kitchen","capability":"bake.bread"}]},
  {"id":"e","split":"offered","text":"show me the plants","offered":["bake.bread"],"gold":[]}]}`

func parse(t *testing.T, text string) eval.Set {
	t.Helper()
	set, err := eval.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func figure(t *testing.T, r eval.Report, key string) float64 {
	t.Helper()
	v, ok := r.Value(key)
	if !ok {
		t.Fatalf("there is no figure %s in\n%s", key, r.Text())
	}
	return v
}

func TestFiguresOfASmallSet(t *testing.T) {
	t.Parallel()
	for _, untrained := range []bool{true, false} {
		r, err := eval.Run(t.Context(), parse(t, small), eval.Options{Untrained: untrained})
		if err != nil {
			t.Fatal(err)
		}
		if r.Capabilities != 3 || r.Cases != 5 || r.Draws != 1 {
			t.Errorf("%d capabilities, %d cases, %d draws", r.Capabilities, r.Cases, r.Draws)
		}
		want := map[string]float64{
			"accuracy": 1, "recall_at_1": 1, "several_all_recall_at_5": 1, "several_understood": 1, "in_scope_accepted_right": 1,
			"out_of_scope_accepted": 0, "oos_auroc": 1, "precision_of_accepted_20_oos": 1, "slot_precision": 1, "slot_recall": 1, "exact_call": 1,
		}
		for key, v := range want {
			if got := figure(t, r, key); got != v {
				t.Errorf("untrained %v: %s is %g, want %g\n%s", untrained, key, got, v, r.Text())
			}
		}
		if len(r.Wrong) > 0 {
			t.Errorf("wrong: %+v", r.Wrong)
		}
	}
}

func TestWrongCasesAreCountedAndListed(t *testing.T) {
	t.Parallel()
	set := parse(t, strings.ReplaceAll(small, `"text":"list all plants","gold":[{"domain":"garden","capability":"list_plants"}]`, `"text":"list all plants","gold":[{"domain":"garden","capability":"water_beds"}]`))
	r, err := eval.Run(t.Context(), set.Select("one"), eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if got := figure(t, r, "accuracy"); got != 0.5 {
		t.Errorf("accuracy %g", got)
	}
	if got := figure(t, r, "precision_of_accepted"); got != 0.5 {
		t.Errorf("precision %g", got)
	}
	if len(r.Wrong) != 1 || r.Wrong[0].ID != "b" || r.Wrong[0].Found != "garden.list_plants" {
		t.Errorf("wrong: %+v", r.Wrong)
	}
}

func TestADrawIsTheSameEachTime(t *testing.T) {
	t.Parallel()
	set := parse(t, small)
	draw := eval.Draw{Examples: 2, Seed: 7, Perturb: true, Rename: true}
	one, two := draw.Of(set), draw.Of(set)
	if diff := cmp.Diff(one, two); diff != "" {
		t.Error(diff)
	}
	for _, m := range one.Manifests {
		for _, c := range m.Capabilities {
			if len(c.Metadata.IntentHints.Examples) != 2 || !strings.HasPrefix(c.Name, "cap_") {
				t.Errorf("%s has %d examples", c.Name, len(c.Metadata.IntentHints.Examples))
			}
		}
	}
	if g := one.Cases[3].Gold; g[0].Capability == g[1].Capability || !strings.HasPrefix(g[1].Capability, "cap_") {
		t.Errorf("what is asked for is named %+v", g)
	}
	if one.Cases[4].Offered[0] != "kitchen."+one.Cases[3].Gold[1].Capability {
		t.Errorf("offered is named %v", one.Cases[4].Offered)
	}
	if diff := cmp.Diff(parse(t, small), set); diff != "" {
		t.Errorf("the set itself was changed: %s", diff)
	}
	texts := map[string]bool{}
	for seed := range uint64(20) {
		texts[eval.Draw{Seed: seed, Perturb: true}.Of(set).Cases[2].Text] = true
	}
	if len(texts) < 5 {
		t.Errorf("only %d variants of a sentence", len(texts))
	}
}

func TestWhatIsLeftOutIsMeantForNobody(t *testing.T) {
	t.Parallel()
	near := 0
	for seed := range uint64(6) {
		draw := eval.Draw{Seed: seed, Hold: 0.4}
		set := draw.Of(parse(t, small))
		there := map[string]bool{}
		for _, m := range set.Manifests {
			for _, c := range m.Capabilities {
				there[m.Domain+"."+c.Name] = true
			}
		}
		if len(there) != 2 {
			t.Fatalf("of 3 capabilities %d are left", len(there))
		}
		for _, c := range set.Cases {
			for _, g := range c.Gold {
				if !there[g.Ref()] || c.LeftOut {
					t.Errorf("case %s asks for %s, which is left out", c.ID, g.Ref())
				}
			}
			for _, ref := range c.Offered {
				if !there[ref] {
					t.Errorf("case %s offers %s, which is left out", c.ID, ref)
				}
			}
		}
		r, err := eval.Run(t.Context(), parse(t, small), eval.Options{Draws: []eval.Draw{draw}})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := r.Value("left_out_auroc"); ok {
			near++
			figure(t, r, "left_out_accepted")
		}
	}
	if near == 0 {
		t.Error("nothing that is left out was measured")
	}
}

func TestADrawCanKeepNoExamples(t *testing.T) {
	t.Parallel()
	for _, m := range (eval.Draw{Examples: -1}).Of(parse(t, small)).Manifests {
		for _, c := range m.Capabilities {
			if n := len(c.Metadata.IntentHints.Examples); n > 0 {
				t.Errorf("%s keeps %d examples", c.Name, n)
			}
		}
	}
}

func TestMeansAndSpreadsOfDraws(t *testing.T) {
	t.Parallel()
	r, err := eval.Run(t.Context(), parse(t, small), eval.Options{Draws: []eval.Draw{{}, {Examples: 1, Seed: 1}, {Examples: 1, Seed: 2, Rename: true}}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Draws != 3 || !strings.Contains(r.Text(), "3 draws") || !strings.Contains(r.Text(), "±") {
		t.Errorf("unexpected report:\n%s", r.Text())
	}
}

func TestWhatIsNoSetIsRefused(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"no JSON":                  `{`,
		"something else":           `{"a":1}`,
		"an unknown capability":    strings.ReplaceAll(small, `"capability":"list_plants"`, `"capability":"sow"`),
		"a manifest with a fault":  `{"capabilities":[{}]}`,
		"cases of the wrong shape": `{"cases":{}}`,
	} {
		if _, err := eval.Parse([]byte(text)); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
}

func TestAManifestIsMeasuredByItsOwnTests(t *testing.T) {
	t.Parallel()
	set := parse(t, small)
	garden := set.Manifests[0]
	garden.Tests = []contracts.RoutingTest{
		{Say: "water the flower beds for 9 minutes", Expect: &contracts.RoutingExpectation{Capability: "garden.water_beds", Parameters: map[string]any{"minutes": 9.0}}},
		{Say: "sing me a song about the sea"},
		{Say: "left out", LLM: true},
	}
	own := eval.Merge(eval.FromManifest(garden), eval.FromManifest(set.Manifests[1]))
	r, err := eval.Run(t.Context(), own, eval.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Set != "garden+kitchen" || r.Cases != 2 || figure(t, r, "accuracy") != 1 || figure(t, r, "exact_call") != 1 {
		t.Errorf("unexpected report:\n%s", r.Text())
	}
}

func TestAdviceForAuthors(t *testing.T) {
	t.Parallel()
	set := parse(t, small)
	kitchen := set.Manifests[1]
	for i := range 6 {
		hints := set.Manifests[0].Capabilities[1].Metadata.IntentHints
		hints.Examples = append(hints.Examples, fmt.Sprintf("plants of row %d", i))
	}
	kitchen.Capabilities = append(kitchen.Capabilities, contracts.Capability{
		Name: "name_plants", Description: "Lists plants.", Schema: []byte(`{"type":"object"}`),
		Metadata: contracts.Metadata{IntentHints: &contracts.IntentHints{Examples: []string{"list all plants", "which plants are there", "show the plants here", "plants of row 9", "what plants do we have"}}},
	})
	advice, err := eval.Advise(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, a := range advice {
		got = append(got, a.Capability+": "+a.Problem)
	}
	all := strings.Join(got, "\n")
	for _, want := range []string{
		"garden.water_beds: it has 3 examples", "kitchen.bake.bread: it has 3 examples", "kitchen.name_plants: “list all plants” is an example of garden.list_plants too",
	} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q in\n%s", want, all)
		}
	}
	if strings.Contains(all, "garden.list_plants: it has") {
		t.Errorf("examples enough, and still:\n%s", all)
	}
}
