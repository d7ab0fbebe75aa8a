//go:build !amd64

package use

func dot4(w, a, b, c, e []float32) (x, y, z, u float32) { return dot4Plain(w, a, b, c, e) }
