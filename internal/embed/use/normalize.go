package use

import (
	"bytes"
	"encoding/binary"
	"unicode/utf8"
)

// space represents a blank in pieces.
const space = "\u2581"

// normalizer replaces characters by their normal form with the table of the model: a double-array
// trie of keys, and the replacements.
type normalizer struct {
	units   []uint32
	replace []byte // zero-terminated strings
}

func newNormalizer(charsmap []byte) (*normalizer, error) {
	if len(charsmap) == 0 {
		return &normalizer{}, nil
	}
	if len(charsmap) < 4 {
		return nil, errModel
	}
	size := uint64(binary.LittleEndian.Uint32(charsmap))
	if size+4 > uint64(len(charsmap)) || size%4 != 0 {
		return nil, errModel
	}
	n := &normalizer{units: make([]uint32, size/4), replace: charsmap[4+size:]}
	for i := range n.units {
		n.units[i] = binary.LittleEndian.Uint32(charsmap[4+4*i:])
	}
	return n, nil
}

// A unit of the trie holds its label byte, whether a key ends here, and the offset of its children.
func label(unit uint32) uint32  { return unit & (1<<31 | 0xff) }
func isKey(unit uint32) bool    { return unit>>8&1 == 1 }
func offset(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
func value(unit uint32) uint32  { return unit &^ (1 << 31) }

// prefix returns the replacement of the longest key that in begins with, or else the first character,
// and the number of bytes that it replaces.
func (n *normalizer) prefix(in []byte) ([]byte, int) {
	length, at := n.longest(in)
	if length > 0 && int(at) < len(n.replace) {
		if end := bytes.IndexByte(n.replace[at:], 0); end >= 0 {
			return n.replace[at : int(at)+end], length
		}
	}
	r, size := utf8.DecodeRune(in)
	if r == utf8.RuneError && size <= 1 {
		return []byte(string(utf8.RuneError)), 1
	}
	return in[:size], size
}

func (n *normalizer) longest(in []byte) (length int, at uint32) {
	if len(n.units) == 0 {
		return 0, 0
	}
	place := offset(n.units[0])
	for i, b := range in {
		place ^= uint32(b)
		if int(place) >= len(n.units) || label(n.units[place]) != uint32(b) {
			break
		}
		unit := n.units[place]
		place ^= offset(unit)
		if int(place) >= len(n.units) {
			break
		}
		if isKey(unit) {
			length, at = i+1, value(n.units[place])
		}
	}
	return length, at
}

// normalize returns a text in the form that pieces are cut from: one space before each word and none at
// the end, each written as the space symbol.
func (n *normalizer) normalize(text string) []byte {
	in := []byte(text)
	var out []byte
	blank := true // whether the last byte was a space
	for len(in) > 0 {
		p, size := n.prefix(in)
		in = in[size:]
		for _, b := range p {
			if b != ' ' {
				if blank {
					out = append(out, space...)
				}
				out = append(out, b)
			}
			blank = b == ' '
		}
	}
	return out
}
