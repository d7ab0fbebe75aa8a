package runstate

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// SaltSize is the length of a salt in bytes.
const SaltSize = 16

// salt puts a salt before the payload and into the hashes that the entry
// keeps. The salt goes with the payload: who has the ledger alone cannot try
// which small payload, or which action, has a hash.
func (e *Entry) salt(salt []byte) {
	if e.Payload == nil && e.ActionSHA256 == "" {
		return
	}
	if e.ActionSHA256 != "" {
		e.ActionSHA256 = salted(salt, e.ActionSHA256)
	}
	e.Payload = slices.Concat(salt, e.Payload)
	e.PayloadSHA256 = contracts.HashBytes(e.Payload)
}

func salted(salt []byte, hash string) string {
	return contracts.HashBytes(slices.Concat(salt, []byte(hash)))
}

// Payload is what lies beside an entry of a ledger.
type Payload struct {
	// Body is canonical JSON.
	Body []byte

	salt []byte
}

// OpenPayload returns the payload of an entry from what is stored of it, by the rules
// of the run's format; the error says that it is not the one that was recorded.
func OpenPayload(format int, e contracts.LedgerEntry, raw []byte) (Payload, error) {
	if contracts.HashBytes(raw) != e.PayloadSHA256 {
		return Payload{}, contracts.Errorf(contracts.CodeConflict, "the payload of entry %d was changed after it was written", e.Seq)
	}
	if format < Format3 {
		return Payload{Body: raw}, nil
	}
	if len(raw) < SaltSize {
		return Payload{}, contracts.Errorf(contracts.CodeConflict, "the payload of entry %d has no salt", e.Seq)
	}
	return Payload{Body: raw[SaltSize:], salt: raw[:SaltSize]}, nil
}

// Names reports whether an entry of this payload was made for an action, by the
// plain hash that people compare.
func (p Payload) Names(e contracts.LedgerEntry, action string) bool {
	if p.salt != nil && action != "" {
		action = salted(p.salt, action)
	}
	return e.ActionSHA256 == action
}
