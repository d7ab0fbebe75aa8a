package local

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// Training starts from the centroids and moves the weights of each capability away from the
// sentences of those with which it is confused. The constants were tuned once, on none of the
// evaluated catalogs.
const (
	trainEpochs = 4
	trainRivals = 8
	// trainSharpness is the inverse temperature of the training softmax. A lower value moves the
	// weights further and separates more.
	trainSharpness = 14
	trainRate      = 0.5
	// trainMargin is the loss below which a sentence is skipped.
	trainMargin = 0.02
	// trainFloor is the absolute weight below which a feature is dropped.
	trainFloor = 0.004
)

// trainingExample is a sentence with its gold capability and the rivals with which it may be
// confused.
type trainingExample struct {
	doc    int32
	truth  int32
	rivals []int32
}

// trained returns a copy of the index with trained weights. It stops when ctx is cancelled.
func (x *Index) trained(ctx context.Context) (*Index, error) {
	examples, err := x.trainingExamples(ctx)
	if err != nil || len(examples) == 0 {
		return x, err
	}
	t := &trainer{x: x, tables: make([]retrieve.Table, len(x.caps))}
	t.seed()
	x.shuffle(examples)
	for epoch := range trainEpochs {
		t.rate = trainRate / float32(1+epoch)
		for n, l := range examples {
			if n%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			t.learn(l)
		}
	}
	y := *x
	y.vectors, y.shareBest = []retrieve.Matrix{t.matrix()}, shareBestTrained
	return &y, nil
}

// shuffle brings the examples into an order that depends on the words of each alone: one example
// more leaves the others in their order, and so what is far from it as it was.
func (x *Index) shuffle(examples []trainingExample) {
	hashes := make([]uint64, len(x.words.idf))
	for hash, id := range x.words.features {
		hashes[id] = uint64(hash)
	}
	keys := make(map[int32]uint64, len(examples))
	for _, l := range examples {
		var key uint64
		for _, id := range x.docs[l.doc].features {
			key += retrieve.Mix(hashes[id])
		}
		keys[l.doc] = retrieve.Mix(key)
	}
	slices.SortStableFunc(examples, func(a, b trainingExample) int { return cmp.Compare(keys[a.doc], keys[b.doc]) })
}

// trainingExamples returns every example with its rivals according to the untrained index.
func (x *Index) trainingExamples(ctx context.Context) ([]trainingExample, error) {
	var out []trainingExample
	s := x.newScratch()
	for number, c := range x.caps {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if c == nil {
			continue
		}
		for d := c.firstDoc; d < c.firstDoc+count32(c.examples)+1 && d < c.firstNot; d++ {
			l := trainingExample{doc: d, truth: int32(number), rivals: x.rivals(s, d, int32(number))}
			if len(l.rivals) > 0 {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// rivals returns the capabilities that are most similar to a sentence, other than its own.
func (x *Index) rivals(s *scratch, doc, truth int32) []int32 {
	x.score(s, x.vectorOfSentence(&x.docs[doc]))
	top := max(slices.Max(s.bm25), math.SmallestNonzeroFloat32)
	var best [trainRivals]float32
	out := make([]int32, 0, trainRivals)
	for number := range s.vector {
		likeness := s.vector[number] + shareBM25*s.bm25[number]/top
		if likeness <= 0 || int32(number) == truth || len(out) == trainRivals && likeness <= best[trainRivals-1] {
			continue
		}
		if len(out) < trainRivals {
			out = append(out, 0)
		}
		at := len(out) - 1
		for ; at > 0 && best[at-1] < likeness; at-- {
			best[at], out[at] = best[at-1], out[at-1]
		}
		best[at], out[at] = likeness, int32(number)
	}
	return out
}

// vectorOfSentence converts an indexed sentence to a request vector.
func (x *Index) vectorOfSentence(s *sentence) vector {
	return vector{features: s.features, words: int(s.words), wordNorm: s.wordNorm, charNorm: s.charNorm, terms: s.features[:s.words]}
}

// trainer holds the weights of all capabilities during training.
type trainer struct {
	x      *Index
	tables []retrieve.Table
	rate   float32
	values []float32 // by feature of the current sentence
}

// seed initialises the tables with the centroids.
func (t *trainer) seed() {
	for _, m := range t.x.vectors {
		for id := range len(m.Start) - 1 {
			caps, weights := m.Row(int32(id))
			for i, number := range caps {
				t.tables[number].Add(int32(id), weights[i])
			}
		}
	}
}

// learn performs one step of stochastic gradient descent on a sentence.
func (t *trainer) learn(l trainingExample) {
	s := &t.x.docs[l.doc]
	t.values = t.values[:0]
	for k, id := range s.features {
		norm := s.wordNorm
		if int32(k) >= s.words {
			norm = s.charNorm
		}
		t.values = append(t.values, t.x.words.idf[id]*norm)
	}
	var p [trainRivals + 1]float32
	probs := p[:len(l.rivals)+1]
	probs[0] = t.likeness(l.truth, s.features) + t.exampleBias(l.truth)
	for i, r := range l.rivals {
		probs[i+1] = t.likeness(r, s.features) + t.exampleBias(r)
	}
	softmax(probs)
	if 1-probs[0] < trainMargin {
		return
	}
	t.move(l.truth, s.features, t.rate*(1-probs[0]))
	for i, r := range l.rivals {
		if probs[i+1] >= trainMargin/2 {
			t.move(r, s.features, -t.rate*probs[i+1])
		}
	}
}

// exampleBias returns the training bias of a capability by its number of examples. It is not used
// for ranking: the number of examples does not tell how often a capability is asked for.
func (t *trainer) exampleBias(number int32) float32 {
	return float32(math.Log(float64(1+t.x.caps[number].examples)) / trainSharpness)
}

func (t *trainer) likeness(number int32, features []int32) float32 {
	var sum float32
	table := &t.tables[number]
	for k, id := range features {
		sum += float32(table.Get(id) * t.values[k])
	}
	return sum / 2
}

func (t *trainer) move(number int32, features []int32, step float32) {
	table := &t.tables[number]
	for k, id := range features {
		if t.values[k] != 0 {
			table.Add(id, float32(step*t.values[k]))
		}
	}
}

// softmax converts similarities to probabilities.
func softmax(z []float32) {
	top := slices.Max(z)
	var sum float64
	for i := range z {
		e := math.Exp(trainSharpness * float64(z[i]-top))
		z[i] = float32(e)
		sum += e
	}
	for i := range z {
		z[i] = float32(float64(z[i]) / sum)
	}
}

// matrix converts the tables to an inverted index, without weights below trainFloor.
func (t *trainer) matrix() retrieve.Matrix {
	var cells []retrieve.Cell
	for number := range t.tables {
		from := len(cells)
		for feature, w := range t.tables[number].All {
			if w > trainFloor || w < -trainFloor {
				cells = append(cells, retrieve.Cell{Feature: feature, Owner: count32(number), Weight: w})
			}
		}
		slices.SortFunc(cells[from:], func(a, b retrieve.Cell) int { return cmp.Compare(a.Feature, b.Feature) })
	}
	return retrieve.NewMatrix(cells, len(t.x.words.idf))
}
