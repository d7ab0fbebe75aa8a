// Package registrytest has the in-memory registry store and the suite that every implementation of
// registry.Store must pass. The store is for tests, and for processes that need no persistence.
package registrytest

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/registry"
)

var _ registry.Store = (*Store)(nil)

// Store stores everything in memory.
type Store struct {
	mu        sync.Mutex // guards the fields below
	rows      map[string]registry.DomainRow
	manifests map[string][]byte
}

// NewStore returns an empty store.
func NewStore() *Store {
	return &Store{rows: map[string]registry.DomainRow{}, manifests: map[string][]byte{}}
}

// Domains returns all rows, sorted by name.
func (s *Store) Domains(context.Context) ([]registry.DomainRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rows := make([]registry.DomainRow, 0, len(s.rows))
	for _, row := range s.rows {
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b registry.DomainRow) int { return strings.Compare(a.Name, b.Name) })
	return rows, nil
}

// Domain returns one row.
func (s *Store) Domain(_ context.Context, name string) (registry.DomainRow, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[name]
	if !ok {
		return registry.DomainRow{}, contracts.Errorf(contracts.CodeNotFound, "there is no domain %q", name)
	}
	return row, nil
}

// SaveDomain writes one row with its manifests.
func (s *Store) SaveDomain(_ context.Context, row registry.DomainRow, bodies ...registry.ManifestBody) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rows[row.Name].Revision != row.Revision {
		return 0, contracts.Errorf(contracts.CodeConflict, "domain %q was changed by someone else; read it again", row.Name)
	}
	row.Revision++
	row.Registration = bytes.Clone(row.Registration)
	s.rows[row.Name] = row
	for _, b := range bodies {
		if _, ok := s.manifests[b.Digest]; !ok {
			s.manifests[b.Digest] = bytes.Clone(b.Body)
		}
	}
	s.prune()
	return row.Revision, nil
}

// DeleteDomain removes one row.
func (s *Store) DeleteDomain(_ context.Context, name string, revision int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	row, ok := s.rows[name]
	if !ok {
		return contracts.Errorf(contracts.CodeNotFound, "there is no domain %q", name)
	}
	if row.Revision != revision {
		return contracts.Errorf(contracts.CodeConflict, "domain %q was changed by someone else; read it again", name)
	}
	delete(s.rows, name)
	s.prune()
	return nil
}

// Manifest returns a body.
func (s *Store) Manifest(_ context.Context, digest string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body, ok := s.manifests[digest]
	if !ok {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no manifest %s", digest)
	}
	return bytes.Clone(body), nil
}

// prune deletes the manifests that no row refers to; the caller must hold mu.
func (s *Store) prune() {
	used := map[string]bool{}
	for _, row := range s.rows {
		used[row.ActiveDigest], used[row.PendingDigest] = true, true
	}
	for digest := range s.manifests {
		if !used[digest] {
			delete(s.manifests, digest)
		}
	}
}
