package executiontest_test

import (
	"testing"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	executiontest.Run(t, func(*testing.T) execution.Store { return executiontest.NewStore() })
}
