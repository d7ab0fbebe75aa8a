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

// What the model cache keeps: of so many catalogs at most, each with meanings and without,
// nothing larger than this, and it is waited no longer.
const (
	cachedModels   = 24
	largestModel   = 64 << 20
	modelCacheWait = 30 * time.Second
)

// modelRows are the rows behind the model cache.
type modelRows interface {
	Load(ctx context.Context, id string) ([]byte, error)
	Store(ctx context.Context, id string, body []byte, newest int) error
}

// modelCache keeps what was learned of catalogs in the store, for servers of the same
// program: another release may learn something else. Each body begins with a MAC by
// the key of this site, so that nobody who only has the database says how sure a
// reading is.
type modelCache struct {
	rows   modelRows
	key    []byte
	logger *slog.Logger
}

var _ local.ModelCache = modelCache{}

// Load returns what was kept by the same program.
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
			return nil // another catalog is wanted meanwhile
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

// Store keeps it, also when meanwhile another catalog is asked for.
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

// rowOf names what this program learned under an id; "" if it cannot tell which
// program it is.
func rowOf(id string) string {
	program := thisProgram()
	if program == nil {
		return ""
	}
	sum := sha256.Sum256(append(program, id...))
	return hex.EncodeToString(sum[:])
}

// thisProgram is the hash of the running program.
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
