package retrieve

import (
	"math"
	"slices"
)

// CompactVector is a unit vector quantized to 8 bits per dimension.
type CompactVector struct {
	numbers []int8
	scale   float32
}

// Quantize makes a compact vector; similarities change by less than 0.01.
func Quantize(v []float32) CompactVector {
	var top float32
	for _, x := range v {
		top = max(top, x, -x)
	}
	c := CompactVector{numbers: make([]int8, len(v)), scale: top / math.MaxInt8}
	if top == 0 {
		return c
	}
	for i, x := range v {
		c.numbers[i] = int8(math.Round(float64(x / c.scale)))
	}
	return c
}

// Unpack gives the vector again.
func (c CompactVector) Unpack() []float32 {
	out := make([]float32, len(c.numbers))
	for i, n := range c.numbers {
		out[i] = float32(n) * c.scale
	}
	return out
}

// Empty tells that there is no vector.
func (c CompactVector) Empty() bool { return len(c.numbers) == 0 }

// Similarity is the dot product with a vector, 0 where the lengths differ.
func (c CompactVector) Similarity(v []float32) float64 {
	if len(v) != len(c.numbers) {
		return 0
	}
	var s0, s1, s2, s3 float32
	n := c.numbers
	for len(n) >= 4 && len(v) >= 4 {
		s0 += float32(float32(n[0]) * v[0])
		s1 += float32(float32(n[1]) * v[1])
		s2 += float32(float32(n[2]) * v[2])
		s3 += float32(float32(n[3]) * v[3])
		n, v = n[4:], v[4:]
	}
	for i := range n {
		s0 += float32(float32(n[i]) * v[i])
	}
	return float64((s0 + s1 + s2 + s3) * c.scale)
}

// Sentence is the vector of a text of a capability, and its weight in the mean.
type Sentence struct {
	Vector CompactVector
	Weight float32
	// Example tells that it is what people say, and not a name or a description:
	// only such are learned from and compared with one by one.
	Example bool
	// Word tells that it is one of the words that the capability is asked for with,
	// and counts for nothing else.
	Word bool
}

// Space holds the trained vectors of the capabilities of a catalog. It is immutable.
type Space struct {
	dims     int
	weights  []float32 // of each capability
	examples [][]CompactVector
	words    [][]CompactVector
}

// NewSpace makes a space of the sentences of each capability and trains it, or takes the
// weights that one of the same sentences was trained to before. A capability without
// sentences is like nothing. Vectors that have not the given number of dimensions are
// left out.
func NewSpace(dims int, capabilities [][]Sentence, trained []float32) *Space {
	s := &Space{dims: dims, weights: make([]float32, dims*len(capabilities)), examples: make([][]CompactVector, len(capabilities)), words: make([][]CompactVector, len(capabilities))}
	for i, sentences := range capabilities {
		w := s.of(i)
		for _, sentence := range sentences {
			if len(sentence.Vector.numbers) != dims {
				continue
			}
			if sentence.Word {
				s.words[i] = append(s.words[i], sentence.Vector)
				continue
			}
			add(w, sentence.Vector.Unpack(), sentence.Weight)
			if sentence.Example {
				s.examples[i] = append(s.examples[i], sentence.Vector)
			}
		}
		shorten(w)
	}
	if len(trained) == len(s.weights) {
		s.weights = trained
	} else {
		s.train()
	}
	return s
}

// Size is how many capabilities there are.
func (s *Space) Size() int { return len(s.examples) }

// Dims is the length of its vectors.
func (s *Space) Dims() int { return s.dims }

// of gives the weights of a capability.
func (s *Space) of(i int) []float32 { return s.weights[i*s.dims : (i+1)*s.dims] }

// Score writes how like a vector each capability is.
func (s *Space) Score(v, out []float32) {
	for i := range min(len(out), s.Size()) {
		out[i] = dot(s.of(i), v)
	}
}

// Likeness is how like a vector a capability is, by its weights and by its most
// similar example.
func (s *Space) Likeness(i int, v []float32) (byWeights, nearest float64) {
	if i >= s.Size() {
		return 0, 0
	}
	for _, e := range s.examples[i] {
		nearest = max(nearest, e.Similarity(v))
	}
	return float64(dot(s.of(i), v)), nearest
}

// Word is the likeness of a word to the most similar one that a capability is asked
// for with.
func (s *Space) Word(i int, v []float32) float64 {
	if i >= s.Size() {
		return 0
	}
	best := 0.0
	for _, w := range s.words[i] {
		best = max(best, w.Similarity(v))
	}
	return best
}

// Weights are all that was learned, for fingerprints.
func (s *Space) Weights() []float32 { return slices.Clip(s.weights) }

func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for len(a) >= 4 && len(b) >= 4 {
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
		a, b = a[4:], b[4:]
	}
	for i := range a {
		s0 += float32(a[i] * b[i])
	}
	return (s0 + s1) + (s2 + s3)
}

func add(to, v []float32, by float32) {
	for i, x := range v {
		to[i] += float32(x * by)
	}
}

// shorten brings a vector to length 1; one of zeros stays.
func shorten(v []float32) {
	if length := float32(math.Sqrt(float64(dot(v, v)))); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}
