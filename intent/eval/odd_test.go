package eval_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
	"github.com/manifold-run/manifold/internal/sample"
)

// oddSentences are the sentences of testdata/odd*.txt, each frame around each
// command, with other people, dates and numbers in each.
func oddSentences(t *testing.T) []string {
	t.Helper()
	var raw []byte
	for _, file := range []string{"testdata/odd.txt", "testdata/odd-more.txt", "testdata/odd-told.txt", "testdata/odd-told-later.txt"} {
		more, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		raw = append(raw, more...)
	}
	var out []string
	var orders [][2]string
	say := func(sentence string) { out = append(out, fillers(len(out)).Replace(sentence)) }
	for line := range strings.Lines(string(raw)) {
		kind, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch kind {
		case "=":
			orders = nil
		case "do":
			order, infinitive, _ := strings.Cut(rest, " | ")
			orders = append(orders, [2]string{order, infinitive})
		case "not", "suppose", "if":
			for _, o := range orders {
				say(strings.NewReplacer("{o}", o[0], "{i}", o[1]).Replace(rest))
			}
		case "told":
			say(rest)
		case "but":
			for range 5 {
				say(rest)
			}
		}
	}
	return out
}

// What is negated, supposed, made to depend on something or excepted from leads
// to no write, in six languages: by words, and by meaning, which tells none of
// these apart.
func TestNoOddSentenceIsDone(t *testing.T) {
	t.Parallel()
	sentences := oddSentences(t)
	if len(sentences) < 1500 {
		t.Fatalf("%d sentences", len(sentences))
	}
	few, all := stripped(t), shipped(t)
	for name, c := range map[string]struct {
		catalog *contracts.Catalog
		adapter func(*testing.T, *contracts.Catalog) *local.Reader
	}{
		"by words": {all, settled}, "by meaning": {all, hearing},
		"by words of five examples": {few, settled}, "by meaning of five examples": {few, hearing},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			adapter := c.adapter(t, c.catalog)
			oneIn := 3
			if name == "by words" {
				oneIn = 1
			}
			for _, i := range sample.Of(t, len(sentences), oneIn) {
				said := sentences[i]
				if ref, done := isDone(t, adapter, c.catalog, said); done {
					t.Errorf("%q is accepted for %s", said, ref)
				}
			}
		})
	}
}

// isDone reports whether a sentence is accepted for a write, and for which.
func isDone(t *testing.T, adapter *local.Reader, catalog *contracts.Catalog, sentence string) (string, bool) {
	t.Helper()
	u, err := adapter.Understand(t.Context(), intent.Request{Message: sentence, Catalog: catalog, Now: time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	if _, asks := adapter.Unagreed(catalog, u.Intents); asks {
		return "", false
	}
	for _, in := range u.Intents {
		entry, ok := catalog.Capability(in.Ref())
		asks := len(in.Missing) > 0 // before there is a plan
		if !ok || u.Outcome == contracts.ReadingAccepted && entry.Policy.SideEffectClass.Writes() && !asks {
			return in.Ref(), true
		}
	}
	return "", false
}

// settled reads sentences by words alone.
func settled(t *testing.T, catalog *contracts.Catalog) *local.Reader {
	t.Helper()
	return trained(t, "words", local.Config{}, catalog)
}
