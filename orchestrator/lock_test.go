package orchestrator_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/orchestrator/access"
)

// holding stores a run whose node n1 holds the key.
func (o *office) holding(key string) {
	o.t.Helper()
	now := time.Now()
	run := execution.Run{
		ID: "run_held", SessionID: "s1", Format: execution.Format, Owner: "another replica", State: contracts.RunRunning,
		Plan: contracts.Plan{RunID: "run_held", Owner: ana.Contract()}, CreatedAt: now, UpdatedAt: now,
	}
	plan := contracts.LedgerEntry{Seq: 1, At: now, RunID: run.ID, Kind: contracts.LedgerPlan}
	if err := plan.Seal(""); err != nil {
		o.t.Fatal(err)
	}
	if err := o.store.CreateRun(o.t.Context(), run, time.Hour, execution.Transition{At: now, Ledger: []contracts.LedgerEntry{plan}}); err != nil {
		o.t.Fatal(err)
	}
	lease := execution.Lease{RunID: run.ID, Owner: run.Owner, Epoch: 1}
	if _, taken, err := o.store.AcquireLocks(o.t.Context(), lease, "n1", []string{key}); err != nil || !taken {
		o.t.Fatalf("the lock is not held: %v", err)
	}
}

func TestWhoBreaksALockStandsInTheLedger(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.holding("people:ana")
	root := access.Principal{Kind: access.KindUser, ID: "root", Roles: []access.Role{access.RoleAdmin}}
	if _, err := o.Runs.BreakLock(t.Context(), ana, "people:ana"); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("an operator may break it: %v", err)
	}
	if _, err := o.Runs.BreakLock(t.Context(), root, "people:ana"); err != nil {
		t.Fatal(err)
	}
	entries, err := o.Audit.Ledger(t.Context(), root, execution.LockChain, contracts.Page{})
	if err != nil || len(entries.Items) != 1 {
		t.Fatalf("%d entries, %v", len(entries.Items), err)
	}
	got := entries.Items[0]
	want := contracts.LedgerEntry{
		Seq: 1, At: got.At, RunID: "locks", Kind: contracts.LedgerLockBroken, NodeID: "run_held/n1", Key: "people:ana", Actor: root.Subject(), Hash: got.Hash,
	}
	if diff := cmp.Diff(want, got); diff != "" || got.Hash == "" {
		t.Errorf("ledger (-want +got):\n%s", diff)
	}
	if _, err := o.Audit.Ledger(t.Context(), vic, execution.LockChain, contracts.Page{}); contracts.CodeOf(err) != contracts.CodeForbidden {
		t.Errorf("somebody without the right reads it: %v", err)
	}
	report, err := o.Audit.Verify(t.Context(), root, "")
	if err != nil || !report.OK || report.Runs != 1 || report.Entries != 2 {
		t.Errorf("audit %+v, %v", report, err)
	}
}
