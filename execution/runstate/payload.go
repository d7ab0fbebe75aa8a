package runstate

import (
	"slices"

	"github.com/manifold-run/manifold/contracts"
)

// SaltSize is the length of a salt in bytes.
const SaltSize = 16

// salt puts a salt before the payload and into the hashes of the entry. The salt is deleted with
// the payload. Without it, nobody who has only the ledger can guess a small payload or an action
// from its hash.
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

// Payload is the payload of a ledger entry.
type Payload struct {
	// Body is canonical JSON.
	Body []byte

	salt []byte
}

// OpenPayload decodes the stored payload of an entry, by the rules of the run's format. It returns
// conflict if the payload is not the one that was recorded.
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

// Names reports whether an entry with this payload was made for an action, given the unsalted hash
// of the action.
func (p Payload) Names(e contracts.LedgerEntry, action string) bool {
	if p.salt != nil && action != "" {
		action = salted(p.salt, action)
	}
	return e.ActionSHA256 == action
}
