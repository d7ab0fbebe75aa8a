package domainkit_test

import (
	"testing"

	"github.com/manifold-run/manifold/domainkit"
	"github.com/manifold-run/manifold/domainkit/storetest"
)

func TestMemoryStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(*testing.T) domainkit.Store { return domainkit.NewMemoryStore(0) })
}
