package stored

import (
	"encoding/binary"

	"github.com/manifold-run/manifold/contracts"
)

// PackPayloads encodes the payloads of the ledger entries of one transition as one row: the
// length of each as a varint, then its bytes. An entry without a payload has length 0. It returns
// nil if there are no payloads.
func PackPayloads(payloads [][]byte) []byte {
	size, some := 0, false
	for _, p := range payloads {
		size, some = size+binary.MaxVarintLen64+len(p), some || len(p) > 0
	}
	if !some {
		return nil
	}
	pack := make([]byte, 0, size)
	for _, p := range payloads {
		pack = append(binary.AppendUvarint(pack, uint64(len(p))), p...)
	}
	return pack
}

// PayloadOf returns the payload at an index of a pack, or nil if there is none.
func PayloadOf(pack []byte, place int64) ([]byte, error) {
	for ; len(pack) > 0; place-- {
		size, n := binary.Uvarint(pack)
		if n <= 0 || size > uint64(len(pack)-n) { //nolint:gosec // n is at most the length
			return nil, contracts.Errorf(contracts.CodeConflict, "the payloads of a ledger were changed after they were written")
		}
		if pack = pack[n:]; place == 0 {
			if size == 0 {
				return nil, nil
			}
			return pack[:size:size], nil
		}
		pack = pack[size:]
	}
	return nil, nil
}
