package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Sealer hashes rows with a key and collects the changes of the current transaction. It is not
// safe for concurrent use.
type Sealer struct {
	keyID string
	mac   hash.Hash
	// row and sum are buffers of Of.
	row, sum []byte
	// done are the changes of completed operations, present those of the current operation, both
	// by scope.
	done, present map[string]Sum
}

// New returns a sealer for a key, or nil if key is empty.
func New(key []byte) *Sealer {
	if len(key) == 0 {
		return nil
	}
	id := sha256.Sum256(append([]byte("manifold seal key\x00"), key...))
	return &Sealer{
		keyID: hex.EncodeToString(id[:8]), mac: hmac.New(sha256.New, key),
		done: map[string]Sum{}, present: map[string]Sum{},
	}
}

// KeyID returns the id of the key, which does not reveal the key.
func (s *Sealer) KeyID() string { return s.keyID }

// Of returns the keyed hash of a row: its table, its scope and its values, which are nil, int64,
// string or []byte. Every value is encoded with its type and length, so that different rows have
// different encodings.
func (s *Sealer) Of(table, scope string, values []any) Sum {
	b := appendText(appendText(s.row[:0], 'k', table), 'k', scope)
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			b = appendText(b, 'n', "")
		case int64:
			b = binary.BigEndian.AppendUint64(append(b, 'i'), uint64(v)) //nolint:gosec // the bits of the number
		case string:
			b = appendText(b, 't', v)
		case []byte:
			b = append(appendHead(b, 'b', len(v)), v...)
		default:
			b = appendText(b, '?', fmt.Sprint(v))
		}
	}
	s.mac.Reset()
	s.mac.Write(b)
	if s.row = b; cap(b) > mostKept {
		s.row = nil
	}
	s.sum = s.mac.Sum(s.sum[:0])
	sum, _ := SumOf(s.sum)
	return sum
}

// mostKept is the buffer size in bytes above which Of does not keep its buffer.
const mostKept = 1 << 20

func appendHead(b []byte, kind byte, length int) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), uint64(length)) //nolint:gosec // a length
}

func appendText(b []byte, kind byte, text string) []byte {
	return append(appendHead(b, kind, len(text)), text...)
}

// Blind returns the hash that is added to the rows of a seal. It differs in each version, so that
// the difference of two seals does not reveal the hash of the changes.
func (s *Sealer) Blind(scope string, version int64) Sum {
	return s.Of("seal", scope, []any{version})
}

// Fits reports whether a stored seal matches the sum of the rows.
func (s *Sealer) Fits(seal Sealed, rows Sum) bool {
	sum, ok := SumOf(seal.Sum)
	return ok && sum == rows.Plus(s.Blind(seal.Scope, seal.Version))
}

// Rows returns the sum of the rows of a stored seal. It returns the zero sum for an invalid one.
func (s *Sealer) Rows(seal Sealed) Sum {
	if sum, ok := SumOf(seal.Sum); ok {
		return sum.Minus(s.Blind(seal.Scope, seal.Version))
	}
	return Sum{}
}

// Seal returns the seal of a version of a scope.
func (s *Sealer) Seal(scope string, version int64, rows Sum) Sealed {
	return Sealed{Scope: scope, Version: version, Sum: rows.Plus(s.Blind(scope, version)).Bytes()}
}

// Added records a row that the current operation has written. A changed row is recorded as
// removed and added.
func (s *Sealer) Added(table, scope string, values []any) {
	s.present[scope] = s.present[scope].Plus(s.Of(table, scope, values))
}

// Removed records a row that the current operation has removed or replaced.
func (s *Sealer) Removed(table, scope string, values []any) {
	s.present[scope] = s.present[scope].Minus(s.Of(table, scope, values))
}

// Begin discards the changes of the previous transaction.
func (s *Sealer) Begin() { clear(s.done); clear(s.present) }

// Settle adds the changes of the current operation to those of the transaction, or discards them.
func (s *Sealer) Settle(kept bool) {
	for scope, by := range s.present {
		if kept {
			s.done[scope] = s.done[scope].Plus(by)
		}
	}
	clear(s.present)
}

// Done returns the changes of the transaction by scope. The caller must not modify the map.
func (s *Sealer) Done() map[string]Sum { return s.done }
