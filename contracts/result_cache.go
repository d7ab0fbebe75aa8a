package contracts

import (
	"crypto/sha256"
	"sync"
)

// resultCache caches values by the text that they were computed from. It is safe for concurrent
// use. Values are shared and must be immutable.
//
// Invariant: there are two generations, each of at most bound bytes of text or of one longer
// text. A hit in the old generation moves to the young one. Only Get and Put access the fields.
type resultCache[V any] struct {
	mu         sync.Mutex
	young, old map[[sha256.Size]byte]cachedResult[V]
	size       int // bytes of text in young
	bound      int
}

type cachedResult[V any] struct {
	value V
	size  int
}

// newResultCache returns an empty cache with two generations of at most bound bytes of text each.
func newResultCache[V any](bound int) *resultCache[V] {
	return &resultCache[V]{bound: bound, young: map[[sha256.Size]byte]cachedResult[V]{}}
}

// Get returns the cached value for a text.
func (c *resultCache[V]) Get(text []byte) (V, bool) {
	key := sha256.Sum256(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.young[key]; ok {
		return k.value, true
	}
	k, ok := c.old[key]
	if ok {
		c.add(key, k)
	}
	return k.value, ok
}

// Put stores the value for a text. An existing value is kept.
func (c *resultCache[V]) Put(text []byte, value V) {
	key := sha256.Sum256(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[key]; !ok {
		c.add(key, cachedResult[V]{value, len(text)})
	}
}

// add adds an entry. If the young generation is full, it becomes the old one, and the previous
// old one is dropped.
func (c *resultCache[V]) add(key [sha256.Size]byte, k cachedResult[V]) {
	if c.size > 0 && c.size+k.size > c.bound {
		c.young, c.old, c.size = map[[sha256.Size]byte]cachedResult[V]{}, c.young, 0
	}
	c.young[key] = k
	c.size += k.size
}
