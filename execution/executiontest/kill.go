package executiontest

import (
	"context"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
)

var _ execution.Store = (*Killed)(nil)

// Moment specifies whether the process dies before or after a write.
type Moment string

// The moments: the write is lost, or it is stored and its result is lost.
const (
	Before Moment = "before"
	After  Moment = "after"
)

// Killed is a store as seen by a process that is killed at one of its writes. After that no call
// has an effect, and none returns until its context ends or Bury is called. The underlying store is
// not affected: a test abandons the old runner and starts a new one on it.
//
// All calls that change something count as writes, except RenewLeases and Sweep, which depend on
// the clock: the number of a write is the same in every execution of a test.
type Killed struct {
	store execution.Store
	n     int
	at    Moment
	dead  chan struct{}
	grave chan struct{}

	dying, burying sync.Once

	mu     sync.Mutex // guards the field below
	writes int
}

// KillAt kills the process at the nth write (from 1) of the store. With n = 0 it only counts the
// writes.
func KillAt(store execution.Store, n int, at Moment) *Killed {
	return &Killed{store: store, n: n, at: at, dead: make(chan struct{}), grave: make(chan struct{})}
}

// Dead is closed when the process has died.
func (k *Killed) Dead() <-chan struct{} { return k.dead }

// Bury makes hanging calls return an error, so that the goroutines of the dead process can end. It
// kills a process that is still alive.
func (k *Killed) Bury() {
	k.die()
	k.burying.Do(func() { close(k.grave) })
}

func (k *Killed) die() { k.dying.Do(func() { close(k.dead) }) }

// Writes returns the number of writes so far.
func (k *Killed) Writes() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.writes
}

func (k *Killed) isDead() bool {
	select {
	case <-k.dead:
		return true
	default:
		return false
	}
}

// write counts a write unless the process is dead, and reports whether the process dies at it.
func (k *Killed) write() (alive, fatal bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.isDead() {
		return false, false
	}
	k.writes++
	fatal = k.writes == k.n
	if fatal && k.at != After {
		k.die()
	}
	return true, fatal
}

// hang blocks a call of a dead process.
func (k *Killed) hang(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return contracts.Errorf(contracts.CodeUnavailable, "the process was killed: %w", ctx.Err())
	case <-k.grave:
		return contracts.Errorf(contracts.CodeUnavailable, "the process was killed")
	}
}

// read makes a call that is not a write.
func read[T any](ctx context.Context, k *Killed, do func() (T, error)) (T, error) {
	var none T
	if k.isDead() {
		return none, k.hang(ctx)
	}
	v, err := do()
	if k.isDead() {
		return none, k.hang(ctx)
	}
	return v, err
}

// changes makes a call that is a write.
func changes[T any](ctx context.Context, k *Killed, do func() (T, error)) (T, error) {
	var none T
	alive, fatal := k.write()
	if alive && !fatal {
		return do()
	}
	if fatal && k.at == After {
		_, _ = do() // nobody receives an error
		k.die()
	}
	return none, k.hang(ctx)
}

// settle is changes for a call that returns only an error.
func (k *Killed) settle(ctx context.Context, do func() error) error {
	_, err := changes(ctx, k, func() (struct{}, error) { return struct{}{}, do() })
	return err
}

// CreateRun is a write.
func (k *Killed) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	return k.settle(ctx, func() error { return k.store.CreateRun(ctx, run, ttl, first) })
}

// LoadRun is a read.
func (k *Killed) LoadRun(ctx context.Context, runID string) (execution.Snapshot, error) {
	return read(ctx, k, func() (execution.Snapshot, error) { return k.store.LoadRun(ctx, runID) })
}

// Commit is a write.
func (k *Killed) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	return changes(ctx, k, func() (execution.Committed, error) { return k.store.Commit(ctx, t) })
}

// ReadSignals is a read.
func (k *Killed) ReadSignals(ctx context.Context, runID string) (execution.Signals, error) {
	return read(ctx, k, func() (execution.Signals, error) { return k.store.ReadSignals(ctx, runID) })
}

// RequestCancel is a write.
func (k *Killed) RequestCancel(ctx context.Context, runID, by string) error {
	return k.settle(ctx, func() error { return k.store.RequestCancel(ctx, runID, by) })
}

// AcquireRun is a write.
func (k *Killed) AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	return changes(ctx, k, func() (execution.Lease, error) { return k.store.AcquireRun(ctx, runID, owner, ttl) })
}

// RenewLeases is not counted, because it depends on the clock.
func (k *Killed) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	return read(ctx, k, func() (map[string]int64, error) { return k.store.RenewLeases(ctx, owner, held, ttl) })
}

// ReleaseRun is a write.
func (k *Killed) ReleaseRun(ctx context.Context, l execution.Lease) error {
	return k.settle(ctx, func() error { return k.store.ReleaseRun(ctx, l) })
}

// DueRuns is a read.
func (k *Killed) DueRuns(ctx context.Context, formats []int, limit int) ([]string, error) {
	return read(ctx, k, func() ([]string, error) { return k.store.DueRuns(ctx, formats, limit) })
}

// NextWake is a read.
func (k *Killed) NextWake(ctx context.Context) (time.Time, error) {
	return read(ctx, k, func() (time.Time, error) { return k.store.NextWake(ctx) })
}

// InterruptByCode is a read.
func (k *Killed) InterruptByCode(ctx context.Context, code string) (contracts.Interrupt, error) {
	return read(ctx, k, func() (contracts.Interrupt, error) { return k.store.InterruptByCode(ctx, code) })
}

// Interrupts is a read.
func (k *Killed) Interrupts(ctx context.Context, f execution.InterruptFilter) ([]contracts.Interrupt, error) {
	return read(ctx, k, func() ([]contracts.Interrupt, error) { return k.store.Interrupts(ctx, f) })
}

// InterruptAt is a read.
func (k *Killed) InterruptAt(ctx context.Context, id string) (execution.InterruptAt, error) {
	return read(ctx, k, func() (execution.InterruptAt, error) { return k.store.InterruptAt(ctx, id) })
}

// SaveInterrupt is a write.
func (k *Killed) SaveInterrupt(ctx context.Context, i execution.InterruptAt) (contracts.Interrupt, error) {
	return changes(ctx, k, func() (contracts.Interrupt, error) { return k.store.SaveInterrupt(ctx, i) })
}

// OpenInterrupt is a write.
func (k *Killed) OpenInterrupt(ctx context.Context, i contracts.Interrupt, e contracts.Event) error {
	return k.settle(ctx, func() error { return k.store.OpenInterrupt(ctx, i, e) })
}

// RecordOutcome is a write.
func (k *Killed) RecordOutcome(ctx context.Context, nonce string, o execution.Outcome) (bool, error) {
	return changes(ctx, k, func() (bool, error) { return k.store.RecordOutcome(ctx, nonce, o) })
}

// RecordOperation is a write.
func (k *Killed) RecordOperation(ctx context.Context, nonce, operation string) error {
	return k.settle(ctx, func() error { return k.store.RecordOperation(ctx, nonce, operation) })
}

// AcquireLocks is a write.
func (k *Killed) AcquireLocks(ctx context.Context, l execution.Lease, nodeID string, keys []string) (execution.LockHolder, bool, error) {
	got := false
	holder, err := changes(ctx, k, func() (h execution.LockHolder, err error) {
		h, got, err = k.store.AcquireLocks(ctx, l, nodeID, keys)
		return h, err
	})
	return holder, got && err == nil, err
}

// Locks is a read.
func (k *Killed) Locks(ctx context.Context, p contracts.Page) (contracts.List[execution.LockHolder], error) {
	return read(ctx, k, func() (contracts.List[execution.LockHolder], error) { return k.store.Locks(ctx, p) })
}

// BreakLock is a write.
func (k *Killed) BreakLock(ctx context.Context, key, by string) (execution.LockHolder, error) {
	return changes(ctx, k, func() (execution.LockHolder, error) { return k.store.BreakLock(ctx, key, by) })
}

// Events is a read.
func (k *Killed) Events(ctx context.Context, sessionID string, after int64, limit int) ([]contracts.Event, error) {
	return read(ctx, k, func() ([]contracts.Event, error) { return k.store.Events(ctx, sessionID, after, limit) })
}

// Ledger is a read.
func (k *Killed) Ledger(ctx context.Context, runID string, after int64, limit int) ([]contracts.LedgerEntry, error) {
	return read(ctx, k, func() ([]contracts.LedgerEntry, error) { return k.store.Ledger(ctx, runID, after, limit) })
}

// ListRuns is a read.
func (k *Killed) ListRuns(ctx context.Context, f execution.RunFilter) (contracts.List[execution.Run], error) {
	return read(ctx, k, func() (contracts.List[execution.Run], error) { return k.store.ListRuns(ctx, f) })
}

// CountRuns is a read.
func (k *Killed) CountRuns(ctx context.Context, f execution.RunFilter) (map[contracts.RunState]int, error) {
	return read(ctx, k, func() (map[contracts.RunState]int, error) { return k.store.CountRuns(ctx, f) })
}

// Probe writes to the store.
func (k *Killed) Probe(ctx context.Context) error { return k.store.Probe(ctx) }

// Sweep is not counted, because it depends on the clock.
func (k *Killed) Sweep(ctx context.Context, finishedBefore time.Time) (execution.Swept, error) {
	return read(ctx, k, func() (execution.Swept, error) { return k.store.Sweep(ctx, finishedBefore) })
}

// Blob is a read.
func (k *Killed) Blob(ctx context.Context, sha256 string) ([]byte, error) {
	return read(ctx, k, func() ([]byte, error) { return k.store.Blob(ctx, sha256) })
}

// Payload is a read.
func (k *Killed) Payload(ctx context.Context, e contracts.LedgerEntry) ([]byte, error) {
	return read(ctx, k, func() ([]byte, error) { return k.store.Payload(ctx, e) })
}

// NodeData is a read.
func (k *Killed) NodeData(ctx context.Context, runID, nodeID string) ([]byte, error) {
	return read(ctx, k, func() ([]byte, error) { return k.store.NodeData(ctx, runID, nodeID) })
}

// Read makes a call that is not a write, on another store of the same process.
func Read[T any](ctx context.Context, k *Killed, do func() (T, error)) (T, error) {
	return read(ctx, k, do)
}

// Write makes a call that is a write, on another store of the same process.
func Write[T any](ctx context.Context, k *Killed, do func() (T, error)) (T, error) {
	return changes(ctx, k, do)
}
