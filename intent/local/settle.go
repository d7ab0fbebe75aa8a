package local

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/manifold-run/manifold/contracts"
	"github.com/manifold-run/manifold/intent/local/retrieve"
)

// algorithm is the version of building, training and calibration. It changes if the same catalog
// would get other weights.
const algorithm = "local/10"

// Settle trains and calibrates the index of a catalog and replaces the provisional one, which
// serves messages meanwhile. The result depends only on the catalog and the settings.
func (l *Local) Settle(ctx context.Context, catalog *contracts.Catalog) (*Index, error) {
	if x := l.Index(catalog); !x.provisional && (l.scorer == nil || x.embeddings != nil) {
		return x, nil
	}
	select {
	case l.settling <- struct{}{}:
		defer func() { <-l.settling }()
	case <-ctx.Done():
		return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, ctx.Err())
	}
	x := l.Index(catalog) // somebody else may have settled it meanwhile
	if x.provisional {
		y, err := l.settled(ctx, x, catalog)
		if err != nil {
			return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, err)
		}
		l.put(catalog, y)
		x = y
	}
	if l.scorer == nil || x.embeddings != nil {
		return x, nil
	}
	y, err := l.addEmbeddings(ctx, x, catalog)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, err)
		}
		l.report(err)
		return x, nil // embeddings are optional and retried later
	}
	l.report(nil)
	l.put(catalog, y)
	return y, nil
}

// put replaces the index of a catalog.
func (l *Local) put(catalog *contracts.Catalog, x *Index) {
	if catalog.Snapshot == "" {
		return
	}
	place, _ := l.place(catalog.Snapshot)
	place.once.Do(func() {}) // the entry may have been evicted meanwhile
	place.index.Store(x)
}

func (l *Local) settled(ctx context.Context, x *Index, catalog *contracts.Catalog) (*Index, error) {
	if x.patched {
		x = l.build(catalog)
	}
	id, err := contracts.Hash([]any{algorithm, catalog.Snapshot, l.prior})
	if err != nil {
		return nil, err
	}
	var y *Index
	if kept := new(retrieve.LexicalModel); l.loadModel(ctx, id, kept) {
		y = x.withLexicalModel(kept)
	}
	if y == nil {
		if y, err = l.learn(ctx, x, catalog, id); err != nil {
			return nil, err
		}
	}
	z := *y
	z.provisional, z.id = false, id
	return &z, nil
}

// learn trains and calibrates an index, and stores the model.
func (l *Local) learn(ctx context.Context, x *Index, catalog *contracts.Catalog, id string) (*Index, error) {
	var y *Index
	var seen []Observation
	group, both := errgroup.WithContext(ctx)
	group.Go(func() (err error) { y, err = x.trained(both); return err })
	group.Go(func() (err error) { seen, err = x.crossValidated(both, catalog, nil); return err })
	if err := group.Wait(); err != nil {
		return nil, err
	}
	y = y.calibrated(seen, l.prior, nil)
	if y.shareBest == shareBestTrained {
		l.storeModel(ctx, id, y.lexicalModel())
	}
	return y, nil
}

// addEmbeddings adds embeddings to a settled index.
func (l *Local) addEmbeddings(ctx context.Context, x *Index, catalog *contracts.Catalog) (*Index, error) {
	id, err := contracts.Hash([]any{algorithm, catalog.Snapshot, l.prior, l.scorer.Model()})
	if err != nil {
		return nil, err
	}
	kept := new(retrieve.VectorModel)
	known := l.loadModel(ctx, id, kept) && len(kept.Sure) == signalCount+1 && len(kept.Strange) == signalCount+1 && l.library.Restore(kept.Vectors)
	if !known {
		if err := l.library.Compute(ctx, textsIn(catalog)); err != nil {
			return nil, err
		}
		kept.Weights = nil
	}
	y := withEmbeddings(x, l.library, kept.Weights)
	y.embeddings.calibration.shift(odds(DefaultOutOfScope) - odds(l.prior))
	if known {
		y.embeddings.calibration.shown, y.embeddings.foreign, y.embeddings.calibrates = listed(kept.Sure), listed(kept.Strange), kept.Own
	} else {
		seen, err := y.crossValidated(ctx, catalog, l.library)
		if err != nil {
			return nil, err
		}
		y = y.calibrated(seen, l.prior, l.library)
		l.storeModel(ctx, id, y.embeddings.vectorModel(l.library.Bytes()))
	}
	z := *y
	z.id = id
	return &z, nil
}

// ID identifies a settled index by the manifest digests of the catalog, the settings and the
// algorithm. It is empty for a provisional index.
func (x *Index) ID() string { return x.id }

// Fingerprint returns a hash of all trained weights. Settled indexes with the same ID have the
// same fingerprint.
func (x *Index) Fingerprint() string {
	h := sha256.New()
	var buf []byte
	for _, m := range x.vectors {
		for i, number := range m.Owners {
			buf = strconv.AppendInt(buf[:0], int64(number), 10)
			buf = binary.LittleEndian.AppendUint32(append(buf, ' '), math.Float32bits(m.Weights[i]))
			h.Write(buf)
		}
	}
	learned := []weights{x.calibration.shown, x.calibration.described}
	if x.embeddings != nil {
		for _, w := range x.embeddings.space.Weights() {
			h.Write(binary.LittleEndian.AppendUint32(buf[:0], math.Float32bits(w)))
		}
		learned = append(learned, x.embeddings.calibration.shown, x.embeddings.calibration.described)
	}
	for _, w := range learned {
		for _, v := range w.list() {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(v)))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Start starts training and calibration in the background. Until they are done, indexes are
// provisional. A second call does nothing.
func (l *Local) Start(ctx context.Context) error {
	l.background.Start(ctx)
	return nil
}

// Expect builds and settles the index of a catalog in the background, so that the first message
// need not wait. It does nothing before Start.
func (l *Local) Expect(catalog *contracts.Catalog) { l.background.Request(catalog) }

// Stop stops the background work and waits for it. A second call does nothing.
func (l *Local) Stop(ctx context.Context) error { return l.background.Stop(ctx) }

// retryEncoder is the delay before a failed scorer is called again.
const retryEncoder = 30 * time.Second

// settleAfter is the delay before a catalog is settled in the background: catalogs follow each
// other while domains are registered, and only the last is worth training.
const settleAfter = time.Second

// settleLatest settles a catalog in the background. If that fails or is cancelled, the index stays
// provisional.
func (l *Local) settleLatest(ctx context.Context, catalog *contracts.Catalog) {
	select {
	case <-time.After(settleAfter):
	case <-ctx.Done():
		return
	}
	x, err := l.Settle(ctx, catalog)
	if err == nil && l.scorer != nil && x.embeddings == nil {
		time.AfterFunc(retryEncoder, func() { l.wantAgain(catalog) })
	}
}

// wantAgain requests a catalog again, unless a newer one was requested.
func (l *Local) wantAgain(catalog *contracts.Catalog) {
	l.mu.Lock()
	latest := len(l.recent) > 0 && l.recent[0].snapshot == catalog.Snapshot
	l.mu.Unlock()
	if latest {
		l.background.Request(catalog)
	}
}
