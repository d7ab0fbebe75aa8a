package retrieve

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"math"
	"slices"
)

// LexicalModel is the trained lexical model of a catalog. Features and capabilities are
// numbered as in the index of the same catalog.
type LexicalModel struct {
	// Start, Of and Weight are the trained weights, as an inverted index: those of
	// feature i stand at Start[i] to Start[i+1].
	Start, Of Int32s
	Weight    Float32s
	// Sure turns signals into a confidence; Own says that it was learned from the
	// catalog and did not come with the program.
	Sure []float64
	Own  bool
}

// Fit reports whether this can have been learned of an index with so many features,
// capabilities and signals.
func (w *LexicalModel) Fit(features, capabilities, signals int) bool {
	cells := len(w.Of)
	inside := func(n int32) bool { return n >= 0 && int(n) < capabilities }
	return len(w.Start) == features+1 && len(w.Weight) == cells && len(w.Sure) == signals && slices.IsSorted(w.Start) &&
		w.Start[0] == 0 && int(w.Start[features]) == cells && !slices.ContainsFunc(w.Of, func(n int32) bool { return !inside(n) })
}

// VectorModel is the trained vector model of a catalog.
type VectorModel struct {
	// Vectors are those of all its texts, as a library writes them.
	Vectors []byte
	// Weights are the trained ones of its capabilities.
	Weights Float32s
	// Sure and Strange turn signals into a confidence, Strange where the words say
	// next to nothing. Own is as in LexicalModel.
	Sure, Strange []float64
	Own           bool
}

// EncodeModel serializes a model with the ID of the index that it belongs to.
func EncodeModel(id string, what any) ([]byte, error) {
	var b bytes.Buffer
	to := gob.NewEncoder(&b)
	if err := errors.Join(to.Encode(id), to.Encode(what)); err != nil {
		return nil, fmt.Errorf("write what was learned: %w", err)
	}
	return b.Bytes(), nil
}

// DecodeModel reads a *LexicalModel or *VectorModel. It refuses a model of another ID.
func DecodeModel(id string, data []byte, into any) error {
	from, of := gob.NewDecoder(bytes.NewReader(data)), ""
	if err := from.Decode(&of); err != nil {
		return fmt.Errorf("read what was learned: %w", err)
	}
	if of != id {
		return fmt.Errorf("read what was learned: it is for %q, not for %q", of, id)
	}
	if err := from.Decode(into); err != nil {
		return fmt.Errorf("read what was learned: %w", err)
	}
	return nil
}

// Int32s are written four bytes each: gob takes ten times as long.
type Int32s []int32

// Float32s are written as Int32s are.
type Float32s []float32

// wide is how many bytes one of them takes.
const wide = 4

// MarshalBinary writes the numbers.
func (n Int32s) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, wide*len(n))
	for _, v := range n {
		out = binary.LittleEndian.AppendUint32(out, uint32(v)) //nolint:gosec // the same bits
	}
	return out, nil
}

// UnmarshalBinary reads them.
func (n *Int32s) UnmarshalBinary(data []byte) error {
	if len(data)%wide != 0 {
		return fmt.Errorf("%d bytes are no whole numbers", len(data))
	}
	*n = make(Int32s, len(data)/wide)
	for i := range *n {
		(*n)[i] = int32(binary.LittleEndian.Uint32(data[i*wide:])) //nolint:gosec // the same bits
	}
	return nil
}

// MarshalBinary writes the floats.
func (f Float32s) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, wide*len(f))
	for _, v := range f {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out, nil
}

// UnmarshalBinary reads them.
func (f *Float32s) UnmarshalBinary(data []byte) error {
	if len(data)%wide != 0 {
		return fmt.Errorf("%d bytes are no whole numbers", len(data))
	}
	*f = make(Float32s, len(data)/wide)
	for i := range *f {
		(*f)[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[i*wide:]))
	}
	return nil
}
