package contracts

import (
	"crypto/sha256"
	"encoding/hex"
)

// TraceID is the id, as W3C has it, of the trace that all calls of a run belong to.
// It follows from the run's, so that nobody has to be told.
func TraceID(runID string) string {
	sum := sha256.Sum256([]byte(runID))
	return hex.EncodeToString(sum[:16])
}
