package local_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// ferry is a domain that moves cars over water, and tells people.
const ferry = `{"schema_version":"1","domain":"ferry","version":"1.0.0","title":"Ferry","description":"Moves cars","capabilities":[
{"name":"book_car","description":"Books a car on a boat","schema":{"type":"object","additionalProperties":false,"required":["car","boat"],"properties":{"car":{"type":"string","pattern":"^C-[0-9]+$"},"boat":{"type":"string","pattern":"^B-[0-9]+$"}}},"metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","idempotency":"natural","intent_hints":{"examples":["book car C-7 on boat B-2","put C-9 on B-1","reserve a place on B-4 for car C-12","book C-3 on the boat B-5","get car C-8 on boat B-3"]}}},
{"name":"list_cars","description":"Lists the cars on a boat","schema":{"type":"object","additionalProperties":false,"required":["boat"],"properties":{"boat":{"type":"string","pattern":"^B-[0-9]+$"}}},"metadata":{"side_effect_class":"read","intent_hints":{"examples":["which cars are on boat B-2","list the cars of B-1","show me the cars on B-4","cars on boat B-5","who is on B-3"]}}},
{"name":"send_note","description":"Sends a note to a crew","schema":{"type":"object","additionalProperties":false,"required":["crew","note"],"properties":{"crew":{"type":"string","enum":["deck","bridge","kitchen"]},"note":{"type":"string","description":"What the note says"}}},"metadata":{"side_effect_class":"write_irreversible","risk_level":"medium","idempotency":"keyed","intent_hints":{"examples":["send the bridge a note: fog ahead","tell the deck crew that we dock at six","send a note to the kitchen: ten more guests","tell the bridge about it","send it to the deck as a note"]}}}]}`

// whole is the ferry whose examples of notes all say the note.
var whole = strings.NewReplacer("tell the bridge about it", "tell the kitchen \\\"two more\\\"", "send it to the deck as a note", "write \\\"all aboard\\\" to the deck").Replace(ferry)

func ferryCatalog(t *testing.T, manifest string) *contracts.Catalog {
	t.Helper()
	m, err := contracts.ParseManifest([]byte(manifest))
	if err != nil {
		t.Fatal(err)
	}
	return catalogOf("ferry", m)
}

// What tells somebody and does not say what, tells what the request before it came to. What
// stands alone, or says it, is no plan.
func TestWhatIsNotSaidIsWhatTheRequestBeforeCameTo(t *testing.T) {
	t.Parallel()
	tellsWhatCame(t, ferry, map[string]int{
		"put C-21 on B-6 and tell the bridge":                    2,
		"list the cars of B-6 and send it to the deck as a note": 2,
		"tell the bridge": 0,
		"put C-21 on B-6 and send the bridge a note: fog ahead":            0,
		"send the bridge a note: fog ahead, and list the cars of boat B-6": 0,
		"put C-21 on B-6 and put C-22 on B-6":                              0,
	})
}

// The same holds where every example says what is told. What only looks like telling somebody
// is asked about as before.
func TestWhatIsNotSaidNeedsNoExample(t *testing.T) {
	t.Parallel()
	tellsWhatCame(t, whole, map[string]int{
		"put C-21 on B-6 and tell the bridge":               2,
		"put C-21 on B-6, then tell the deck crew":          2,
		"list the cars of B-6 and tell the kitchen":         2,
		"list the cars of B-6 and write to the deck":        2,
		"tell the bridge":                                   0,
		"put C-21 on B-6 and tell the harbour master":       0,
		"put C-21 on B-6 and don't tell the bridge":         0,
		"put C-21 on B-6 and tell the bridge \"fog ahead\"": 0,
		"put C-21 on B-6 and tell":                          0,
	})
}

func tellsWhatCame(t *testing.T, manifest string, plans map[string]int) {
	t.Helper()
	catalog := ferryCatalog(t, manifest)
	reader, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	settle(t, reader, catalog)
	for said, steps := range plans {
		u, err := reader.Understand(t.Context(), intent.Request{Message: said, Catalog: catalog, AnyRole: true, Now: saturday})
		if err != nil {
			t.Fatal(err)
		}
		if steps == 0 {
			if u.Draft != nil {
				t.Errorf("%q is a plan: %+v", said, u.Draft)
			}
			continue
		}
		if u.Draft == nil || len(u.Draft.Steps) != steps {
			t.Errorf("%q is no plan of %d steps: %s %q %+v", said, steps, u.Outcome, u.Question, u.Intents)
			continue
		}
		last := u.Draft.Steps[steps-1]
		if last.Tool != "ferry.send_note" || last.Params["note"] != "${"+u.Draft.Steps[0].ID+".summary}" || len(last.DependsOn) != 1 || last.Said.Values["note"] != contracts.FromLookup {
			t.Errorf("%q tells %+v", said, last)
		}
	}
}
