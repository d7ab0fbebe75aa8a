package use

import "sync"

// cachedPieces bounds the cache; a piece takes 15 KB.
const cachedPieces = 3000

// cache holds the results of recently used pieces: nearly all pieces of a message occur in an earlier
// one.
type cache struct {
	mu sync.Mutex // guards all fields
	// A piece that is in neither map is computed. When young is full, it becomes old, and the previous
	// old is dropped.
	young, old map[int32]*layerPiece
}

func (c *cache) get(id int32, compute func(int32) *layerPiece) *layerPiece {
	if p, ok := c.find(id); ok {
		return p
	}
	p := compute(id) // outside of the lock: two goroutines may compute the same piece
	c.keep(id, p)
	return p
}

func (c *cache) find(id int32) (*layerPiece, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, ok := c.young[id]; ok {
		return p, true
	}
	p, ok := c.old[id]
	if ok {
		c.put(id, p)
	}
	return p, ok
}

func (c *cache) keep(id int32, p *layerPiece) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(id, p)
}

func (c *cache) put(id int32, p *layerPiece) {
	if len(c.young) >= cachedPieces/2 || c.young == nil {
		c.old, c.young = c.young, make(map[int32]*layerPiece, cachedPieces/2)
	}
	c.young[id] = p
}
