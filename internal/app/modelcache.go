package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/manifold-run/manifold/intent/local"
)

// The limits of the model cache: the number of catalogs, each with and without embeddings, the
// size of a model in bytes, and the time of one access.
const (
	cachedModels   = 24
	largestModel   = 64 << 20
	modelCacheWait = 30 * time.Second
)

// modelRows stores the rows of the model cache.
type modelRows interface {
	Load(ctx context.Context, id string) ([]byte, error)
	Store(ctx context.Context, id string, body []byte, newest int) error
}

// modelCache caches trained models in the store, for servers with the same executable, because
// other releases may train differently. Each body begins with a MAC with the key of this site, so
// that write access to the database does not allow manipulating the confidence of the matcher.
type modelCache struct {
	rows   modelRows
	key    []byte
	logger *slog.Logger
}

var _ local.ModelCache = modelCache{}

// Load returns a model stored by the same executable, or nil.
func (s modelCache) Load(ctx context.Context, id string) []byte {
	row := rowOf(id)
	if row == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, modelCacheWait)
	defer cancel()
	body, err := s.rows.Load(ctx, row)
	if err != nil {
		if ctx.Err() != nil {
			return nil // the caller needs another catalog by now
		}
		s.logger.WarnContext(ctx, "what was learned of the catalog cannot be read, it is learned again", slog.Any("error", err))
		return nil
	}
	if len(body) < sha256.Size {
		return nil
	}
	data := body[sha256.Size:]
	if !hmac.Equal(body[:sha256.Size], s.mac(row, data)) {
		s.logger.WarnContext(ctx, "what was learned of the catalog was changed, or under another key; it is learned again")
		return nil
	}
	return data
}

// Store stores a model, even if ctx is cancelled because another catalog is needed.
func (s modelCache) Store(ctx context.Context, id string, data []byte) {
	row := rowOf(id)
	if row == "" || len(data) > largestModel {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), modelCacheWait)
	defer cancel()
	if err := s.rows.Store(ctx, row, append(s.mac(row, data), data...), 2*cachedModels); err != nil {
		s.logger.WarnContext(ctx, "what was learned of the catalog is not kept", slog.Any("error", err))
	}
}

func (s modelCache) mac(row string, data []byte) []byte {
	h := hmac.New(sha256.New, s.key)
	h.Write([]byte(row))
	h.Write(data)
	return h.Sum(nil)
}

// rowOf returns the row id for a model id of this executable, or "" if the executable is unknown.
func rowOf(id string) string {
	program := thisProgram()
	if program == nil {
		return ""
	}
	sum := sha256.Sum256(append(program, id...))
	return hex.EncodeToString(sum[:])
}

// thisProgram returns the hash of the running executable, nil if it cannot be read.
var thisProgram = sync.OnceValue(func() []byte {
	path, err := os.Executable()
	if err != nil {
		return nil
	}
	f, err := os.Open(path) //nolint:gosec // it is the program itself
	if err != nil {
		return nil
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return nil
	}
	return h.Sum(nil)
})
