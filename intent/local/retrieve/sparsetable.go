package retrieve

// Table is a small hash table from features to weights. It is much cheaper than a map.
type Table struct {
	keys    []int32 // feature plus one; 0 is free
	weights []float32
	used    int
	shift   uint8
}

// place returns the slot of a feature, or the free slot where it belongs.
func (t *Table) place(feature int32) int {
	at := int(uint32(feature) * 2654435769 >> t.shift) //nolint:gosec // numbers of features are not negative
	for t.keys[at] != 0 && t.keys[at] != feature+1 {
		at = (at + 1) & (len(t.keys) - 1)
	}
	return at
}

// Get returns the weight of a feature, or 0.
func (t *Table) Get(feature int32) float32 {
	if t.used == 0 {
		return 0
	}
	return t.weights[t.place(feature)]
}

// Add adds to the weight of a feature.
func (t *Table) Add(feature int32, w float32) {
	if 4*(t.used+1) > 3*len(t.keys) {
		t.grow()
	}
	at := t.place(feature)
	if t.keys[at] == 0 {
		t.keys[at] = feature + 1
		t.used++
	}
	t.weights[at] += w
}

func (t *Table) grow() {
	old := *t
	size := max(64, 2*len(old.keys))
	t.keys, t.weights, t.used = make([]int32, size), make([]float32, size), 0
	t.shift = 32
	for n := size; n > 1; n /= 2 {
		t.shift--
	}
	for i, key := range old.keys {
		if key != 0 {
			t.Add(key-1, old.weights[i])
		}
	}
}

// All iterates over the features and their weights in no order.
func (t *Table) All(yield func(feature int32, weight float32) bool) {
	for i, key := range t.keys {
		if key > 0 && !yield(key-1, t.weights[i]) {
			return
		}
	}
}
