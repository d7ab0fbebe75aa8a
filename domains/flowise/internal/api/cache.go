package api

import (
	"context"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// cache caches answers and shares one load between concurrent callers.
type cache struct {
	ttl time.Duration
	now func() time.Time

	mu      sync.Mutex
	entries map[string]*entry // guarded by mu
}

// entry is written by the caller that loads it, before ready is closed.
type entry struct {
	ready chan struct{}
	raw   []byte
	err   error
	at    time.Time
}

// maxEntries bounds the cache, because callers choose the names of nodes.
const maxEntries = 1000

func newCache(ttl time.Duration, now func() time.Time) *cache {
	return &cache{ttl: ttl, now: now, entries: map[string]*entry{}}
}

// get returns a cached value, or loads it. Errors are not cached; a caller that waited for a failed
// load loads the value itself.
func (c *cache) get(ctx context.Context, key string, load func(context.Context) ([]byte, error)) ([]byte, error) {
	if c.ttl < 0 {
		return load(ctx)
	}
	for {
		e, mine := c.claim(key)
		if mine {
			return c.fill(ctx, key, e, load)
		}
		select {
		case <-e.ready:
		case <-ctx.Done():
			return nil, &Error{Op: "GET " + key, Kind: KindTimeout, Effect: contracts.EffectNone, Cause: ctx.Err()}
		}
		if e.err == nil {
			return e.raw, nil
		}
	}
}

// claim returns the entry and whether the caller must load it.
func (c *cache) claim(key string) (e *entry, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e = c.entries[key]; e != nil && !c.stale(e) {
		return e, false
	}
	if len(c.entries) >= maxEntries {
		clear(c.entries)
	}
	e = &entry{ready: make(chan struct{})}
	c.entries[key] = e
	return e, true
}

func (c *cache) stale(e *entry) bool {
	select {
	case <-e.ready:
		return e.err != nil || c.now().Sub(e.at) >= c.ttl
	default:
		return false
	}
}

func (c *cache) fill(ctx context.Context, key string, e *entry, load func(context.Context) ([]byte, error)) ([]byte, error) {
	defer close(e.ready)
	e.raw, e.err = load(ctx)
	e.at = c.now()
	if e.err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.entries[key] == e {
			delete(c.entries, key)
		}
	}
	return e.raw, e.err
}

func (c *cache) clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.entries)
}

func (c *cache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, key)
}
