package local_test

import (
	"fmt"
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// spoken is a domain of one capability for each sentence.
func spoken(domain string, sentences ...string) *contracts.Manifest {
	m := &contracts.Manifest{SchemaVersion: "1", Domain: domain}
	for i, s := range sentences {
		c := contracts.Capability{Name: fmt.Sprintf("c%d", i), Description: "nothing", Schema: []byte(`{"type":"object"}`)}
		c.Metadata.SideEffectClass = contracts.ClassRead
		c.Metadata.IntentHints = &contracts.IntentHints{Examples: []string{s}}
		m.Capabilities = append(m.Capabilities, c)
	}
	return m
}

func first(t *testing.T, a *local.Reader, catalog *contracts.Catalog, message string) (ref string, score float64) {
	t.Helper()
	ranked, err := a.Shortlist(t.Context(), intent.Request{Message: message, Catalog: catalog}, 1)
	if err != nil || len(ranked) == 0 {
		t.Fatalf("%q: %v, %d found", message, err, len(ranked))
	}
	return ranked[0].Entry.Ref(), ranked[0].Score
}

// A word with one typing error ranks as the word that it is meant for.
func TestAMistypedWordRanksAsTheWord(t *testing.T) {
	t.Parallel()
	a := newAdapter(t, local.Config{})
	catalog := catalogOf("spoken", spoken("d", "which parcels arrive", "which invoices arrive", "which reviews arrive"))
	want, score := first(t, a, catalog, "which parcels arrived")
	for _, typed := range []string{"which prcels arrived", "which pacrels arrived", "which parrcels arrived", "which pargels arrived"} {
		if ref, got := first(t, a, catalog, typed); ref != want || got != score {
			t.Errorf("%q: %s with %.3f, want %s with %.3f", typed, ref, got, want, score)
		}
	}
	if _, got := first(t, a, catalog, "which prcles arrived"); got >= score {
		t.Errorf("two errors count as none: %.3f", got)
	}
}

// A word that could be one of two is not guessed.
func TestAWordBetweenTwoIsNotGuessed(t *testing.T) {
	t.Parallel()
	a := newAdapter(t, local.Config{})
	catalog := catalogOf("between", spoken("d", "every rating", "every racing"))
	_, sure := first(t, a, catalog, "every rating please")
	if _, got := first(t, a, catalog, "every raking please"); got >= sure-0.1 {
		t.Errorf("raking counts as much as rating: %.3f of %.3f", got, sure)
	}
}

// The words of a domain that came later can be mistyped at once, too.
func TestANewWordCanBeMistypedAtOnce(t *testing.T) {
	t.Parallel()
	before := generated(300, 2)
	after := catalogOf("later", spoken("later", "measure the barometer"))
	after = contracts.NewCatalog("later", append(before.Domains, after.Domains...), nil)
	a := newAdapter(t, local.Config{})
	a.Prepare(before)
	want, score := first(t, a, after, "please measure the barometer")
	if ref, got := first(t, a, after, "please measure the baromter"); ref != want || got != score {
		t.Errorf("found %s with %.3f, want %s with %.3f", ref, got, want, score)
	}
}
