package postgres_test

import (
	"testing"

	"github.com/manifold-run/manifold/internal/pgtest"
	"github.com/manifold-run/manifold/internal/store/stored/storedtest"
)

func TestModelCache(t *testing.T) {
	t.Parallel()
	storedtest.TestModelCache(t, open(t, pgtest.Start(t).URL(t)).Models)
}
