package orchestrator

import (
	"context"
	"time"
)

// Sessions keeps conversations.
type Sessions interface {
	CreateSession(ctx context.Context, s Session) error
	Session(ctx context.Context, id string) (Session, error)
	// ListSessions gives the newest first; owner "" means all.
	ListSessions(ctx context.Context, owner string, before time.Time, limit int) ([]Session, error)
	RenameSession(ctx context.Context, id, name string, at time.Time) error
	// DeleteSession removes the session with its turns, events, terminal runs
	// and their payloads; ledger entries stay. One with an open run gives
	// conflict.
	DeleteSession(ctx context.Context, id string) error
}

// Turns keeps messages, each once.
type Turns interface {
	// BeginTurn inserts the turn, or gives the one that has its key already.
	BeginTurn(ctx context.Context, t Turn) (existing Turn, created bool, err error)
	SaveTurn(ctx context.Context, t Turn) error
	// TurnByInterrupt gives the turn that waits for an answer to the interrupt.
	TurnByInterrupt(ctx context.Context, interruptID string) (Turn, error)
	// SessionTurns gives a session's turns, oldest first.
	SessionTurns(ctx context.Context, sessionID string) ([]Turn, error)
}

// Previews keeps plans that were shown.
type Previews interface {
	SavePreview(ctx context.Context, p Preview) error
	// Preview gives the owner's preview that has not expired.
	Preview(ctx context.Context, owner, planHash string, now time.Time) (Preview, error)
	DropPreviews(ctx context.Context, before time.Time) error
}

// Secrets are created once and then read by every replica.
type Secrets interface {
	// SecretOnce stores the proposal unless the name has a value already, and
	// gives the value that stands.
	SecretOnce(ctx context.Context, name string, proposal []byte) ([]byte, error)
}
