package contracts

import (
	"crypto/sha256"
	"sync"
)

// resultCache keeps values by the text that they were computed from. It may be used by
// several goroutines, so its values must be of a kind that nobody changes.
//
// Invariant: there are two generations, each with texts of at most the bound in
// bytes, or with one text that is longer; what is used moves to the younger one. Only
// Get and Put touch the members.
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

// newResultCache returns an empty cache of two generations of so many bytes of text.
func newResultCache[V any](bound int) *resultCache[V] {
	return &resultCache[V]{bound: bound, young: map[[sha256.Size]byte]cachedResult[V]{}}
}

// Get returns what is kept for a text.
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

// Put keeps a value for a text; the first one stays.
func (c *resultCache[V]) Put(text []byte, value V) {
	key := sha256.Sum256(text)
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, ok := c.young[key]; !ok {
		c.add(key, cachedResult[V]{value, len(text)})
	}
}

// add makes the young generation the old one when it is full, and lets that go.
func (c *resultCache[V]) add(key [sha256.Size]byte, k cachedResult[V]) {
	if c.size > 0 && c.size+k.size > c.bound {
		c.young, c.old, c.size = map[[sha256.Size]byte]cachedResult[V]{}, c.young, 0
	}
	c.young[key] = k
	c.size += k.size
}
