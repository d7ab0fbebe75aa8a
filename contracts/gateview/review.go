package gateview

import (
	"fmt"
	"strings"

	"github.com/manifold-run/manifold/contracts"
)

// People returns the number of approvals that a gate needs.
func People(i contracts.Interrupt) int {
	if i.Eyes() == contracts.EyesTwoPersons {
		return max(i.Quorum, 2)
	}
	return max(i.Quorum, 1)
}

// Approvals returns the number of approvals given.
func Approvals(i contracts.Interrupt) int {
	n := 0
	for _, d := range i.Decisions {
		if d.Decision == contracts.DecisionApprove {
			n++
		}
	}
	return n
}

// Terms returns the review conditions of a gate as pairs of name and text: the named reviewers,
// the approvals given and needed, and the earliest time of approval.
func Terms(i contracts.Interrupt) [][2]string {
	var out [][2]string
	if len(i.Reviewers) > 0 {
		out = append(out, [2]string{"reviewed by", strings.Join(i.Reviewers, ", ")})
	}
	if n := People(i); n > 1 && i.Type.IsGate() {
		out = append(out, [2]string{"approvals", fmt.Sprintf("%d of %d", Approvals(i), n)})
	}
	if i.Eyes() == contracts.EyesOwn {
		out = append(out, [2]string{"or approved by", "whoever asked, alone: it is done with their own login"})
	}
	if i.DecidableAt != nil {
		out = append(out, [2]string{"can be approved from", i.DecidableAt.UTC().Format("2006-01-02 15:04 UTC")})
	}
	return out
}

// Approvers describes who must approve an action with this policy.
func Approvers(p contracts.Policy) string {
	text := strings.Join(p.Approval.Roles, " or ")
	if p.Approval.Quorum > 1 {
		text = fmt.Sprintf("%d of: %s", p.Approval.Quorum, text)
	}
	if len(p.Approval.People) > 0 {
		text += " (" + strings.Join(p.Approval.People, ", ") + ")"
	}
	switch p.Eyes() {
	case contracts.EyesFour, contracts.EyesStrict:
		text += ", not the requester"
	case contracts.EyesTwoPersons:
		text += ", and the requester"
	case contracts.EyesOwn:
		text += ", or the requester alone"
	}
	if p.Reason != "" {
		text += ": " + contracts.CleanSummary(p.Reason)
	}
	return text
}
