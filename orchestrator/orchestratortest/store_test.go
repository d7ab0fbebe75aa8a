package orchestratortest_test

import (
	"testing"

	"github.com/manifold-run/manifold/execution"
	"github.com/manifold-run/manifold/execution/executiontest"
	"github.com/manifold-run/manifold/orchestrator/orchestratortest"
)

func TestStore(t *testing.T) {
	t.Parallel()
	orchestratortest.Run(t, func(*testing.T) orchestratortest.Opened { return orchestratortest.NewStore() })
}

func TestExecutionStore(t *testing.T) {
	t.Parallel()
	executiontest.Run(t, func(*testing.T) execution.Store { return orchestratortest.NewStore() })
}
