package orchestrator

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// Sessions keeps conversations.
type Sessions interface {
	CreateSession(ctx context.Context, s Session) error
	// CreateSessionWithRun inserts a session and its first run in one transaction;
	// conflict says that one of them is there already, and neither is inserted.
	CreateSessionWithRun(ctx context.Context, s Session, run execution.Run, ttl time.Duration, first execution.Transition) error
	Session(ctx context.Context, id string) (Session, error)
	// ListSessions returns the newest first.
	ListSessions(ctx context.Context, f SessionFilter) (contracts.List[Session], error)
	// SaveSession replaces a session that is still at the version of s, and gives
	// it with its new one; conflict says that it has changed since.
	SaveSession(ctx context.Context, s Session) (Session, error)
	// SweepSessions deletes what nobody has touched since a time: sessions without
	// a run, an open question or a turn that goes on; in those that stay, turns
	// that have ended, and settled questions of no run. Ledger entries stay, and so
	// does what is open.
	SweepSessions(ctx context.Context, idleSince time.Time) (SweptSessions, error)
	// DeleteSession removes the session with its turns, events, terminal runs
	// and their payloads; ledger entries stay. One with an open run gives
	// conflict.
	DeleteSession(ctx context.Context, id string) error
}

// SweptSessions counts what a SweepSessions deleted.
type SweptSessions struct {
	Sessions, Turns, Questions int
}

// SessionFilter selects sessions; empty fields select all.
type SessionFilter struct {
	Owner  string // a subject
	Before time.Time
	// Cursor is the Next of the page before, Limit the size of a page; 0 is all.
	Cursor string
	Limit  int
}

// GateList lists gates and questions across sessions, for those who may see
// them: one that its reader may not see is not read, and does not count.
type GateList interface {
	// ListGates gives them in the order in which they were opened.
	ListGates(ctx context.Context, f GateFilter) (contracts.List[contracts.Interrupt], error)
}

// GateFilter selects gates; empty fields but Reader select all.
type GateFilter struct {
	// Reader is what the caller may see.
	Reader    access.Visibility
	SessionID string
	RunID     string
	Status    contracts.InterruptStatus
	Types     []contracts.InterruptType
	// Cursor is the Next of the page before, Limit the size of a page; 0 is all.
	Cursor string
	Limit  int
}

// Turns keeps what was said, each turn once.
type Turns interface {
	// BeginTurn inserts the turn, or gives the one that has its key already.
	BeginTurn(ctx context.Context, t Turn) (existing Turn, created bool, err error)
	// SaveTurn replaces a turn that is still at the version of t, and gives it
	// with its new one; conflict says that it has changed since.
	SaveTurn(ctx context.Context, t Turn) (Turn, error)
	Turn(ctx context.Context, key TurnKey) (Turn, error)
	// ListTurns returns the turns that the filter selects, in the order in which
	// they began.
	ListTurns(ctx context.Context, f TurnFilter) ([]Turn, error)
	// SessionState reads a session, with at most so many runs.
	SessionState(ctx context.Context, sessionID string, runs int) (SessionState, error)
}

// SessionState is a consistent read of a session: its open questions, turns and runs.
type SessionState struct {
	// Open are its open questions, Turns what was said, in the order in which they began.
	Open  []contracts.Interrupt
	Turns []Turn
	// Runs are the newest first, without their plans.
	Runs []execution.Run
}

// TurnFilter selects turns; empty fields select all.
type TurnFilter struct {
	SessionID string
	// InterruptID is the question whose answer a turn waits for.
	InterruptID string
	// Unfinished selects turns without outcome, Before those that began earlier.
	Unfinished bool
	Before     time.Time
	Limit      int
}

// Previews keeps plans that were shown.
type Previews interface {
	SavePreview(ctx context.Context, p Preview) error
	// Preview returns the owner's preview that has not expired.
	Preview(ctx context.Context, owner, planHash string, now time.Time) (Preview, error)
	DropPreviews(ctx context.Context, before time.Time) error
}

// LeaseStore are named leases, each held by one server at a time until it expires by the clock
// of the database. Nil LeaseStore are those of a single server, which holds them all.
type LeaseStore interface {
	// Acquire acquires the lease for ttl, or renews it; false if another server holds it.
	// Yield releases it.
	Acquire(ctx context.Context, name string, ttl time.Duration) (bool, error)
	Release(ctx context.Context, name string) error
}

// Secrets are created once and then read by every replica.
type Secrets interface {
	// SecretOnce stores the proposal unless the name has a value already, and
	// gives the value that stands.
	SecretOnce(ctx context.Context, name string, proposal []byte) ([]byte, error)
}
