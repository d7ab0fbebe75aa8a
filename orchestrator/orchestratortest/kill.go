package orchestratortest

import (
	"context"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/orchestrator"
)

var (
	_ orchestrator.Sessions = (*Killed)(nil)
	_ orchestrator.GateList = (*Killed)(nil)
	_ orchestrator.Turns    = (*Killed)(nil)
)

// Killed is the store of a process that is killed at a given write, to sessions and turns or to
// runs.
type Killed struct {
	Process *executiontest.Killed
	Store   *Store
}

func write(ctx context.Context, k *Killed, do func() error) error {
	_, err := executiontest.Write(ctx, k.Process, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// CreateSession is a write.
func (k *Killed) CreateSession(ctx context.Context, s orchestrator.Session) error {
	return write(ctx, k, func() error { return k.Store.CreateSession(ctx, s) })
}

// CreateSessionWithRun is one write.
func (k *Killed) CreateSessionWithRun(ctx context.Context, s orchestrator.Session, run execution.Run, ttl time.Duration, first execution.Transition) error {
	return write(ctx, k, func() error { return k.Store.CreateSessionWithRun(ctx, s, run, ttl, first) })
}

// Session is a read.
func (k *Killed) Session(ctx context.Context, id string) (orchestrator.Session, error) {
	return executiontest.Read(ctx, k.Process, func() (orchestrator.Session, error) { return k.Store.Session(ctx, id) })
}

// ListSessions is a read.
func (k *Killed) ListSessions(ctx context.Context, f orchestrator.SessionFilter) (contracts.List[orchestrator.Session], error) {
	return executiontest.Read(ctx, k.Process, func() (contracts.List[orchestrator.Session], error) { return k.Store.ListSessions(ctx, f) })
}

// SweepSessions is not counted: the clock triggers it.
func (k *Killed) SweepSessions(ctx context.Context, idleSince time.Time) (orchestrator.SweptSessions, error) {
	return executiontest.Read(ctx, k.Process, func() (orchestrator.SweptSessions, error) { return k.Store.SweepSessions(ctx, idleSince) })
}

// ListGates is a read.
func (k *Killed) ListGates(ctx context.Context, f orchestrator.GateFilter) (contracts.List[contracts.Interrupt], error) {
	return executiontest.Read(ctx, k.Process, func() (contracts.List[contracts.Interrupt], error) { return k.Store.ListGates(ctx, f) })
}

// SaveSession is a write.
func (k *Killed) SaveSession(ctx context.Context, s orchestrator.Session) (orchestrator.Session, error) {
	return executiontest.Write(ctx, k.Process, func() (orchestrator.Session, error) { return k.Store.SaveSession(ctx, s) })
}

// DeleteSession is a write.
func (k *Killed) DeleteSession(ctx context.Context, id string) error {
	return write(ctx, k, func() error { return k.Store.DeleteSession(ctx, id) })
}

// BeginTurn is a write.
func (k *Killed) BeginTurn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, bool, error) {
	created := false
	turn, err := executiontest.Write(ctx, k.Process, func() (turn orchestrator.Turn, err error) {
		turn, created, err = k.Store.BeginTurn(ctx, t)
		return turn, err
	})
	return turn, created && err == nil, err
}

// SaveTurn is a write.
func (k *Killed) SaveTurn(ctx context.Context, t orchestrator.Turn) (orchestrator.Turn, error) {
	return executiontest.Write(ctx, k.Process, func() (orchestrator.Turn, error) { return k.Store.SaveTurn(ctx, t) })
}

// Turn is a read.
func (k *Killed) Turn(ctx context.Context, key orchestrator.TurnKey) (orchestrator.Turn, error) {
	return executiontest.Read(ctx, k.Process, func() (orchestrator.Turn, error) { return k.Store.Turn(ctx, key) })
}

// SessionState is a read.
func (k *Killed) SessionState(ctx context.Context, sessionID string, runs int) (orchestrator.SessionState, error) {
	return executiontest.Read(ctx, k.Process, func() (orchestrator.SessionState, error) { return k.Store.SessionState(ctx, sessionID, runs) })
}

// ListTurns is a read.
func (k *Killed) ListTurns(ctx context.Context, f orchestrator.TurnFilter) ([]orchestrator.Turn, error) {
	return executiontest.Read(ctx, k.Process, func() ([]orchestrator.Turn, error) { return k.Store.ListTurns(ctx, f) })
}
