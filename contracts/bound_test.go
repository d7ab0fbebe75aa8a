package contracts_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/manifold-run/manifold/contracts"
)

// Bound values are sent with the call but are not requested parameters. An edit keeps a bound
// value unless it sets it.
func TestWhatACallIsBoundTo(t *testing.T) {
	t.Parallel()
	a := contracts.Action{Parameters: map[string]any{"page": "p-1"}, Bound: map[string]any{"seen_sha256": "00ff"}}
	if diff := cmp.Diff(map[string]any{"page": "p-1", "seen_sha256": "00ff"}, a.Sent()); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"page": "p-2", "seen_sha256": "00ff"}, a.Edit(map[string]any{"page": "p-2"})); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{"seen_sha256": "11ee"}, a.Edit(map[string]any{"seen_sha256": "11ee"})); diff != "" {
		t.Error(diff)
	}
	plain, err := contracts.Hash(contracts.Action{Parameters: map[string]any{"page": "p-1"}})
	if err != nil {
		t.Fatal(err)
	}
	if bound, err := contracts.Hash(a); err != nil || bound == plain {
		t.Errorf("the hash leaves out what the action is bound to: %s, %v", bound, err)
	}
}
