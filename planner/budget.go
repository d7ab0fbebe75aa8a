package planner

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

func fault(pointer, format string, args ...any) contracts.Fault {
	return contracts.Fault{Pointer: pointer, Message: fmt.Sprintf(format, args...)}
}

// checkBudgets refuses negative values.
func checkBudgets(b contracts.Budgets) error {
	var faults []contracts.Fault
	for _, f := range []struct {
		name  string
		value int
	}{
		{"max_nodes", b.MaxNodes},
		{"max_retries", b.MaxRetries},
		{"max_tool_calls", b.MaxToolCalls},
		{"max_tokens", b.MaxTokens},
	} {
		if f.value < 0 {
			faults = append(faults, fault("/budgets/"+f.name, "must not be negative; 0 means the default"))
		}
	}
	if len(faults) > 0 {
		return contracts.Invalid("the budgets are not right", faults...)
	}
	return nil
}

// nodeLimit returns how many nodes a plan may have: a budget can lower the contract's limit, but
// not raise it.
func nodeLimit(b contracts.Budgets) int {
	if b.MaxNodes == 0 {
		return contracts.MaxNodes
	}
	return min(b.MaxNodes, contracts.MaxNodes)
}

func tooManyNodes(what string, limit int) error {
	return contracts.Errorf(contracts.CodeBudgetExceeded,
		"%s needs more than the %d steps that a run may have; ask for less at once", what, limit)
}

// checkReach refuses plans that exceed the request: too many calls, a step of another phase, or a
// dry run with a write that does not support it.
func checkReach(p contracts.Plan) error {
	calls := 0
	var faults []contracts.Fault
	for i, n := range p.Nodes {
		if p.Phase != "" && n.Phase != "" && n.Phase != p.Phase {
			return contracts.Errorf(contracts.CodeForbidden, "the step %q is of the phase %q, and the request is held to %q", n.Title, n.Phase, p.Phase)
		}
		if n.Policy == nil {
			continue
		}
		if n.Merge == contracts.MergeAllCompleted { // branches of a workflow exclude each other: its calls are counted in the run
			calls++
		}
		if p.DryRun && n.Policy.SideEffectClass.Writes() && !n.Policy.DryRun {
			faults = append(faults, fault(fmt.Sprintf("/nodes/%d", i), "%s writes and cannot pretend to", n.Tool))
		}
	}
	if len(faults) > 0 {
		return dryRunRefused(faults)
	}
	if limit := p.Budgets.MaxToolCalls; limit > 0 && calls > limit {
		return contracts.Errorf(contracts.CodeBudgetExceeded,
			"the plan makes %d calls and its budget allows %d", calls, limit)
	}
	return nil
}

func dryRunRefused(faults []contracts.Fault) error {
	return &contracts.Error{
		Code:    contracts.CodeUnsupported,
		Message: "the dry run would reach writes that do not support it",
		Faults:  faults,
	}
}
