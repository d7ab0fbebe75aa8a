package sandbox

import (
	"encoding/hex"
	"math/rand/v2"
	"regexp"

	"github.com/manifold-run/manifold/domainkit/sandboxkit"
)

// idMaker generates the server's ids, deterministic by seed.
type idMaker struct{ rng *rand.Rand }

func newIDs(seed uint64) idMaker { return idMaker{sandboxkit.NewRand(seed, "ids")} }

func (m idMaker) uuid() string {
	var b [16]byte
	for i := range b {
		b[i] = byte(m.rng.UintN(256)) //nolint:gosec // below 256
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

func isUUID(id string) bool {
	ok, err := regexp.MatchString(`(?i)^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, id)
	return ok && err == nil
}
