package eval_test

import (
	"slices"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/eval"
)

func TestEnglishIsTold(t *testing.T) {
	t.Parallel()
	for sentence, want := range map[string]bool{
		"what is the weather in Lisbon": true, "take the piano to the hall": true, "is it going to rain": true,
		"wie wird das Wetter in Lissabon": false, "qual é a previsão para Lisboa": false, "quanto custa o piano": false,
		"donde esta el piano": false, "le piano est dans la salle": false, "piano": false, "": false,
	} {
		if got := eval.English(sentence); got != want {
			t.Errorf("%q is English: %v", sentence, got)
		}
	}
}

// What is left of the shipped manifests is English, has at most five examples,
// and each capability has some; the manifests themselves stay as they are.
func TestStrippedManifestsHaveFiveEnglishExamples(t *testing.T) {
	t.Parallel()
	for _, d := range shipped(t).Domains {
		before := d.Manifest.Capabilities[0].Metadata.IntentHints.Examples
		m := eval.Strip(d.Manifest, 5)
		if len(before) <= 5 || len(d.Manifest.Capabilities[0].Metadata.IntentHints.Examples) != len(before) || len(m.Tests) > 0 {
			t.Errorf("%s: %d examples before, %d after, %d tests", m.Domain, len(before), len(d.Manifest.Capabilities[0].Metadata.IntentHints.Examples), len(m.Tests))
		}
		for _, c := range m.Capabilities {
			checkStripped(t, m.Domain, &c)
		}
	}
}

func checkStripped(t *testing.T, domain string, c *contracts.Capability) {
	t.Helper()
	hints := c.Metadata.IntentHints
	if hints == nil || len(hints.Examples) == 0 {
		return
	}
	if len(hints.Examples) > 5 || slices.ContainsFunc(hints.Examples, func(e string) bool { return !eval.English(e) }) {
		t.Errorf("%s.%s keeps %q", domain, c.Name, hints.Examples)
	}
	for _, k := range hints.Keywords {
		if slices.Contains([]string{"Kurs", "cours", "cotação", "preço", "Urlaub", "férias"}, k) {
			t.Errorf("%s.%s keeps the keyword %s", domain, c.Name, k)
		}
	}
}
