// Package policy implements the domain's rules: whether a flow that may act is asked, what changed
// definitions mean, whether a flow has changed since its review, and that only validated bytes are
// written, once.
package policy

import (
	"fmt"

	"github.com/manifold-run/manifold/domains/flowise/internal/site"
)

// Rules are the policies of one installation for its servers.
type Rules struct {
	site *site.Site

	Drift  Drift
	Acting Acting
}

// New returns the rules. It refuses unknown policies.
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
