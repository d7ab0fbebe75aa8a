package local_test

import (
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// briefs is a domain with one capability that takes a brief in the words of who
// gives it, beside one that has values of its own.
const briefs = `{
	"schema_version": "1", "domain": "studio", "version": "1.0.0", "title": "Studio",
	"capabilities": [
		{"name": "draft_poster", "description": "Drafts a poster from a brief.",
		 "schema": {"type": "object", "required": ["brief"], "properties": {"brief": {"type": "string", "minLength": 3}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400, "approval_required": true,
			"parameter_specs": {"brief": {"verbatim": true, "ask": "What shall the poster say?"}},
			"intent_hints": {"examples": ["draft a poster for the summer fair", "draft a poster that shows a boat and says \"Ahoy\"", "please draft a poster about our new opening hours"]}}},
		{"name": "list_posters", "description": "Lists the posters.", "schema": {"type": "object"},
		 "metadata": {"side_effect_class": "read", "intent_hints": {"examples": ["list the posters", "which posters are there", "show me all posters"]}}}
	]
}`

func TestARequestCanBeAValueAsAWhole(t *testing.T) {
	t.Parallel()
	catalog := catalogOf("briefs", decoded(t, briefs))
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for message, want := range map[string]string{
		`draft a poster with a lighthouse that says "Come in"`:                          `draft a poster with a lighthouse that says "Come in"`,
		"draft a poster for the autumn fair. It should have a lantern on it.":           "draft a poster for the autumn fair. It should have a lantern on it",
		"draft a poster for the winter fair so that people bring 3 warm coats":          "draft a poster for the winter fair so that people bring 3 warm coats",
		`draft a poster that says "Open" if the sun is out, otherwise it says "Closed"`: `draft a poster that says "Open" if the sun is out, otherwise it says "Closed"`,
		"don't draft a poster for the autumn fair":                                      "",
		"should I draft a poster for the autumn fair?":                                  "",
		"draft a poster for the autumn fair, just kidding":                              "",
		"list the posters": "",
		"if the mayor agrees, draft a poster for the autumn fair":                    "",
		"she told me not to draft a poster for the autumn fair, so don't draft it":   "",
		"what would happen if you drafted a poster that shows a boat for the summer": "",
	} {
		u, err := a.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, in := range u.Intents {
			if in.Capability == "draft_poster" && u.Outcome == contracts.ReadingAccepted {
				got, _ = in.Parameters["brief"].(string)
			}
			if problem := accounted(in); problem != "" {
				t.Errorf("%s: %s", message, problem)
			}
		}
		if got != want {
			t.Errorf("%s:\n got  %q\n want %q (%s)", message, got, want, u.Question)
		}
	}
	values, _ := a.Fill(entryOf(t, catalog, "studio.draft_poster"), "a boat, and ahoy", []string{"brief"}, time.Time{})
	if values["brief"] != "a boat, and ahoy" {
		t.Errorf("the answer to its question: %v", values)
	}
}

func entryOf(t *testing.T, catalog *contracts.Catalog, ref string) *contracts.CapabilityEntry {
	t.Helper()
	e, ok := catalog.Capability(ref)
	if !ok {
		t.Fatalf("no %s", ref)
	}
	return e
}
