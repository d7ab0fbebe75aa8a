// Package policy decides what the domain permits: whether a flow that may act is
// asked, what differing definitions mean, whether a flow is still the one that was
// looked at, and that only bytes which passed validation are written, once.
package policy

import (
	"fmt"

	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Rules are the policies of one installation over its servers.
type Rules struct {
	site *site.Site

	Drift  Drift
	Acting Acting
}

// New refuses policies that there are not.
func New(s *site.Site, drift Drift, acting Acting) (*Rules, error) {
	switch drift {
	case DriftWarn, DriftFail, DriftRefresh:
	default:
		return nil, fmt.Errorf("drift policy %q: it is warn, fail or refresh", drift)
	}
	switch acting {
	case ActingRefuse, ActingAllow:
	default:
		return nil, fmt.Errorf("acting %q: it is refuse or allow", acting)
	}
	return &Rules{site: s, Drift: drift, Acting: acting}, nil
}
