package sqlite_test

import (
	"path/filepath"
	"testing"

	"github.com/manifold-run/manifold/internal/store/stored/storedtest"
)

func TestModelCache(t *testing.T) {
	t.Parallel()
	storedtest.TestModelCache(t, open(t, filepath.Join(t.TempDir(), "models.db")).Models)
}
