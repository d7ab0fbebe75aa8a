package domainkit

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// MemoryStore is a Store for one process. It forgets everything when the
// process ends, after which a repeated key is executed again.
type MemoryStore struct {
	limit int

	mu      sync.Mutex // guards records
	records map[KeyID]Record
}

var _ Store = (*MemoryStore)(nil)

const defaultMemoryKeys = 10_000

// NewMemoryStore makes a store of at most limit keys [10,000]; a full one
// refuses further writes until keys expire.
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
	if len(s.records) >= s.limit && s.sweep(now) == 0 {
		return Record{}, false, fmt.Errorf("the store holds %d keys already", s.limit)
	}
	r.Result = slices.Clone(r.Result)
	s.records[r.ID] = r
	return r, true, nil
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
		delete(s.records, id)
		return nil
	}
	r.State, r.Result, r.ExpiresAt = end.State, slices.Clone(end.Result), end.ExpiresAt
	s.records[id] = r
	return nil
}

// Sweep implements Store.
func (s *MemoryStore) Sweep(_ context.Context, now time.Time) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sweep(now), nil
}

// sweep is called with mu held.
func (s *MemoryStore) sweep(now time.Time) int {
	removed := 0
	for id, r := range s.records {
		if !r.ExpiresAt.After(now) {
			delete(s.records, id)
			removed++
		}
	}
	return removed
}
