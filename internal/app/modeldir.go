package app

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/manifold-run/manifold/intent/local"
)

// modelSuffix is the suffix of files in a model directory. modelTotal is the maximum total size
// in bytes; the oldest files are removed first.
const (
	modelSuffix = ".model"
	modelTotal  = 512 << 20
)

// ModelDir returns a cache of trained matcher models and manifest test results in files, shared
// by all servers with the same executable and user. The directory is created by the first write.
// Entries that cannot be read or written are computed again.
func ModelDir(dir string, logger *slog.Logger) local.ModelCache { return modelDir{dir, logger} }

// UserModelDir returns the cache directory of the user, or "" if there is none.
func UserModelDir() string {
	cache, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	return filepath.Join(cache, "manifold", "models")
}

type modelDir struct {
	dir    string
	logger *slog.Logger
}

func (m modelDir) file(row string) string { return filepath.Join(m.dir, row+modelSuffix) }

// Load returns a model stored by the same executable, or nil.
func (m modelDir) Load(_ context.Context, id string) []byte {
	row := rowOf(id)
	if row == "" {
		return nil
	}
	data, err := os.ReadFile(m.file(row))
	if err != nil {
		return nil
	}
	return data
}

// Store writes the file atomically.
func (m modelDir) Store(ctx context.Context, id string, data []byte) {
	row := rowOf(id)
	if row == "" || len(data) > largestModel {
		return
	}
	if err := m.write(row, data); err != nil {
		m.logger.WarnContext(ctx, "a trained model cannot be cached", slog.String("dir", m.dir), slog.Any("error", err))
		return
	}
	m.evict()
}

func (m modelDir) write(row string, data []byte) error {
	if err := os.MkdirAll(m.dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(m.dir, row+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = cmp.Or(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), m.file(row))
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// evict removes the oldest files beyond the size limit.
func (m modelDir) evict() {
	entries, err := os.ReadDir(m.dir)
	if err != nil {
		return
	}
	var files []fs.FileInfo
	total := int64(0)
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), modelSuffix) {
			files, total = append(files, info), total+info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for _, f := range files {
		if total <= modelTotal {
			return
		}
		if os.Remove(filepath.Join(m.dir, f.Name())) == nil {
			total -= f.Size()
		}
	}
}
