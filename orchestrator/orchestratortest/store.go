// Package orchestratortest has an in-memory store for everything that the use cases store (runs and
// their gates, sessions, turns, previews, secrets, the outbox of webhooks, the inbox), and the
// suite that every implementation must pass. It is for tests only: nothing is persistent.
package orchestratortest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/orchestrator"
)

// Opened is the interface of an implementation that the suite tests.
type Opened interface {
	execution.Store
	orchestrator.Sessions
	orchestrator.GateList
	orchestrator.Turns
	orchestrator.Previews
	orchestrator.Secrets
	orchestrator.WebhookOutbox
	orchestrator.Inbox
}

var _ Opened = (*Store)(nil)

// Store stores everything in memory.
type Store struct {
	*executiontest.Store

	mu       sync.Mutex // guards the fields below
	sessions map[string]orchestrator.Session
	turns    []orchestrator.Turn // in the order in which they began
	previews map[previewKey]orchestrator.Preview
	secrets  map[string][]byte
	outbox   []delivery
	inbox    []*item // in the order of arrival
}

type previewKey struct{ owner, planHash string }

// delivery is a row of the outbox.
type delivery struct {
	orchestrator.WebhookDelivery

	sessionID string
	due       time.Time
}

// NewStore returns an empty store.
func NewStore(options ...executiontest.Option) *Store {
	s := &Store{
		sessions: map[string]orchestrator.Session{}, previews: map[previewKey]orchestrator.Preview{}, secrets: map[string][]byte{},
	}
	s.Store = executiontest.NewStore(append(options, executiontest.WithOpened(s.notify))...)
	return s
}

// clone copies a value through its encoding, as a store on disk would.
func clone[T any](v T) (T, error) {
	var out T
	raw, err := json.Marshal(v)
	if err != nil {
		return out, fmt.Errorf("copy a %T: %w", v, err)
	}
	if err := contracts.Decode(raw, &out); err != nil {
		return out, fmt.Errorf("copy a %T: %w", v, err)
	}
	return out, nil
}

// CreateSession inserts a session.
func (s *Store) CreateSession(_ context.Context, session orchestrator.Session) error {
	session, err := clone(session)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, taken := s.sessions[session.ID]; taken {
		return contracts.Errorf(contracts.CodeConflict, "there is a session %q already", session.ID)
	}
	s.sessions[session.ID] = session
	return nil
}

// CreateSessionWithRun inserts both or neither.
func (s *Store) CreateSessionWithRun(ctx context.Context, session orchestrator.Session, run execution.Run, ttl time.Duration, first execution.Transition) error {
	if err := s.CreateSession(ctx, session); err != nil {
		return err
	}
	err := s.CreateRun(ctx, run, ttl, first)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.sessions, session.ID)
	}
	return err
}

// Session returns one session.
func (s *Store) Session(_ context.Context, id string) (orchestrator.Session, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	session, ok := s.sessions[id]
	if !ok {
		return session, noSession(id)
	}
	return clone(session)
}

// ListSessions returns the newest sessions first.
func (s *Store) ListSessions(_ context.Context, f orchestrator.SessionFilter) (contracts.List[orchestrator.Session], error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []orchestrator.Session
	for _, session := range s.sessions {
		if (f.Owner == "" || f.Owner == session.Owner.Subject()) && (f.Before.IsZero() || session.CreatedAt.Before(f.Before)) {
			found = append(found, session)
		}
	}
	slices.SortFunc(found, func(a, b orchestrator.Session) int {
		return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID))
	})
	return page(found, f.Cursor, f.Limit, func(s orchestrator.Session) string { return s.ID })
}

// ListGates returns a page of what a reader may see, in the order of opening.
func (s *Store) ListGates(ctx context.Context, f orchestrator.GateFilter) (contracts.List[contracts.Interrupt], error) {
	all, err := s.Interrupts(ctx, execution.InterruptFilter{SessionID: f.SessionID, RunID: f.RunID, Status: f.Status, Types: f.Types})
	if err != nil {
		return contracts.List[contracts.Interrupt]{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	all = slices.DeleteFunc(all, func(i contracts.Interrupt) bool {
		return !f.Reader.CanSee(i, s.sessions[i.SessionID].Owner.Subject())
	})
	return page(all, f.Cursor, f.Limit, func(i contracts.Interrupt) string { return i.InterruptID })
}

// page returns a page of a sorted list; its cursor is the id of an item.
func page[T any](all []T, cursor string, limit int, id func(T) string) (contracts.List[T], error) {
	if cursor != "" {
		at := slices.IndexFunc(all, func(item T) bool { return id(item) == cursor })
		if at < 0 {
			return contracts.List[T]{}, contracts.BadCursor()
		}
		all = all[at+1:]
	}
	return clone(contracts.Cut(all, limit, id))
}

// SaveSession replaces a session unless its version has changed.
func (s *Store) SaveSession(_ context.Context, session orchestrator.Session) (orchestrator.Session, error) {
	session, err := clone(session)
	if err != nil {
		return session, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	there, ok := s.sessions[session.ID]
	switch {
	case !ok:
		return session, noSession(session.ID)
	case there.Version != session.Version:
		return session, contracts.Errorf(contracts.CodeConflict, "session %q has changed since", session.ID)
	}
	session.Version++
	s.sessions[session.ID] = session
	return clone(session)
}

// SweepSessions deletes what was not used since a time.
func (s *Store) SweepSessions(ctx context.Context, idleSince time.Time) (orchestrator.SweptSessions, error) {
	var swept orchestrator.SweptSessions
	for _, id := range idle(ctx, s, idleSince) {
		if err := s.DeleteSession(ctx, id); err != nil {
			return swept, err
		}
		swept.Sessions++
	}
	s.mu.Lock()
	before := len(s.turns)
	s.turns = slices.DeleteFunc(s.turns, func(t orchestrator.Turn) bool {
		_, noRun := s.LoadRun(ctx, t.RunID)
		return t.Outcome != "" && t.CreatedAt.Before(idleSince) && noRun != nil && !isOpen(ctx, s, t.InterruptID)
	})
	swept.Turns = before - len(s.turns)
	s.mu.Unlock()
	swept.Questions = s.DropGates(func(i *contracts.Interrupt) bool {
		return i.RunID == "" && i.Status != contracts.InterruptOpen && i.CreatedAt.Before(idleSince)
	})
	return swept, errors.Join(executiontest.Took(s.Store, "questions", swept.Questions), executiontest.Took(s.Store, "turns", swept.Turns))
}

// idle returns the sessions with nothing open and no activity since a time.
func idle(ctx context.Context, s *Store, since time.Time) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for id, session := range s.sessions {
		runs, _ := s.ListRuns(ctx, execution.RunFilter{SessionID: id})
		open, _ := s.Interrupts(ctx, execution.InterruptFilter{SessionID: id, Status: contracts.InterruptOpen})
		goesOn := slices.ContainsFunc(s.turns, func(t orchestrator.Turn) bool {
			return t.SessionID == id && (t.Outcome == "" || !t.CreatedAt.Before(since))
		})
		if session.UpdatedAt.Before(since) && len(runs.Items) == 0 && len(open) == 0 && !goesOn {
			ids = append(ids, id)
		}
	}
	return ids
}

func isOpen(ctx context.Context, s *Store, interruptID string) bool {
	i, err := execution.GetInterrupt(ctx, s, interruptID)
	return err == nil && i.Status == contracts.InterruptOpen
}

// DeleteSession deletes a session with all that belongs to it, except its ledger entries.
func (s *Store) DeleteSession(ctx context.Context, id string) error {
	if _, err := s.Session(ctx, id); err != nil {
		return err
	}
	if err := s.Store.DeleteSession(ctx, id); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, id)
	s.turns = slices.DeleteFunc(s.turns, func(t orchestrator.Turn) bool { return t.SessionID == id })
	s.outbox = slices.DeleteFunc(s.outbox, func(d delivery) bool { return d.sessionID == id })
	return nil
}

func noSession(id string) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no session %q", id)
}
