package local_test

import (
	"context"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/intent/local"
)

// memory is a shelf, and counts what it is asked.
type memory struct {
	mu          sync.Mutex
	rows        map[string][]byte
	given, kept int
}

func (m *memory) Load(_ context.Context, id string) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows[id] != nil {
		m.given++
	}
	return m.rows[id]
}

func (m *memory) Store(_ context.Context, id string, data []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rows == nil {
		m.rows = map[string][]byte{}
	}
	m.rows[id], m.kept = slices.Clone(data), m.kept+1
}

func (m *memory) size() int {
	n := 0
	for _, row := range m.rows {
		n += len(row)
	}
	return n
}

// TestWhatWasLearnedIsLearnedOnce: another server, or the same after a restart, takes
// what was learned, and reads messages no differently.
func TestWhatWasLearnedIsLearnedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	kept := &memory{}
	first, second := &glossary{dims: 64}, &glossary{dims: 64}
	one := bundle{adapter: newAdapter(t, local.Config{Scorer: first, ModelCache: kept}), catalog: b.catalog}
	x := settle(t, one.adapter, b.catalog)
	if kept.kept != 2 || kept.given != 0 {
		t.Fatalf("%d were kept and %d given; of words and of meanings is to be kept", kept.kept, kept.given)
	}
	two := bundle{adapter: newAdapter(t, local.Config{Scorer: second, ModelCache: kept}), catalog: b.catalog}
	y := settle(t, two.adapter, b.catalog)
	if kept.kept != 2 || kept.given != 2 || second.prepared.Load() != 0 {
		t.Errorf("it learned again: %d kept, %d given, %d texts given to the scorer", kept.kept, kept.given, second.prepared.Load())
	}
	if x.ID() != y.ID() || x.Fingerprint() != y.Fingerprint() {
		t.Error("what was kept is not what was learned")
	}
	for _, message := range []string{"where is my package", "dovla krantz", "book me vacation from 3 to 5 March", "miv blorf", "bake a cake"} {
		req := intent.Request{Message: message, Catalog: b.catalog, Now: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)}
		before, _ := one.adapter.Understand(t.Context(), req)
		after, err := two.adapter.Understand(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := sure(before), sure(after); !maps.Equal(a, b) {
			t.Errorf("%s: %v, and by what was kept %v", message, a, b)
		}
	}
}

// sure returns how sure each intent of a reading is.
func sure(u intent.Understanding) map[string]float64 {
	out := map[string]float64{}
	for _, i := range u.Intents {
		out[i.Domain+"."+i.Capability] = i.Confidence
	}
	return out
}

// TestWhatDoesNotFitIsLearnedAgain: what is damaged, cut off, or of another catalog
// costs time, and changes nothing.
func TestWhatDoesNotFitIsLearnedAgain(t *testing.T) {
	t.Parallel()
	small, large := without(300)
	other, kept := &memory{}, &memory{}
	settle(t, newAdapter(t, local.Config{Scorer: &glossary{dims: 64}, ModelCache: other}), small)
	want := settle(t, newAdapter(t, local.Config{Scorer: &glossary{dims: 64}, ModelCache: kept}), large)
	for name, spoil := range map[string]func(row []byte, n int) []byte{
		"nothing":          func([]byte, int) []byte { return nil },
		"noise":            func([]byte, int) []byte { return []byte("no such thing") },
		"half":             func(row []byte, _ int) []byte { return row[:len(row)/2] },
		"another catalog":  func(_ []byte, n int) []byte { return other.rows[slices.Sorted(maps.Keys(other.rows))[n]] },
		"the other's rows": func(_ []byte, n int) []byte { return kept.rows[slices.Sorted(maps.Keys(kept.rows))[1-n]] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spoiled := &memory{rows: map[string][]byte{}}
			for n, id := range slices.Sorted(maps.Keys(kept.rows)) {
				spoiled.rows[id] = spoil(kept.rows[id], n)
			}
			got := settle(t, newAdapter(t, local.Config{Scorer: &glossary{dims: 64}, ModelCache: spoiled}), large)
			if got.Fingerprint() != want.Fingerprint() || got.ID() != want.ID() {
				t.Error("it settled differently")
			}
		})
	}
}
