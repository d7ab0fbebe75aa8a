package local

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// ModelCache stores trained models, so that they are trained once for all servers and survive
// restarts. A model that is not in the cache is trained again. The cache logs its own failures.
type ModelCache interface {
	// Load returns the model with this ID, or nil.
	Load(ctx context.Context, id string) []byte
	// Store stores a model. It may evict others.
	Store(ctx context.Context, id string, data []byte)
}

// loadModel loads and decodes a model.
func (l *Local) loadModel(ctx context.Context, id string, into any) bool {
	if l.modelCache == nil {
		return false
	}
	data := l.modelCache.Load(ctx, id)
	return len(data) > 0 && retrieve.DecodeModel(id, data, into) == nil
}

// storeModel encodes and stores a model, and ignores failures.
func (l *Local) storeModel(ctx context.Context, id string, what any) {
	if l.modelCache == nil {
		return
	}
	if data, err := retrieve.EncodeModel(id, what); err == nil {
		l.modelCache.Store(ctx, id, data)
	}
}

// lexicalModel returns the trained lexical model of an index.
func (x *Index) lexicalModel() *retrieve.LexicalModel {
	m := x.vectors[0]
	return &retrieve.LexicalModel{Start: m.Start, Of: m.Owners, Weight: m.Weights, Sure: x.calibration.shown.list(), Own: x.calibrates}
}

// withLexicalModel returns a copy of an untrained index with a trained model, or nil if the model
// does not fit.
func (x *Index) withLexicalModel(w *retrieve.LexicalModel) *Index {
	if !w.Fit(len(x.words.idf), len(x.caps), signalCount+1) {
		return nil
	}
	y := *x
	y.vectors, y.shareBest = []retrieve.Matrix{{Start: w.Start, Owners: w.Of, Weights: w.Weight}}, shareBestTrained
	y.calibration.shown, y.calibrates = listed(w.Sure), w.Own
	return &y
}

func (m *embeddings) vectorModel(vectors []byte) *retrieve.VectorModel {
	return &retrieve.VectorModel{Vectors: vectors, Weights: m.space.Weights(), Sure: m.calibration.shown.list(), Strange: m.foreign.list(), Own: m.calibrates}
}

// list returns the weights with the bias last.
func (w *weights) list() []float64 { return append(slices.Clone(w.of[:]), w.bias) }

func listed(list []float64) weights {
	w := weights{bias: list[signalCount]}
	copy(w.of[:], list)
	return w
}
