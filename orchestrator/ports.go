package orchestrator

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Sessions stores sessions.
type Sessions interface {
	CreateSession(ctx context.Context, s Session) error
	// CreateSessionWithRun inserts a session and its first run in one transaction. It returns
	// conflict, and inserts neither, if one of them exists.
	CreateSessionWithRun(ctx context.Context, s Session, run execution.Run, ttl time.Duration, first execution.Transition) error
	Session(ctx context.Context, id string) (Session, error)
	// ListSessions returns the newest sessions first.
	ListSessions(ctx context.Context, f SessionFilter) (contracts.List[Session], error)
	// SaveSession replaces the session if the store still has s.Version, and returns it with its
	// new version. It returns conflict if the session has changed since.
	SaveSession(ctx context.Context, s Session) (Session, error)
	// SweepSessions deletes sessions not used since idleSince that have no run, no open question
	// and no unfinished turn. In the other sessions it deletes old finished turns whose run is
	// gone, and old settled questions that belong to no run. It never deletes ledger entries or
	// anything open.
	SweepSessions(ctx context.Context, idleSince time.Time) (SweptSessions, error)
	// DeleteSession deletes the session with its turns, events, terminal runs and their payloads,
	// but not its ledger entries. It returns conflict if a run of the session is open.
	DeleteSession(ctx context.Context, id string) error
}

// SweptSessions counts what one SweepSessions call deleted.
type SweptSessions struct {
	Sessions, Turns, Questions int
}

// SessionFilter selects sessions; empty fields select all.
type SessionFilter struct {
	Owner  string // a subject
	Before time.Time
	// Cursor is the Next of the previous page; Limit is the page size, 0 for all.
	Cursor string
	Limit  int
}

// GateList lists gates and questions across sessions. Those that the reader may not see are neither
// read nor counted.
type GateList interface {
	// ListGates returns them in the order in which they were opened.
	ListGates(ctx context.Context, f GateFilter) (contracts.List[contracts.Interrupt], error)
}

// GateFilter selects gates and questions; empty fields other than Reader select all.
type GateFilter struct {
	// Reader is the caller's visibility.
	Reader    access.Visibility
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Types     []contracts.InterruptType
	// Cursor is the Next of the previous page; Limit is the page size, 0 for all.
	Cursor string
	Limit  int
}

// Turns stores turns, one for each TurnKey.
type Turns interface {
	// BeginTurn inserts the turn, or returns the existing turn with its key.
	BeginTurn(ctx context.Context, t Turn) (existing Turn, created bool, err error)
	// SaveTurn replaces the turn if the store still has t.Version, and returns it with its new
	// version. It returns conflict if the turn has changed since.
	SaveTurn(ctx context.Context, t Turn) (Turn, error)
	Turn(ctx context.Context, key TurnKey) (Turn, error)
	// ListTurns returns the selected turns in the order in which they began.
	ListTurns(ctx context.Context, f TurnFilter) ([]Turn, error)
	// SessionState reads a session with its newest runs, at most so many.
	SessionState(ctx context.Context, sessionID string, runs int) (SessionState, error)
}

// SessionState is a consistent read of a session: its open questions, turns and runs.
type SessionState struct {
	// Open are the open questions; Turns are ordered by when they began.
	Open  []contracts.Interrupt
	Turns []Turn
	// Runs are ordered from the newest, without their plans.
	Runs []execution.Run
}

// TurnFilter selects turns; empty fields select all.
type TurnFilter struct {
	SessionID string
	// InterruptID selects the turn that waits for the answer to this question.
	InterruptID string
	// Unfinished selects turns without an outcome, Before those that began before it.
	Unfinished bool
	Before     time.Time
	Limit      int
}

// Previews stores the plans that were shown as previews.
type Previews interface {
	SavePreview(ctx context.Context, p Preview) error
	// Preview returns the owner's preview unless it has expired.
	Preview(ctx context.Context, owner, planHash string, now time.Time) (Preview, error)
	DropPreviews(ctx context.Context, before time.Time) error
}

// LeaseStore grants named leases. Each is held by one server at a time and expires by the clock of
// the database. A nil LeaseStore means a single server, which needs no leases.
type LeaseStore interface {
	// Acquire acquires the lease for ttl, or renews it. It returns false if another server holds
	// the lease.
	Acquire(ctx context.Context, name string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name string) error
}

// Secrets stores secrets that are created once and shared by all replicas.
type Secrets interface {
	// SecretOnce stores the proposal unless the name has a value, and returns the stored value.
	SecretOnce(ctx context.Context, name string, proposal []byte) ([]byte, error)
}
