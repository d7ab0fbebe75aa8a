package local_test

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// ferries is a domain that only looks, with a name that is asked of in two ways.
const ferries = `{
	"schema_version": "1", "domain": "ferry", "version": "1.0.0", "title": "Ferries",
	"capabilities": [
		{"name": "get_price", "description": "Price of a ticket for a line.",
		 "schema": {"type": "object", "required": ["line"], "properties": {"line": {"type": "string", "description": "The line, such as Blue Heron."}}},
		 "metadata": {"side_effect_class": "read", "parameter_specs": {"line": {"examples": ["Blue Heron", "North Star"]}},
			"intent_hints": {"examples": ["price of a ticket for Blue Heron", "what is the price of the North Star line", "what does a ticket for Blue Heron cost", "how much is the North Star", "what is its price"]}}},
		{"name": "list_delays", "description": "Lists the delays, of all lines or of one.",
		 "schema": {"type": "object", "properties": {"line": {"type": "string", "description": "Only delays of this line."}}},
		 "metadata": {"side_effect_class": "read", "parameter_specs": {"line": {"examples": ["Blue Heron", "North Star"]}},
			"intent_hints": {"examples": ["list the delays", "which delays are there", "show the delays of Blue Heron", "delays on the North Star", "what delays do we have"]}}},
		{"name": "list_messages", "description": "Lists messages of the harbour.",
		 "schema": {"type": "object", "properties": {"limit": {"type": "integer", "description": "How many at most.", "minimum": 1, "maximum": 50}}},
		 "metadata": {"side_effect_class": "read", "intent_hints": {"examples": ["list the messages", "show the last 5 messages", "which messages are there", "last 3 messages of the harbour"]}}}
	]
}`

// What is typed in a hurry is read in full, and two questions beside each other are two.
func TestWhatIsAskedInAHurry(t *testing.T) {
	t.Parallel()
	judgeReads(t, ferries, map[string][]string{
		"last 4 msgs":                                                       {`list_messages {"limit":4}`},
		"whats the px of the Grey Seal line":                                {`get_price {"line":"Grey Seal"}`},
		"price of Blue Heron + show its delays":                             {`get_price {"line":"Blue Heron"}`, `list_delays {"line":"Blue Heron"}`},
		"the price of the North Star, and which delays are there on it":     {`get_price {"line":"North Star"}`, `list_delays {"line":"North Star"}`},
		"price of Blue Heron and show the delays":                           {`get_price {"line":"Blue Heron"}`, `list_delays {}`},
		"someone told me about the Grey Seal, any idea what its price is?":  {`get_price {"line":"Grey Seal"}`},
		"which delays are there since Monday, no matter who reported them?": {`list_delays {}`},
		"sorry, dumb question: which delays are there?":                     {`list_delays {}`},
	})
}

// judgeReads asks one domain for things: each is done so, in this order.
func judgeReads(t *testing.T, manifest string, cases map[string][]string) {
	t.Helper()
	catalog := catalogOf("one", decoded(t, manifest))
	a := newAdapter(t, local.Config{})
	for message, want := range cases {
		u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: saturday})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, in := range u.Intents {
			raw, err := json.Marshal(in.Parameters)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, in.Capability+" "+string(raw))
		}
		if u.Outcome != contracts.ReadingAccepted || !slices.Equal(got, want) {
			t.Errorf("%s: %s\n got  %q\n want %q (%s)", message, u.Outcome, got, want, u.Question)
		}
	}
}
