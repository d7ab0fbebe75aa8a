package contracts_test

import (
	"testing"
	"testing/quick"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// TestSealIsTheCanonicalHash checks that the hash of an entry is that of its canonical JSON, for
// any content. Stored ledgers depend on it.
func TestSealIsTheCanonicalHash(t *testing.T) {
	t.Parallel()
	holds := func(e contracts.LedgerEntry, nanos int64, seq uint32, prev string) bool {
		e.At, e.Seq = time.Unix(0, nanos), int64(seq)
		if err := e.Seal(prev); err != nil {
			return false
		}
		sealed := e.Hash
		e.Hash = ""
		want, err := contracts.Hash(e)
		return err == nil && sealed == want
	}
	anything := func(texts [8]string, nanos int64, seq uint32, prev string) bool {
		return holds(contracts.LedgerEntry{
			RunID: texts[0], NodeID: texts[1], Kind: contracts.LedgerKind(texts[2]), Tool: texts[3],
			ActionSHA256: texts[4], Key: texts[5], Actor: texts[6], PayloadSHA256: texts[7],
		}, nanos, seq, prev)
	}
	if err := quick.Check(anything, &quick.Config{MaxCount: 3000}); err != nil {
		t.Error(err)
	}
	for _, e := range []contracts.LedgerEntry{
		{}, {Tool: "a.b", Kind: contracts.LedgerPlan}, {Actor: "a\"\\\x01\u2028<é😀\xff", NodeID: "n1[0]", RunID: "run_1", Key: "run_1/n1/1"},
	} {
		if !holds(e, 1_700_000_000_123_456_789, 7, "before") {
			t.Errorf("%+v is not sealed with the hash of its canonical JSON", e)
		}
	}
}
