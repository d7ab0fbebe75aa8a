package use

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Pieces that represent no text.
const (
	pieceUnknown = 0
	pieceBegin   = 1
	pieceEnd     = 2
)

// Kinds of pieces in a SentencePiece model; all others are text.
const (
	kindNormal  = 1
	kindUnknown = 2
	kindControl = 3
)

// vocabulary holds the pieces sorted by their bytes: a search narrows a range of them byte by byte. It
// is immutable.
type vocabulary struct {
	text  []byte   // all pieces, concatenated
	start []uint32 // offset of each piece, with one more at the end
	id    []int32
	score []float32
	first [257]int32 // index of the first piece for each first byte
	worst float32    // the lowest score of a normal piece
}

// field is one field of a Protocol Buffers message.
type field struct {
	number int
	value  uint64 // of numeric fields
	body   []byte // of strings and messages
}

var errModel = errors.New("the SentencePiece model is damaged")

// nextField parses one field and returns the rest.
func nextField(in []byte) (f field, rest []byte, err error) {
	tag, n := binary.Uvarint(in)
	if n <= 0 || tag>>3 > 1<<20 {
		return f, nil, errModel
	}
	in = in[n:]
	f.number = int(tag >> 3)
	switch tag & 7 {
	case 0:
		if f.value, n = binary.Uvarint(in); n <= 0 {
			return f, nil, errModel
		}
		return f, in[n:], nil
	case 1:
		if len(in) < 8 {
			return f, nil, errModel
		}
		return f, in[8:], nil
	case 2:
		size, n := binary.Uvarint(in)
		if n <= 0 || size > uint64(len(in)-n) { //nolint:gosec // n is at most the length
			return f, nil, errModel
		}
		end := n + int(size) //nolint:gosec // bounded above
		f.body = in[n:end]
		return f, in[end:], nil
	case 5:
		if len(in) < 4 {
			return f, nil, errModel
		}
		f.value = uint64(binary.LittleEndian.Uint32(in))
		return f, in[4:], nil
	}
	return f, nil, errModel
}

// readModel reads the pieces and the normalizer table of a SentencePiece model: field 1 holds the
// pieces, field 3 the normalizer, whose field 2 is the table.
func readModel(model []byte) (*vocabulary, []byte, error) {
	var pieces []piece
	var charsmap []byte
	for len(model) > 0 {
		f, rest, err := nextField(model)
		if err != nil {
			return nil, nil, err
		}
		model = rest
		switch f.number {
		case 1:
			p, err := readPiece(f.body)
			if err != nil {
				return nil, nil, err
			}
			p.id = int32(len(pieces)) //nolint:gosec // a model of 2^31 pieces fits into no memory
			pieces = append(pieces, p)
		case 3:
			if charsmap, err = readCharsmap(f.body); err != nil {
				return nil, nil, err
			}
		}
	}
	if len(pieces) < pieceEnd+1 {
		return nil, nil, fmt.Errorf("%w: it has %d pieces", errModel, len(pieces))
	}
	return newVocabulary(pieces), charsmap, nil
}

type piece struct {
	id    int32
	text  []byte
	score float32
	kind  uint64
}

func readPiece(in []byte) (piece, error) {
	p := piece{kind: kindNormal}
	for len(in) > 0 {
		f, rest, err := nextField(in)
		if err != nil {
			return p, err
		}
		in = rest
		switch f.number {
		case 1:
			p.text = f.body
		case 2:
			p.score = math.Float32frombits(uint32(f.value)) //nolint:gosec // it was read from 32 bits
		case 3:
			p.kind = f.value
		}
	}
	return p, nil
}

func readCharsmap(in []byte) ([]byte, error) {
	for len(in) > 0 {
		f, rest, err := nextField(in)
		if err != nil {
			return nil, err
		}
		if f.number == 2 {
			return f.body, nil
		}
		in = rest
	}
	return nil, nil
}

func newVocabulary(pieces []piece) *vocabulary {
	v := &vocabulary{worst: math.MaxFloat32}
	for _, p := range pieces {
		if p.kind == kindNormal {
			v.worst = min(v.worst, p.score)
		}
	}
	pieces = slices.DeleteFunc(pieces, func(p piece) bool {
		return p.kind == kindUnknown || p.kind == kindControl || len(p.text) == 0
	})
	slices.SortFunc(pieces, func(a, b piece) int { return cmp.Or(bytes.Compare(a.text, b.text), cmp.Compare(a.id, b.id)) })
	for _, p := range pieces {
		v.start = append(v.start, uint32(len(v.text))) //nolint:gosec // the model has a few megabytes
		v.text = append(v.text, p.text...)
		v.id, v.score = append(v.id, p.id), append(v.score, p.score)
	}
	v.start = append(v.start, uint32(len(v.text))) //nolint:gosec // as above
	at := 0
	for b := range v.first {
		for at < len(pieces) && int(pieces[at].text[0]) < b {
			at++
		}
		v.first[b] = int32(at)
	}
	return v
}

func (v *vocabulary) piece(i int) []byte { return v.text[v.start[i]:v.start[i+1]] }

// begins calls found with the length and index of every piece that is a prefix of text, shortest
// first.
func (v *vocabulary) begins(text []byte, found func(length, place int)) {
	if len(text) == 0 {
		return
	}
	lo, hi := int(v.first[text[0]]), int(v.first[int(text[0])+1])
	for depth := 1; lo < hi; depth++ {
		if len(v.piece(lo)) == depth {
			found(depth, lo)
			for lo < hi && len(v.piece(lo)) == depth {
				lo++
			}
		}
		if depth == len(text) {
			return
		}
		lo, hi = v.narrow(lo, hi, depth, text[depth])
	}
}

// narrow returns the pieces in [lo, hi), which share the first depth bytes, whose next byte is b.
func (v *vocabulary) narrow(lo, hi, depth int, b byte) (from, to int) {
	at := func(i int) byte { return v.text[int(v.start[i])+depth] }
	n := hi - lo
	from = lo + search(n, func(i int) bool { return at(lo+i) >= b })
	to = from + search(hi-from, func(i int) bool { return at(from+i) > b })
	return from, to
}

func search(n int, is func(int) bool) int {
	lo, hi := 0, n
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if is(mid) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo
}
