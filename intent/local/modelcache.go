package local

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// ModelCache stores trained matcher models, so that they are trained once for all servers
// and over restarts. A model that it does not give is trained anew; it logs its own
// failures.
type ModelCache interface {
	// Load gives what was kept under the ID of an index, or nil.
	Load(ctx context.Context, id string) []byte
	// Store keeps it, and may forget others.
	Store(ctx context.Context, id string, data []byte)
}

// loadModel reads what was kept under an id.
func (l *Local) loadModel(ctx context.Context, id string, into any) bool {
	if l.modelCache == nil {
		return false
	}
	data := l.modelCache.Load(ctx, id)
	return len(data) > 0 && retrieve.DecodeModel(id, data, into) == nil
}

// storeModel keeps what was learned. What cannot be written is learned again.
func (l *Local) storeModel(ctx context.Context, id string, what any) {
	if l.modelCache == nil {
		return
	}
	if data, err := retrieve.EncodeModel(id, what); err == nil {
		l.modelCache.Store(ctx, id, data)
	}
}

// lexicalModel is what was learned of the words of a trained index.
func (x *Index) lexicalModel() *retrieve.LexicalModel {
	m := x.vectors[0]
	return &retrieve.LexicalModel{Start: m.Start, Of: m.Owners, Weight: m.Weights, Sure: x.calibration.shown.list(), Own: x.calibrates}
}

// withLexicalModel gives a copy of an untrained index that knows what one of the same catalog
// has learned; nil if it is of another one.
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

// list are the weights and, last, the bias.
func (w *weights) list() []float64 { return append(slices.Clone(w.of[:]), w.bias) }

func listed(list []float64) weights {
	w := weights{bias: list[signalCount]}
	copy(w.of[:], list)
	return w
}
