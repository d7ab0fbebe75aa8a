package witness

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// CheckProof checks a proof with public keys, and tells when its root was
// signed.
func CheckProof(p contracts.AuditProof, public ...string) (time.Time, error) {
	known, err := Verifiers(public...)
	if err != nil {
		return time.Time{}, err
	}
	head, err := audit.CheckProof(p, known)
	return head.At, err
}

// CheckConsistency checks with public keys that a log has grown from the one of
// an older root.
func CheckConsistency(c contracts.AuditConsistency, older string, public ...string) (time.Time, error) {
	known, err := Verifiers(public...)
	if err != nil {
		return time.Time{}, err
	}
	head, err := audit.CheckConsistency(c, older, known)
	return head.At, err
}
