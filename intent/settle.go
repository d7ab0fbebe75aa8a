package intent

import (
	"context"
	"fmt"

	"github.com/manifold-run/manifold/contracts"
)

// Settle trains and calibrates the index of a catalog and puts it in the place
// of the provisional one. Messages are read meanwhile, by the provisional one.
// The same catalog and settings always settle to the same index.
func (l *Local) Settle(ctx context.Context, catalog *contracts.Catalog) (*Index, error) {
	x := l.Index(catalog)
	if !x.provisional {
		return x, nil
	}
	y, err := x.settled(ctx, catalog, l.prior)
	if err != nil {
		return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, err)
	}
	if catalog.Snapshot != "" {
		l.place(catalog.Snapshot).index.Store(y)
	}
	return y, nil
}

func (x *Index) settled(ctx context.Context, catalog *contracts.Catalog, prior float64) (*Index, error) {
	y, err := x.trained(ctx)
	if err != nil {
		return nil, err
	}
	if y, err = y.calibrated(ctx, catalog, prior); err != nil {
		return nil, err
	}
	z := *y
	z.provisional = false
	return &z, nil
}
