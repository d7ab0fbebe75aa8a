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
	field []byte
	sum   []byte
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
	s.mac.Reset()
	s.text('k', table)
	s.text('k', scope)
	for _, v := range values {
		switch v := v.(type) {
		case nil:
			s.text('n', "")
		case int64:
			s.field = binary.BigEndian.AppendUint64(append(s.field[:0], 'i'), uint64(v)) //nolint:gosec // the bits of the number
			s.mac.Write(s.field)
		case string:
			s.text('t', v)
		case []byte:
			s.head('b', len(v))
			s.mac.Write(v)
		default:
			s.text('?', fmt.Sprint(v))
		}
	}
	s.sum = s.mac.Sum(s.sum[:0])
	sum, _ := SumOf(s.sum)
	return sum
}

func (s *Sealer) head(kind byte, length int) {
	s.field = binary.BigEndian.AppendUint64(append(s.field[:0], kind), uint64(length)) //nolint:gosec // a length
	s.mac.Write(s.field)
}

func (s *Sealer) text(kind byte, text string) {
	s.head(kind, len(text))
	s.field = append(s.field[:0], text...)
	s.mac.Write(s.field)
}

// Blind is what a seal has beside its rows, another one in each version: from
// two seals nobody learns the hash of what came between.
func (s *Sealer) Blind(scope string, version int64) Sum {
	return s.Of("seal", scope, []any{version})
}

// Fits tells whether a stored seal is that of the rows.
func (s *Sealer) Fits(scope string, version int64, stored []byte, rows Sum) bool {
	sum, ok := SumOf(stored)
	return ok && sum == rows.Plus(s.Blind(scope, version))
}

// Next is the seal of the version after one, when the rows have changed by a
// sum; a stored seal that is none counts as that of no rows.
func (s *Sealer) Next(scope string, version int64, stored []byte, by Sum) []byte {
	if sum, ok := SumOf(stored); ok {
		by = by.Plus(sum).Minus(s.Blind(scope, version))
	}
	return by.Plus(s.Blind(scope, version+1)).Bytes()
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
