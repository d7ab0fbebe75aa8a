package use

import "golang.org/x/sys/cpu"

// dot4AVX is dot4 with AVX2 and FMA. The length must be a multiple of 16. It makes encoding a
// sentence five times as fast.
//
//go:noescape
func dot4AVX(w, a, b, c, e *float32, n int) (x, y, z, u float32)

//nolint:gochecknoglobals // a fact of the machine
var hasAVX = cpu.X86.HasAVX2 && cpu.X86.HasFMA

func dot4(w, a, b, c, e []float32) (x, y, z, u float32) {
	n := len(w)
	if !hasAVX || n == 0 || n%16 != 0 {
		return dot4Plain(w, a, b, c, e)
	}
	_, _, _, _ = a[n-1], b[n-1], c[n-1], e[n-1]
	return dot4AVX(&w[0], &a[0], &b[0], &c[0], &e[0], n)
}
