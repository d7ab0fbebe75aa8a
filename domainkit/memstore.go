package domainkit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// MemoryStore is a Store for one process. It is safe for concurrent use. Its keys are lost when the
// process ends; a retry is then executed again.
type MemoryStore struct {
	limit int

	mu      sync.Mutex // guards the fields below
	records map[KeyID]Record
	// bytes is the total size of all results.
	bytes int
}

var _ Store = (*MemoryStore)(nil)

const (
	defaultMemoryKeys = 10_000
	maxMemoryBytes    = 256 << 20
)

// NewMemoryStore returns a store of at most limit keys [10,000] and about 256 MiB of results. A
// full store refuses new keys until old ones expire.
func NewMemoryStore(limit int) *MemoryStore {
	if limit <= 0 {
		limit = defaultMemoryKeys
	}
	return &MemoryStore{limit: limit, records: map[KeyID]Record{}}
}

// Claim implements Store.
func (s *MemoryStore) Claim(_ context.Context, r Record, now time.Time) (Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if standing, ok := s.records[r.ID]; ok && standing.ExpiresAt.After(now) {
		return standing, false, nil
	}
	s.remove(r.ID)
	if s.full() {
		s.sweep(now)
	}
	if s.full() {
		return Record{}, false, fmt.Errorf("the store is full: %d keys, %d bytes", len(s.records), s.bytes)
	}
	s.records[r.ID] = r
	return r, true, nil
}

// full reports whether a limit is reached. The caller holds mu.
func (s *MemoryStore) full() bool { return len(s.records) >= s.limit || s.bytes >= maxMemoryBytes }

// remove deletes a record. The caller holds mu.
func (s *MemoryStore) remove(id KeyID) {
	s.bytes -= len(s.records[id].Result)
	delete(s.records, id)
}

// Find implements Store.
func (s *MemoryStore) Find(_ context.Context, id KeyID, now time.Time) (Record, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[id]
	if !ok || !r.ExpiresAt.After(now) {
		return Record{}, false, nil
	}
	return r, true, nil
}

// Steal implements Store.
func (s *MemoryStore) Steal(_ context.Context, r Record, from string, now time.Time) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old, ok := s.records[r.ID]
	if !ok || old.Token != from {
		return false, nil
	}
	ended := old.State == KeyDoubtful || old.State == KeyRunning && !old.LeaseUntil.After(now)
	if ended {
		s.records[r.ID] = r
	}
	return ended, nil
}

// Settle implements Store.
func (s *MemoryStore) Settle(_ context.Context, id KeyID, token string, end Settlement) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[id]
	if !ok || r.Token != token || r.State != KeyRunning {
		return ErrLeaseLost
	}
	if end.Released {
		s.remove(id)
		return nil
	}
	r.State, r.Result, r.ExpiresAt = end.State, slices.Clone(end.Result), end.ExpiresAt
	s.bytes += len(r.Result)
	s.records[id] = r
	return nil
}

// Sweep implements Store.
func (s *MemoryStore) Sweep(_ context.Context, now time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep(now), nil
}

// sweep removes expired records. The caller holds mu.
func (s *MemoryStore) sweep(now time.Time) int {
	removed := 0
	for id, r := range s.records {
		if !r.ExpiresAt.After(now) {
			s.remove(id)
			removed++
		}
	}
	return removed
}
