package seal

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// Sum is a number modulo 2^256, least significant 64 bits first.
type Sum [4]uint64

// SumOf decodes a digest or the result of Bytes. ok is false for any other length.
func SumOf(digest []byte) (s Sum, ok bool) {
	if len(digest) != sha256.Size {
		return s, false
	}
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(digest[8*i:])
	}
	return s, true
}

// Bytes returns the stored form of a sum.
func (s Sum) Bytes() []byte {
	out := make([]byte, 0, sha256.Size)
	for _, limb := range s {
		out = binary.LittleEndian.AppendUint64(out, limb)
	}
	return out
}

// Plus returns s + other.
func (s Sum) Plus(other Sum) Sum {
	var carry uint64
	for i := range s {
		s[i], carry = bits.Add64(s[i], other[i], carry)
	}
	return s
}

// Minus returns s - other.
func (s Sum) Minus(other Sum) Sum {
	var borrow uint64
	for i := range s {
		s[i], borrow = bits.Sub64(s[i], other[i], borrow)
	}
	return s
}
