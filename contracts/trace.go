package contracts

import (
	"crypto/sha256"
	"encoding/hex"
)

// TraceID returns the W3C trace id of all calls of a run. It is derived from the run id, so it
// need not be stored or passed on.
func TraceID(runID string) string {
	sum := sha256.Sum256([]byte(runID))
	return hex.EncodeToString(sum[:16])
}
