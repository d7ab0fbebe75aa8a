package orchestratortest

import (
	"context"
	"slices"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator"
)

// BeginTurn inserts a turn, or returns the existing one with its key.
func (s *Store) BeginTurn(_ context.Context, t orchestrator.Turn) (turn orchestrator.Turn, created bool, err error) {
	t, err = clone(t)
	if err != nil {
		return t, false, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.turnAt(t.TurnKey); i >= 0 {
		turn, err = clone(s.turns[i])
		return turn, false, err
	}
	s.turns = append(s.turns, t)
	turn, err = clone(t)
	return turn, true, err
}

// SaveTurn replaces a turn unless its version has changed.
func (s *Store) SaveTurn(_ context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	t, err := clone(t)
	if err != nil {
		return t, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.turnAt(t.TurnKey)
	switch {
	case i < 0:
		return t, noTurn(t.TurnKey)
	case s.turns[i].Version != t.Version:
		return t, contracts.Errorf(contracts.CodeConflict, "turn %q has changed since", t.Key)
	}
	t.Version++
	s.turns[i] = t
	return clone(t)
}

// Turn returns the turn of a key.
func (s *Store) Turn(_ context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.turnAt(key)
	if i < 0 {
		return orchestrator.Turn{}, noTurn(key)
	}
	return clone(s.turns[i])
}

// ListTurns returns the turns that the filter selects.
func (s *Store) ListTurns(_ context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var turns []orchestrator.Turn
	for _, t := range s.turns {
		switch {
		case f.SessionID != "" && t.SessionID != f.SessionID, f.InterruptID != "" && t.InterruptID != f.InterruptID,
			f.Unfinished && t.Outcome != "", !f.Before.IsZero() && !t.CreatedAt.Before(f.Before):
		case f.Limit <= 0 || len(turns) < f.Limit:
			turns = append(turns, t)
		}
	}
	return clone(turns)
}

// SessionState reads a session. The turns are read first: what they refer to was stored before
// them.
func (s *Store) SessionState(ctx context.Context, sessionID string, runs int) (at orchestrator.SessionState, err error) {
	if at.Turns, err = s.ListTurns(ctx, orchestrator.TurnFilter{SessionID: sessionID}); err != nil {
		return at, err
	}
	listed, err := s.ListRuns(ctx, execution.RunFilter{SessionID: sessionID, Limit: runs, Brief: true})
	if err != nil {
		return at, err
	}
	at.Runs = listed.Items
	at.Open, err = s.Interrupts(ctx, execution.InterruptFilter{SessionID: sessionID, Status: contracts.InterruptOpen})
	return at, err
}

func noTurn(key orchestrator.TurnKey) error {
	return contracts.Errorf(contracts.CodeNotFound, "there is no turn %q of conversation %q", key.Key, key.Conversation)
}

func (s *Store) turnAt(key orchestrator.TurnKey) int {
	return slices.IndexFunc(s.turns, func(t orchestrator.Turn) bool { return t.TurnKey == key })
}

// SavePreview stores a plan that was shown.
func (s *Store) SavePreview(_ context.Context, p orchestrator.Preview) error {
	p, err := clone(p)
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.previews[previewKey{p.Owner, p.PlanHash}] = p
	return nil
}

// Preview returns the owner's preview unless it has expired.
func (s *Store) Preview(_ context.Context, owner, planHash string, now time.Time) (orchestrator.Preview, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, ok := s.previews[previewKey{owner, planHash}]
	if !ok || !p.ExpiresAt.After(now) {
		return orchestrator.Preview{}, contracts.Errorf(contracts.CodeNotFound, "there is no preview of plan %s, or it has expired", planHash)
	}
	return clone(p)
}

// DropPreviews deletes the previews that expired by then.
func (s *Store) DropPreviews(_ context.Context, before time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, p := range s.previews {
		if !p.ExpiresAt.After(before) {
			delete(s.previews, key)
		}
	}
	return nil
}

// SecretOnce stores the first secret of a name, and returns the stored one.
func (s *Store) SecretOnce(_ context.Context, name string, proposal []byte) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, there := s.secrets[name]; !there {
		s.secrets[name] = slices.Clone(proposal)
	}
	return slices.Clone(s.secrets[name]), nil
}

// notify queues the notices of an interrupt if its session has a webhook. It runs in the
// transaction that opens the interrupt.
func (s *Store) notify(i contracts.Interrupt) {
	s.mu.Lock()
	defer s.mu.Unlock()
	url := s.sessions[i.SessionID].WebhookURL
	// An interrupt was decoded from JSON, so encoding it cannot fail.
	notices, err := orchestrator.NoticesOf(i, url)
	for _, d := range notices {
		if err == nil && url != "" {
			s.outbox = append(s.outbox, delivery{WebhookDelivery: d, sessionID: i.SessionID, due: d.CreatedAt})
		}
	}
}

// Claim returns due deliveries to one caller.
func (s *Store) Claim(_ context.Context, c orchestrator.DeliveryClaim) ([]orchestrator.WebhookDelivery, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	slices.SortStableFunc(s.outbox, func(a, b delivery) int { return a.due.Compare(b.due) })
	var due []orchestrator.WebhookDelivery
	for i, d := range s.outbox {
		if !d.due.After(c.Now) && (c.ID == "" || d.ID == c.ID) && (c.Limit <= 0 || len(due) < c.Limit) {
			due = append(due, d.WebhookDelivery)
			s.outbox[i].due = c.Until
		}
	}
	return clone(due)
}

// Done removes a delivery.
func (s *Store) Done(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.outbox = slices.DeleteFunc(s.outbox, func(d delivery) bool { return d.ID == id })
	return nil
}

// Retry makes a delivery due again later.
func (s *Store) Retry(_ context.Context, id string, at time.Time, attempts int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.outbox, func(d delivery) bool { return d.ID == id })
	if i >= 0 {
		s.outbox[i].Attempts = attempts
		s.outbox[i].due = at
	}
	return nil
}
