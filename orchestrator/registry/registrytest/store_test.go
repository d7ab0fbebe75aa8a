package registrytest_test

import (
	"testing"

	"github.com/manifold-run/manifold/orchestrator/registry"
	"github.com/manifold-run/manifold/orchestrator/registry/registrytest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	registrytest.RunStore(t, func(*testing.T) registry.Store { return registrytest.NewStore() })
}
