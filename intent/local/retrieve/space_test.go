package retrieve_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

func unit(r *rand.Rand, dims int, near []float32) []float32 {
	v := make([]float32, dims)
	var sum float64
	for i := range v {
		v[i] = float32(r.NormFloat64())
		if near != nil {
			v[i] = 0.5*v[i] + 2*near[i]*float32(math.Sqrt(float64(dims)))
		}
		sum += float64(v[i]) * float64(v[i])
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(sum))
	}
	return v
}

func like(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func TestCompactVectorsKeepLikenesses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		a := unit(r, 512, nil)
		b := unit(r, 512, a)
		if want, got := like(a, b), retrieve.Quantize(a).Similarity(b); math.Abs(want-got) > 0.01 {
			t.Errorf("likeness %.4f became %.4f", want, got)
		}
	}
	if retrieve.Quantize(make([]float32, 8)).Similarity(make([]float32, 8)) != 0 || retrieve.Quantize(unit(r, 8, nil)).Similarity(unit(r, 4, nil)) != 0 {
		t.Error("zeros, or another length, are like something")
	}
}

// Two capabilities that share a direction are told apart by what they do not
// share, which their means alone do not do.
func TestTrainingTellsNeighboursApart(t *testing.T) {
	t.Parallel()
	const dims = 64
	r := rand.New(rand.NewPCG(3, 4))
	var capabilities [][]retrieve.Sentence
	var centres [][]float32
	shared := unit(r, dims, nil)
	for range 30 {
		centre := unit(r, dims, shared)
		centres = append(centres, centre)
		var sentences []retrieve.Sentence
		for range 8 {
			sentences = append(sentences, retrieve.Sentence{Vector: retrieve.Quantize(unit(r, dims, centre)), Weight: 1, Example: true})
		}
		capabilities = append(capabilities, sentences)
	}
	capabilities = append(capabilities, nil) // one that nothing is known of
	s := retrieve.NewSpace(dims, capabilities, nil)
	right, scores := 0, make([]float32, s.Size())
	for want, centre := range centres {
		for range 20 {
			s.Score(unit(r, dims, centre), scores)
			best := 0
			for i, x := range scores {
				if x > scores[best] {
					best = i
				}
			}
			if best == want {
				right++
			}
		}
	}
	if right < 560 {
		t.Errorf("%d of 600 are told right", right)
	}
	if by, nearest := s.Likeness(30, shared); by != 0 || nearest != 0 {
		t.Errorf("what nothing is known of is like something: %v %v", by, nearest)
	}
	if by, nearest := s.Likeness(99, shared); by != 0 || nearest != 0 {
		t.Errorf("what is not there is like something: %v %v", by, nearest)
	}
}
