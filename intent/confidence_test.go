package intent_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
)

// described are capabilities that only have a description and a schema, too
// few to learn a confidence from.
func described() *contracts.Catalog {
	number := `{"type":"number"}`
	read := func(name, about, schema string) contracts.Capability {
		c := contracts.Capability{Name: name, Description: about, Schema: []byte(schema)}
		c.Metadata.SideEffectClass = contracts.ClassRead
		return c
	}
	return catalogOf("described",
		&contracts.Manifest{SchemaVersion: "1", Domain: "kiln", Capabilities: []contracts.Capability{
			read("firing_cost", "Computes what it costs to fire a kiln, from its volume and the price of energy.",
				`{"type":"object","properties":{"volume":`+number+`,"price":`+number+`},"required":["volume","price"]}`),
			read("glaze_recipe", "Gives the recipe of a glaze.",
				`{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}`),
		}},
		&contracts.Manifest{SchemaVersion: "1", Domain: "studio", Capabilities: []contracts.Capability{
			read("opening_hours", "Tells the opening hours of the pottery studio on a weekday.", `{"type":"object"}`),
			read("kiln_repair", "Tells the price of the repair of a broken kiln.", `{"type":"object"}`),
		}})
}

// confidenceOf is what the best candidate of a message gets.
func confidenceOf(t *testing.T, req intent.Request) (string, float64) {
	t.Helper()
	_, clauses, err := newAdapter(t, intent.Config{}).Explain(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(clauses) != 1 || len(clauses[0].Candidates) == 0 {
		t.Fatalf("%q has %d clauses", req.Message, len(clauses))
	}
	best := clauses[0].Candidates[0]
	return best.Entry.Ref(), best.Confidence
}

// A request that says nothing of what a capability needs is not meant for it,
// however alike the words are.
func TestSilenceAboutWhatIsNeededIsEvidenceAgainst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ with, without string }{
		"nothing where numbers belong": {"what does it cost to fire a kiln of volume 80 at an energy price of 0.3", "what does it cost to fire a kiln of large volume at an energy price"},
		"names where numbers belong":   {"what does firing a kiln cost for a volume of 80 and a price of 0.3", "what does firing a kiln cost for a volume of Hugo and a price of Silvia"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, with := confidenceOf(t, intent.Request{Message: c.with, Catalog: described()})
			_, without := confidenceOf(t, intent.Request{Message: c.without, Catalog: described()})
			if with < intent.DefaultAccept || without > with-0.1 {
				t.Errorf("confidence %.2f with, %.2f without", with, without)
			}
		})
	}
}

// What may not be chosen tells nevertheless what a message is not about.
func TestABetterCapabilityOutOfReachIsEvidenceAgainst(t *testing.T) {
	t.Parallel()
	const say = "tell me the price of the repair of a kiln"
	catalog := described()
	if ref, c := confidenceOf(t, intent.Request{Message: say, Catalog: catalog}); ref != "studio.kiln_repair" || c < intent.DefaultAccept {
		t.Fatalf("it leads to %s at %.2f", ref, c)
	}
	_, beside := confidenceOf(t, intent.Request{Message: say, Catalog: catalog, Only: []string{"kiln.firing_cost"}})
	c := catalog.Domains[1].Capabilities[1].Capability
	c.Name, c.Description = "car_parking", "Tells the fee of the parking of a visiting car."
	_, by := confidenceOf(t, intent.Request{Message: say, Catalog: catalog, Only: []string{"kiln.firing_cost"}})
	if beside > by/2 {
		t.Errorf("confidence %.3f beside what fits better, %.3f without it", beside, by)
	}
}

// The score ranks; what a confidence is computed from must not change the order
// of candidates.
func TestTheScoreRanks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var says []string
	for _, d := range b.catalog.Domains {
		for _, e := range d.Capabilities {
			says = append(says, e.Capability.Description)
			if hints := e.Capability.Metadata.IntentHints; hints != nil {
				for i, example := range hints.Examples {
					words := strings.Fields(example)
					says = append(says, strings.Join(words[:(len(words)+1)/2], " "), strings.Join(words[len(words)/2:], " ")+" "+hints.Examples[(i+3)%len(hints.Examples)])
				}
			}
		}
	}
	for _, say := range says {
		_, clauses, err := b.adapter.Explain(t.Context(), intent.Request{Message: say, Catalog: b.catalog})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range clauses {
			for _, other := range c.Candidates {
				if best := c.Candidates[0]; !best.Exact && !best.Held && other.Score > best.Score {
					t.Errorf("%q: %s at %.3f %.3f stands before %s at %.3f %.3f", c.Text, best.Entry.Ref(), best.Score, best.Confidence, other.Entry.Ref(), other.Score, other.Confidence)
				}
			}
		}
	}
}
