package app

import (
	"errors"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent"
	"github.com/manifold-run/manifold/planner"
)

// draftFaults compiles a draft like a request and returns its faults. Missing parameters are not
// faults, because they are asked for later.
func draftFaults(req intent.Request, d contracts.Draft) []contracts.Fault {
	compile := planner.Request{
		Goal: contracts.CleanSummary(req.Message), Draft: &d, Catalog: req.Catalog, Owner: contracts.Principal{Roles: req.Roles}, Phase: req.Phase,
	}
	if len(req.Running) > 0 {
		compile.Running = &planner.Running{Nodes: req.Running}
	}
	_, err := planner.Compile(compile)
	var fault *contracts.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &fault) && len(fault.Faults) > 0:
		return fault.Faults
	default:
		return []contracts.Fault{{Message: err.Error()}}
	}
}
