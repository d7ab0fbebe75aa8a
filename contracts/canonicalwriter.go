package contracts

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode/utf8"
)

// canonicalWriter converts one valid JSON text to canonical form without building a tree. Most
// texts are hashed immediately after they were encoded, and most of their content is already
// canonical.
type canonicalWriter struct {
	src []byte // the input that is not read yet
	dst []byte
	// members are the members of the open objects. scratch is a buffer for sorting.
	members []canonicalMember
	scratch []byte
}

// canonicalMember is the name of an object member and its range in dst.
type canonicalMember struct {
	name       []byte
	start, end int
}

func (w *canonicalWriter) skip() byte {
	for {
		switch w.src[0] {
		case ' ', '\t', '\r', '\n':
			w.src = w.src[1:]
		default:
			return w.src[0]
		}
	}
}

// take copies n bytes from src to dst unchanged.
func (w *canonicalWriter) take(n int) {
	w.dst, w.src = append(w.dst, w.src[:n]...), w.src[n:]
}

func (w *canonicalWriter) value() error {
	switch w.skip() {
	case '{':
		return w.object()
	case '[':
		return w.array()
	case '"':
		_, err := w.text()
		return err
	case 't', 'n':
		w.take(len("true"))
	case 'f':
		w.take(len("false"))
	default:
		return w.number()
	}
	return nil
}

func (w *canonicalWriter) array() error {
	w.take(1)
	for first := true; w.skip() != ']'; first = false {
		if !first {
			w.take(1) // the comma
		}
		if err := w.value(); err != nil {
			return err
		}
	}
	w.take(1)
	return nil
}

func (w *canonicalWriter) object() error {
	w.take(1)
	base, begin := len(w.members), len(w.dst)
	for w.skip() != '}' {
		if len(w.members) > base {
			w.take(1) // the comma
			w.skip()
		}
		m := canonicalMember{start: len(w.dst)}
		var err error
		if m.name, err = w.text(); err != nil {
			return err
		}
		w.skip()
		w.take(1) // the colon
		if err := w.value(); err != nil {
			return err
		}
		m.end = len(w.dst)
		w.members = append(w.members, m)
	}
	w.order(w.members[base:], begin)
	w.members = w.members[:base]
	w.take(1)
	return nil
}

// order sorts the members that were written from offset begin. If a name occurs twice, the last
// member wins.
func (w *canonicalWriter) order(members []canonicalMember, begin int) {
	inOrder := true
	for i := 1; i < len(members) && inOrder; i++ {
		inOrder = compareUTF16(members[i-1].name, members[i].name) < 0
	}
	if inOrder {
		return
	}
	slices.SortStableFunc(members, func(a, b canonicalMember) int { return compareUTF16(a.name, b.name) })
	w.scratch = append(w.scratch[:0], w.dst[begin:]...)
	w.dst = w.dst[:begin]
	for i, m := range members {
		if i+1 < len(members) && bytes.Equal(m.name, members[i+1].name) {
			continue
		}
		if len(w.dst) > begin {
			w.dst = append(w.dst, ',')
		}
		w.dst = append(w.dst, w.scratch[m.start-begin:m.end-begin]...)
	}
}

// text writes a string and returns its decoded value.
func (w *canonicalWriter) text() ([]byte, error) {
	end, plain := 1, true
	for ; w.src[end] != '"'; end++ {
		if w.src[end] == '\\' {
			end, plain = end+1, false
		}
	}
	said := w.src[1:end]
	if plain && utf8.Valid(said) {
		w.take(end + 1)
		return said, nil
	}
	var s string
	if err := json.Unmarshal(w.src[:end+1], &s); err != nil {
		return nil, err
	}
	w.src, w.dst = w.src[end+1:], appendString(w.dst, s)
	return []byte(s), nil
}

// exactDigits is the number of digits up to which an integer is certainly exact as a float64.
const exactDigits = 15

func (w *canonicalWriter) number() (err error) {
	end, plain := 1, w.src[0] != '-' || w.src[1] != '0'
	for ; end < len(w.src); end++ {
		switch c := w.src[end]; {
		case '0' <= c && c <= '9':
		case c == '.', c == 'e', c == 'E', c == '+', c == '-':
			plain = false
		default:
			return w.digits(end, plain)
		}
	}
	return w.digits(end, plain)
}

func (w *canonicalWriter) digits(end int, plain bool) (err error) {
	if plain && end <= exactDigits {
		w.take(end)
		return nil
	}
	w.dst, err = appendNumber(w.dst, json.Number(w.src[:end]))
	w.src = w.src[end:]
	return err
}
