package orchestrator_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/gates"
)

// The gate of a quorum stays open after the first approval; the approver's link is used up
// nevertheless.
func TestALinkCountsOnceEvenWhileItsGateStaysOpen(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	for _, d := range o.catalog.Domains {
		for _, c := range d.Capabilities {
			c.Policy.Approval.Quorum = 2
		}
	}
	r := o.ask("book 2 days off for Bruno Keller from 2026-12-07")
	approval := contracts.Resume{Decision: contracts.DecisionApprove, ActionSHA256: r.Interrupt.ActionSHA256}
	i, err := o.Decide(t.Context(), linked(bob), r.Interrupt.InterruptID, approval, 0)
	if err != nil || i.Status != contracts.InterruptOpen || i.Decisions[0].Via != gates.ByLink {
		t.Fatalf("%+v %v", i, err)
	}
	for _, d := range []contracts.Decision{contracts.DecisionApprove, contracts.DecisionReject} {
		again := contracts.Resume{Decision: d, ActionSHA256: r.Interrupt.ActionSHA256}
		if _, err := o.Decide(t.Context(), linked(bob), r.Interrupt.InterruptID, again, 0); contracts.CodeOf(err) != contracts.CodeConflict {
			t.Errorf("%s through the used link: %v", d, err)
		}
	}
	if got, err := o.Gates.Get(t.Context(), bob, r.Interrupt.InterruptID); err != nil || len(got.Decisions) != 1 || got.Status != contracts.InterruptOpen {
		t.Errorf("%+v %v", got, err)
	}
}

func linked(who access.Principal) access.Principal {
	who.Via = gates.ByLink
	return who
}
