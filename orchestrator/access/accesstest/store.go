// Package accesstest has the in-memory key store and the suite that every implementation of
// access.KeyStore must pass. The store is for tests, and for processes that need no persistence.
package accesstest

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
)

var (
	_ access.KeyStore    = (*Store)(nil)
	_ access.SignInStore = (*Store)(nil)
)

// Store stores everything in memory.
type Store struct {
	mu      sync.Mutex // guards the fields below
	keys    map[string]access.Key
	signIns map[string]signIn // by hash
}

// signIn is a valid token.
type signIn struct{ seen, until time.Time }

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{keys: map[string]access.Key{}, signIns: map[string]signIn{}}
}

// InsertKey adds a key.
func (s *Store) InsertKey(_ context.Context, key access.Key) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.keys[key.ID]; taken {
		return contracts.Errorf(contracts.CodeConflict, "there is a key %q already", key.ID)
	}
	s.keys[key.ID] = key
	return nil
}

// InsertFirstKey adds a key to an empty store only.
func (s *Store) InsertFirstKey(_ context.Context, key access.Key) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.keys) > 0 {
		return false, nil
	}
	s.keys[key.ID] = key
	return true, nil
}

// Key returns one key.
func (s *Store) Key(_ context.Context, id string) (access.Key, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[id]
	if !ok {
		return access.Key{}, contracts.Errorf(contracts.CodeNotFound, "there is no key %q", id)
	}
	return key, nil
}

// Keys returns all keys, oldest first.
func (s *Store) Keys(_ context.Context, p contracts.Page) (contracts.List[access.Key], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.SortedFunc(maps.Values(s.keys), func(a, b access.Key) int {
		return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	if p.Cursor != "" {
		at := slices.IndexFunc(all, func(k access.Key) bool { return k.ID == p.Cursor })
		if at < 0 {
			return contracts.List[access.Key]{}, contracts.BadCursor()
		}
		all = all[at+1:]
	}
	return contracts.Cut(all, p.Limit, func(k access.Key) string { return k.ID }), nil
}

// RevokeKey marks a key as revoked.
func (s *Store) RevokeKey(_ context.Context, id string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, ok := s.keys[id]
	if !ok {
		return contracts.Errorf(contracts.CodeNotFound, "there is no key %q", id)
	}
	if key.RevokedAt == nil {
		key.RevokedAt = &at
		s.keys[id] = key
	}
	return nil
}

// InsertSignIn stores a token.
func (s *Store) InsertSignIn(_ context.Context, hash string, at, until time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.DeleteFunc(s.signIns, func(_ string, one signIn) bool { return !one.until.After(at) })
	s.signIns[hash] = signIn{at, until}
	return nil
}

// SignInSeen returns the last use of a token.
func (s *Store) SignInSeen(_ context.Context, hash string) (time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.signIns[hash]
	if !ok {
		return time.Time{}, contracts.Errorf(contracts.CodeNotFound, "there is no such sign-in")
	}
	return one.seen, nil
}

// SeeSignIn records a use of a token.
func (s *Store) SeeSignIn(_ context.Context, hash string, at time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one, ok := s.signIns[hash]; ok {
		s.signIns[hash] = signIn{at, one.until}
	}
	return nil
}

// RemoveSignIn removes a token.
func (s *Store) RemoveSignIn(_ context.Context, hash string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, was := s.signIns[hash]
	delete(s.signIns, hash)
	return was, nil
}
