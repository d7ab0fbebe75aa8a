package use

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
)

// Model names the model and its quantization: vectors of different models are not comparable.
const Model = "use-multilingual-3/6bit"

// Encoder computes sentence vectors. It is safe for concurrent use.
type Encoder struct {
	words       *tokenizer
	layers      *layers
	gain, shift []float32 // of the three projections together
	cache       cache

	// using guards the fields below. Computations hold a read lock, so that the table stays mapped.
	using sync.RWMutex
	table []byte // tableBytes, mapped; nil after Close
	unmap func() error
}

var errClosed = errors.New("the sentence encoder was closed")

// Open opens an installation in a folder. If there is none, the error is ErrNotInstalled.
func Open(dir string) (*Encoder, error) {
	e := &Encoder{}
	err := e.open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNotInstalled, dir)
	}
	if err != nil {
		return nil, fmt.Errorf("sentence encoder in %s: %w", dir, err)
	}
	return e, nil
}

func (e *Encoder) open(dir string) error {
	model, err := os.ReadFile(filepath.Join(dir, fileModel)) //nolint:gosec // the operator names the folder
	if err != nil {
		return err
	}
	if e.words, err = newTokenizer(model); err != nil {
		return err
	}
	if err := e.openLayers(filepath.Join(dir, fileLayers)); err != nil {
		return err
	}
	e.table, e.unmap, err = mapFile(filepath.Join(dir, fileTable))
	if err != nil {
		return err
	}
	if len(e.table) != tableBytes {
		return errors.Join(fmt.Errorf("%s has %d bytes, not %d; install it again", fileTable, len(e.table), tableBytes), e.Close())
	}
	return nil
}

func (e *Encoder) openLayers(path string) (err error) {
	in, err := zip.OpenReader(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	if e.layers, err = readLayers(&in.Reader); err != nil {
		return err
	}
	e.gain, e.shift = slices.Concat(e.layers.gain[:]...), slices.Concat(e.layers.shift[:]...)
	return nil
}

// Close waits for running computations and unmaps the table. After it, Prepare and Score return errors.
func (e *Encoder) Close() error {
	e.using.Lock()
	defer e.using.Unlock()
	if e.unmap == nil {
		return nil
	}
	unmap := e.unmap
	e.unmap, e.table = nil, nil
	return unmap()
}

// Model returns the name of the model.
func (e *Encoder) Model() string { return Model }

// Prepare returns the vectors of many texts, in order.
func (e *Encoder) Prepare(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	group, ctx := errgroup.WithContext(ctx)
	workers := max(1, runtime.GOMAXPROCS(0)/2) // leave half of the CPUs to messages
	for w := range workers {
		group.Go(func() error {
			for i := w; i < len(texts); i += workers {
				if err := ctx.Err(); err != nil {
					return err
				}
				var err error
				if out[i], err = e.embed(texts[i]); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return out, group.Wait()
}

// Score returns the unit vector of one text, with Dimensions components.
func (e *Encoder) Score(ctx context.Context, text string) ([]float32, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return e.embed(text)
}

func (e *Encoder) embed(text string) ([]float32, error) {
	e.using.RLock()
	defer e.using.RUnlock()
	if e.table == nil {
		return nil, errClosed
	}
	ids := e.words.pieces(text)
	ids = ids[:min(len(ids), MaxPieces)]
	return e.vector(slices.Concat([]int32{pieceBegin}, ids, []int32{pieceEnd})), nil
}

// Pieces returns the ids of the pieces of a text.
func (e *Encoder) Pieces(text string) []int32 { return e.words.pieces(text) }

// DefaultDir returns the default folder of an installation. All programs of a user share it.
func DefaultDir() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a folder for the sentence encoder: %w", err)
	}
	return filepath.Join(cache, "manifold", "embeddings", Package+"-"+Version), nil
}
