package eval_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/eval"
	"github.com/manifold-run/manifold/intent/local"
)

// typed is a sentence that somebody types, and what it must lead to.
type typed struct{ say, want string }

// typedIn reads the sentences of one language.
func typedIn(t *testing.T, language string) []typed {
	t.Helper()
	raw, err := os.ReadFile("testdata/talk.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(raw), "\n= "+language+"\n")
	section, _, _ = strings.Cut(section, "\n= ")
	var out []typed
	for line := range strings.Lines(section) {
		if say, want, ok := strings.Cut(strings.TrimSpace(line), " => "); ok {
			out = append(out, typed{say, want})
		}
	}
	return out
}

// everything is the catalog of all domains of this repository whose manifests
// are packages or files.
func everything(t *testing.T) *contracts.Catalog {
	t.Helper()
	set := eval.Set{Manifests: []*contracts.Manifest{flows(t)}}
	for _, d := range shipped(t).Domains {
		set.Manifests = append(set.Manifests, d.Manifest)
	}
	catalog, err := set.Catalog()
	if err != nil {
		t.Fatal(err)
	}
	return catalog
}

// What must not be done is never done, in any language; of what is asked for
// most is found, or asked about, at once after a registration and later.
func TestWhatPeopleType(t *testing.T) {
	t.Parallel()
	catalog := everything(t)
	for name, adapter := range adapters(t, catalog) {
		for _, language := range []string{"en", "pt", "de", "es", "fr"} {
			t.Run(name+" in "+language, func(t *testing.T) {
				t.Parallel()
				judgeTyped(t, adapter, catalog, typedIn(t, language))
			})
		}
	}
}

func judgeTyped(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, sentences []typed) {
	t.Helper()
	if len(sentences) < 60 {
		t.Fatalf("only %d sentences were read", len(sentences))
	}
	met, wanted := 0, 0
	for _, s := range sentences {
		u, err := adapter.Understand(t.Context(), intent.Request{Message: s.say, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
		if err != nil {
			t.Fatal(err)
		}
		switch s.want {
		case "no write":
			if acts(catalog, u) {
				t.Errorf("%q would be done: %+v", s.say, u.Intents)
			}
		default:
			wanted++
			if meets(u, s.want) {
				met++
			} else {
				t.Logf("%q: %s %s, want %s", s.say, u.Outcome, u.Question, s.want)
			}
		}
	}
	if met*100 < wanted*85 {
		t.Errorf("only %d of %d sentences lead where they must", met, wanted)
	}
	t.Logf("%d of %d sentences lead where they must", met, wanted)
}

// acts reports whether something with an effect would be done.
func acts(catalog *contracts.Catalog, u intent.Understanding) bool {
	return u.Outcome == contracts.ReadingAccepted && slices.ContainsFunc(u.Intents, func(in contracts.Intent) bool {
		entry, ok := catalog.Capability(in.Ref())
		return !ok || entry.Policy.SideEffectClass.Writes()
	})
}

func meets(u intent.Understanding, want string) bool {
	accepted := u.Outcome == contracts.ReadingAccepted
	if want == "nothing" {
		return !accepted
	}
	if ref, ok := strings.CutPrefix(want, "? "); ok {
		return !accepted && slices.ContainsFunc(u.Choices, func(c contracts.Alternative) bool { return c.Domain+"."+c.Capability == ref }) ||
			accepted && slices.ContainsFunc(u.Intents, func(in contracts.Intent) bool { return in.Ref() == ref && len(in.Missing) > 0 })
	}
	refs := strings.Split(want, " + ")
	return accepted && slices.EqualFunc(u.Intents, refs, func(in contracts.Intent, ref string) bool {
		return slices.Contains(strings.Split(ref, "/"), in.Ref())
	})
}
