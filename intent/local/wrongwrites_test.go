package local_test

import (
	"strings"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// kennel is a domain whose animals have a diet that can be changed.
const kennel = `{
	"schema_version": "1", "domain": "kennel", "version": "1.0.0", "title": "Kennel",
	"capabilities": [
		{"name": "get_animal", "description": "Shows an animal: its diet, its age and its owner's address.",
		 "schema": {"type": "object", "required": ["animal"], "properties": {"animal": {"type": "string", "description": "Which animal."}}},
		 "metadata": {"side_effect_class": "read", "parameter_specs": {"animal": {"examples": ["Rex Miller", "Luna Vogt"]}},
			"flow": {"pre": [{"type": "find", "param": "animal", "search_capability": "find_animals"}]},
			"intent_hints": {"examples": ["show Rex Miller", "what does Luna Vogt eat", "the address of Rex Miller's owner", "quem é Luna Vogt", "zeig mir Rex Miller", "muestra Luna Vogt", "montre Rex Miller"]}}},
		{"name": "change_diet", "description": "Changes the diet of an animal.",
		 "schema": {"type": "object", "required": ["animal", "diet"], "properties": {
			"animal": {"type": "string", "description": "Which animal."}, "diet": {"type": "string", "description": "What it is fed, e.g. dry food."}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400,
			"parameter_specs": {"animal": {"examples": ["Rex Miller", "Luna Vogt"]}, "diet": {"examples": ["dry food", "raw fish"]}},
			"flow": {"pre": [{"type": "find", "param": "animal", "search_capability": "find_animals"}]},
			"intent_hints": {"examples": ["change Rex Miller's diet to dry food", "set the diet of Luna Vogt to raw fish", "make dry food the new diet of Rex Miller", "request a new diet for Luna Vogt: raw fish", "muda a dieta da Luna Vogt para raw fish"]}}},
		{"name": "delete_cage", "description": "Deletes a cage.",
		 "schema": {"type": "object", "required": ["cage"], "properties": {"cage": {"type": "string", "description": "The name of the cage."}}},
		 "metadata": {"side_effect_class": "write_reversible", "idempotency": "keyed", "idempotency_window_s": 86400,
			"parameter_specs": {"cage": {"examples": ["North Wing", "Attic"]}},
			"intent_hints": {"examples": ["delete the cage North Wing", "remove cage Attic", "delete Attic", "lösche den Käfig Attic", "apaga a jaula Attic", "borra la jaula Attic", "supprime la cage Attic"]}}},
		{"name": "list_cages", "description": "Lists the cages.", "schema": {"type": "object"},
		 "metadata": {"side_effect_class": "read", "intent_hints": {"examples": ["list the cages", "which cages are there", "show me all cages", "lista as jaulas", "zeig die Käfige", "lista las jaulas", "liste les cages"]}}},
		{"name": "find_animals", "description": "Finds animals.", "schema": {"type": "object", "properties": {"query": {"type": "string"}}},
		 "metadata": {"side_effect_class": "read", "routable": false}}
	]
}`

// accepted returns what a kennel does at once about a message, as a write or not.
func accepted(t *testing.T, message string) (u intent.Understanding, writes bool) {
	t.Helper()
	catalog := catalogOf("kennel", decoded(t, kennel))
	a, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if u, err = a.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: saturday}); err != nil {
		t.Fatal(err)
	}
	for _, in := range u.Intents {
		entry, _ := catalog.Capability(in.Ref())
		writes = writes || u.Outcome == contracts.ReadingAccepted && entry.Policy.SideEffectClass.Writes()
	}
	return u, writes
}

// What somebody needs to know, and what is left out of a deed, is never written.
func TestNothingIsWrittenThatNobodyAskedFor(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"I need Rex Miller's postal address", "I need Luna Vogt's current diet", "we need the diet of Rex Miller", "I want Luna Vogt's owner's phone number",
		"Ich brauche die Adresse von Rex Miller", "Ich hätte gern den Futterplan von Luna Vogt", "preciso do endereço do Rex Miller", "preciso da dieta da Luna Vogt",
		"necesito la dieta de Luna Vogt", "j'ai besoin de l'adresse de Rex Miller",
		"delete every cage but North Wing", "delete everything but the Attic", "remove all cages except Attic", "delete all cages other than North Wing", "delete all but Attic",
		"lösche alle Käfige außer Attic", "apaga todas as jaulas exceto Attic", "borra todas las jaulas excepto Attic", "borra todas las jaulas menos Attic", "supprime toutes les cages sauf Attic",
	} {
		if u, writes := accepted(t, message); writes {
			t.Errorf("%s: does %v", message, lines(u.Intents))
		}
	}
	for _, message := range []string{"change Luna Vogt's diet to raw fish", "delete the cage Attic", "list the cages but delete the cage Attic"} {
		if u, writes := accepted(t, message); !writes {
			t.Errorf("%s: %s %q", message, u.Outcome, u.Question)
		}
	}
}

// A name that is said and that nothing takes is told, also where it is a small word of
// another language.
func TestANameThatAReadDoesNotTakeIsTold(t *testing.T) {
	t.Parallel()
	for _, message := range []string{
		"list the cages of owner Mia", "list the cages from Mia", "show me all cages of Olga", "lista as jaulas da Mia", "zeig die Käfige von Mia", "lista las jaulas de Olga", "liste les cages de Mia",
		"list the cages of 2019",
	} {
		u, _ := accepted(t, message)
		words := strings.Fields(message)
		last := words[len(words)-1]
		if told := strings.Join(append(u.Unused, u.Question), " "); !strings.Contains(told, last) {
			t.Errorf("%s: %s %v, told %q", message, u.Outcome, lines(u.Intents), told)
		}
	}
}
