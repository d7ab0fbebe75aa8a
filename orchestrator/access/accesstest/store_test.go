package accesstest_test

import (
	"testing"

	"github.com/manifold-run/manifold/orchestrator/access"
	"github.com/manifold-run/manifold/orchestrator/access/accesstest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	accesstest.RunStore(t, func(*testing.T) access.KeyStore { return accesstest.NewStore() })
}

func TestSignIns(t *testing.T) {
	t.Parallel()
	accesstest.RunSignIns(t, func(*testing.T) access.SignInStore { return accesstest.NewStore() })
}
