package use

import (
	"archive/zip"
	"fmt"
	"math"
	"strconv"
)

// The dimensions of the model.
const (
	// Dimensions is the length of a vector.
	Dimensions = 512

	chunks     = 17   // number of parts of the piece table
	chunkRows  = 7530 // rows of a part; piece p is row p/chunks of part p%chunks
	tableBytes = chunks * chunkRows * Dimensions

	channels = 256 // of a convolution
	orders   = 3   // number of convolutions
	features = Dimensions + orders*channels
	hidden   = 320
)

// order is the window of a convolution: its width, and the number of pieces before the current one.
type order struct{ width, left int }

func ordersOf() [orders]order { return [orders]order{{2, 0}, {3, 1}, {5, 2}} }

// dense is a linear layer: a matrix with a row for each output, and a bias.
type dense struct {
	in, out int
	weight  []float32 // out rows of in weights
	bias    []float32 // may be nil
}

// layers holds all weights except the piece table. It is immutable.
type layers struct {
	scale, low [chunks]float32

	project     [orders]dense // of a piece
	gain, shift [orders][]float32
	near        [orders][]dense // contribution of a piece to the first convolution, by position in the window
	nearBias    [orders][]float32
	far         [orders]dense // the second convolution, of a window
	allGain     []float32
	allShift    []float32
	sum         dense
	d0, d1, d2  dense
	d3, p1, p3  dense
	eps         float32
}

// layerReader reads arrays until the first error.
type layerReader struct {
	from *zip.Reader
	err  error
}

func (r *layerReader) read(name string, shape ...int) []float32 {
	if r.err != nil {
		return nil
	}
	a, err := readArray(r.from, name)
	if err == nil && (fmt.Sprint(a.shape) != fmt.Sprint(shape) || a.kind == "|u1") {
		err = fmt.Errorf("array %s has the shape %v of %s, not %v", name, a.shape, a.kind, shape)
	}
	if r.err = err; err != nil {
		return nil
	}
	return a.floats()
}

// dense reads a matrix that is stored with a row for each input.
func (r *layerReader) dense(name string, in, out int) dense {
	return transposed(r.read(name, in, out), in, out)
}

func transposed(m []float32, in, out int) dense {
	d := dense{in: in, out: out, weight: make([]float32, len(m))}
	if len(m) != in*out {
		return d
	}
	for i := range in {
		for k := range out {
			d.weight[k*in+i] = m[i*out+k]
		}
	}
	return d
}

func readLayers(from *zip.Reader) (*layers, error) {
	r := &layerReader{from: from}
	l := &layers{}
	copy(l.scale[:], r.read("scale", chunks))
	copy(l.low[:], r.read("lo", chunks))
	for k, o := range ordersOf() {
		n := strconv.Itoa(o.width)
		l.project[k] = r.dense("proj"+n, Dimensions, channels)
		l.project[k].bias = r.read("proj_b"+n, channels)
		l.gain[k], l.shift[k] = r.read("ln_g"+n, channels), r.read("ln_b"+n, channels)
		first := r.read("w1_"+n, o.width*channels, channels)
		for place := range o.width {
			if len(first) == o.width*channels*channels {
				l.near[k] = append(l.near[k], transposed(first[place*channels*channels:(place+1)*channels*channels], channels, channels))
			}
		}
		l.nearBias[k] = r.read("b1_"+n, channels)
		l.far[k] = r.dense("w2_"+n, o.width*channels, channels)
		l.far[k].bias = r.read("b2_"+n, channels)
	}
	l.allGain, l.allShift = r.read("ln_g", features), r.read("ln_b", features)
	l.sum = r.dense("cnn_W", features, Dimensions)
	l.sum.bias = r.read("cnn_b", Dimensions)
	l.d0, l.d1 = r.dense("d0", Dimensions, hidden), r.dense("d1", hidden, hidden)
	l.d2, l.d3 = r.dense("d2", hidden, Dimensions), r.dense("d3", Dimensions, Dimensions)
	l.p1, l.p3 = r.dense("p1", Dimensions, hidden), r.dense("p3", hidden, Dimensions)
	if eps := r.read("eps"); len(eps) == 1 {
		l.eps = eps[0]
	}
	return l, r.err
}

// apply adds the products with rows to out. It reads each row of weights once for all rows, four at a
// time.
func (d *dense) apply(rows, out [][]float32) {
	for k := range d.out {
		w := d.weight[k*d.in : (k+1)*d.in]
		n := 0
		for ; n+4 <= len(rows); n += 4 {
			four := [4][]float32(rows[n:])
			x, y, z, u := dot4(w, four[0], four[1], four[2], four[3])
			to := [4][]float32(out[n:])
			to[0][k] += x
			to[1][k] += y
			to[2][k] += z
			to[3][k] += u
		}
		if rest := rows[n:]; len(rest) > 0 {
			last := len(rest) - 1
			x, y, z, _ := dot4(w, rest[0], rest[min(1, last)], rest[min(2, last)], rest[last])
			sums := [3]float32{x, y, z}
			for i := range rest {
				out[n+i][k] += sums[i]
			}
		}
	}
}

// dot4Plain returns the scalar products of w with each of four vectors.
func dot4Plain(w, a, b, c, e []float32) (x, y, z, u float32) {
	var a0, a1, b0, b1, c0, c1, e0, e1 float32
	n := len(w)
	a, b, c, e = a[:n], b[:n], c[:n], e[:n]
	for i := 0; i+1 < n; i += 2 {
		w0, w1 := w[i], w[i+1]
		a0 += float32(w0 * a[i])
		a1 += float32(w1 * a[i+1])
		b0 += float32(w0 * b[i])
		b1 += float32(w1 * b[i+1])
		c0 += float32(w0 * c[i])
		c1 += float32(w1 * c[i+1])
		e0 += float32(w0 * e[i])
		e1 += float32(w1 * e[i+1])
	}
	return a0 + a1, b0 + b1, c0 + c1, e0 + e1
}

// normalizeLayer normalizes x to mean 0 and variance 1, and applies the learned gain and shift.
func normalizeLayer(x, gain, shift []float32, eps float32) {
	var mean float32
	for _, v := range x {
		mean += v
	}
	mean /= float32(len(x))
	var variance float32
	for i := range x {
		x[i] -= mean
		variance += float32(x[i] * x[i])
	}
	by := 1 / float32(math.Sqrt(float64(variance/float32(len(x))+eps)))
	for i := range x {
		x[i] = float32(float32(x[i]*by)*gain[i]) + shift[i]
	}
}
