package executiontest

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// RecordOutcome stores the first observation of a nonce.
func (s *Store) RecordOutcome(_ context.Context, nonce string, o execution.Outcome) (bool, error) {
	o, err := clone(o)
	if err != nil {
		return false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.intent[nonce]
	if !ok {
		return false, noIntent()
	}
	if i.Outcome != nil {
		return false, nil
	}
	if o.At.IsZero() {
		o.At = time.Now()
	}
	i.Outcome = &o
	s.wake(i.run.run.ID)
	return true, i.run.name(o)
}

// RecordOperation stores the id of accepted work.
func (s *Store) RecordOperation(_ context.Context, nonce, operation string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i, ok := s.intent[nonce]
	if !ok {
		return noIntent()
	}
	i.Operation = operation
	return nil
}

func noIntent() error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no intent of that nonce")
}
