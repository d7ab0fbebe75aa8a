package local_test

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// glossary is a scorer for tests: a text means the sum of its words, and words
// of several languages mean the same.
type glossary struct {
	dims            int
	prepared, asked atomic.Int64
	// mute is what it answers instead, when set.
	mute atomic.Pointer[error]
}

// same are words that mean what the first of them does.
var same = [][]string{
	{"parcel", "package", "krantz"}, {"where", "dovla"}, {"holiday", "vacation", "leave", "blorf"}, {"left", "miv"},
}

func meaningOf(word string) string {
	for _, words := range same {
		if slices.Contains(words, word) {
			return words[0]
		}
	}
	return word
}

func (g *glossary) Model() string { return "glossary" }

func (g *glossary) Prepare(_ context.Context, texts []string) ([][]float32, error) {
	if err := g.mute.Load(); err != nil {
		return nil, *err
	}
	out := make([][]float32, len(texts))
	for i, text := range texts {
		g.prepared.Add(1)
		out[i] = g.vector(text)
	}
	return out, nil
}

func (g *glossary) Score(_ context.Context, text string) ([]float32, error) {
	g.asked.Add(1)
	if err := g.mute.Load(); err != nil {
		return nil, *err
	}
	return g.vector(text), nil
}

func (g *glossary) vector(text string) []float32 {
	v := make([]float32, g.dims)
	for word := range strings.FieldsFuncSeq(strings.ToLower(text), func(r rune) bool { return strings.ContainsRune(" .,?!'\"", r) }) {
		h := fnv.New32a()
		h.Write([]byte(meaningOf(word)))
		v[int(h.Sum32()%uint32(g.dims))]++
	}
	length := 0.0
	for _, x := range v {
		length += float64(x * x)
	}
	if length > 0 {
		for i := range v {
			v[i] /= float32(math.Sqrt(length))
		}
	}
	return v
}

// Words of another language find what they mean, and only with a scorer.
func TestAScorerFindsWhatIsSaidInOtherWords(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := &glossary{dims: 256}
	hearing := bundle{adapter: newAdapter(t, local.Config{Scorer: g}), catalog: b.catalog}
	settle(t, b.adapter, b.catalog)
	settle(t, hearing.adapter, b.catalog)
	for message, want := range map[string]string{"dovla krantz": "parcels.", "blorf miv": "people."} {
		find := func(a *local.Reader) string {
			ranked, err := a.Shortlist(t.Context(), intent.Request{Message: message, Catalog: b.catalog}, 1)
			if err != nil {
				t.Fatal(err)
			}
			if len(ranked) == 0 {
				return ""
			}
			return ranked[0].Entry.Ref()
		}
		if got := find(hearing.adapter); !strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q with a scorer, not one of %s", message, got, want)
		}
		if got := find(b.adapter); strings.HasPrefix(got, want) {
			t.Errorf("%q finds %q without a scorer: the test shows nothing", message, got)
		}
	}
}

// A scorer that does not answer leaves what words alone give, down to each
// number.
func TestAScorerThatDoesNotAnswerChangesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := &glossary{dims: 256}
	var told []error
	hearing := bundle{adapter: newAdapter(t, local.Config{Scorer: g, ScorerTold: func(err error) { told = append(told, err) }}), catalog: b.catalog}
	plain, encoded := settle(t, b.adapter, b.catalog), settle(t, hearing.adapter, b.catalog)
	if plain.ID() == encoded.ID() || plain.Fingerprint() == encoded.Fingerprint() {
		t.Error("an index with meanings passes for one without")
	}
	late := errors.New("it takes too long")
	g.mute.Store(&late)
	messages := []string{"what is the price of Apple", "where is parcel 12", "how many days off do I have, and book two of them", "dovla krantz", "delete everything"}
	for _, message := range messages {
		before := g.asked.Load()
		if diff := cmp.Diff(b.say(t, message), hearing.say(t, message)); diff != "" {
			t.Errorf("%q is read differently:\n%s", message, diff)
		}
		if n := g.asked.Load() - before; n > 1 {
			t.Errorf("%q: it was asked %d times though it does not answer", message, n)
		}
	}
	deaf := bundle{adapter: newAdapter(t, local.Config{Scorer: g, ScorerTold: func(err error) { told = append(told, err) }}), catalog: b.catalog}
	if x := settle(t, deaf.adapter, b.catalog); x.Fingerprint() != plain.Fingerprint() || x.Provisional() {
		t.Error("a scorer that gives no vectors keeps words from being settled")
	}
	if len(told) != 2 || told[0] != nil || !errors.Is(told[1], late) {
		t.Errorf("told: %v", told)
	}
	g.mute.Store(nil)
	if x := settle(t, deaf.adapter, b.catalog); x.Fingerprint() != encoded.Fingerprint() {
		t.Error("once it answers it is not used")
	}
}

// A text that was seen before costs nothing, and the same catalog gives the same
// weights whatever was before.
func TestVectorsAreComputedOnce(t *testing.T) {
	t.Parallel()
	before, after := without(300)
	g := &glossary{dims: 64}
	a := newAdapter(t, local.Config{Scorer: g})
	settle(t, a, before)
	first := g.prepared.Load()
	grown := settle(t, a, after)
	second := g.prepared.Load() - first
	fresh := settle(t, newAdapter(t, local.Config{Scorer: &glossary{dims: 64}}), after)
	if fresh.Fingerprint() != grown.Fingerprint() {
		t.Error("the same catalog settled differently")
	}
	if first == 0 || second == 0 || second >= first {
		t.Errorf("%d texts at first, %d for one more domain", first, second)
	}
	settle(t, a, contracts.NewCatalog("again", after.Domains, nil))
	if n := g.prepared.Load() - first - second; n != 0 {
		t.Errorf("%d texts of the same catalog were computed again", n)
	}
}

// However a message can be cut, few of its parts are asked about.
func TestAMessageOfManyPartsCostsLittle(t *testing.T) {
	t.Parallel()
	b := setup(t)
	g := &glossary{dims: 64}
	hearing := bundle{adapter: newAdapter(t, local.Config{Scorer: g}), catalog: b.catalog}
	settle(t, hearing.adapter, b.catalog)
	before := g.asked.Load()
	hearing.say(t, strings.Repeat("show the price of Apple and then where is parcel 12, and ", 30))
	if n := g.asked.Load() - before; n == 0 || n > 12 {
		t.Errorf("%d parts were asked about", n)
	}
}
