package contracts_test

import (
	"testing"

	"github.com/manifold-run/manifold/contracts"
)

// TestStatesOfRuns checks the lists by which stores select runs.
func TestStatesOfRuns(t *testing.T) {
	t.Parallel()
	for _, state := range contracts.OpenRunStates() {
		if state.Terminal() {
			t.Errorf("%s is of runs that go on, and final", state)
		}
	}
	for _, state := range contracts.EndRunStates() {
		if !state.Terminal() {
			t.Errorf("%s is final, and of runs that go on", state)
		}
	}
}
