package intent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/manifold-run/manifold/contracts"
)

// algorithm names the way in which indexes are built, trained and calibrated.
// It changes when the same catalog would give other weights.
const algorithm = "local/7"

// Settle trains and calibrates the index of a catalog and puts it in the place
// of the provisional one. Messages are read meanwhile, by the provisional one.
// The same catalog and settings always settle to the same index, whatever was
// registered before.
func (l *Local) Settle(ctx context.Context, catalog *contracts.Catalog) (*Index, error) {
	x := l.Index(catalog)
	if x.provisional {
		y, err := l.settled(ctx, x, catalog)
		if err != nil {
			return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, err)
		}
		l.put(catalog, y)
		x = y
	}
	if l.scorer == nil || x.senses != nil {
		return x, nil
	}
	y, err := l.understood(ctx, x, catalog)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("settle the index of %s: %w", catalog.Snapshot, err)
		}
		l.report(err)
		return x, nil // words are enough; meanings are tried again later
	}
	l.report(nil)
	l.put(catalog, y)
	return y, nil
}

// put makes an index that of its catalog.
func (l *Local) put(catalog *contracts.Catalog, x *Index) {
	if catalog.Snapshot == "" {
		return
	}
	place, _ := l.place(catalog.Snapshot)
	place.once.Do(func() {}) // it may have been pushed out meanwhile
	place.index.Store(x)
}

func (l *Local) settled(ctx context.Context, x *Index, catalog *contracts.Catalog) (*Index, error) {
	if x.patched {
		x = l.build(catalog)
	}
	y, err := x.trained(ctx)
	if err != nil {
		return nil, err
	}
	if y, err = y.calibrated(ctx, catalog, l.prior, nil); err != nil {
		return nil, err
	}
	z := *y
	z.provisional = false
	z.id, err = contracts.Hash([]any{algorithm, catalog.Snapshot, l.prior})
	return &z, err
}

// understood adds what the scorer knows of meanings to a settled index.
func (l *Local) understood(ctx context.Context, x *Index, catalog *contracts.Catalog) (*Index, error) {
	if err := l.library.Learn(ctx, textsIn(catalog)); err != nil {
		return nil, err
	}
	y := understood(x, l.library)
	y.senses.calibration.shift(odds(DefaultOutOfScope) - odds(l.prior))
	y, err := y.calibrated(ctx, catalog, l.prior, l.library)
	if err != nil {
		return nil, err
	}
	z := *y
	z.id, err = contracts.Hash([]any{algorithm, catalog.Snapshot, l.prior, l.scorer.Model()})
	return &z, err
}

// ID identifies a settled index: the catalog with the digests of its
// manifests, the settings and the algorithm. A provisional one has none.
func (x *Index) ID() string { return x.id }

// Fingerprint is a hash of all that was learned; two settled indexes with one
// ID have one fingerprint.
func (x *Index) Fingerprint() string {
	h := sha256.New()
	var buf []byte
	for _, m := range x.vectors {
		for i, number := range m.caps {
			buf = strconv.AppendInt(buf[:0], int64(number), 10)
			buf = binary.LittleEndian.AppendUint32(append(buf, ' '), math.Float32bits(m.weight[i]))
			h.Write(buf)
		}
	}
	learned := []weights{x.calibration.shown, x.calibration.described}
	if x.senses != nil {
		for _, w := range x.senses.space.Weights() {
			h.Write(binary.LittleEndian.AppendUint32(buf[:0], math.Float32bits(w)))
		}
		learned = append(learned, x.senses.calibration.shown, x.senses.calibration.described)
	}
	for _, w := range learned {
		for i := range signalCount + 1 {
			h.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(w.at(i))))
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// background settles what was asked for last. Until it was started, indexes
// stay provisional.
type background struct {
	// life guards the fields below.
	life   sync.Mutex
	stop   context.CancelFunc
	done   chan struct{}
	latest *contracts.Catalog
	giveUp context.CancelFunc // of what is being settled
	wake   chan struct{}
}

// Start begins to train and calibrate in the background whatever catalog comes
// next. A second call does nothing.
func (l *Local) Start(ctx context.Context) error {
	l.life.Lock()
	defer l.life.Unlock()
	if l.stop != nil {
		return nil
	}
	// It lives longer than the start; Stop ends it.
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop, l.done, l.wake = stop, make(chan struct{}), make(chan struct{}, 1)
	go l.work(ctx, l.done, l.wake)
	return nil
}

// Expect has the index of a catalog built and settled in the background, so
// that the first message need not wait for it; nothing happens before Start.
func (l *Local) Expect(catalog *contracts.Catalog) { l.want(catalog) }

// Stop ends the work in the background and waits for it. A second call does
// nothing.
func (l *Local) Stop(ctx context.Context) error {
	l.life.Lock()
	stop, done := l.stop, l.done
	l.stop = nil
	l.life.Unlock()
	if stop == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for training to end: %w", ctx.Err())
	}
}

// want asks for a catalog to be settled, instead of any that is not yet.
func (l *Local) want(catalog *contracts.Catalog) {
	l.life.Lock()
	defer l.life.Unlock()
	if l.stop == nil {
		return
	}
	l.latest = catalog
	if l.giveUp != nil {
		l.giveUp()
	}
	select {
	case l.wake <- struct{}{}:
	default: // it is awake already
	}
}

// hearAgain is after which time a scorer is asked again that gave no vectors.
const hearAgain = 30 * time.Second

// wantAgain asks for a catalog that was settled before, unless another one is
// asked for.
func (l *Local) wantAgain(catalog *contracts.Catalog) {
	l.mu.Lock()
	latest := len(l.recent) > 0 && l.recent[0].snapshot == catalog.Snapshot
	l.mu.Unlock()
	if latest {
		l.want(catalog)
	}
}

// take gives what is wanted, and a context that ends when something else is.
func (l *Local) take(ctx context.Context) (context.Context, *contracts.Catalog) {
	l.life.Lock()
	defer l.life.Unlock()
	catalog := l.latest
	l.latest = nil
	ctx, l.giveUp = context.WithCancel(ctx)
	return ctx, catalog
}

// rest gives up the context of what is settled now.
func (l *Local) rest() {
	l.life.Lock()
	defer l.life.Unlock()
	l.giveUp()
	l.giveUp = nil
}

// work settles one catalog after the other. One that cannot be settled stays
// provisional: it was given up for another, or at the end.
func (l *Local) work(ctx context.Context, done chan<- struct{}, wake <-chan struct{}) {
	defer close(done)
	for {
		select {
		case <-ctx.Done():
			return
		case <-wake:
		}
		sub, catalog := l.take(ctx)
		if catalog == nil {
			l.rest()
			continue
		}
		x, err := l.Settle(sub, catalog)
		l.rest()
		if err != nil && ctx.Err() != nil {
			return
		}
		if err == nil && l.scorer != nil && x.senses == nil {
			time.AfterFunc(hearAgain, func() { l.wantAgain(catalog) })
		}
	}
}
