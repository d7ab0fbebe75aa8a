package local_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// TestMyIsWhoeverAsks: where a parameter names the person whom a call is about, and
// the request names nobody but whoever speaks, it is about them; who only wants to be
// told is no person that it is about.
func TestMyIsWhoeverAsks(t *testing.T) {
	t.Parallel()
	people := readManifest(t, "people")
	for i := range people.Capabilities {
		specs := people.Capabilities[i].Metadata.ParameterSpecs
		if spec, ok := specs["worker"]; ok {
			spec.Subject = &contracts.Subject{Self: []string{"*"}}
			specs["worker"] = spec
		}
	}
	b := setup(t)
	b.catalog = catalogOf("subjects", people)
	for message, want := range map[string]string{
		"what is my time off balance?":                                "me",
		"how many days off do I have left?":                           "me",
		"quantos dias de férias eu ainda tenho?":                      "me",
		"request 2 days off for me from 2026-12-01":                   "me",
		"I need 3 days off from 2026-12-01":                           "me",
		"show me the time off balance of Bruno Lima":                  "Bruno Lima",
		"request 2 days off for my colleague Ana Souza on 2026-12-01": "Ana Souza",
		"show me the time off balance":                                "",
		"can I see a time off balance?":                               "",
		"what is the time off balance?":                               "",
		"I want to know the time off balance, please":                 "",

		"show my time off balance":            "me",
		"show me my time off balance":         "me",
		"I'd like 2 days off from 2026-12-01": "me",
		"book me 2 days off from 2026-12-01":  "me",
	} {
		u := b.say(t, message)
		got := ""
		for _, in := range u.Intents {
			if who, ok := in.Parameters["worker"]; ok {
				got = fmt.Sprint(who)
			} else if who, ok := in.Parameters["workers"]; ok {
				got = fmt.Sprint(who)
			}
		}
		if got != want {
			t.Errorf("%s:\n about %q, want %q (%s: %s) %v", message, got, want, u.Outcome, u.Question, lines(u.Intents))
		}
	}
}
