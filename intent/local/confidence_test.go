package local_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
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
	_, clauses, err := newAdapter(t, local.Config{}).Explain(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	if len(clauses) != 1 || len(clauses[0].Candidates) == 0 {
		t.Fatalf("%q has %d clauses", req.Message, len(clauses))
	}
	best := clauses[0].Candidates[0]
	return best.Entry.Ref(), best.Confidence
}

// A request that says nothing of what a described capability needs is rarely
// meant for it.
func TestSilenceAboutWhatIsNeededIsEvidenceAgainst(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		say   string
		least float64 // by which the confidence falls if numbers are needed
		most  float64
	}{
		"nothing where numbers belong": {"what does the firing of a porcelain vase cost", 0.15, 1},
		"names where numbers belong":   {"cost of firing a vase for Hugo at Silvia", 0.15, 1},
		"both numbers":                 {"what does the firing of a porcelain vase cost, 80 at 0.3", -1, 0.01},
		"a request without values":     {"what does it cost to fire a kiln", 0.15, 0.5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, needed := confidenceOf(t, intent.Request{Message: c.say, Catalog: described()})
			catalog := described()
			entry := catalog.Domains[0].Capabilities[0].Capability
			entry.Schema = []byte(strings.ReplaceAll(string(entry.Schema), `"required":["volume","price"]`, `"required":[]`))
			_, optional := confidenceOf(t, intent.Request{Message: c.say, Catalog: catalog})
			if fall := optional - needed; fall < c.least || fall > c.most {
				t.Errorf("confidence %.2f if numbers are needed, %.2f if not", needed, optional)
			}
		})
	}
}

// An example shows how a capability is asked for: where all that was said is
// known, the values may follow.
func TestARequestWithoutValuesStandsWhereAnExampleIs(t *testing.T) {
	t.Parallel()
	const say = "what does it cost to fire a kiln"
	_, without := confidenceOf(t, intent.Request{Message: say, Catalog: described()})
	catalog := described()
	catalog.Domains[0].Capabilities[0].Capability.Metadata.IntentHints = &contracts.IntentHints{Examples: []string{"cost of 80 litres at 0.3"}}
	_, with := confidenceOf(t, intent.Request{Message: say, Catalog: catalog})
	if without >= local.DefaultAccept || with < local.DefaultAccept {
		t.Errorf("confidence %.2f with an example, %.2f without", with, without)
	}
}

// What may not be chosen tells nevertheless what a message is not about.
func TestABetterCapabilityOutOfReachIsEvidenceAgainst(t *testing.T) {
	t.Parallel()
	const say = "tell me the price of the repair of a kiln"
	catalog := described()
	if ref, c := confidenceOf(t, intent.Request{Message: say, Catalog: catalog}); ref != "studio.kiln_repair" || c < local.DefaultAccept {
		t.Fatalf("it leads to %s at %.2f", ref, c)
	}
	_, beside := confidenceOf(t, intent.Request{Message: say, Catalog: catalog, Only: []string{"kiln.firing_cost"}})
	c := catalog.Domains[1].Capabilities[1].Capability
	c.Name, c.Description = "car_parking", "Tells the fee of the parking of a visiting car."
	_, by := confidenceOf(t, intent.Request{Message: say, Catalog: catalog, Only: []string{"kiln.firing_cost"}})
	if beside > 0.6*by {
		t.Errorf("confidence %.3f beside what fits better, %.3f without it", beside, by)
	}
}

// However many words fit: where neither what is wanted nor the name of what is
// only described is there, somebody is asked.
func TestWhatADescribedCapabilityIsNotAboutIsAsked(t *testing.T) {
	t.Parallel()
	const values = " of a kiln with a volume of 80 and a price of 0.3 for energy"
	ref, about := confidenceOf(t, intent.Request{Message: "what is the cost" + values, Catalog: described()})
	_, beside := confidenceOf(t, intent.Request{Message: "what is the temperature" + values, Catalog: described()})
	if ref != "kiln.firing_cost" || about < local.DefaultAccept || beside >= local.DefaultAccept {
		t.Errorf("%s gets %.2f for its cost and %.2f for something else", ref, about, beside)
	}
	catalog := described()
	catalog.Domains[0].Capabilities[0].Capability.Name = "temperature_of_kiln"
	if _, named := confidenceOf(t, intent.Request{Message: "what is the temperature" + values, Catalog: catalog}); named < local.DefaultAccept {
		t.Errorf("confidence %.2f where the name has it", named)
	}
}

// The score ranks; what a confidence is computed from must not change the order
// of candidates. (What only looks yields to a deed that is asked for by its verb.)
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
				if best := c.Candidates[0]; !best.Exact && !best.Held && other.Score > best.Score && other.Entry.Policy.SideEffectClass.Writes() == best.Entry.Policy.SideEffectClass.Writes() {
					t.Errorf("%q: %s at %.3f %.3f stands before %s at %.3f %.3f", c.Text, best.Entry.Ref(), best.Score, best.Confidence, other.Entry.Ref(), other.Score, other.Confidence)
				}
			}
		}
	}
}
