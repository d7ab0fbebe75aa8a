package eval_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/domains/workday"
	"github.com/manifold-run/manifold/examples/communication"
	"github.com/manifold-run/manifold/examples/finance"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// pair is a plain sentence and one that must not be acted upon.
type pair struct{ capability, plain, odd string }

// pairsOf expands the patterns of one language into n pairs.
func pairsOf(t *testing.T, language string, n int) []pair {
	t.Helper()
	raw, err := os.ReadFile("testdata/pairs.txt")
	if err != nil {
		t.Fatal(err)
	}
	var patterns []pair
	capability := ""
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if head, ok := strings.CutPrefix(line, "= "); ok {
			lang, ref, _ := strings.Cut(head, " ")
			if capability = ref; lang != language {
				capability = ""
			}
		} else if plain, odd, ok := strings.Cut(line, " | "); ok && capability != "" {
			patterns = append(patterns, pair{capability, plain, odd})
		}
	}
	var out []pair
	for i := range n {
		p, fill := patterns[i%len(patterns)], fillers(i/len(patterns))
		out = append(out, pair{p.capability, fill.Replace(p.plain), fill.Replace(p.odd)})
	}
	return out
}

func fillers(i int) *strings.Replacer {
	pick := func(of ...string) string { return of[i%len(of)] }
	return strings.NewReplacer(
		"{who}", pick("Rita Falk", "Omar Silva", "Ines Prado", "Paul Winter", "Lena Braga", "Hugo Stein", "Clara Nunes", "Tom Vidal"),
		"{n}", pick("2", "3", "4", "5", "6", "7", "8"),
		"{date}", pick("2026-12-01", "2026-12-09", "2027-01-18", "2027-02-03", "2027-03-15", "2027-04-06", "2027-05-20", "2027-06-11"),
		"{title}", pick(`"Data Analyst"`, `"Team Lead"`, `"Site Manager"`, `"Buyer"`, `"Senior Tester"`, `"Planner"`, `"Chief Editor"`, `"Architect"`),
		"{ticker}", pick("AAPL", "MSFT", "PETR4", "VALE3", "ITUB4"),
		"{price}", pick("45", "120", "310", "77", "52.5", "18", "260", "91"),
		"{alert}", pick("al-4", "al-8", "al-15", "al-16", "al-23", "al-42", "al-11", "al-30"),
		"{text}", pick(`"the build is green"`, `"coffee is ready"`, `"we start at nine"`, `"the fair is over"`, `"doors open at six"`, `"thanks to all"`, `"the report is done"`, `"see you on Monday"`),
		"{channel}", pick("general", "sales", "operations", "support"),
		"{book}", pick("b-1", "b-2", "b-3", "b-4", "b-5", "b-6", "b-7", "b-8"),
	)
}

// shipped is the catalog of the domains that come with this repository.
func shipped(t *testing.T) *contracts.Catalog {
	t.Helper()
	people, err := workday.New(workday.Config{Tenant: workday.Tenant{
		URL: "https://tenant.myworkday.com", Name: "acme", ClientID: "id", ClientSecret: "secret", Tokens: workday.MemoryTokens("token"),
	}})
	if err != nil {
		t.Fatal(err)
	}
	prices, err := finance.New(finance.Config{})
	if err != nil {
		t.Fatal(err)
	}
	messages, err := communication.New(t.Context(), communication.Config{})
	if err != nil {
		t.Fatal(err)
	}
	var set eval.Set
	for _, manifest := range []func() (*contracts.Manifest, error){people.Manifest, prices.Manifest, messages.Manifest, bookshelf} {
		m, err := manifest()
		if err != nil {
			t.Fatal(err)
		}
		set.Manifests = append(set.Manifests, m)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

func bookshelf() (*contracts.Manifest, error) {
	raw, err := os.ReadFile("../../examples/bookshelf/manifest.json")
	if err != nil {
		return nil, err
	}
	var m contracts.Manifest
	return &m, json.Unmarshal(raw, &m)
}

// adapters read sentences as at once after a registration, and as when training
// is over.
func adapters(t *testing.T, catalog *contracts.Catalog) map[string]*local.Reader {
	t.Helper()
	fresh, err := local.New(local.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*local.Reader{"at once after a registration": fresh, "settled": settled(t, catalog)}
}

// Of what must not be done nothing is done, and of what is plainly asked for
// most: at once after a registration, and when training is over.
func TestPlainSentencesAreDoneAndOthersAreNot(t *testing.T) {
	t.Parallel()
	catalog := shipped(t)
	for name, adapter := range adapters(t, catalog) {
		for language, pairs := range map[string]int{"en": 200, "pt": 200, "de": 200, "es": 100, "fr": 100} {
			t.Run(name+" in "+language, func(t *testing.T) {
				t.Parallel()
				judgePairs(t, adapter, catalog, pairsOf(t, language, pairs))
			})
		}
	}
}

// A language is one file: the shipped manifests say nothing in Italian, so the test
// adds what they would say, and nothing else is made for it.
func TestALanguageIsOneFile(t *testing.T) {
	t.Parallel()
	catalog := shipped(t)
	addExamples(t, catalog, "testdata/examples-it.txt")
	for name, adapter := range adapters(t, catalog) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			judgePairs(t, adapter, catalog, pairsOf(t, "it", 100))
		})
	}
}

// addExamples adds the sentences of a file to the capabilities that it names.
func addExamples(t *testing.T, catalog *contracts.Catalog, file string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	catalog.Snapshot += " with " + file // it is another catalog now
	var hints *contracts.IntentHints
	for line := range strings.Lines(string(raw)) {
		line = strings.TrimSpace(line)
		if ref, ok := strings.CutPrefix(line, "= "); ok {
			entry, ok := catalog.Capability(ref)
			if !ok {
				t.Fatalf("there is no capability %s", ref)
			}
			hints = entry.Capability.Metadata.IntentHints
		} else if line != "" && !strings.HasPrefix(line, "#") {
			hints.Examples = append(hints.Examples, line)
		}
	}
}

func judgePairs(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, pairs []pair) {
	t.Helper()
	understand := func(message string) intent.Understanding {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: message, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	done := 0
	for _, p := range pairs {
		u := understand(p.plain)
		if u.Outcome == contracts.ReadingAccepted && len(u.Intents) == 1 && u.Intents[0].Ref() == p.capability {
			done++
		} else {
			t.Logf("plain %q: %s %s", p.plain, u.Outcome, u.Question)
		}
		odd := understand(p.odd)
		writes := func(in contracts.Intent) bool {
			entry, ok := catalog.Capability(in.Ref())
			return !ok || entry.Policy.SideEffectClass.Writes()
		}
		if odd.Outcome == contracts.ReadingAccepted && slices.ContainsFunc(odd.Intents, writes) {
			t.Errorf("%q would be done: %+v", p.odd, odd.Intents)
		}
	}
	if done*100 < len(pairs)*85 {
		t.Errorf("only %d of %d plain sentences would be done", done, len(pairs))
	}
	t.Logf("%d of %d plain sentences would be done", done, len(pairs))
}
