package retrieve

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
)

// Encoder computes sentence vectors in batches.
type Encoder interface {
	Model() string
	Prepare(ctx context.Context, texts []string) ([][]float32, error)
}

// VectorCache caches the sentence vectors of catalogs. It is safe for concurrent use.
type VectorCache struct {
	from Encoder

	mu sync.Mutex // guards the fields below
	// known holds the embeddings of the last catalog by the hash of their texts, before those of
	// the catalog before it.
	known, before map[textHash]CompactVector
	length        int
}

// NewVectorCache returns an empty cache.
func NewVectorCache(from Encoder) *VectorCache { return &VectorCache{from: from} }

type textHash [16]byte

func hashOfText(s string) textHash {
	sum := sha256.Sum256([]byte(s))
	return textHash(sum[:16])
}

// batch is the number of texts per encoder call, so that cancellation is quick.
const batch = 256

// Compute encodes the texts of a catalog that are not cached, and evicts those of neither
// this catalog nor the one before.
func (l *VectorCache) Compute(ctx context.Context, texts []string) error {
	l.mu.Lock()
	all := maps.Clone(l.before)
	if all == nil {
		all = map[textHash]CompactVector{}
	}
	maps.Copy(all, l.known)
	l.mu.Unlock()
	now, fresh := map[textHash]CompactVector{}, []string{}
	for _, s := range texts {
		h := hashOfText(s)
		if v, ok := all[h]; ok {
			now[h] = v
		} else {
			fresh = append(fresh, s)
		}
	}
	slices.Sort(fresh)
	length := 0
	for some := range slices.Chunk(slices.Compact(fresh), batch) {
		vectors, err := l.from.Prepare(ctx, some)
		if err == nil && len(vectors) != len(some) {
			err = fmt.Errorf("%d texts gave %d vectors", len(some), len(vectors))
		}
		if err != nil {
			return fmt.Errorf("vectors by %s: %w", l.from.Model(), err)
		}
		for i, v := range vectors {
			now[hashOfText(some[i])], length = Quantize(v), len(v)
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.before = now, l.known
	if length > 0 {
		l.length = length
	}
	return nil
}

// Compact returns the cached vector of a text; empty if it is not cached.
func (l *VectorCache) Compact(s string) CompactVector {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[hashOfText(s)]
}

// Lookup returns the cached vector of a text, unpacked; nil if it is not cached.
func (l *VectorCache) Lookup(s string) []float32 {
	if v := l.Compact(s).Unpack(); len(v) > 0 {
		return v
	}
	return nil
}

// Dims returns the number of dimensions, or 0 if the cache is empty.
func (l *VectorCache) Dims() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.length
}

// Bytes serializes the vectors of the last catalog.
func (l *VectorCache) Bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := binary.LittleEndian.AppendUint32(nil, uint32(l.length)) //nolint:gosec // the length of a vector
	for h, v := range l.known {
		if len(v.numbers) != l.length {
			continue
		}
		out = binary.LittleEndian.AppendUint32(append(out, h[:]...), math.Float32bits(v.scale))
		for _, n := range v.numbers {
			out = append(out, byte(n)) //nolint:gosec // the same bits
		}
	}
	return out
}

// Restore loads the vectors that Bytes wrote. It reports whether the data is valid, and changes
// nothing if it is not.
func (l *VectorCache) Restore(data []byte) bool {
	if len(data) < 4 {
		return false
	}
	length, data := int(binary.LittleEndian.Uint32(data)), data[4:]
	const head = len(textHash{}) + 4
	if length == 0 || length > len(data) || len(data)%(head+length) != 0 {
		return false
	}
	known := make(map[textHash]CompactVector, len(data)/(head+length))
	for ; len(data) > 0; data = data[head+length:] {
		c := CompactVector{numbers: make([]int8, length), scale: math.Float32frombits(binary.LittleEndian.Uint32(data[len(textHash{}):]))}
		for i, b := range data[head : head+length] {
			c.numbers[i] = int8(b) //nolint:gosec // the same bits
		}
		known[textHash(data[:len(textHash{})])] = c
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known, l.before, l.length = known, l.known, length
	return true
}
