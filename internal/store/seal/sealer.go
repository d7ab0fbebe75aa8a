package seal

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
)

// Sealer hashes rows with a key, and keeps what the present transaction has
// changed. One goroutine uses it at a time.
type Sealer struct {
	keyID string
	mac   hash.Hash
	// row and sum are the memory of Of.
	row, sum []byte
	// done holds the changes of operations that succeeded, present those of the
	// one under way, by scope.
	done, present map[string]Sum
}

// New gives nil for no key.
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

// KeyID names the key, and tells nothing about it.
func (s *Sealer) KeyID() string { return s.keyID }

// Of is the keyed hash of a row: its table, its scope and its values, which are
// nil, int64, string or []byte. Every value is written with its type and length,
// so that no two rows read the same.
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

// mostKept is the size of a row, in bytes, above which its memory is not kept.
const mostKept = 1 << 20

func appendHead(b []byte, kind byte, length int) []byte {
	return binary.BigEndian.AppendUint64(append(b, kind), uint64(length)) //nolint:gosec // a length
}

func appendText(b []byte, kind byte, text string) []byte {
	return append(appendHead(b, kind, len(text)), text...)
}

// Blind is what a seal has beside its rows, another one in each version: from
// two seals nobody learns the hash of what came between.
func (s *Sealer) Blind(scope string, version int64) Sum {
	return s.Of("seal", scope, []any{version})
}

// Fits reports whether a stored seal is that of the rows.
func (s *Sealer) Fits(seal Sealed, rows Sum) bool {
	sum, ok := SumOf(seal.Sum)
	return ok && sum == rows.Plus(s.Blind(seal.Scope, seal.Version))
}

// Rows is the sum of the rows that a stored seal is of; one that is none counts
// as that of no rows.
func (s *Sealer) Rows(seal Sealed) Sum {
	if sum, ok := SumOf(seal.Sum); ok {
		return sum.Minus(s.Blind(seal.Scope, seal.Version))
	}
	return Sum{}
}

// Seal is the seal of a version of a scope.
func (s *Sealer) Seal(scope string, version int64, rows Sum) Sealed {
	return Sealed{Scope: scope, Version: version, Sum: rows.Plus(s.Blind(scope, version)).Bytes()}
}

// Added and Removed note a row that the present operation has written or taken
// away; a change is both.
func (s *Sealer) Added(table, scope string, values []any) {
	s.present[scope] = s.present[scope].Plus(s.Of(table, scope, values))
}

// Removed is the opposite of Added.
func (s *Sealer) Removed(table, scope string, values []any) {
	s.present[scope] = s.present[scope].Minus(s.Of(table, scope, values))
}

// Begin forgets what a transaction before has changed.
func (s *Sealer) Begin() { clear(s.done); clear(s.present) }

// Settle takes what the present operation has changed as done, or drops it.
func (s *Sealer) Settle(kept bool) {
	for scope, by := range s.present {
		if kept {
			s.done[scope] = s.done[scope].Plus(by)
		}
	}
	clear(s.present)
}

// Done is what the transaction has changed, by scope; it is the sealer's own.
func (s *Sealer) Done() map[string]Sum { return s.done }
