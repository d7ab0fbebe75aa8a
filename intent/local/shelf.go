package local

import (
	"context"
	"slices"

	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// Shelf keeps what was learned of catalogs, so that it is learned once by all servers
// and over restarts. What it does not give is learned; it tells itself of its faults.
type Shelf interface {
	// Learned gives what was kept under the ID of an index, or nil.
	Learned(ctx context.Context, id string) []byte
	// KeepLearned keeps it, and may forget others.
	KeepLearned(ctx context.Context, id string, data []byte)
}

// recall reads what was kept under an id.
func (l *Local) recall(ctx context.Context, id string, into any) bool {
	if l.shelf == nil {
		return false
	}
	data := l.shelf.Learned(ctx, id)
	return len(data) > 0 && retrieve.DecodeModel(id, data, into) == nil
}

// remember keeps what was learned. What cannot be written is learned again.
func (l *Local) remember(ctx context.Context, id string, what any) {
	if l.shelf == nil {
		return
	}
	if data, err := retrieve.EncodeModel(id, what); err == nil {
		l.shelf.KeepLearned(ctx, id, data)
	}
}

// learnedWords is what was learned of the words of a trained index.
func (x *Index) learnedWords() *retrieve.LexicalModel {
	m := x.vectors[0]
	return &retrieve.LexicalModel{Start: m.Start, Of: m.Owners, Weight: m.Weights, Sure: x.calibration.shown.list(), Own: x.calibrates}
}

// withWords gives a copy of an untrained index that knows what one of the same catalog
// has learned; nil if it is of another one.
func (x *Index) withWords(w *retrieve.LexicalModel) *Index {
	if !w.Fit(len(x.words.idf), len(x.caps), signalCount+1) {
		return nil
	}
	y := *x
	y.vectors, y.shareBest = []retrieve.Matrix{{Start: w.Start, Owners: w.Of, Weights: w.Weight}}, shareBestTrained
	y.calibration.shown, y.calibrates = listed(w.Sure), w.Own
	return &y
}

func (m *senses) learned(vectors []byte) *retrieve.VectorModel {
	return &retrieve.VectorModel{Vectors: vectors, Weights: m.space.Weights(), Sure: m.calibration.shown.list(), Strange: m.strange.list(), Own: m.calibrates}
}

// list are the weights and, last, the bias.
func (w *weights) list() []float64 { return append(slices.Clone(w.of[:]), w.bias) }

func listed(list []float64) weights {
	w := weights{bias: list[signalCount]}
	copy(w.of[:], list)
	return w
}
