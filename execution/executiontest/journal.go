package executiontest

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

// Events returns a session's events with seq > after.
func (s *Store) Events(_ context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []contracts.Event
	for _, e := range s.events[sessionID] {
		if e.Seq > after {
			found = append(found, e)
		}
	}
	return clone(first(found, limit))
}

// Ledger returns the entries of a chain with seq > after.
func (s *Store) Ledger(_ context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []contracts.LedgerEntry
	for _, e := range s.ledger[runID] {
		if e.Seq > after {
			found = append(found, e)
		}
	}
	return clone(first(found, limit))
}

// Probe always succeeds.
func (s *Store) Probe(context.Context) error { return nil }

// Sweep deletes what is older than its retention.
func (s *Store) Sweep(ctx context.Context, finishedBefore time.Time) (execution.Swept, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var swept execution.Swept
	now := time.Now()
	for id, row := range s.runs {
		for node, d := range row.data {
			if !d.ExpiresAt.After(now) {
				delete(row.data, node)
				swept.Data++
			}
		}
		if row.finished() && row.run.FinishedAt.Before(finishedBefore) {
			if err := s.drop(ctx, id, row, execution.GoneByRetention); err != nil {
				return swept, err
			}
			swept.Runs++
		}
	}
	swept.Blobs = s.collect()
	return swept, took(s, "raw data", swept.Data)
}

// DeleteSession deletes a session's runs, events and interrupts; ledger entries are kept. It
// returns conflict if a run is open.
func (s *Store) DeleteSession(ctx context.Context, sessionID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, row := range s.runs {
		if row.run.SessionID == sessionID && !row.finished() {
			return contracts.Errorf(contracts.CodeConflict, "run %s of the session has not ended; cancel it first", id)
		}
	}
	for id, row := range s.runs {
		if row.run.SessionID != sessionID {
			continue
		}
		if err := s.drop(ctx, id, row, execution.GoneByRequest); err != nil {
			return err
		}
	}
	dropGates(s, func(g *contracts.Interrupt) bool { return g.SessionID == sessionID })
	delete(s.events, sessionID)
	s.collect()
	if err := bury(ctx, s, execution.SessionChain(sessionID), execution.GoneByRequest); err != nil {
		return err
	}
	return recordAct(ctx, s)
}

// recordAct appends the administrative action of ctx to its chain.
func recordAct(ctx context.Context, s *Store) error {
	act, named := execution.AdminActionOf(ctx)
	if !named {
		return nil
	}
	defer execution.MarkRecorded(ctx)
	return appendAct(s, act)
}

// Took records a deletion by retention of rows without a chain of their own.
func Took(s *Store, what string, n int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return took(s, what, n)
}

func took(s *Store, what string, n int) error {
	if n == 0 {
		return nil
	}
	return appendAct(s, execution.AdminAction{Kind: contracts.ActSwept, Actor: "system", Subject: what, Detail: map[string]any{"count": n}})
}

// appendAct appends an action to its chain.
func appendAct(s *Store, act execution.AdminAction) error {
	entry, payload, err := act.Entry(lastOf(s, execution.AdminChain), time.Now())
	if payload != nil {
		keepPayloads(s, []contracts.LedgerEntry{entry}, [][]byte{payload})
	}
	s.ledger[execution.AdminChain] = append(s.ledger[execution.AdminChain], entry)
	return err
}

func lastOf(s *Store, chain string) contracts.LedgerEntry {
	if entries := s.ledger[chain]; len(entries) > 0 {
		return entries[len(entries)-1]
	}
	return contracts.LedgerEntry{}
}

// bury appends the tombstone of a chain.
func bury(ctx context.Context, s *Store, chain, why string) error {
	act, _ := execution.AdminActionOf(ctx)
	entry, err := execution.Tombstone(chain, lastOf(s, chain), act, why, time.Now())
	s.ledger[chain] = append(s.ledger[chain], entry)
	return err
}

// drop removes a run with its rows.
func (s *Store) drop(ctx context.Context, id string, row *runRow, why string) error {
	delete(s.runs, id)
	delete(s.payloads, id)
	for _, i := range row.intents {
		delete(s.intent, i.Nonce)
		delete(s.keys, i.Key)
	}
	dropGates(s, func(g *contracts.Interrupt) bool { return g.RunID == id })
	session := row.run.SessionID
	s.events[session] = slices.DeleteFunc(s.events[session], func(e contracts.Event) bool { return e.RunID == id })
	s.freeWhere(func(h *execution.LockHolder) bool { return h.RunID == id })
	return bury(ctx, s, id, why)
}

// DropGates deletes the selected interrupts and returns how many there were.
func (s *Store) DropGates(gone func(*contracts.Interrupt) bool) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.gates)
	dropGates(s, gone)
	return before - len(s.gates)
}

func dropGates(s *Store, gone func(*contracts.Interrupt) bool) {
	s.gates = slices.DeleteFunc(s.gates, gone)
	maps.DeleteFunc(s.gate, func(_ string, g *contracts.Interrupt) bool { return gone(g) })
}

// collect deletes the blobs that no run refers to.
func (s *Store) collect() int {
	named := map[string]bool{}
	for _, row := range s.runs {
		maps.Copy(named, row.names)
	}
	before := len(s.blobs)
	maps.DeleteFunc(s.blobs, func(hash string, _ execution.Blob) bool { return !named[hash] })
	return before - len(s.blobs)
}

// Blob returns a content by its hash.
func (s *Store) Blob(_ context.Context, sha256 string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b, ok := s.blobs[bareHash(sha256)]
	if !ok {
		return nil, contracts.Errorf(contracts.CodeNotFound, "there is no content %s", sha256)
	}
	return slices.Clone(b.Body), nil
}

// Payload returns the payload of a ledger entry.
func (s *Store) Payload(_ context.Context, e contracts.LedgerEntry) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p, ok := s.payloads[e.RunID][e.Seq]; ok {
		return slices.Clone(p), nil
	}
	return nil, contracts.Errorf(contracts.CodeNotFound, "entry %d of %s has no payload", e.Seq, e.RunID)
}

// keepPayloads stores the payloads of entries of one chain. The caller holds mu.
func keepPayloads(s *Store, entries []contracts.LedgerEntry, payloads [][]byte) {
	for i, p := range payloads {
		if p == nil {
			continue
		}
		of := entries[i]
		if s.payloads[of.RunID] == nil {
			s.payloads[of.RunID] = map[int64][]byte{}
		}
		s.payloads[of.RunID][of.Seq] = p
	}
}

// NodeData returns the raw output of a node until it expires.
func (s *Store) NodeData(_ context.Context, runID, nodeID string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if row, ok := s.runs[runID]; ok {
		if d, ok := row.data[nodeID]; ok && d.ExpiresAt.After(time.Now()) {
			return slices.Clone(d.Body), nil
		}
	}
	return nil, contracts.Errorf(contracts.CodeNotFound, "no raw output of node %s of run %s is kept", nodeID, runID)
}
