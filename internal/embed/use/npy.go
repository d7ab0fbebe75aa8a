package use

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// maxArrayBytes bounds one array of an archive; the largest known one has 4 MB.
const maxArrayBytes = 16 << 20

// npyHeader matches the header of a NumPy file, a Python literal.
var npyHeader = regexp.MustCompile(`^\{'descr': '([^']+)', 'fortran_order': (True|False), 'shape': \(([0-9, ]*)\)`)

// array is one array of an archive, in row-major order.
type array struct {
	kind  string // "<f4", "<f8", "|u1"
	shape []int
	data  []byte
}

// readArray reads an array from an npz archive, which is a zip of npy files.
func readArray(in *zip.Reader, name string) (array, error) {
	f, err := in.Open(name + ".npy")
	if err != nil {
		return array{}, fmt.Errorf("array %s: %w", name, err)
	}
	body, err := io.ReadAll(io.LimitReader(f, maxArrayBytes+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return array{}, fmt.Errorf("array %s: %w", name, err)
	}
	a, err := parseArray(body)
	if err != nil {
		return array{}, fmt.Errorf("array %s: %w", name, err)
	}
	return a, nil
}

// parseArray parses an npy file of version 1.
func parseArray(body []byte) (array, error) {
	const fixed = 10 // magic, version, length of the header
	if len(body) > maxArrayBytes {
		return array{}, fmt.Errorf("it has more than %d bytes", maxArrayBytes)
	}
	if len(body) < fixed || !bytes.HasPrefix(body, []byte("\x93NUMPY\x01\x00")) {
		return array{}, errors.New("it is no npy file of version 1")
	}
	end := fixed + int(binary.LittleEndian.Uint16(body[8:]))
	if end > len(body) {
		return array{}, errors.New("its header is cut off")
	}
	m := npyHeader.FindSubmatch(body[fixed:end])
	if m == nil || string(m[2]) != "False" {
		return array{}, fmt.Errorf("its header %q is not understood", body[fixed:end])
	}
	a := array{kind: string(m[1]), data: body[end:]}
	size, known := map[string]int{"<f4": 4, "<f8": 8, "|u1": 1}[a.kind]
	if !known {
		return array{}, fmt.Errorf("numbers of kind %s are not read", a.kind)
	}
	for s := range strings.SplitSeq(string(m[3]), ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > maxArrayBytes || size*n > maxArrayBytes {
			return array{}, fmt.Errorf("its shape %q is not understood", m[3])
		}
		a.shape, size = append(a.shape, n), size*n
	}
	if size != len(a.data) {
		return array{}, fmt.Errorf("it has %d bytes, its shape needs %d", len(a.data), size)
	}
	return a, nil
}

// floats returns the elements of a float32 or float64 array.
func (a array) floats() []float32 {
	if a.kind == "<f8" {
		out := make([]float32, len(a.data)/8)
		for i := range out {
			out[i] = float32(math.Float64frombits(binary.LittleEndian.Uint64(a.data[8*i:])))
		}
		return out
	}
	out := make([]float32, len(a.data)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(a.data[4*i:]))
	}
	return out
}
