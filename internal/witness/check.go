package witness

import (
	"time"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/orchestrator/audit"
)

// CheckProof verifies a proof with public keys, and returns when its root was signed.
func CheckProof(p contracts.AuditProof, public ...string) (time.Time, error) {
	known, err := Verifiers(public...)
	if err != nil {
		return time.Time{}, err
	}
	head, err := audit.CheckProof(p, known)
	return head.At, err
}

// CheckConsistency verifies with public keys that a log is an extension of the log of an older
// root, and returns when its root was signed.
func CheckConsistency(c contracts.AuditConsistency, older string, public ...string) (time.Time, error) {
	known, err := Verifiers(public...)
	if err != nil {
		return time.Time{}, err
	}
	head, err := audit.CheckConsistency(c, older, known)
	return head.At, err
}
