package local

import (
	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/slots"
)

// NewIndex lets benchmarks build the index of a catalog.
func NewIndex(catalog *contracts.Catalog) *Index { return newIndex(catalog, slots.NewTools()) }
