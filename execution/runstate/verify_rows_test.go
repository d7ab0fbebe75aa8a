package runstate_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/execution/runstate"
)

// TestASaltedLedgerTellsNothing checks that the entries alone do not show whether a known plan is
// theirs; the payloads do.
func TestASaltedLedgerTellsNothing(t *testing.T) {
	t.Parallel()
	plan := contracts.Plan{Goal: "dismiss Ana", PlanHash: "4711"}
	entry, err := runstate.PlanEntry(plan, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	plain := entry.LedgerEntry
	salt := bytes.Repeat([]byte{7}, runstate.SaltSize)
	sealed, payloads, _, err := runstate.Chain{RunID: "r", Salt: func() []byte { return salt }}.Seal([]runstate.Entry{entry})
	if err != nil || len(payloads) != 1 {
		t.Fatalf("%d payloads, %v", len(payloads), err)
	}
	got := sealed[0]
	if got.PayloadSHA256 == plain.PayloadSHA256 || got.ActionSHA256 == plain.ActionSHA256 {
		t.Error("the ledger keeps a hash that can be guessed")
	}
	payload, err := runstate.OpenPayload(runstate.Format3, got, payloads[0])
	if err != nil || !payload.Names(got, "4711") || payload.Names(got, "4712") {
		t.Errorf("the payload does not open: %v", err)
	}
	if _, err := runstate.OpenPayload(runstate.Format3, got, append(bytes.Clone(payloads[0]), ' ')); contracts.CodeOf(err) != contracts.CodeConflict {
		t.Errorf("a changed payload opens: %v", err)
	}
}

func TestRowsThatAreNotThoseOfTheLedger(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC)
	plan := contracts.Plan{Goal: "pay", PlanHash: "4711", Nodes: []contracts.Node{{NodeID: "n1"}, {NodeID: "n2"}}}
	first, err := runstate.PlanEntry(plan, at)
	if err != nil {
		t.Fatal(err)
	}
	sealed, payloads, _, err := runstate.Chain{RunID: "r", Salt: func() []byte { return make([]byte, runstate.SaltSize) }}.Seal([]runstate.Entry{first})
	if err != nil {
		t.Fatal(err)
	}
	read := func(e contracts.LedgerEntry) ([]byte, error) { return payloads[e.Seq-1], nil }
	sound := func() runstate.Snapshot {
		own := plan
		own.Nodes = slices.Clone(plan.Nodes) // a case changes them
		return runstate.Snapshot{
			Run:   runstate.Run{ID: "r", Format: runstate.Format3, Plan: own},
			Nodes: []runstate.Row{{NodeID: "n1", State: contracts.NodePending}, {NodeID: "n2", State: contracts.NodeRunning}},
		}
	}
	for name, tt := range map[string]struct {
		change func(*runstate.Snapshot)
		read   func(contracts.LedgerEntry) ([]byte, error)
		want   string
	}{
		"nothing":           {func(*runstate.Snapshot) {}, read, ""},
		"another goal":      {func(s *runstate.Snapshot) { s.Run.Plan.Goal = "rob" }, read, "the plan is not the one"},
		"another hash":      {func(s *runstate.Snapshot) { s.Run.Plan.PlanHash = "4712" }, read, "the plan is not the one"},
		"a missing node":    {func(s *runstate.Snapshot) { s.Nodes = s.Nodes[:1] }, read, "node n2 is in the plan and has no row"},
		"a node that ended": {func(s *runstate.Snapshot) { s.Nodes[0].State = contracts.NodeCompleted }, read, "node n1 has ended, and no entry says how"},
		"skipped for a failure": {func(s *runstate.Snapshot) {
			s.Run.Plan.Nodes[1].DependsOn = []string{"n1"}
			s.Nodes[0].State, s.Nodes[1].State, s.Nodes[1].Skip = contracts.NodeFailed, contracts.NodeSkipped, runstate.SkipUpstreamFailed
		}, read, "the plan is not the one of entry 1; node n1 has ended, and no entry says how"},
		"skipped for nothing": {func(s *runstate.Snapshot) {
			s.Nodes[1].State, s.Nodes[1].Skip = contracts.NodeSkipped, runstate.SkipUpstreamFailed
		}, read, "node n2 has ended, and no entry says how"},
		"a write of nobody":      {func(s *runstate.Snapshot) { s.Intents = []runstate.Intent{{Key: "r/n1/1"}} }, read, "the write r/n1/1 is not the one"},
		"a payload that is gone": {func(*runstate.Snapshot) {}, func(contracts.LedgerEntry) ([]byte, error) { return nil, errors.New("no") }, "the payload of entry 1 is not there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := sound()
			tt.change(&s)
			got := strings.Join(runstate.VerifyRows(s, sealed, tt.read), "; ")
			if (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
