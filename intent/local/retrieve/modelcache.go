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

// LexicalModel is the trained lexical model of a catalog. Features and capabilities have the
// numbers of the index of the same catalog.
type LexicalModel struct {
	// Start, Of and Weight are the weights as an inverted index: the row of feature i is Start[i]
	// to Start[i+1].
	Start, Of Int32s
	Weight    Float32s
	// Sure holds the weights of the confidence model. Own is set if they were trained on the
	// catalog and are not the shipped ones.
	Sure []float64
	Own  bool
}

// Fit reports whether the model has the dimensions of an index with so many features, capabilities
// and signals.
func (w *LexicalModel) Fit(features, capabilities, signals int) bool {
	cells := len(w.Of)
	inside := func(n int32) bool { return n >= 0 && int(n) < capabilities }
	return len(w.Start) == features+1 && len(w.Weight) == cells && len(w.Sure) == signals && slices.IsSorted(w.Start) &&
		w.Start[0] == 0 && int(w.Start[features]) == cells && !slices.ContainsFunc(w.Of, func(n int32) bool { return !inside(n) })
}

// VectorModel is the trained vector model of a catalog.
type VectorModel struct {
	// Vectors are the serialized embeddings of all texts.
	Vectors []byte
	// Weights are the trained vectors of the capabilities.
	Weights Float32s
	// Sure and Strange hold the weights of the confidence model; Strange is for messages with few
	// known words. Own is as in LexicalModel.
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

// DecodeModel decodes a *LexicalModel or *VectorModel. It returns an error for a model with
// another ID.
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

// Int32s is encoded with four bytes per number, since gob is ten times slower.
type Int32s []int32

// Float32s is encoded like Int32s.
type Float32s []float32

// numberSize is the encoded size of a number in bytes.
const numberSize = 4

// MarshalBinary implements encoding.BinaryMarshaler.
func (n Int32s) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, numberSize*len(n))
	for _, v := range n {
		out = binary.LittleEndian.AppendUint32(out, uint32(v)) //nolint:gosec // the same bits
	}
	return out, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (n *Int32s) UnmarshalBinary(data []byte) error {
	if len(data)%numberSize != 0 {
		return fmt.Errorf("%d bytes are no whole numbers", len(data))
	}
	*n = make(Int32s, len(data)/numberSize)
	for i := range *n {
		(*n)[i] = int32(binary.LittleEndian.Uint32(data[i*numberSize:])) //nolint:gosec // the same bits
	}
	return nil
}

// MarshalBinary implements encoding.BinaryMarshaler.
func (f Float32s) MarshalBinary() ([]byte, error) {
	out := make([]byte, 0, numberSize*len(f))
	for _, v := range f {
		out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
	}
	return out, nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler.
func (f *Float32s) UnmarshalBinary(data []byte) error {
	if len(data)%numberSize != 0 {
		return fmt.Errorf("%d bytes are no whole numbers", len(data))
	}
	*f = make(Float32s, len(data)/numberSize)
	for i := range *f {
		(*f)[i] = math.Float32frombits(binary.LittleEndian.Uint32(data[i*numberSize:]))
	}
	return nil
}
