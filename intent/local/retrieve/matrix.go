package retrieve

import "slices"

// Cell is one entry of a sparse matrix: the weight of a feature for an owner.
type Cell struct {
	Feature, Owner int32
	Weight         float32
}

// Matrix is an inverted index: for each feature its owners in ascending order, and their weights.
type Matrix struct {
	// Start holds the start of the row of each feature; the last entry is the end of the last row.
	Start   []int32
	Owners  []int32
	Weights []float32
}

// NewMatrix sorts cells by feature. The cells must be in the order of their owners.
func NewMatrix(cells []Cell, features int) Matrix {
	m := Matrix{Start: make([]int32, features+1), Owners: make([]int32, len(cells)), Weights: make([]float32, len(cells))}
	for _, c := range cells {
		m.Start[c.Feature+1]++
	}
	for i := range features {
		m.Start[i+1] += m.Start[i]
	}
	next := slices.Clone(m.Start[:features])
	for _, c := range cells {
		at := next[c.Feature]
		next[c.Feature]++
		m.Owners[at], m.Weights[at] = c.Owner, c.Weight
	}
	return m
}

// Row returns the owners of a feature and their weights; none for a feature that is newer than the
// matrix.
func (m Matrix) Row(feature int32) ([]int32, []float32) {
	if int(feature) >= len(m.Start)-1 {
		return nil, nil
	}
	from, to := m.Start[feature], m.Start[feature+1]
	return m.Owners[from:to], m.Weights[from:to]
}

// Has reports whether an owner has a feature.
func (m Matrix) Has(feature, owner int32) bool {
	owners, _ := m.Row(feature)
	_, ok := slices.BinarySearch(owners, owner)
	return ok
}
