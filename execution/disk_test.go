package execution_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/decision"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/internal/sample"
)

// disk is a store whose disk is full for a time from its nth write on. It can be read, but nothing
// can be changed, including leases.
type disk struct {
	execution.Store

	nth  int
	full time.Duration

	mu      sync.Mutex // guards the fields below
	writes  int
	until   time.Time // when there is space again
	refused int
}

// write returns nil if there is space.
func (d *disk) write() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.writes++
	if d.writes == d.nth {
		d.until = time.Now().Add(d.full)
	}
	if !time.Now().Before(d.until) {
		return nil
	}
	d.refused++
	return contracts.Errorf(contracts.CodeUnavailable, "commit: the disk is full")
}

// struck reports whether the nth write was made.
func (d *disk) struck() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.writes >= d.nth
}

func changed[T any](d *disk, do func() (T, error)) (T, error) {
	var none T
	if err := d.write(); err != nil {
		return none, err
	}
	return do()
}

func (d *disk) CreateRun(ctx context.Context, run execution.Run, ttl time.Duration, first execution.Transition) error {
	_, err := changed(d, func() (any, error) { return nil, d.Store.CreateRun(ctx, run, ttl, first) })
	return err
}

func (d *disk) Commit(ctx context.Context, t execution.Transition) (execution.Committed, error) {
	return changed(d, func() (execution.Committed, error) { return d.Store.Commit(ctx, t) })
}

func (d *disk) AcquireRun(ctx context.Context, runID, owner string, ttl time.Duration) (execution.Lease, error) {
	return changed(d, func() (execution.Lease, error) { return d.Store.AcquireRun(ctx, runID, owner, ttl) })
}

// RenewLeases depends on the clock; it is refused, but does not start a shortage.
func (d *disk) RenewLeases(ctx context.Context, owner string, held []execution.Lease, ttl time.Duration) (map[string]int64, error) {
	d.mu.Lock()
	full := time.Now().Before(d.until)
	d.mu.Unlock()
	if full {
		return nil, unavailable()
	}
	return d.Store.RenewLeases(ctx, owner, held, ttl)
}

func (d *disk) ReleaseRun(ctx context.Context, l execution.Lease) error {
	_, err := changed(d, func() (any, error) { return nil, d.Store.ReleaseRun(ctx, l) })
	return err
}

func (d *disk) SaveInterrupt(ctx context.Context, i execution.InterruptAt) (contracts.Interrupt, error) {
	return changed(d, func() (contracts.Interrupt, error) { return d.Store.SaveInterrupt(ctx, i) })
}

func (d *disk) RecordOutcome(ctx context.Context, nonce string, o execution.Outcome) (bool, error) {
	return changed(d, func() (bool, error) { return d.Store.RecordOutcome(ctx, nonce, o) })
}

func (d *disk) RecordOperation(ctx context.Context, nonce, operation string) error {
	_, err := changed(d, func() (any, error) { return nil, d.Store.RecordOperation(ctx, nonce, operation) })
	return err
}

func (d *disk) AcquireLocks(ctx context.Context, l execution.Lease, nodeID string, keys []string) (execution.LockHolder, bool, error) {
	if err := d.write(); err != nil {
		return execution.LockHolder{}, false, err
	}
	return d.Store.AcquireLocks(ctx, l, nodeID, keys)
}

// announced fails the test if a write is sent that is not in the ledger.
func (w *world) announced(c execution.Call) {
	entries, err := w.store.Ledger(w.t.Context(), c.Context.RunID, 0, 0)
	known := slices.ContainsFunc(entries, func(e contracts.LedgerEntry) bool {
		return e.Kind == contracts.LedgerIntent && e.Key == c.Context.IdempotencyKey
	})
	if err != nil || !known {
		w.t.Errorf("%s was sent before it was announced (%v)", c.Context.IdempotencyKey, err)
	}
}

// patient submits the plan and approves every gate, and tries again while the disk is full.
func (w *world) patient(r *execution.Runner, nodes ...contracts.Node) contracts.RunView {
	w.t.Helper()
	plan := w.plan(nodes...)
	plan.RunID = "run_disk"
	w.again("submit", func() error { _, err := r.Submit(w.t.Context(), "s1", plan); return err })
	return w.until(r, plan.RunID, "ended", func(v contracts.RunView) bool {
		for _, g := range v.Interrupts {
			w.again("approve", func() error {
				_, err := r.Decide(w.t.Context(), g.InterruptID, contracts.Resume{
					Decision: contracts.DecisionApprove, ActionSHA256: g.ActionSHA256,
				}, decision.Decider{ID: "bob", May: anybody})
				return err
			})
		}
		return v.State.Terminal()
	})
}

// again repeats what a full disk refuses; other errors fail the test.
func (w *world) again(what string, do func() error) {
	w.t.Helper()
	for {
		err := do()
		if err == nil {
			return
		}
		if contracts.CodeOf(err) != contracts.CodeUnavailable || !strings.Contains(err.Error(), "the disk is full") {
			w.t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(time.Second) // bubble time
	}
}

// alwaysWritten is the least number of writes of a run of the plan. Further ones depend on what is
// ready at the same time.
const alwaysWritten = 10

func TestAFullDiskIsWaitedOutAtEveryWrite(t *testing.T) {
	t.Parallel()
	for _, kind := range []contracts.Idempotency{contracts.IdempotencyKeyed, contracts.IdempotencyNone} {
		writes := 0
		t.Run(string(kind)+" with room enough", func(t *testing.T) {
			bubbleNow(t, func(t *testing.T, w *world) {
				t.Helper()
				d := &disk{Store: w.store}
				w.patient(w.runnerOn(d), w.crashPlan(kind)...)
				writes = d.writes
			})
		})
		if writes < alwaysWritten {
			t.Fatalf("only %d writes to the store", writes)
		}
		for _, i := range sample.Of(t, 2*writes, 4) {
			n, full := 1+i/2, []time.Duration{3 * time.Second, time.Hour}[i%2]
			t.Run(fmt.Sprintf("%s full for %s from write %d", kind, full, n), func(t *testing.T) {
				bubble(t, func(t *testing.T, w *world) {
					t.Helper()
					w.waitOut(kind, n, full)
				})
			})
		}
	}
}

// waitOut makes the disk full from write n on, and checks that the work is done, once, when there
// is space again.
func (w *world) waitOut(kind contracts.Idempotency, n int, full time.Duration) {
	w.t.Helper()
	nodes := w.crashPlan(kind)
	order := w.caps["order"].do
	w.caps["order"].do = func(ctx context.Context, c execution.Call) execution.Reply {
		w.announced(c)
		return order(ctx, c)
	}
	d := &disk{Store: w.store, nth: n, full: full}
	began := time.Now()
	r := w.runnerOn(d)
	v := w.patient(r, nodes...)
	if n > alwaysWritten && !d.struck() {
		return // this run ended with fewer writes
	}
	if d.refused == 0 || time.Since(began) < full {
		w.t.Fatalf("the disk refused %d writes, the run took %s", d.refused, time.Since(began))
	}
	if v.State != contracts.RunCompleted || v.Verdict.Status != contracts.VerdictVerified {
		w.t.Errorf("state %s, verdict %+v", v.State, v.Verdict)
	}
	applied := w.applied()
	if applied[v.RunID+"/n4/1"] != 1 || applied[v.RunID+"/n5/1"] != 1 || len(applied) != 2 {
		w.t.Errorf("effects %v", applied)
	}
	entries, err := w.store.Ledger(w.t.Context(), v.RunID, 0, 0)
	if err != nil || execution.VerifyChain(entries) != nil {
		w.t.Errorf("ledger: %v, %v", err, execution.VerifyChain(entries))
	}
	if replayed, err := r.Replay(w.t.Context(), v.RunID); err != nil || len(replayed.Differences) > 0 {
		w.t.Errorf("replay %+v, %v", replayed, err)
	}
	if left, err := w.store.Locks(w.t.Context(), contracts.Page{}); err != nil || len(left.Items) > 0 {
		w.t.Errorf("locks left: %v, %v", left, err)
	}
}

func TestARunThatWaitsForTheStoreSaysSoOnce(t *testing.T) {
	bubble(t, func(t *testing.T, w *world) {
		w.read("get", answering(map[string]any{"n": 1}))
		var log bytes.Buffer // read after the run has ended
		d := &disk{Store: executiontest.NewStore(), nth: 2, full: time.Minute}
		w.store = d.Store
		r := w.runnerOn(d, func(c *execution.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		w.patient(r, w.node("n1", "get", nil))
		if err := r.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		text := log.String()
		if strings.Count(text, "run waits for the store") != 1 || !strings.Contains(text, "the disk is full") || strings.Count(text, "the store is back") != 1 {
			t.Errorf("the log says:\n%s", text)
		}
	})
}
