package use_test

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"

	"github.com/manifold-run/manifold/internal/embed/use"
)

// installed returns the encoder that is installed on this machine, or skips the test. With
// REQUIRE_EMBEDDINGS it fails instead.
func installed(tb testing.TB) *use.Encoder {
	tb.Helper()
	dir, err := use.DefaultDir()
	if err != nil {
		tb.Fatal(err)
	}
	e, err := use.Open(dir)
	if err != nil {
		if os.Getenv("REQUIRE_EMBEDDINGS") != "" {
			tb.Fatal(err)
		}
		tb.Skipf("%v; \"go run ./cmd/manifold embeddings install\" does", err)
	}
	tb.Cleanup(func() {
		if err := e.Close(); err != nil {
			tb.Error(err)
		}
	})
	return e
}

type golden struct {
	Text     string    `json:"text"`
	Pieces   []int32   `json:"pieces"`
	Vector   []float32 `json:"vector"`
	Likeness float64   `json:"likeness"`
}

// goldens returns the pieces of SentencePiece and the vectors of the reference package: every 32nd
// component, and the similarity to the first vector.
func goldens(t *testing.T) []golden {
	t.Helper()
	raw, err := os.ReadFile("testdata/golden.json")
	if err != nil {
		t.Fatal(err)
	}
	var out []golden
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPiecesAreThoseOfSentencePiece(t *testing.T) {
	t.Parallel()
	e := installed(t)
	for _, g := range goldens(t) {
		if got := e.Pieces(g.Text); !slices.Equal(got, g.Pieces) {
			t.Errorf("%q is cut into %v, not %v", g.Text, got, g.Pieces)
		}
	}
}

func TestVectorsAreThoseOfThePackage(t *testing.T) {
	t.Parallel()
	e := installed(t)
	all := goldens(t)
	first, err := e.Score(t.Context(), all[0].Text)
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range all {
		if g.Vector == nil {
			continue
		}
		v, err := e.Score(t.Context(), g.Text)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range g.Vector {
			if math.Abs(float64(v[32*i]-want)) > 1e-3 {
				t.Errorf("%q: number %d is %.4f, not %.4f", g.Text, 32*i, v[32*i], want)
			}
		}
		var like float64
		for i := range v {
			like += float64(v[i]) * float64(first[i])
		}
		if math.Abs(like-g.Likeness) > 1e-3 {
			t.Errorf("%q is %.4f like %q, not %.4f", g.Text, like, all[0].Text, g.Likeness)
		}
	}
}
