package local

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// Training starts from the centroids and moves each capability's weights away
// from the sentences of the capabilities that it is mistaken for. The
// constants were set once, on none of the catalogs that it is measured with.
const (
	trainEpochs = 4
	trainRivals = 8
	// trainSharpness is how much a difference in likeness counts in the softmax of
	// training. Less makes the weights move further, and tells more apart.
	trainSharpness = 14
	trainRate      = 0.5
	// trainMargin is how sure the model must be of a sentence to leave it alone.
	trainMargin = 0.02
	// trainFloor is the weight below which a feature tells nothing.
	trainFloor = 0.004
)

// trainOrder seeds the order of sentences: it is fixed, so that the same
// catalog gives the same weights.
const trainOrder = 20

// trainingExample is a sentence with its gold capability and the rivals that it must not be
// taken for.
type trainingExample struct {
	doc    int32
	truth  int32
	rivals []int32
}

// trained gives a copy of the index with trained weights. It takes time, and
// stops when ctx does.
func (x *Index) trained(ctx context.Context) (*Index, error) {
	examples, err := x.trainingExamples(ctx)
	if err != nil || len(examples) == 0 {
		return x, err
	}
	t := &trainer{x: x, tables: make([]retrieve.Table, len(x.caps))}
	t.seed()
	order := rand.New(rand.NewPCG(trainOrder, trainEpochs)).Perm(len(examples)) //nolint:gosec // it must be the same each time
	for epoch := range trainEpochs {
		t.rate = trainRate / float32(1+epoch)
		for n, at := range order {
			if n%256 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			t.learn(examples[at])
		}
	}
	y := *x
	y.vectors, y.shareBest = []retrieve.Matrix{t.matrix()}, shareBestTrained
	return &y, nil
}

// trainingExamples finds the rivals of every example by the untrained index.
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

// rivals are the capabilities that a sentence is most like, beside its own.
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

// vectorOfSentence reads an indexed sentence as if it were a request.
func (x *Index) vectorOfSentence(s *sentence) vector {
	return vector{features: s.features, words: int(s.words), wordNorm: s.wordNorm, charNorm: s.charNorm, terms: s.features[:s.words]}
}

// trainer holds the weights of all capabilities while they are learned.
type trainer struct {
	x      *Index
	tables []retrieve.Table
	rate   float32
	values []float32 // of the features of the current sentence
}

// seed fills the tables with the centroids.
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

// learn does one step of stochastic gradient descent on a sentence.
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
	probs[0] = t.likeness(l.truth, s.features) + t.often(l.truth)
	for i, r := range l.rivals {
		probs[i+1] = t.likeness(r, s.features) + t.often(r)
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

// often is the head start that a capability has in training for the number of
// its examples. It is not there when a request is read: how much somebody wrote
// about a capability does not tell how often it is asked for.
func (t *trainer) often(number int32) float32 {
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

// softmax turns likenesses into probabilities.
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

// matrix turns the tables into an inverted index, without the weights that
// tell nothing.
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
