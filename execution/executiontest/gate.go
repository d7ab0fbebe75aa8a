package executiontest

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// InterruptByCode finds the open interrupt with a code.
func (s *Store) InterruptByCode(_ context.Context, code string) (contracts.Interrupt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.gates {
		if g.Status == contracts.InterruptOpen && strings.EqualFold(g.Code, code) {
			return clone(*g)
		}
	}
	return contracts.Interrupt{}, contracts.Errorf(contracts.CodeNotFound, "no open question has the code %q", code)
}

// Interrupts returns the selected interrupts, oldest first.
func (s *Store) Interrupts(_ context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []contracts.Interrupt
	for _, g := range s.gates {
		if (f.SessionID == "" || f.SessionID == g.SessionID) && (f.RunID == "" || f.RunID == g.RunID) &&
			(f.Status == "" || f.Status == g.Status) && (len(f.Types) == 0 || slices.Contains(f.Types, g.Type)) {
			found = append(found, *g)
		}
	}
	return clone(first(found, f.Limit))
}

// InterruptAt returns one interrupt with its version.
func (s *Store) InterruptAt(_ context.Context, id string) (execution.InterruptAt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := execution.InterruptAt{Version: s.versions[id], Now: time.Now()}
	g, ok := s.gate[id]
	if !ok {
		return at, noInterrupt(id)
	}
	var err error
	at.Interrupt, err = clone(*g)
	return at, err
}

// SaveInterrupt changes an open interrupt and wakes its run.
func (s *Store) SaveInterrupt(_ context.Context, i execution.InterruptAt) (contracts.Interrupt, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.gate[i.InterruptID]
	if !ok {
		return contracts.Interrupt{}, noInterrupt(i.InterruptID)
	}
	if g.Status != contracts.InterruptOpen || s.versions[i.InterruptID] != i.Version {
		return contracts.Interrupt{}, contracts.Errorf(contracts.CodeConflict, "interrupt %s has changed since", i.InterruptID)
	}
	i.SessionID, i.RunID = g.SessionID, g.RunID
	changed, err := clone(i.Interrupt)
	if err != nil {
		return contracts.Interrupt{}, err
	}
	*g = changed
	s.versions[i.InterruptID]++
	s.wake(g.RunID)
	return clone(changed)
}

// OpenInterrupt inserts an interrupt that belongs to no run.
func (s *Store) OpenInterrupt(_ context.Context, i contracts.Interrupt, e contracts.Event) error {
	i, err := clone(i)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkGates(write{Transition: execution.Transition{Gates: []contracts.Interrupt{i}}}); err != nil {
		return err
	}
	now := time.Now()
	s.open(i, now)
	if e.SessionID == "" {
		e.SessionID = i.SessionID
	}
	s.log(nil, e, now)
	return nil
}

func noInterrupt(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no interrupt %q", id)
}
