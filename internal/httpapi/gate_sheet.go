package httpapi

import (
	"cmp"
	"slices"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/contracts/gateview"
)

// sheet returns a gate in the form that people read. The steps that wait for the gate belong to the
// run and need permission to read it.
func (s *gateRoutes) sheet(k *call) error {
	gate, err := s.gates.Get(k.ctx(), k.who, k.param("id"))
	if err != nil {
		return err
	}
	out := sheetOf(gate)
	rights, err := s.gates.Rights(k.ctx(), k.who, gate)
	if err != nil {
		return err
	}
	out.May = mayOf(rights)
	s.capability(gate, &out)
	if run, err := s.runs.Get(k.ctx(), k.who, gate.RunID, 0); gate.RunID != "" && err == nil {
		out.After = waitingFor(run, gate.NodeID)
	}
	return k.ok(out)
}

func sheetOf(gate contracts.Interrupt) contracts.GateView {
	out := contracts.GateView{
		Asks: gateview.Asks(gate), Mark: gateview.Mark(gate.AfterReading), Lines: pairs(gateview.Lines(gate)), Terms: pairs(gateview.Terms(gate)),
		People: gateview.People(gate), Approvals: gateview.Approvals(gate),
	}
	for _, row := range gateview.Of(gate) {
		out.Rows = append(out.Rows, contracts.GateViewRow(row))
	}
	return out
}

func pairs(from [][2]string) [][]string {
	out := make([][]string, len(from))
	for i, pair := range from {
		out[i] = pair[:]
	}
	return out
}

func mayOf(rights map[contracts.Decision]error) contracts.GatePermissions {
	may := func(d contracts.Decision) bool {
		err, known := rights[d]
		return known && err == nil
	}
	out := contracts.GatePermissions{
		Approve: may(contracts.DecisionApprove), Edit: may(contracts.DecisionEdit), Reject: may(contracts.DecisionReject), Answer: may(contracts.DecisionAnswer),
	}
	if why := cmp.Or(rights[contracts.DecisionApprove], rights[contracts.DecisionEdit], rights[contracts.DecisionReject], rights[contracts.DecisionAnswer]); why != nil {
		out.Why = why.Error()
	}
	return out
}

// capability adds the catalog's data of the gate's action.
func (s *gateRoutes) capability(gate contracts.Interrupt, out *contracts.GateView) {
	if gate.Action == nil {
		return
	}
	entry, ok := s.registry.Catalog().Capability(gate.Action.Capability)
	if !ok {
		return
	}
	out.Schema = entry.Capability.Schema
	if rule := entry.Capability.Metadata.Verify; rule != nil {
		out.Verify = rule.Capability
	}
	if undo := entry.Capability.Metadata.Compensation; undo != nil {
		out.Undo = undo.Capability
	}
}

// waitingFor returns the steps of a run that depend on one of its nodes.
func waitingFor(run contracts.RunView, node string) (out []contracts.StepID) {
	for i := range run.Nodes {
		if n := &run.Nodes[i]; slices.Contains(n.DependsOn, node) {
			out = append(out, contracts.StepID{NodeID: n.NodeID, Title: n.Title, Tool: n.Tool})
		}
	}
	return out
}
