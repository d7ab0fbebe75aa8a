package planner

import (
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// hashed is a plan without the members that its hash omits: the outer fields hide the embedded
// fields of the same name, and are empty.
type hashed struct {
	contracts.Plan
	PlanID   *struct{} `json:"plan_id,omitempty"`
	PlanHash *struct{} `json:"plan_hash,omitempty"`
}

// HashPlan returns the hash of a plan without plan_id, run_id, flags and plan_hash.
func HashPlan(p contracts.Plan) (string, error) {
	p.RunID, p.Flags = "", nil // empty members are omitted
	hash, err := contracts.Hash(hashed{Plan: p})
	if err != nil {
		return "", fmt.Errorf("hash plan %s: %w", p.PlanID, err)
	}
	return hash, nil
}
