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

// Quantize returns a compact vector; similarities change by less than 0.01.
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

// Unpack returns the dequantized vector.
func (c CompactVector) Unpack() []float32 {
	out := make([]float32, len(c.numbers))
	for i, n := range c.numbers {
		out[i] = float32(n) * c.scale
	}
	return out
}

// Empty reports whether there is no vector.
func (c CompactVector) Empty() bool { return len(c.numbers) == 0 }

// Similarity returns the dot product with a vector, or 0 if the lengths differ.
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

// Sentence is the embedding of a text of a capability, with its weight in the mean.
type Sentence struct {
	Vector CompactVector
	Weight float32
	// Example is set for an example message, in contrast to a name or a description. Only examples
	// are used for training and for nearest-neighbour comparison.
	Example bool
	// Word is set for a request word of the capability, which is used for nothing else.
	Word bool
}

// Space holds the trained vectors of the capabilities of a catalog. It is immutable.
type Space struct {
	dims     int
	weights  []float32 // vectors of all capabilities, concatenated
	examples [][]CompactVector
	words    [][]CompactVector
}

// NewSpace returns a trained space. If trained has the weights of an earlier training on the same
// sentences, it uses them. A capability without sentences has similarity 0. Vectors with another
// number of dimensions are skipped.
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
		normalise(w)
	}
	if len(trained) == len(s.weights) {
		s.weights = trained
	} else {
		s.train()
	}
	return s
}

// Size returns the number of capabilities.
func (s *Space) Size() int { return len(s.examples) }

// Dims returns the number of dimensions.
func (s *Space) Dims() int { return s.dims }

// of returns the vector of a capability.
func (s *Space) of(i int) []float32 { return s.weights[i*s.dims : (i+1)*s.dims] }

// Score writes the similarity of a vector to each capability to out.
func (s *Space) Score(v, out []float32) {
	for i := range min(len(out), s.Size()) {
		out[i] = dot(s.of(i), v)
	}
}

// Likeness returns the similarity of a vector to a capability, by its trained vector and by its
// nearest example.
func (s *Space) Likeness(i int, v []float32) (byWeights, nearest float64) {
	if i >= s.Size() {
		return 0, 0
	}
	for _, e := range s.examples[i] {
		nearest = max(nearest, e.Similarity(v))
	}
	return float64(dot(s.of(i), v)), nearest
}

// Word returns the similarity of a word to the nearest request word of a capability.
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

// Weights returns the trained weights, for fingerprints.
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

// normalise normalises a vector to length 1; a zero vector stays.
func normalise(v []float32) {
	if length := float32(math.Sqrt(float64(dot(v, v)))); length > 0 {
		for i := range v {
			v[i] /= length
		}
	}
}
