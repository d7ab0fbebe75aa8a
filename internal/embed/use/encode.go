package use

import (
	"math"
)

// MaxPieces is the number of pieces of a text that are used, not counting the begin and end pieces.
const MaxPieces = 48

// layerPiece is the part of the computation that depends on one piece only: its vector, its
// projections and its contribution to the first convolution at each position of each window.
type layerPiece struct {
	raw       []float32           // Dimensions
	projected [orders][]float32   // channels each
	near      [orders][][]float32 // by position in the window, channels each
}

// ofPiece computes the layerPiece of a piece.
func (e *Encoder) ofPiece(id int32) *layerPiece {
	l := e.layers
	chunk, row := int(id)%chunks, int(id)/chunks
	stored := e.table[(chunk*chunkRows+row)*Dimensions:][:Dimensions]
	p := &layerPiece{raw: make([]float32, Dimensions)}
	for i, q := range stored {
		p.raw[i] = float32(float32(q)*l.scale[chunk]) + l.low[chunk]
	}
	numbers := make([]float32, 0, (orders+10)*channels)
	take := func() []float32 {
		numbers = numbers[:len(numbers)+channels]
		return numbers[len(numbers)-channels:]
	}
	for k := range orders {
		p.projected[k] = take()
		copy(p.projected[k], l.project[k].bias)
		l.project[k].apply([][]float32{p.raw}, [][]float32{p.projected[k]})
	}
	// The three projections are normalized together.
	normalizeLayer(numbers, e.gain, e.shift, l.eps)
	for k := range orders {
		for place := range l.near[k] {
			out := take()
			l.near[k][place].apply([][]float32{p.projected[k]}, [][]float32{out})
			p.near[k] = append(p.near[k], out)
		}
	}
	return p
}

// vector computes the unit vector of a sequence of pieces.
func (e *Encoder) vector(ids []int32) []float32 {
	pieces := make([]*layerPiece, len(ids))
	for i, id := range ids {
		pieces[i] = e.cache.get(id, e.ofPiece)
	}
	rows := matrix(len(ids), features)
	for i, p := range pieces {
		copy(rows[i], p.raw)
	}
	for k, o := range ordersOf() {
		e.convolve(k, o, pieces, rows)
	}
	summed := make([]float32, features)
	for _, row := range rows {
		normalizeLayer(row, e.layers.allGain, e.layers.allShift, e.layers.eps)
		for i, v := range row {
			summed[i] += v
		}
	}
	return e.deepen(summed, len(ids))
}

// convolve computes convolution k for all pieces and writes it behind their vectors in rows. Texts are
// padded with zeros.
func (e *Encoder) convolve(k int, o order, pieces []*layerPiece, rows [][]float32) {
	l, n := e.layers, len(pieces)
	right := o.width - 1 - o.left
	padded := make([]float32, (o.left+n+right)*channels)
	for t := range n {
		h := padded[(o.left+t)*channels:][:channels]
		copy(h, l.nearBias[k])
		for place := range o.width {
			if at := t - o.left + place; at >= 0 && at < n {
				add(h, pieces[at].near[k][place])
			}
		}
		rectify(h)
		add(h, pieces[t].projected[k])
	}
	windows, out := make([][]float32, n), make([][]float32, n)
	for t := range n {
		windows[t] = padded[t*channels:][:o.width*channels]
		out[t] = rows[t][Dimensions+k*channels:][:channels]
		copy(out[t], l.far[k].bias)
	}
	l.far[k].apply(windows, out)
	for t := range n {
		rectify(out[t])
		add(out[t], padded[(o.left+t)*channels:][:channels])
	}
}

// deepen applies the last layers to the sum over all pieces.
func (e *Encoder) deepen(summed []float32, n int) []float32 {
	l := e.layers
	mean := make([]float32, Dimensions)
	once := func(d *dense, in, out []float32) { d.apply([][]float32{in}, [][]float32{out}) }
	for i, b := range l.sum.bias {
		mean[i] = float32(n) * b
	}
	once(&l.sum, summed, mean)
	by := 1 / float32(math.Sqrt(float64(n)))
	for i := range mean {
		mean[i] *= by
	}
	y0, y1, y2, z := make([]float32, hidden), make([]float32, hidden), make([]float32, Dimensions), make([]float32, Dimensions)
	once(&l.d0, mean, y0)
	rectify(y0)
	once(&l.p1, mean, y1)
	once(&l.d1, y0, y1)
	rectify(y1)
	once(&l.d2, y1, y2)
	rectify(y2)
	once(&l.p3, y1, z)
	once(&l.d3, y2, z)
	var length float64
	for i, v := range z {
		z[i] = float32(math.Tanh(float64(v)))
		length += float64(z[i]) * float64(z[i])
	}
	by = float32(1 / math.Sqrt(max(length, float64(l.eps))))
	for i := range z {
		z[i] *= by
	}
	return z
}

func matrix(rows, columns int) [][]float32 {
	numbers, out := make([]float32, rows*columns), make([][]float32, rows)
	for i := range out {
		out[i] = numbers[i*columns:][:columns]
	}
	return out
}

func add(to, what []float32) {
	for i, v := range what {
		to[i] += v
	}
}

func rectify(x []float32) {
	for i, v := range x {
		x[i] = max(v, 0)
	}
}
